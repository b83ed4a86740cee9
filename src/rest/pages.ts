import type { Clock } from '../shared/clock.ts';
import type { RoutePages } from './types.ts';

/** Maximum duration of an answer in pages, ms: it keeps an old version of its data in memory. */
const MAX_DURATION_MS = 300_000;

/** An answer in pages was read too slowly: the rest of it is not sent. */
class SlowStreamError extends Error {
  override readonly name = 'SlowStreamError';
  constructor() {
    super(`a streamed answer was not read within ${MAX_DURATION_MS / 1_000} s`);
  }
}

/** A page of a row: the data of its operation, and its projected body. */
export interface BodyPage {
  readonly data: unknown;
  readonly body: unknown;
}

/**
 * Serialise a body whose list is read page by page. The parts together equal `JSON.stringify` of the whole body. When a page
 * fails, the text ends before its closing brackets.
 * @throws SlowStreamError, and the errors of reading a page
 */
export async function* jsonInPages(
  first: BodyPage,
  { list, next }: RoutePages<unknown>,
  read: (variables: Readonly<Record<string, unknown>>) => Promise<BodyPage>,
  clock: Clock,
): AsyncGenerator<string, void, void> {
  const untilMs = clock.now() + MAX_DURATION_MS;
  const itemsOf = ({ body }: BodyPage) => (body as Readonly<Record<string, readonly unknown[]>>)[list] ?? [];
  const items = itemsOf(first);
  let isEmpty = items.length === 0;
  let text = JSON.stringify({ ...(first.body as object), [list]: items }).slice(0, -']}'.length);
  let variables = next(first.data);
  while (variables !== null) {
    yield text;
    if (clock.now() > untilMs) throw new SlowStreamError();
    const page = await read(variables);
    const more = itemsOf(page);
    text = more.length === 0 ? '' : `${isEmpty ? '' : ','}${JSON.stringify(more).slice(1, -1)}`;
    isEmpty &&= more.length === 0;
    variables = next(page.data);
  }
  yield `${text}]}`;
}

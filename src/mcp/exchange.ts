import { randomUUID } from 'node:crypto';
import type { AnyRoute, RestRequest } from '../rest/types.ts';
import { acceptsType } from '../shared/contract/accepts.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import type { CalledTool } from './call-tool.ts';
import {
  INVALID_PARAMS,
  idOf,
  type Message,
  type MessageAnswer,
  protocolError,
  REQUEST_REFUSED,
  refusedAnswer,
} from './json-rpc.ts';
import { createResources, type Guide } from './resources.ts';
import { createRunningCalls, SESSION_HEADER } from './running-calls.ts';
import type { McpServerDeps } from './server.ts';
import { createTools } from './tools.ts';

export interface ExchangeDeps extends Omit<McpServerDeps, 'tools' | 'resources'> {
  readonly routes: readonly AnyRoute[];
  readonly chainIds: readonly number[];
  readonly guides: readonly Guide[];
  /** Called after each call of a tool, for metrics: its name and its error code, `ok` = none. */
  readonly onCall?: ((tool: string, outcome: string) => void) | undefined;
}

/** Status of a client's budget as headers. */
export type BudgetHeaders = Readonly<Record<string, string>>;

/** Create the answers to single messages. A message that no row answers and charges is charged here. */
export function createExchange(deps: ExchangeDeps) {
  const { admit, logger, onCall } = deps;
  const running = createRunningCalls();
  let prepared: ReturnType<typeof prepare> | undefined;

  return async (
    message: Message,
    request: RestRequest,
    onBudget: (budget: BudgetHeaders) => void,
  ): Promise<MessageAnswer> => {
    prepared ??= prepare(deps);
    const { hasRow, misfitOf, answerOf } = await prepared;
    const charge = async (): Promise<MessageAnswer | undefined> => {
      const { refusal, budget } = await admit(request);
      onBudget(budget);
      return refusal === null ? undefined : refusedAnswer(refusal, idOf(message));
    };
    const isAcceptable = acceptsType(request.headers.accept, 'application/json');
    const misfit = misfitOf(message);
    const isRow = isAcceptable && misfit === undefined && hasRow(message);
    const refused = isRow ? undefined : await charge();
    if (refused) return refused;
    if (!isAcceptable) return protocolError(406, REQUEST_REFUSED, NOT_ACCEPTABLE, idOf(message));
    // Nothing changes but with a release, so there is nothing to listen to; the library would open a stream for it.
    if (message.method === LISTEN) return protocolError(404, METHOD_NOT_FOUND, 'Method not found', idOf(message));
    if (misfit !== undefined) return protocolError(400, INVALID_PARAMS, misfit, idOf(message));
    if (message.method === CANCELLED) running.cancel(message, request);
    let isCharged = !isRow;
    const { cancelled, end } = running.begin(message, request);
    const call = {
      message,
      origin: { ...request, left: () => eitherOf(request.left?.(), cancelled) },
      onCall: (tool: string, { outcome, budget }: Pick<CalledTool, 'outcome' | 'budget'>) => {
        isCharged = true;
        if (budget !== undefined) onBudget(budget);
        // The client has left it, and nothing went wrong.
        const shown = cancelled.aborted ? 'cancelled' : outcome;
        logger.debug({ tool, outcome: shown, correlationId: request.correlationId }, 'tool called');
        onCall?.(tool, shown);
      },
    };
    try {
      const response = await Promise.race([answerOf(call, asWebRequest(request)), whenAborted(cancelled)]);
      // A cancelled call has no answer. The cost of its call was charged.
      if (response === null) return NO_ANSWER;
      const answer = { status: response.status, body: await response.text(), headers: headersOf(message, response) };
      // The library refused the message, or took it as a notification, so no row was asked.
      return isCharged ? answer : ((await charge()) ?? answer);
    } finally {
      end();
    }
  };
}

const CANCELLED = 'notifications/cancelled';
const LISTEN = 'subscriptions/listen';
const METHOD_NOT_FOUND = -32_601;
const NOT_ACCEPTABLE = 'Answers are application/json. Accept it, or send no Accept header.';
const NO_ANSWER: MessageAnswer = { status: 202, body: '' };

/**
 * The media type of an answer, and the id of a session that begins: it tells the calls of a client from those of others with the
 * same key. Nothing is kept of a session: every process takes every id.
 */
function headersOf({ method }: Message, { status, headers }: Response): MessageAnswer['headers'] {
  return withoutUndefined({
    'content-type': headers.get('content-type') ?? undefined,
    [SESSION_HEADER]: method === 'initialize' && status === 200 ? randomUUID() : undefined,
  });
}

function whenAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
}

function eitherOf(one: AbortSignal | undefined, other: AbortSignal): AbortSignal {
  return one === undefined ? other : AbortSignal.any([one, other]);
}

/** Load the library and make the tools, with the first request: that takes longer than most of the start. */
async function prepare({ routes, chainIds, guides, ...deps }: ExchangeDeps) {
  const { createMcpMessages, misfitOf } = await import('./server.ts');
  const tools = createTools(routes);
  const resources = createResources(guides, chainIds);
  const hasRow = ({ method, params }: Message): boolean => {
    if (typeof params !== 'object' || params === null) return false;
    const { name, uri } = params as { readonly name?: unknown; readonly uri?: unknown };
    if (method === 'tools/call') return typeof name === 'string' && tools.has(name);
    const source = method === 'resources/read' && typeof uri === 'string' ? resources.find(uri) : undefined;
    return source !== undefined && 'tool' in source;
  };
  return { hasRow, misfitOf, answerOf: createMcpMessages({ ...deps, tools, resources }) };
}

/** Headers that the library checks against the message. */
const CHECKED_HEADERS = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

/** The request for the library; the body is parsed already, and what it accepts was checked. */
function asWebRequest({ path, headers }: RestRequest): Request {
  const checked = withoutUndefined(Object.fromEntries(CHECKED_HEADERS.map((name) => [name, headers[name]])));
  const accept = 'application/json, text/event-stream';
  return new Request(`http://localhost${path}`, {
    method: 'POST',
    headers: { ...checked, accept } as Record<string, string>,
  });
}

import type { AnyRoute, RestRequest } from '../rest/types.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import type { CalledTool } from './call-tool.ts';
import { INVALID_PARAMS, idOf, type Message, type MessageAnswer, protocolError, refusedAnswer } from './json-rpc.ts';
import { createResources, type Guide } from './resources.ts';
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
  let prepared: ReturnType<typeof prepare> | undefined;

  return async (
    message: Message,
    request: RestRequest,
    onBudget: (budget: BudgetHeaders) => void,
  ): Promise<MessageAnswer> => {
    prepared ??= prepare(deps);
    const { hasRow, fitsMethod, answerOf } = await prepared;
    const charge = async (): Promise<MessageAnswer | undefined> => {
      const { refusal, budget } = await admit(request);
      onBudget(budget);
      return refusal === null ? undefined : refusedAnswer(refusal, idOf(message));
    };
    const isFit = fitsMethod(message);
    const isRow = isFit && hasRow(message);
    const refused = isRow ? undefined : await charge();
    if (refused) return refused;
    if (!isFit) return protocolError(400, INVALID_PARAMS, 'The parameters do not fit the method.', idOf(message));
    let isCharged = !isRow;
    const call = {
      message,
      origin: request,
      onCall: (tool: string, { outcome, budget }: Pick<CalledTool, 'outcome' | 'budget'>) => {
        isCharged = true;
        if (budget !== undefined) onBudget(budget);
        logger.debug({ tool, outcome, correlationId: request.correlationId }, 'tool called');
        onCall?.(tool, outcome);
      },
    };
    const response = await answerOf(call, asWebRequest(request));
    const answer = { status: response.status, body: await response.text() };
    // The library refused the message, or took it as a notification, so no row was asked.
    return isCharged ? answer : ((await charge()) ?? answer);
  };
}

/** Load the library and make the tools, with the first request: that takes longer than most of the start. */
async function prepare({ routes, chainIds, guides, ...deps }: ExchangeDeps) {
  const { createMcpMessages, fitsMethod } = await import('./server.ts');
  const tools = createTools(routes);
  const resources = createResources(guides, chainIds);
  const hasRow = ({ method, params }: Message): boolean => {
    if (typeof params !== 'object' || params === null) return false;
    const { name, uri } = params as { readonly name?: unknown; readonly uri?: unknown };
    if (method === 'tools/call') return typeof name === 'string' && tools.has(name);
    const source = method === 'resources/read' && typeof uri === 'string' ? resources.find(uri) : undefined;
    return source !== undefined && 'tool' in source;
  };
  return { hasRow, fitsMethod, answerOf: createMcpMessages({ ...deps, tools, resources }) };
}

/** The headers that the library checks; the body is parsed already. */
function asWebRequest({ path, headers }: RestRequest): Request {
  const { accept, 'content-type': type, 'mcp-protocol-version': version } = headers;
  const own = withoutUndefined({ accept, 'content-type': type, 'mcp-protocol-version': version });
  return new Request(`http://localhost${path}`, { method: 'POST', headers: own as Record<string, string> });
}

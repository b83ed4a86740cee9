import { errorResponse } from '../rest/envelope.ts';
import { MAX_BODY_BYTES, parseJsonBody } from '../rest/input.ts';
import { MethodNotAllowedError } from '../rest/router.ts';
import type { RestRequest, RestResponse } from '../rest/types.ts';
import { AppError } from '../shared/errors.ts';
import { loggedError } from '../shared/scrub.ts';
import { batchProblem } from './batches.ts';
import type { Admit } from './call-tool.ts';
import { type BudgetHeaders, createExchange, type ExchangeDeps } from './exchange.ts';
import {
  INVALID_REQUEST,
  type MessageAnswer,
  messageOf,
  protocolError,
  REQUEST_REFUSED,
  refusedAnswer,
} from './json-rpc.ts';
import { createKnownNames } from './known-names.ts';

export const MCP_PATH = '/mcp';

export interface McpDeps extends ExchangeDeps {
  /** Origins of browsers that may call. Other callers send no `Origin`. */
  readonly origins: readonly string[];
  /** Wait in the fair queue. */
  readonly turn: (request: RestRequest) => Promise<void>;
}

export interface McpEndpoint {
  /** `undefined` = another path. */
  answer(request: RestRequest): Promise<RestResponse> | undefined;
}

const ACCEPTED: MessageAnswer = { status: 202, body: '' };
const ORIGIN_REFUSED =
  'Pages of this origin may not call /mcp. Programs send no Origin; the operator lists origins of pages in MCP_ORIGINS.';

/**
 * Create the endpoint of the Model Context Protocol, streamable HTTP without sessions: each POST has a message, and is answered
 * as JSON. Its tools ask the rows of /v1 in this process, with the key and the address of the caller.
 */
export function createMcpEndpoint(deps: McpDeps): McpEndpoint {
  const { admit, turn, origins, logger } = deps;
  const known = createKnownNames(deps.routes);
  const exchange = createExchange(deps);

  const post = async (request: RestRequest): Promise<RestResponse> => {
    let budget: BudgetHeaders = {};
    const onBudget = (latest: BudgetHeaders) => {
      budget = latest;
    };
    const given = await parseJsonBody(request, MAX_BODY_BYTES, () => turn(request), known).catch(
      async (error: unknown) => {
        const { refusal } = await admit(request);
        throw refusal ?? error;
      },
    );
    const answered = Array.isArray(given)
      ? await answerBatch(given, request, onBudget)
      : await exchange(messageOf(given), request, onBudget);
    return respond(answered, budget);
  };

  const answerBatch = async (
    batch: readonly unknown[],
    request: RestRequest,
    onBudget: (budget: BudgetHeaders) => void,
  ): Promise<MessageAnswer> => {
    const problem = batchProblem(batch, request.headers['mcp-protocol-version']);
    if (problem !== undefined) {
      const { refusal, budget } = await admit(request);
      onBudget(budget);
      return refusal === null ? protocolError(400, INVALID_REQUEST, problem) : refusedAnswer(refusal);
    }
    const answers = await Promise.all(
      batch.map(async (message) => {
        await turn(request);
        return exchange(messageOf(message), request, onBudget);
      }),
    );
    const bodies = answers.map(({ body }) => body).filter((body) => body !== '');
    return bodies.length === 0 ? ACCEPTED : { status: 200, body: `[${bodies.join(',')}]` };
  };

  const answer = async (request: RestRequest): Promise<RestResponse> => {
    const { origin } = request.headers;
    try {
      if (origin !== undefined && !origins.includes(origin))
        return respond(protocolError(403, REQUEST_REFUSED, ORIGIN_REFUSED));
      return request.method === 'POST' ? await post(request) : await notPosted(request, admit);
    } catch (error) {
      if (!(error instanceof AppError)) {
        logger.error({ err: loggedError(error), correlationId: request.correlationId }, 'request failed unexpectedly');
      }
      return respond(refusedAnswer(error));
    }
  };
  return { answer: (request) => (request.path === MCP_PATH ? answer(request) : undefined) };
}

/** There is no stream to open with GET, and no session to end with DELETE. */
async function notPosted(request: RestRequest, admit: Admit): Promise<RestResponse> {
  const { refusal } = await admit(request);
  if (refusal !== null) throw refusal;
  const { code, message, status } = new MethodNotAllowedError(request.method, MCP_PATH, ['POST']);
  return errorResponse({ code, message, status, allow: ['POST'] }, request.correlationId);
}

function respond({ status, body, headers }: MessageAnswer, budget: BudgetHeaders = {}): RestResponse {
  const type = body === '' ? undefined : { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers: { ...type, 'cache-control': 'no-store', ...headers }, budget, body };
}

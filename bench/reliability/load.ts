import { Agent, request } from 'node:http';
import { withoutUndefined } from '../../src/shared/without-undefined.ts';

export interface Call {
  /** Kind of call, for the table. */
  readonly name: string;
  /** Expected answers: a status, or a refusal as its status and code. Absent: 200 only. */
  readonly expects?: readonly string[] | undefined;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface LoadOptions {
  /** Base URLs, used in turn; read before every request, because processes start and stop. */
  readonly targets: () => readonly string[];
  readonly perSecond: number;
  /** Maximum number of requests at once; above it a tick is left out and counted. */
  readonly maxOpen: number;
  readonly next: () => Call;
}

export interface LoadStats {
  readonly requests: number;
  /** By HTTP status; `lost` = the connection failed or no answer came within the limit. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Calls by name and status, where the status is 500 or more or there was none. */
  readonly failures: Readonly<Record<string, number>>;
  /** Calls by name and answer: the status, of refusals the code too. */
  readonly answers: Readonly<Record<string, number>>;
  /** Those of them that the call does not expect, and refusals without a cause or a waiting time. */
  readonly wrong: Readonly<Record<string, number>>;
  readonly leftOut: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Load {
  /** Results since the last call. */
  take(): LoadStats;
  stop(): Promise<LoadStats>;
}

const LIMIT_MS = 20_000;
const TICK_MS = 20;

/** Send requests at a steady rate, independent of the duration of answers. */
export function startLoad({ targets, perSecond, maxOpen, next }: LoadOptions): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: maxOpen });
  let statuses: Record<string, number> = {};
  let failures: Record<string, number> = {};
  let answers: Record<string, number> = {};
  let wrong: Record<string, number> = {};
  let durations: number[] = [];
  let leftOut = 0;
  let open = 0;
  let turn = 0;
  let owed = 0;
  let lastMs = Date.now();
  const count = (record: Record<string, number>, key: string) => {
    record[key] = (record[key] ?? 0) + 1;
  };
  const send = async (): Promise<void> => {
    const all = targets();
    const target = all[turn++ % all.length];
    if (target === undefined) return;
    const call = next();
    const startedMs = performance.now();
    open += 1;
    const { status, answer, fault } = await ask(agent, target, call);
    open -= 1;
    durations.push(performance.now() - startedMs);
    count(statuses, status);
    count(answers, `${call.name} ${answer}`);
    if (fault !== undefined) count(wrong, `${call.name} ${answer}: ${fault}`);
    else if (!(call.expects ?? ['200']).includes(answer)) count(wrong, `${call.name} ${answer}`);
    if (status === 'lost' || Number(status) >= 500) count(failures, `${call.name} ${status}`);
  };
  const timer = setInterval(() => {
    owed += ((Date.now() - lastMs) * perSecond) / 1_000;
    lastMs = Date.now();
    for (; owed >= 1; owed -= 1) {
      if (open >= maxOpen) leftOut += 1;
      else void send();
    }
  }, TICK_MS);
  const take = (): LoadStats => {
    const sorted = durations.sort((a, b) => a - b);
    const at = (share: number) =>
      Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10;
    const stats = {
      requests: sorted.length,
      statuses,
      failures,
      answers,
      wrong,
      leftOut,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      maxMs: at(1),
    };
    statuses = {};
    failures = {};
    answers = {};
    wrong = {};
    durations = [];
    leftOut = 0;
    return stats;
  };
  return {
    take,
    async stop() {
      clearInterval(timer);
      while (open > 0) await new Promise((resolve) => setTimeout(resolve, TICK_MS));
      agent.destroy();
      return take();
    },
  };
}

interface Answer {
  /** HTTP status, or `lost`. */
  readonly status: string;
  /** The status, of refusals the code too. */
  readonly answer: string;
  /** Missing part of a refusal. */
  readonly fault?: string;
}

const LOST: Answer = { status: 'lost', answer: 'lost' };

function ask(agent: Agent, target: string, call: Call): Promise<Answer> {
  return new Promise((resolve) => {
    const sent = request(
      `${target}${call.path}`,
      {
        agent,
        method: call.method,
        timeout: LIMIT_MS,
        headers: withoutUndefined({
          'content-type': call.body === undefined ? undefined : 'application/json',
          ...call.headers,
        }),
      },
      (response) => {
        const { statusCode = 0, headers } = response;
        const chunks: Buffer[] = [];
        if (statusCode < 400) response.resume();
        else response.on('data', (chunk: Buffer) => chunks.push(chunk));
        const read = () => answerOf(statusCode, headers['retry-after'], Buffer.concat(chunks).toString());
        response.once('end', () => resolve(read()));
        response.once('error', () => resolve(LOST));
        response.once('close', () => resolve(response.complete ? read() : LOST));
      },
    );
    sent.once('timeout', () => sent.destroy());
    sent.once('error', () => resolve(LOST));
    sent.end(call.body);
  });
}

/** Temporary refusals have a waiting time. */
const SAYS_WHEN: ReadonlySet<number> = new Set([429, 503]);

function answerOf(statusCode: number, retryAfter: string | undefined, body: string): Answer {
  const status = String(statusCode);
  if (statusCode < 400) return { status, answer: status };
  const { code, message } = refusalIn(body);
  const answer = `${status} ${code ?? ''}`.trim();
  if (code === undefined || message === undefined) return { status, answer, fault: 'no code and message' };
  if (SAYS_WHEN.has(statusCode) && !/^[1-9]\d*$/.test(retryAfter ?? ''))
    return { status, answer, fault: 'no Retry-After' };
  return { status, answer };
}

/** Code and message of a refusal, in the envelope of REST or of GraphQL. */
function refusalIn(body: string): { readonly code?: string | undefined; readonly message?: string | undefined } {
  interface Refusal {
    readonly code?: string;
    readonly message?: string;
    readonly extensions?: { readonly code?: string };
  }
  try {
    const { error, errors } = JSON.parse(body) as { readonly error?: Refusal; readonly errors?: readonly Refusal[] };
    const refusal = error ?? errors?.[0];
    const code = refusal?.code ?? refusal?.extensions?.code;
    return { code, message: refusal?.message };
  } catch {
    return {};
  }
}

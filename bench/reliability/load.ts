import { Agent, request } from 'node:http';

export interface Call {
  /** What kind of call it is, for the table. */
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface LoadOptions {
  /** Base URLs, asked in turn; read before every request, so that processes may come and go. */
  readonly targets: () => readonly string[];
  readonly perSecond: number;
  /** Most requests under way at once; beyond them a tick is left out and counted. */
  readonly maxOpen: number;
  readonly next: () => Call;
}

export interface LoadStats {
  readonly requests: number;
  /** By HTTP status; `lost` = the connection failed or no answer came within the limit. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Calls by name and status, where the status is 500 or more or there was none. */
  readonly failures: Readonly<Record<string, number>>;
  readonly leftOut: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Load {
  /** What happened since the last time that it was asked. */
  take(): LoadStats;
  stop(): Promise<LoadStats>;
}

const LIMIT_MS = 20_000;
const TICK_MS = 20;

/** Send requests at a steady rate, however long the answers take. */
export function startLoad({ targets, perSecond, maxOpen, next }: LoadOptions): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: maxOpen });
  let statuses: Record<string, number> = {};
  let failures: Record<string, number> = {};
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
    const status = await ask(agent, target, call);
    open -= 1;
    durations.push(performance.now() - startedMs);
    count(statuses, status);
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
      leftOut,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      maxMs: at(1),
    };
    statuses = {};
    failures = {};
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

function ask(agent: Agent, target: string, call: Call): Promise<string> {
  return new Promise((resolve) => {
    const sent = request(
      `${target}${call.path}`,
      {
        agent,
        method: call.method,
        timeout: LIMIT_MS,
        headers: { ...(call.body === undefined ? {} : { 'content-type': 'application/json' }), ...call.headers },
      },
      (response) => {
        response.resume();
        response.once('end', () => resolve(String(response.statusCode)));
        response.once('error', () => resolve('lost'));
        response.once('close', () => resolve(response.complete ? String(response.statusCode) : 'lost'));
      },
    );
    sent.once('timeout', () => sent.destroy());
    sent.once('error', () => resolve('lost'));
    sent.end(call.body);
  });
}

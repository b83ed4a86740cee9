import autocannon from 'autocannon';
import { withoutUndefined } from '../src/shared/without-undefined.ts';
import type { Child } from './child.ts';

type Request = Parameters<typeof autocannon>[0]['requests'][number];

export interface Shot {
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** Called for each request: bodies may differ. */
  readonly body?: () => string;
  /** Expected status. */
  readonly status?: number;
}

export interface Measured {
  readonly perSec: number;
  /** CPU time of the server per request, microseconds. */
  readonly cpuUs: number;
  /** The part of it outside of the kernel, microseconds. */
  readonly userUs: number;
}

const CONNECTIONS = 24;
const PATIENT_MS = 10_000;

/** Send requests for `ms`, as fast as the server answers. @throws Error for an unexpected answer */
export async function measure(child: Child, shot: Shot, ms: number, connections = CONNECTIONS): Promise<Measured> {
  const { path, method = 'GET', headers = {}, body, status = 200 } = shot;
  const before = await child.cost();
  const run = (forMs: number) =>
    autocannon({
      url: `${child.url}${path}`,
      connections,
      duration: forMs / 1_000,
      requests: [
        // autocannon calls setupRequest if the property exists, so it is left out without a body.
        withoutUndefined({
          method,
          headers: withoutUndefined({ ...headers, 'content-type': body && 'application/json' }),
          setupRequest: body && ((request: Request) => ({ ...request, body: body() })),
        }),
      ],
    });
  let result = await run(ms);
  // On a crowded machine the slowest peer may take longer for its first answers.
  if (result.requests.total === 0) result = await run(PATIENT_MS);
  const after = await child.cost();
  const answered = result.requests.total;
  const expected = (result.statusCodeStats?.[String(status)]?.count as number | undefined) ?? 0;
  if (answered === 0 || expected !== answered) {
    throw new Error(`${child.url}${path} answered ${JSON.stringify(result.statusCodeStats)} instead of ${status}`);
  }
  return {
    perSec: answered / result.duration,
    cpuUs: (after.cpuUs - before.cpuUs) / answered,
    userUs: (after.userUs - before.userUs) / answered,
  };
}

/** Median of several measurements, of each number separately. */
export function median(all: readonly Measured[]): Measured {
  const middle = (of: (one: Measured) => number) => {
    const sorted = all.map(of).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  };
  return {
    perSec: middle((one) => one.perSec),
    cpuUs: middle((one) => one.cpuUs),
    userUs: middle((one) => one.userUs),
  };
}

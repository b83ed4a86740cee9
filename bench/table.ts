import type { Measured } from './load.ts';
import type { Contender, Row } from './rows.ts';

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Titles of contenders with unclear names. */
const TITLES: Partial<Record<Contender, string>> = { same: 'bare, same head', deployed: 'fastify, as deployed' };
const ORDER: readonly Contender[] = ['service', 'bare', 'same', 'hono', 'fastify', 'deployed', 'yoga', 'mercurius'];

/** Print the head of the table of answers. */
export function tableHead(rounds: number): void {
  say(`\nmedians of ${rounds} interleaved rounds; ratio = service / other (above 1: the service is faster)\n`);
  say('| row | server | requests/s | CPU µs/request: user | system | ratio by requests | by CPU | by user CPU |');
  say('|---|---|--:|--:|--:|--:|--:|--:|');
}

/** Print a line per contender: requests per second, CPU time outside of and in the kernel, and the service's ratios to it. */
export function tableRow({ title }: Row, measured: ReadonlyMap<Contender, Measured>): void {
  const service = measured.get('service');
  if (!service) return;
  for (const contender of ORDER) {
    const one = measured.get(contender);
    if (!one) continue;
    const ratio = (value: number) => (contender === 'service' ? '' : value.toFixed(2));
    say(
      `| ${contender === 'service' ? title : ''} | ${TITLES[contender] ?? contender} | ${Math.round(one.perSec)} ` +
        `| ${one.userUs.toFixed(1)} | ${(one.cpuUs - one.userUs).toFixed(1)} ` +
        `| ${ratio(service.perSec / one.perSec)} | ${ratio(one.cpuUs / service.cpuUs)} | ${ratio(one.userUs / service.userUs)} |`,
    );
  }
}

import type { Measured } from './load.ts';
import type { Contender, Row } from './rows.ts';

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Titles of contenders with unclear names. */
const TITLES: Partial<Record<Contender, string>> = { same: 'bare, same head' };
const ORDER: readonly Contender[] = ['service', 'bare', 'same', 'hono', 'fastify', 'yoga', 'mercurius'];

/** Print the head of the table of answers. */
export function tableHead(rounds: number): void {
  say(`\nmedians of ${rounds} interleaved rounds; ratio = service / other (above 1: the service is faster)\n`);
  say('| row | server | requests/s | CPU µs/request | ratio by requests | ratio by CPU |');
  say('|---|---|--:|--:|--:|--:|');
}

/** Print a line per contender: requests per second, the service's ratio to it, and the same by CPU time. */
export function tableRow({ title }: Row, measured: ReadonlyMap<Contender, Measured>): void {
  const service = measured.get('service');
  if (!service) return;
  for (const contender of ORDER) {
    const one = measured.get(contender);
    if (!one) continue;
    const ratio = (value: number) => (contender === 'service' ? '' : value.toFixed(2));
    say(
      `| ${contender === 'service' ? title : ''} | ${TITLES[contender] ?? contender} | ${Math.round(one.perSec)} | ${one.cpuUs.toFixed(1)} ` +
        `| ${ratio(service.perSec / one.perSec)} | ${ratio(one.cpuUs / service.cpuUs)} |`,
    );
  }
}

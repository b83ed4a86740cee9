import { setTimeout } from 'node:timers/promises';
import { SAMPLE_KEYS, type World } from './index.ts';
import type { During } from './progress.ts';

export interface WelcomeOptions {
  readonly world: World;
  /** URL of the service. */
  readonly url: string;
  readonly during: During;
  readonly write: (text: string) => void;
}

/** Print the addresses of the local world and the first requests to try, then that the service is ready. */
export async function printWelcome({ world, url, during, write }: WelcomeOptions): Promise<void> {
  const keys = [...SAMPLE_KEYS].map(([key, { tier }]) => `${key} (${tier})`).join(', ');
  write(`
spiral-gateway, local world: nothing here is real money, nothing leaves this machine.

  Home       ${url}/
  GraphiQL   ${url}/graphql
  REST       ${url}/v1/strategies
  Docs       ${url}/docs
  Example    ${url}/app/
  Ops page   ${url}/ops
  Health     ${url}/health
  Chains     1 at ${world.chains.on(1).rpcUrl}, 4663 at ${world.chains.on(4663).rpcUrl}
  Control    ${world.control.url}
  Webhooks   ${world.receiver.url} takes the webhooks of alerts and lists them
  Keys       ${keys}

Try:
  curl '${url}/v1/strategies'
  curl '${url}/v1/strategies?chainId=4663'
  curl '${url}/graphql' -H 'content-type: application/json' -d '{"query":"{ strategies(first: 3) { nodes { strategyId apyPct } } }"}'

`);
  await during('the first measurements', untilReady(url));
  write('Ready. The costs of selling are measured one by one, within the limits of the venues.\n');
}

/** Wait until the service is ready, or has stopped. */
async function untilReady(url: string): Promise<void> {
  const statusOf = () =>
    fetch(`${url}/ready`).then(
      ({ status }) => status,
      () => undefined,
    );
  for (let status = await statusOf(); status === 503; status = await statusOf())
    await setTimeout(250, undefined, { ref: false });
}

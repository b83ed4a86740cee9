import type { Catalog } from '../src/catalog/index.ts';
import { faultSchema, type Upstreams } from './upstreams/index.ts';

interface HelpOptions {
  readonly catalog: Catalog;
  readonly upstreams: Pick<Upstreams, 'urls'>;
}

/** A wallet that is no user of the world. */
const stranger = '0x000000000000000000000000000000000000dEaD';

/** The actions of the control endpoint, with examples that are valid on this world. */
export function controlHelp({ catalog, upstreams }: HelpOptions): unknown {
  const chain = catalog.chains[0];
  const stock = catalog.chains.flatMap(({ markets }) => markets).find(({ kind }) => kind === 'stock');
  return {
    what: 'The control endpoint of the local world: sets faults of the simulated providers, moves oracles, lets time pass.',
    chains: catalog.chainIds,
    providers: upstreams.urls,
    faults: Object.fromEntries(
      faultSchema.options.map(({ shape: { kind, ...fields } }) => [kind.value, Object.keys(fields)]),
    ),
    can: {
      'GET /settings': 'The settings with which another process of the service runs on this world, as NAME=value.',
      'GET /faults': 'The faults that are set.',
      'POST /faults': {
        does: 'Sets a fault of a provider, or of "all"; "path" limits it to requests whose path contains that text, "times" to a number of requests.',
        examples: [
          { provider: 'merkl', fault: 'hang' },
          { provider: 'coingecko', fault: { kind: 'rateLimited', retryAfterSec: 30 }, times: 3 },
          { provider: 'pendle', fault: { kind: 'status', status: 502 }, path: '/v2/markets' },
          { provider: 'kyberswap', fault: { kind: 'answer', status: 400, body: { code: 4004 } }, path: '/robinhood/' },
          { provider: 'merkl', fault: { kind: 'fields', set: { whitelist: [stranger] } } },
        ],
      },
      'DELETE /faults?provider=merkl': 'Removes the faults of one provider; without provider, of all.',
      'POST /oracle': {
        does: 'Moves the price of a market, or of every market with that collateral.',
        examples: [
          { chainId: chain?.chainId, token: chain?.markets[0]?.collateral.symbol, movePercent: -5 },
          { chainId: chain?.chainId, marketId: chain?.markets[0]?.id, price: '1.02' },
        ],
      },
      'POST /feed': {
        does: 'Stops the feed behind an oracle, lets it run again, or sets the date that it reports (unix seconds).',
        examples: [
          { chainId: stock?.chainId, token: stock?.collateral.symbol, state: 'frozen' },
          { chainId: stock?.chainId, token: stock?.collateral.symbol, updatedAt: '0' },
          { chainId: stock?.chainId, token: stock?.collateral.symbol, state: 'running' },
        ],
      },
      'POST /time': { does: 'Lets time pass on one chain.', examples: [{ chainId: chain?.chainId, seconds: 86_400 }] },
      'GET /requests?provider=merkl': 'The recorded requests to the providers, and their number.',
      'DELETE /requests': 'Removes the recorded requests.',
    },
  };
}

import { getAddress, numberToHex, pad } from 'viem';
import { createCatalog, curatedChains } from '../src/catalog/index.ts';
import type { Registration } from '../src/database/registrations.ts';
import { composeChain } from '../src/domain/compose.ts';
import { createPortfolios } from '../src/services/portfolios.ts';
import { createPositions } from '../src/services/positions.ts';
import { silentLogger } from '../src/shared/logger.ts';
import { systemTimers } from '../src/shared/timers.ts';
import { createPartnerServices, createVenueStatistics } from '../src/transactions/index.ts';
import { BUDGETS, completeFacts, NOW_MS, PARAMS } from '../test/domain/world.ts';
import { PARTNER_KEY, startTestGateway, UNLIMITED } from '../test/http/test-gateway.ts';
import { createStubChain } from './stub-chain.ts';
import { noDriftHistory, registrationsOf, syntheticReader } from './synthetic-wallets.ts';

export interface PartnerWorld {
  readonly strategyId: string;
  readonly loan: string;
  readonly collateral: string;
  readonly wallets: readonly string[];
  /** Wallets whose screen is measured, with their number of positions. */
  readonly screens: readonly (readonly [wallet: string, positions: number])[];
  /** Sequential waits of a build for another system. */
  readonly stepsOneSwap: number;
  readonly stepsTwoSwaps: number;
}

export const BUILD_PATH = '/v1/partner/leverage/build';
/** Common input of all builds beside the market and the token. */
export const BUILD = { chainId: 1, amount: '1000', leverage: 2 };

const CHAIN_ID = 1;
/** Positions of the wallets whose screen is measured. */
const SCREEN_SIZES = [1, 10, 100];

/** Start the partner and ops surfaces over HTTP, with a chain, venues and a database that answer at once. */
export async function startPartnerWorld({ registered }: { readonly registered: number }) {
  const catalog = createCatalog(curatedChains);
  const chain = catalog.chain(CHAIN_ID);
  const market = chain?.markets.find(({ kind, collateral }) => kind === 'loop' && !collateral.isPt);
  if (!chain || !market) throw new Error(`no loop market on chain ${CHAIN_ID}`);
  const facts = completeFacts(chain);
  const composed = composeChain(chain, facts, PARAMS);
  const clock = { now: () => NOW_MS };
  const stub = createStubChain({ chain, market, facts, nowMs: NOW_MS });
  const owners = Array.from({ length: registered }, (_, n) =>
    getAddress(pad(numberToHex(n * 7_919 + 1), { size: 20 })),
  );
  const screens = SCREEN_SIZES.map(
    (size) => [getAddress(pad(numberToHex(2 ** 40 + size), { size: 20 })), size] as const,
  );
  const { reader } = syntheticReader(chain, owners, new Map(screens));
  const rows = new Map(owners.map((wallet) => [wallet, [] as Registration[]]));
  for (const row of registrationsOf(chain, owners)) rows.get(row.wallet)?.push(row);
  const common = { catalog, clock, composed: () => composed, facts: () => facts, timers: systemTimers };
  const wallets = {
    readers: new Map([[CHAIN_ID, reader]]),
    directory: { find: async () => ({ wallets: owners, block: stub.block, unreadable: 0 }) },
    registrations: {
      byWallets: async (requested: readonly (typeof owners)[number][]) =>
        new Map(requested.map((wallet) => [wallet, rows.get(wallet) ?? []])),
      pageOfChain: async () => ({ rows: [...rows.values()].flat(), next: null }),
    },
  };
  const { leverage, equity } = createPartnerServices({
    ...common,
    nodes: new Map([[CHAIN_ID, stub.nodes]]),
    quotes: [stub.venue],
    venueStatistics: createVenueStatistics(),
    budgets: BUDGETS,
    appUrl: 'https://app.example',
    gasPriceOf: async () => undefined,
    readWallet: async () => {
      throw new Error('no vault is built here');
    },
  });
  const gateway = await startTestGateway({
    env: UNLIMITED,
    services: {
      leverage,
      equity,
      positions: createPositions({ ...common, ...wallets }),
      ops: createPortfolios({
        ...common,
        ...wallets,
        partSales: async () => new Map(),
        drift: noDriftHistory,
        samples: { record: async () => {}, since: async () => [] },
        logger: silentLogger,
        staleAfterSec: 86_400,
      }),
    },
  });
  const steps = async (payToken: string): Promise<number> => {
    const body = JSON.stringify({ ...BUILD, strategyId: market.id, payToken, userAddress: owners[0] });
    const headers = { ...PARTNER_KEY, 'content-type': 'application/json' };
    const build = () => gateway.send(BUILD_PATH, { method: 'POST', headers, body });
    // Only the first build with a token looks for its balance slot.
    await build();
    stub.takeSteps();
    const { status, text } = await build();
    if (status !== 200) throw new Error(`the build was answered ${status}: ${text}`);
    return stub.takeSteps();
  };
  const world: PartnerWorld = {
    strategyId: market.id,
    loan: market.loan.address,
    collateral: market.collateral.address,
    wallets: owners.slice(0, 100),
    screens,
    stepsOneSwap: await steps(market.collateral.address),
    stepsTwoSwaps: await steps(market.loan.address),
  };
  return { url: gateway.url, world, stop: () => gateway.stop() };
}

import { getAddress, numberToHex, pad } from 'viem';
import { noDriftHistory, registrationsOf, syntheticReader } from '../../bench/synthetic-wallets.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import type { Registration } from '../../src/database/registrations.ts';
import { composeChain } from '../../src/domain/compose.ts';
import { countsOf } from '../../src/domain/portfolio/report.ts';
import type { PortfolioEntry } from '../../src/domain/portfolio/types.ts';
import type { OpsPort } from '../../src/resolvers/ops/ops-services.ts';
import { createPortfolios } from '../../src/services/portfolios.ts';
import type { Address } from '../../src/shared/ids.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import { chainOf, completeFacts, NOW_MS, PARAMS } from '../domain/world.ts';

const CHAIN_ID = 1;

/** More pages of a stream than calls of a field that an ops key has per minute. */
export const MANY = 10_000;
/** Long enough that many of them exceed the buffers of a connection. */
const LONG_MESSAGE = 'This wallet could not be read. '.repeat(60);

/** Addresses in ascending order. */
function ownersOf(count: number): readonly Address[] {
  return Array.from({ length: count }, (_, n) => getAddress(pad(numberToHex(n * 7_919 + 1), { size: 20 })));
}

/** The real reading of portfolios on chain 1, over a chain and a register that answer from memory. */
export function portfoliosOf(wallets: number): OpsPort {
  const chain = chainOf(CHAIN_ID);
  const facts = completeFacts(chain);
  const composed = composeChain(chain, facts, PARAMS);
  const owners = ownersOf(wallets);
  const { reader } = syntheticReader(chain, owners);
  const rows: Registration[] = registrationsOf(chain, owners);
  const block = {
    number: 100_000n,
    timestamp: BigInt(NOW_MS / 1_000),
    hash: `0x${'22'.repeat(32)}`,
    nodeIndex: 1,
  } as const;
  return createPortfolios({
    catalog: createCatalog(curatedChains),
    readers: new Map([[CHAIN_ID, reader]]),
    directory: { find: async () => ({ wallets: owners, block, unreadable: 0 }) },
    registrations: {
      byWallets: async (requested) =>
        new Map(requested.map((wallet) => [wallet, rows.filter((row) => row.wallet === wallet)])),
      pageOfChain: async () => ({ rows, next: null }),
    },
    partSales: async () => new Map(),
    drift: noDriftHistory,
    samples: { record: async () => {}, since: async () => [] },
    composed: () => composed,
    facts: () => facts,
    clock: { now: () => NOW_MS },
    timers: systemTimers,
    logger: silentLogger,
    staleAfterSec: 60,
  });
}

/** A report of many unreadable wallets, which render fast. Calls `onRender` for each one. */
export function reportWith(wallets: number, onRender: (n: number) => void = () => {}): Pick<OpsPort, 'report'> {
  const entries = ownersOf(wallets).map(
    (wallet, n): PortfolioEntry => ({
      chainId: CHAIN_ID,
      wallet,
      get failure() {
        onRender(n);
        return { reason: 'malformed' as const, message: LONG_MESSAGE };
      },
    }),
  );
  const report = {
    chainId: CHAIN_ID,
    blockNumber: 100_000n,
    asOfMs: NOW_MS,
    computedAtMs: NOW_MS,
    entries,
    rows: [],
    counts: countsOf(entries),
  };
  return { report: async () => ({ report, failure: null }) };
}

import { keccak256, numberToHex, toHex } from 'viem';
import { z } from 'zod';
import type { Chain } from '../catalog/types.ts';
import type { LogSources } from '../chain/logs/filters.ts';
import { proxyAddress } from '../chain/plans/wallets.ts';
import type { Reading } from '../chain/reading.ts';
import { ChainReadError, toChainReadError } from '../chain/rpc/errors.ts';
import type { Address } from '../shared/ids.ts';
import { inTurns } from '../shared/turns.ts';

/** The contracts and tokens that are read of a chain. */
export interface IndexedScope {
  /** Begins with the hash of the first block, and differs for other contracts, tokens or stock markets. */
  readonly key: string;
  /** Number of contracts that the product's contract has created, the implementation behind the proxies included. */
  readonly createdContracts: number;
}

/** Whether two scopes are of one chain: the states of its markets stay right when its logs are read anew. */
export function isSameChain(scope: string, other: string): boolean {
  return scope.split('-')[0] === other.split('-')[0];
}

/** More positions than a chain can have. A larger number would only cost memory. */
const MAX_CREATED = 1_000_000;
/** The nonce of a contract begins at 1, which creates the implementation behind the proxies. */
const FIRST_PROXY = 2;

const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,8}$/i)
  .transform(Number);
const genesis = z.object({ hash: z.string().regex(/^0x[0-9a-f]{64}$/i) });

/** Read the scope at the block of a reading. @throws ChainReadError */
export async function readScope(
  { client, block }: Pick<Reading, 'client' | 'block'>,
  { contracts }: Pick<Chain, 'contracts'>,
  { tokens, stockMarkets }: LogSources,
  signal: AbortSignal,
): Promise<IndexedScope> {
  const [first, nonce]: unknown[] = await Promise.all([
    client.request({ method: 'eth_getBlockByNumber', params: ['0x0', false] }, { signal }),
    client.request(
      { method: 'eth_getTransactionCount', params: [contracts.flashLeverage, numberToHex(block.number)] },
      { signal },
    ),
  ]).catch((error: unknown) => {
    throw toChainReadError(error, signal);
  });
  const [origin, count] = [genesis.safeParse(first), quantity.safeParse(nonce)];
  if (!origin.success || !count.success) throw new ChainReadError('malformed');
  if (count.data > MAX_CREATED) throw new ChainReadError('implausible');
  const sorted = [...tokens].sort();
  const parts = [contracts.morphoBlue, contracts.flashLeverage, contracts.flashLeverageRouter, ...sorted];
  const text = [...parts, ...[...stockMarkets].sort()].join().toLowerCase();
  return {
    key: `${origin.data.hash.toLowerCase()}-${keccak256(toHex(text))}`,
    createdContracts: Math.max(0, count.data - 1),
  };
}

/** Create the list of the contracts of positions by their number. Addresses are computed once. */
export function createAccounts(flashLeverage: Address): (createdContracts: number) => Promise<readonly Address[]> {
  const known: Address[] = [];
  return async (createdContracts) => {
    const missing = Array.from(
      { length: Math.max(0, createdContracts - 1 - known.length) },
      (_, i) => known.length + i + FIRST_PROXY,
    );
    for await (const nonce of inTurns(missing)) known.push(proxyAddress(flashLeverage, nonce));
    return known.slice(0, Math.max(0, createdContracts - 1));
  };
}

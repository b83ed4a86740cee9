import { decodeFunctionResult, encodeFunctionData, type Hex } from 'viem';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import type { MarketParams } from '../../src/catalog/market-id.ts';
import type { Chain, Market, Token } from '../../src/catalog/types.ts';
import type { LendingReading } from '../../src/chain/markets.ts';
import { createReadAt } from '../../src/chain/read-at.ts';
import { createChainReader, type DeploymentReading } from '../../src/chain/reader.ts';
import type { Reading } from '../../src/chain/reading.ts';
import type { ChainNodes } from '../../src/chain/rpc/nodes.ts';
import type { Call, CallResult, ReadOptions } from '../../src/chain/types.ts';
import type { Clock } from '../../src/shared/clock.ts';
import type { Address, MarketId } from '../../src/shared/ids.ts';

/** Readings at the addresses of the catalog; `undefined` = no answer. */
export interface CatalogReading {
  /** The reading that the deployment warmer makes as well. */
  readonly deployment: DeploymentReading;
  readonly lending: LendingReading | undefined;
  readonly hasCode: ReadonlyMap<Address, boolean | undefined>;
  /** The highest LTV that the deployed contract accepts, WAD. */
  readonly maxLtv: ReadonlyMap<MarketId, bigint | undefined>;
}

/** Addresses of a chain's catalog that the warmers do not compare, by kind. */
export function otherAddresses({ contracts, markets }: Chain): readonly {
  readonly what: string;
  readonly address: Address;
}[] {
  const { morphoBlue, adaptiveCurveIrm, multicall3, publicAllocator } = contracts;
  const named = Object.entries({ morphoBlue, adaptiveCurveIrm, multicall3, publicAllocator }).flatMap(
    ([name, address]) => (address === undefined ? [] : [{ what: `contract ${name}`, address }]),
  );
  const behind = markets.flatMap((market) => [
    { what: `oracle of ${labelOf(market)}`, address: market.oracle },
    { what: `rate model of ${labelOf(market)}`, address: market.irm },
  ]);
  return [...new Map([...behind, ...named].map((entry) => [entry.address, entry])).values()];
}

export function erc20sOf(chain: Chain): readonly Token[] {
  return chain.tokens.filter(({ isNative }) => !isNative);
}

/** Display name of a market: its pair, its liquidation LTV and the beginning of its id, which distinguishes equal ones. */
export function labelOf({ collateral, loan, lltv, id }: Market): string {
  return `${collateral.symbol}/${loan.symbol} ${Number(lltv / 10n ** 14n) / 100} (${id.slice(0, 8)})`;
}

/**
 * Read everything of one chain.
 * @throws ChainReadError when nothing can be read
 */
export async function readCatalog(
  nodes: ChainNodes,
  chain: Chain,
  clock: Clock,
  options: ReadOptions,
): Promise<CatalogReading> {
  const reader = createChainReader({ nodes, chain, clock });
  const { chainId, contracts } = chain;
  const readAt = createReadAt({ chainId, multicall3: contracts.multicall3, clock });
  const [deployment, lending, others] = await Promise.all([
    reader.readDeployment(chain, options),
    reader.readLendingState(chain.markets, options).catch(() => undefined),
    nodes.read(
      async (reading) => ({
        hasCode: await readCodes(reading, chain, options),
        maxLtv: foldMaxLtv(chain, (await readAt(reading, planMaxLtv(chain), { ...options, isolate: true })).results),
      }),
      options,
    ),
  ]);
  return { deployment, lending, ...others };
}

async function readCodes(
  { client, at }: Reading,
  chain: Chain,
  { signal }: ReadOptions,
): Promise<CatalogReading['hasCode']> {
  const answers = await Promise.all(
    otherAddresses(chain).map(async ({ address }) => {
      const code: unknown = await client
        .request({ method: 'eth_getCode', params: [address, at] }, signal ? { signal } : {})
        .catch(() => undefined);
      return [address, typeof code === 'string' ? code !== '0x' : undefined] as const;
    }),
  );
  return new Map(answers);
}

/** The five parameters whose hash is a market's id, as the catalog has them. */
function paramsOf({ loan, collateral, oracle, irm, lltv }: Market): MarketParams {
  return { loanToken: loan.address, collateralToken: collateral.address, oracle, irm, lltv };
}

function planMaxLtv({ contracts, markets }: Chain): readonly Call[] {
  return markets.map((market) => ({
    to: contracts.flashLeverage,
    data: encodeFunctionData({ abi: flashLeverageAbi, functionName: 'getMaxLtv', args: [paramsOf(market)] }),
  }));
}

function foldMaxLtv({ markets }: Chain, results: readonly CallResult[]): CatalogReading['maxLtv'] {
  return new Map(markets.map(({ id }, i) => [id, ltvIn(results[i])] as const));
}

function ltvIn(result: CallResult | undefined): bigint | undefined {
  if (!result?.ok) return undefined;
  try {
    return decodeFunctionResult({ abi: flashLeverageAbi, functionName: 'getMaxLtv', data: result.data as Hex });
  } catch {
    return undefined;
  }
}

import type { Market, Token } from '../../../src/catalog/types.ts';
import { composeChain } from '../../../src/domain/compose.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import type { Address } from '../../../src/shared/ids.ts';
import type { BuilderDeps } from '../../../src/transactions/deps.ts';
import { tokenUsdPrices } from '../../../src/transactions/deps.ts';
import type { ManageInput } from '../../../src/transactions/manage/index.ts';
import { createQuoter } from '../../../src/transactions/quote/quoter.ts';
import { referenceFor } from '../../../src/transactions/quote/reference.ts';
import { createVenueStatistics } from '../../../src/transactions/quote/statistics.ts';
import { createTokenDirectory } from '../../../src/transactions/read/tokens.ts';
import type { SwapRequest } from '../../../src/upstreams/types.ts';
import { BUDGETS, completeFacts, NOW_MS, PARAMS, withItem } from '../../domain/world.ts';
import { catalog } from '../world.ts';
import { modelChain } from './chain.ts';
import {
  chainOf,
  type Kind,
  type Left,
  manageKinds,
  marketOf,
  openKind,
  type Source,
  tokenOf,
  vaultKinds,
} from './kinds.ts';
import { type ModelLie, modelVenues } from './venues.ts';

type LieOf = (source: Source, swap: SwapRequest) => ModelLie | undefined;

/** The oracle prices against the venues', a factor in thousandths. */
export const REFERENCE_OF = {
  right: 1_000n,
  'above the market': 1_006n,
  discounted: 970n,
  'frozen while the market fell': 1_025n,
  'wrong, twice the market': 2_000n,
  'wrong, half the market': 500n,
} as const;
export type Reference = keyof typeof REFERENCE_OF;

export interface Built {
  /** The venue of each swap, in the order of the path's swaps. */
  readonly sources: readonly Source[];
  execute(): Left | 'reverted';
}

export interface ModelPath {
  readonly name: string;
  readonly sources: readonly Source[];
  readonly swaps: readonly {
    readonly tokenIn: Address;
    readonly tokenOut: Address;
    readonly recipient?: Address | undefined;
  }[];
  /** The value of a swap's input, base units. */
  reference(reference: Reference, index: number, amountIn: bigint): bigint;
  build(reference: Reference, lieOf: LieOf): Promise<Built>;
}

const TIMESTAMP = BigInt(NOW_MS / 1_000);

/** Honest prices of the venues, USD per whole token. */
const STABLE = new Decimal(1);
const LOOPED = new Decimal('1.07');
const STOCK = new Decimal(500);
const ETH = new Decimal(2_500);

function pathOf(kind: Kind): ModelPath {
  const { chainId, market, vault, sources, before } = kind;
  const chain = chainOf(chainId);
  const markets = [market, ...(vault ? [vault.stockMarket] : [])];
  const usd = (token: Token): Decimal => {
    if (token.symbol === 'ETH' || token.symbol === 'WETH') return ETH;
    if (vault && token.address === vault.stock.address) return STOCK;
    return markets.some(({ collateral }) => collateral.address === token.address) ? LOOPED : STABLE;
  };
  const truePrice = ({ collateral, loan }: Market) =>
    BigInt(
      usd(collateral)
        .div(usd(loan))
        .shiftedBy(36 + loan.decimals - collateral.decimals)
        .toFixed(0),
    );
  const pricesAt = (reference: Reference) =>
    new Map(markets.map((of) => [of.oracle, (truePrice(of) * REFERENCE_OF[reference]) / 1_000n]));
  const measured = chain.tokens.filter((token) => usd(token) !== LOOPED && usd(token) !== STOCK);
  const facts = measured.reduce(
    (sum, token) => withItem(sum, 'price', token.address, { value: { usd: usd(token) } }),
    completeFacts(chain),
  );
  const composed = composeChain(chain, facts, PARAMS);
  const shared = {
    chains: catalog.chains,
    clock: { now: () => NOW_MS },
    budgets: BUDGETS,
    facts: () => facts,
    composed: () => composed,
    feeReceiver: undefined,
    appUrl: undefined,
    vaultOf: async () => null,
    gasPriceOf: async () => undefined,
  };
  const never = { setTimeout: () => null, clearTimeout: () => {} };
  return {
    name: `${kind.name} on chain ${chainId}${sources.includes('YieldMarket') ? ', a principal token' : ''}`,
    sources,
    swaps: kind.swaps.map(({ tokenIn, tokenOut, recipient }) => ({
      tokenIn: tokenIn.address,
      tokenOut: tokenOut.address,
      recipient,
    })),
    reference(reference, index, amountIn) {
      const swap = kind.swaps[index];
      const usdOf = tokenUsdPrices(shared as unknown as BuilderDeps, chain);
      const found =
        swap && referenceFor({ ...swap, price: pricesAt(reference).get(swap.market.oracle) ?? 0n, amountIn, usdOf });
      if (!found) throw new Error(`nothing prices swap ${index} of ${kind.name}`);
      return found.amountOut;
    },
    async build(reference, lieOf) {
      const prices = pricesAt(reference);
      const priceOf = (oracle: Address) => prices.get(oracle) ?? 0n;
      const venues = modelVenues({
        chain,
        sources,
        lieOf,
        expiresAtMs: NOW_MS + 60_000,
        fair: (tokenIn, tokenOut, amountIn) =>
          BigInt(
            new Decimal(amountIn.toString())
              .times(usd(tokenIn))
              .div(usd(tokenOut))
              .shiftedBy(tokenOut.decimals - tokenIn.decimals)
              .toFixed(0, Decimal.ROUND_DOWN),
          ),
      });
      const model = modelChain({
        chain,
        market,
        vault,
        before,
        venues,
        priceOf,
        timestamp: TIMESTAMP,
      });
      const statistics = createVenueStatistics();
      const deps: BuilderDeps = {
        ...shared,
        venueStatistics: statistics,
        quoter: createQuoter({ venues: venues.ports, timers: never, statistics }),
        tokens: createTokenDirectory(),
        node: () => model.node,
      };
      const { swaps, calls, left } = await kind.run(deps, { proxy: model.proxy, priceOf });
      return {
        sources: swaps.map(({ quote }) => quote.source),
        execute() {
          const after = model.execute(calls);
          return after ? left(after) : 'reverted';
        },
      };
    },
  };
}

const BOTH: readonly Source[] = ['AggregatorOne', 'AggregatorTwo'];
const ONE: readonly Source[] = ['AggregatorOne'];
const susde = marketOf(1, 'sUSDe', 'PYUSD');
const principal = marketOf(1, 'PT-sUSDe', 'USDC');
const usdg = marketOf(4663, 'syrupUSDG', 'USDG');
const [vault] = chainOf(4663).equityVaults;
if (!vault) throw new Error('chain 4663 has vaults');

/** Every path with swaps, without those that reallocate first: their swaps are the same. */
export const modelPaths: readonly ModelPath[] = [
  openKind(1, susde, susde.collateral, '1000', BOTH),
  openKind(1, susde, tokenOf(1, 'USDC'), '1000', BOTH),
  openKind(1, susde, tokenOf(1, 'ETH'), '0.5', BOTH),
  ...manageKinds(1, susde, tokenOf(1, 'USDC'), BOTH),
  openKind(1, principal, principal.collateral, '1000', ['YieldMarket']),
  openKind(4663, usdg, usdg.collateral, '1000', ONE),
  openKind(4663, usdg, tokenOf(4663, 'USDe'), '1000', ONE),
  openKind(4663, usdg, tokenOf(4663, 'ETH'), '0.5', ONE),
  ...manageKinds(4663, usdg, tokenOf(4663, 'USDe'), ONE),
  ...vaultKinds(vault),
].map(pathOf);

/** Repaying a debt of 6,000 PYUSD with USDC at two venues. */
export function repayPath(input: Partial<ManageInput>): ModelPath {
  const usdc = tokenOf(1, 'USDC');
  const kinds = manageKinds(1, susde, usdc, BOTH, { payToken: usdc.address, ...input });
  return pathOf(kinds.find(({ name }) => name === 'repay') as Kind);
}

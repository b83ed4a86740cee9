import type { Chain, EquityVault, Market, Token } from '../../../src/catalog/types.ts';
import { collateralValueInLoan } from '../../../src/domain/leverage/flash-loan.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import type { Address, StrategyId } from '../../../src/shared/ids.ts';
import type { BuilderDeps } from '../../../src/transactions/deps.ts';
import { buildDeposit, buildExit } from '../../../src/transactions/equity/build.ts';
import type { VaultWallet } from '../../../src/transactions/equity/index.ts';
import { buildManagePlan, type ManageInput } from '../../../src/transactions/manage/index.ts';
import { buildOpenPlan } from '../../../src/transactions/open/index.ts';
import type { Plan } from '../../../src/transactions/plan.ts';
import { ltvPctOf } from '../../../src/transactions/preview/ltv.ts';
import { withVenues } from '../../../src/transactions/quote/attempts.ts';
import type { BuiltCall, PlannedSwap, PositionState } from '../../../src/transactions/types.ts';
import type { SwapQuote } from '../../../src/upstreams/types.ts';
import { catalog } from '../world.ts';
import type { ModelState } from './chain.ts';

export type Source = SwapQuote['source'];

const USER: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const NOTHING = { collateral: 0n, debt: 0n };
/** LTVs of vaults are shown with two places. */
const SHOWN_POINTS = '0.0051';

/** The result of a signed cell, loan base units and percent. */
export interface Left {
  readonly is: bigint;
  readonly least: bigint;
  readonly ltvPct?: Decimal | undefined;
  readonly worstLtvPct: Decimal;
}

export interface Kind {
  readonly name: string;
  readonly chainId: 1 | 4663;
  readonly sources: readonly Source[];
  readonly market: Market;
  readonly vault?: EquityVault | undefined;
  /** The wallet before. */
  readonly before: ModelState;
  readonly swaps: readonly {
    readonly market: Market;
    readonly tokenIn: Token;
    readonly tokenOut: Token;
    readonly recipient?: Address | undefined;
  }[];
  run(
    deps: BuilderDeps,
    world: World,
  ): Promise<{ swaps: readonly PlannedSwap[]; calls: readonly BuiltCall[]; left(after: ModelState): Left }>;
}

export interface World {
  readonly proxy: Address;
  readonly priceOf: (oracle: Address) => bigint;
}

export function chainOf(chainId: number): Chain {
  const chain = catalog.chain(chainId);
  if (!chain) throw new Error(`no chain ${chainId}`);
  return chain;
}

export function marketOf(chainId: number, collateral: string, loan: string): Market {
  const found = chainOf(chainId).markets.find(
    (market) =>
      market.kind === 'loop' && market.collateral.displaySymbol.startsWith(collateral) && market.loan.symbol === loan,
  );
  if (!found) throw new Error(`no market ${collateral}/${loan}`);
  return found;
}

export function tokenOf(chainId: number, symbol: string): Token {
  const found = chainOf(chainId).tokens.find((token) => token.symbol === symbol);
  if (!found) throw new Error(`no token ${symbol}`);
  return found;
}

const equityAt = ({ collateral, debt }: PositionState, price: bigint) =>
  collateralValueInLoan(collateral, price) - debt;

/** Base units. */
const whole = (amount: number, { decimals }: Token) => BigInt(amount) * 10n ** BigInt(decimals);

export function openKind(
  chainId: 1 | 4663,
  market: Market,
  pay: Token,
  amount: string,
  sources: readonly Source[],
): Kind {
  const isDirect = pay.address === market.collateral.address;
  return {
    name: isDirect ? 'open' : `open with ${pay.symbol}`,
    chainId,
    sources,
    market,
    before: { loop: NOTHING, basis: 0n, stock: NOTHING, received: 0n },
    swaps: [
      ...(isDirect ? [] : [{ market, tokenIn: pay, tokenOut: market.collateral }]),
      { market, tokenIn: market.loan, tokenOut: market.collateral },
    ],
    async run(deps, world) {
      const strategyId = market.id as string as StrategyId;
      const input = {
        chainId,
        strategyId,
        payToken: pay.address,
        amount: new Decimal(amount),
        leverage: new Decimal('2.5'),
      };
      return ofPlan(market, world, await buildOpenPlan(deps, input as never, USER));
    },
  };
}

function ofPlan(market: Market, { priceOf }: World, plan: Plan) {
  return {
    swaps: plan.swaps,
    calls: [...plan.approvals, plan.tx],
    left(after: ModelState): Left {
      const { preview, leastPaidOut } = plan;
      if (!preview) return { is: after.received, least: leastPaidOut ?? 0n, worstLtvPct: new Decimal(0) };
      const price = priceOf(market.oracle);
      const ltvPct = ltvPctOf(after.loop, price);
      const is = equityAt(after.loop, price);
      return {
        is,
        least: equityAt(preview.worst, price),
        worstLtvPct: preview.worstLtvPct,
        ltvPct,
      };
    },
  };
}

export function manageKinds(
  chainId: 1 | 4663,
  market: Market,
  pay: Token,
  sources: readonly Source[],
  repayment?: Partial<ManageInput>,
): readonly Kind[] {
  const { loan, collateral } = market;
  // Four times levered: 8,000 of collateral, 6,000 of 8,560 owed.
  const loop = { collateral: whole(8_000, collateral), debt: whole(6_000, loan) };
  const before = { loop, basis: whole(2_400, loan), stock: NOTHING, received: 0n };
  const kind = (name: string, tokenIn: Token, tokenOut: Token, input: Partial<ManageInput>): Kind => ({
    name,
    chainId,
    sources,
    market,
    before,
    swaps: [{ market, tokenIn, tokenOut }],
    async run(deps, world) {
      const positions = { bind: async () => ({ market, proxy: world.proxy }), forget: () => {} };
      const requested = { chainId, user: USER, id: 0, ...input } as ManageInput;
      return ofPlan(market, world, await buildManagePlan(deps, positions, requested));
    },
  });
  const paid = { amount: new Decimal(pay.isNative ? '0.2' : '500'), payToken: pay.address };
  return [
    kind('increase', loan, collateral, { action: 'increase_leverage', leverage: new Decimal(5) }),
    kind('close', collateral, loan, { action: 'close' }),
    kind('close a part', collateral, loan, { action: 'close', amount: new Decimal(3_000) }),
    kind('repay', pay, loan, { action: 'repay', ...(repayment ?? paid) }),
    kind('add', pay, collateral, { action: 'add_collateral', ...paid }),
  ];
}

export function vaultKinds(vault: EquityVault): readonly Kind[] {
  const chain = chainOf(4663);
  const router = chain.contracts.equityRouter as Address;
  const found = { chain, router, vault };
  const { stock, depositToken, stockMarket, yieldMarket } = vault;
  const loopToken = yieldMarket.collateral;
  const shared = { chainId: 4663, sources: ['AggregatorOne'], market: yieldMarket, vault } as const;
  const unitsOf = (amount: string | Decimal) =>
    BigInt(new Decimal(amount).shiftedBy(depositToken.decimals).toFixed(0, Decimal.ROUND_DOWN));
  const loop = { collateral: whole(1_500, loopToken), debt: whole(1_200, depositToken) };
  const held = { collateral: whole(4, stock), debt: whole(400, depositToken) };
  return [
    {
      ...shared,
      name: 'vault deposit',
      before: { loop: NOTHING, basis: 0n, stock: NOTHING, received: 0n },
      swaps: [
        { market: stockMarket, tokenIn: depositToken, tokenOut: stock },
        { market: yieldMarket, tokenIn: depositToken, tokenOut: loopToken, recipient: router },
        { market: yieldMarket, tokenIn: depositToken, tokenOut: loopToken, recipient: chain.contracts.flashLeverage },
      ],
      async run(deps, { priceOf }) {
        const request = { user: USER, amount: new Decimal(3_000), stockLtvPct: new Decimal(20) };
        const { terms, calls } = await withVenues(deps, (attempt) => buildDeposit(attempt, found, request));
        const { worstCase } = terms.preview;
        return {
          swaps: [terms.swaps.stock, terms.swaps.zap, terms.swaps.leverage],
          calls,
          left(after) {
            const [stockPrice, yieldPrice] = [priceOf(stockMarket.oracle), priceOf(yieldMarket.oracle)];
            const ltvPct = ltvPctOf(after.loop, yieldPrice);
            return {
              is: equityAt(after.stock, stockPrice) + equityAt(after.loop, yieldPrice),
              least: unitsOf(worstCase.equity),
              ltvPct,
              worstLtvPct: new Decimal(worstCase.yieldLtv).plus(SHOWN_POINTS),
            };
          },
        };
      },
    },
    {
      ...shared,
      name: 'vault exit',
      before: { loop, basis: whole(300, depositToken), stock: held, received: 0n },
      swaps: [
        { market: stockMarket, tokenIn: stock, tokenOut: depositToken },
        { market: yieldMarket, tokenIn: loopToken, tokenOut: depositToken },
      ],
      async run(deps, { proxy }) {
        const wallet = {
          holdings: {
            wallet: USER,
            positions: [
              {
                id: 0,
                marketId: yieldMarket.id,
                proxy,
                open: true,
                depositedAssets: whole(300, depositToken),
                returnedAssets: 0n,
                collateral: loop.collateral,
                borrowShares: loop.debt * 1_000_000n,
              },
            ],
            stocks: [{ marketId: stockMarket.id, collateral: held.collateral, borrowShares: held.debt * 1_000_000n }],
          },
          composed: {
            positions: [],
            equityPositions: [{ strategyId: vault.id, yieldLoopMatch: 'tagged', yieldLoops: [{ id: 0, open: true }] }],
          },
        } as unknown as VaultWallet;
        const { terms, calls, worstCase } = await withVenues(deps, (attempt) => buildExit(attempt, found, {}, wallet));
        const loops = terms.loops.map(({ swap }) => swap);
        const least = unitsOf(worstCase.equity);
        return {
          swaps: [terms.stockSwap, ...loops],
          calls,
          left: ({ received: is }) => ({ is, least, worstLtvPct: new Decimal(0) }),
        };
      },
    },
  ];
}

import type { Chain, EquityVault, Market, Token } from '../../../src/catalog/types.ts';
import { composeChain } from '../../../src/domain/compose.ts';
import type { ChainFacts } from '../../../src/domain/facts.ts';
import type { ComposedChain } from '../../../src/domain/market/types.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { AppError } from '../../../src/shared/errors.ts';
import type { Address, StrategyId } from '../../../src/shared/ids.ts';
import { REST_NAMES, spell } from '../../../src/shared/names.ts';
import type { BuilderDeps } from '../../../src/transactions/deps.ts';
import { intentOf } from '../../../src/transactions/intent.ts';
import { buildManagePlan, type ManageInput } from '../../../src/transactions/manage/index.ts';
import { buildOpenPlan, type OpenInput } from '../../../src/transactions/open/index.ts';
import type { Plan } from '../../../src/transactions/plan.ts';
import { costBasis, judgedSwaps, pricedCosts } from '../../../src/transactions/preview/costs.ts';
import { breakEvenOf, liquidationOf, totalUsd } from '../../../src/transactions/preview/economics.ts';
import { leverageOf } from '../../../src/transactions/preview/position.ts';
import { createQuoter } from '../../../src/transactions/quote/quoter.ts';
import { createVenueStatistics, type VenueStatistics } from '../../../src/transactions/quote/statistics.ts';
import { createPositionDirectory } from '../../../src/transactions/read/position.ts';
import { createTokenDirectory } from '../../../src/transactions/read/tokens.ts';
import type { SwapRequest } from '../../../src/upstreams/types.ts';
import { BUDGETS, completeFacts, NOW_MS, PARAMS, withItem } from '../../domain/world.ts';
import { catalog } from '../world.ts';
import { type ModelState, modelChain } from './chain.ts';
import { type ModelLie, modelVenues } from './venues.ts';

export const USER: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const NOTHING = { collateral: 0n, debt: 0n };

/** One moment of a chain, its venues and its facts, as builders meet it. */
export interface Scene {
  readonly market: Market;
  readonly vault?: EquityVault;
  readonly before?: Partial<ModelState>;
  /** Changed answers of views of contracts. */
  readonly answers?: Readonly<Record<string, unknown>> | undefined;
  readonly unsimulated?: 'token' | 'node';
  readonly facts?: (facts: ChainFacts) => ChainFacts;
  readonly deps?: Partial<BuilderDeps>;
  readonly nowMs?: number;
  /** USD per whole token that venues pay, by symbol; a dollar for all others. */
  readonly usd?: Readonly<Record<string, string>>;
  /** The tokens of which no USD price is measured. */
  readonly unmeasured?: readonly string[];
  /** The price of the market's oracle, millionths of the one that venues pay. */
  readonly oracleE6?: bigint;
  readonly lieOf?: (source: string, swap: SwapRequest) => ModelLie | undefined;
}

export function servedChain(chainId: number): Chain {
  const chain = catalog.chain(chainId);
  if (!chain) throw new Error(`no chain ${chainId}`);
  return chain;
}

export function loopMarket(chainId: number, collateral: string, loan: string): Market {
  const found = servedChain(chainId).markets.find(
    (market) =>
      market.kind === 'loop' && market.collateral.displaySymbol.startsWith(collateral) && market.loan.symbol === loan,
  );
  if (!found) throw new Error(`no market ${collateral}/${loan}`);
  return found;
}

export function tokenOn(chainId: number, symbol: string): Token {
  const found = servedChain(chainId).tokens.find((token) => token.symbol === symbol);
  if (!found) throw new Error(`no token ${symbol}`);
  return found;
}

/** Base units. */
export const whole = (amount: number | string, { decimals }: Pick<Token, 'decimals'>) =>
  BigInt(new Decimal(amount).shiftedBy(decimals).toFixed(0));

/** A market of ten million, of which six are lent, that was last touched an hour ago. */
function marketRow({ loan }: Market, nowMs: number): readonly bigint[] {
  const [supplied, borrowed] = [whole(10_000_000, loan), whole(6_000_000, loan)];
  return [supplied, supplied * 1_000_000n, borrowed, borrowed * 1_000_000n, BigInt(nowMs / 1_000 - 3_600), 0n];
}

/** The parts of builders in a scene. */
export function depsOf(
  scene: Scene,
): { readonly deps: BuilderDeps; readonly statistics: VenueStatistics } & ReturnType<typeof modelChain> {
  const { market, vault, before, nowMs = NOW_MS, oracleE6 = 1_000_000n } = scene;
  const chain = servedChain(market.chainId);
  const usd = (token: Token) =>
    new Decimal(scene.usd?.[token.symbol] ?? (token.address === market.collateral.address ? '1.07' : '1'));
  const priceOf = (oracle: Address): bigint => {
    const priced = [market, ...(vault ? [vault.stockMarket] : []), ...chain.markets].find(
      (one) => one.oracle === oracle,
    );
    if (!priced) return 0n;
    const exact = usd(priced.collateral)
      .div(usd(priced.loan))
      .shiftedBy(36 + priced.loan.decimals - priced.collateral.decimals);
    return (BigInt(exact.toFixed(0)) * (priced === market ? oracleE6 : 1_000_000n)) / 1_000_000n;
  };
  const statistics = createVenueStatistics();
  const all = Object.keys(chain.swapRouters) as (keyof Chain['swapRouters'])[];
  const sources = all.filter((source) => source !== 'YieldMarket');
  const venues = modelVenues({
    chain,
    sources,
    expiresAtMs: nowMs + 45_000,
    lieOf: (source, swap) => scene.lieOf?.(source, swap),
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
    venues,
    priceOf,
    unsimulated: scene.unsimulated,
    answers: { market: marketRow(market, nowMs), ...scene.answers },
    vault,
    before: { loop: NOTHING, basis: 0n, stock: NOTHING, received: 0n, ...before },
    timestamp: BigInt(Math.floor(nowMs / 1_000)),
  });
  const priced = chain.tokens.reduce(
    (sum, token) =>
      withItem(
        sum,
        'price',
        token.address,
        token.address === market.collateral.address || scene.unmeasured?.includes(token.symbol)
          ? {}
          : { value: { usd: usd(token) } },
      ),
    completeFacts(chain),
  );
  const facts = scene.facts?.(priced) ?? priced;
  let composed: ComposedChain | undefined;
  const deps: BuilderDeps = {
    chains: catalog.chains,
    clock: { now: () => nowMs },
    budgets: BUDGETS,
    facts: () => facts,
    composed: () => {
      composed ??= composeChain(chain, facts, PARAMS);
      return composed;
    },
    feeReceiver: undefined,
    appUrl: undefined,
    vaultOf: async () => null,
    gasPriceOf: async () => 2_000_000_000n,
    venueStatistics: statistics,
    quoter: createQuoter({
      venues: venues.ports,
      timers: { setTimeout: () => null, clearTimeout: () => {} },
      statistics,
    }),
    tokens: createTokenDirectory(),
    node: () => model.node,
    ...scene.deps,
  };
  return { ...model, deps, statistics };
}

export function openIn(scene: Scene, input: Partial<OpenInput>): Promise<Plan> {
  const { chainId, id, collateral } = scene.market;
  const { deps } = depsOf(scene);
  return buildOpenPlan(
    deps,
    {
      chainId,
      strategyId: id as string as StrategyId,
      payToken: collateral.address,
      amount: new Decimal(1_000),
      leverage: new Decimal(3),
      ...input,
    },
    USER,
  );
}

export function manageIn(scene: Scene, input: Partial<ManageInput> & Pick<ManageInput, 'action'>): Promise<Plan> {
  const { chainId } = scene.market;
  return buildManagePlan(depsOf(scene).deps, createPositionDirectory(), { chainId, user: USER, id: 0, ...input });
}

/** All words and numbers that are shown to the person who signs a plan. */
export function formatPlan(plan: Plan, usdOf: (token: Address) => Decimal | undefined): unknown {
  const { market, live, preview, swaps, terms, tx, approvals, user } = plan;
  const value = preview?.after ?? plan.before ?? NOTHING;
  const basis = costBasis({
    swaps: judgedSwaps(plan.path, swaps, market, live.price),
    loan: market.loan,
    equity: 1_000n * 10n ** BigInt(market.loan.decimals),
    fees: plan.fees,
  });
  const costs = pricedCosts(basis, usdOf, market.loan.address);
  return {
    path: plan.path,
    calls: [...approvals, tx].map((call) => ({
      to: call.to,
      value: call.value,
      action: call.action.type,
      ...intentOf(call, user),
    })),
    swaps: swaps.map(({ tokenIn, tokenOut, quote, expectedOut, minOut, reference, lossPct, feeBps }) => ({
      swap: `${quote.amountIn} ${tokenIn.symbol} into ${expectedOut} ${tokenOut.symbol} at ${quote.source}`,
      minOut,
      reference,
      lossPct,
      feeBps,
    })),
    slippage: plan.slippage,
    amountFlashLoan: plan.amountFlashLoan,
    debtChange: plan.debtChange,
    moved: plan.moved,
    leastPaidOut: plan.leastPaidOut,
    received: plan.received?.map(({ token, amount }) => `${amount} ${token.symbol}`),
    preview: preview && { ...preview, rates: undefined },
    leverage: preview && leverageOf(preview),
    liquidation: liquidationOf(market, value, live.price),
    terms: terms && {
      amountCollateral: terms.amountCollateral,
      depositFee: terms.depositFee,
      path: terms.path,
      entered: terms.entrySwap?.expectedOut,
      worst: terms.preview.worst,
    },
    costs: {
      costs,
      totalUsd: totalUsd(costs),
      totalSwapCostPctOfEquity: basis.totalSwapCostPctOfEquity,
      breakEven: breakEvenOf(totalUsd(costs), basis.equity, preview?.expectedLeverageApyPct),
    },
    issues: plan.issues,
    instructions: plan.instructions,
    signingUrl: plan.signingUrl,
    gasUsed: plan.gasUsed,
    expiresInMs: plan.expiresAtMs === undefined ? undefined : plan.expiresAtMs - NOW_MS,
  };
}

/** The refusal that is shown when nothing is built. @throws errors that are no refusal */
export function formatRefusal(error: unknown): unknown {
  if (!(error instanceof AppError)) throw error;
  const { code, message, details, status, retryable } = error as AppError<unknown>;
  return { refused: code, status, retryable, message, details };
}

/** Text of a result: exact numbers without a type, absent fields left out. */
export function textOf(shown: unknown): string {
  const plain = (value: unknown): unknown => {
    if (typeof value === 'bigint') return value.toString();
    if (Decimal.isBigNumber(value)) return value.decimalPlaces(24).toFixed();
    if (typeof value === 'string') return spell(value, REST_NAMES);
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  };
  return `${JSON.stringify(plain(shown), null, 1)}\n`;
}

/** The plans of cases as one text, which is compared with the file of a name. */
export async function tableOf<C>(
  cases: Readonly<Record<string, C>>,
  shown: (one: C) => Promise<unknown>,
): Promise<string> {
  const parts: string[] = [];
  for (const [name, one] of Object.entries(cases)) {
    parts.push(`## ${name}\n\n${textOf(await shown(one).catch(formatRefusal))}`);
  }
  return parts.join('\n');
}

import { VerificationError } from '../verify/errors.ts';
import { collateralFor, loanValue, more, ROUNDING, wadOf } from '../verify/numbers.ts';
import { trustedMarketOf, trustedVaultOf } from '../verify/trusted.ts';
import type { Intent, Payment, ReallocationLimits, TrustedChain, TrustedMarket } from '../verify/types.ts';
import type { ChainState, HeldPosition } from './chain-state.ts';
import {
  decimalsOf,
  isSame,
  lacking,
  needed,
  openLimits,
  paymentLimits,
  positionOf,
  saleLoss,
  shareOf,
  slippageOf,
  targetOf,
  unitsOf,
} from './fields.ts';
import { type BuildRequest, fieldsOf, type RequestFields } from './request.ts';

/** A payment in a token that the market does not price. */
export interface UnpricedPayment {
  readonly chainId: number;
  /** The zero address is the native token. */
  readonly token: string;
  /** Base units. */
  readonly amount: bigint;
  /** The token that its worth is asked in. */
  readonly into: string;
}

export interface IntentOptions {
  /** Value a payment in base units of another token, by a price that you trust; called where the oracle prices neither. */
  readonly worth?: ((payment: UnpricedPayment) => bigint | Promise<bigint>) | undefined;
  /** Liquidity that may be moved into the market first; default: none. */
  readonly reallocation?: ReallocationLimits | undefined;
}

interface Asked {
  readonly chain: TrustedChain;
  readonly state: ChainState;
  readonly fields: RequestFields;
  readonly owner: string;
  readonly options: IntentOptions;
  /** The positions that the plan closes; `undefined` = unknown. */
  readonly closed: readonly number[] | undefined;
}

/** The chain of a position that is named by its index alone, by the interface of the service. */
export const DEFAULT_CHAIN = 1;
/** Distance of the max LTV of a stock leg, which no contract of the product sets, to its liquidation LTV. WAD. */
const STOCK_BUFFER = 25n * 10n ** 14n;
/** A full repayment brings the interest of half an hour. WAD. */
const INTEREST = 5n * 10n ** 15n;
/** A swapped full repayment brings 2 % more, its slippage and its loss, besides the one that the request accepts. WAD. */
const SWAPPED_REST = 4n * 10n ** 16n;

/**
 * Derive the intent of a request, with the readings of a node that bound its plan.
 *
 * @throws VerificationError with the code `intent` where the request does not say enough
 */
export async function deriveIntent(
  request: BuildRequest,
  owner: string,
  chain: TrustedChain,
  state: ChainState,
  options: IntentOptions = {},
  closed?: readonly number[],
): Promise<Intent> {
  const { row } = request;
  const asked: Asked = { chain, state, fields: fieldsOf(request), owner, options, closed };
  requireChain(row, asked);
  switch (row) {
    case 'leverageBuild':
      return openIntent(asked);
    case 'manageBuild':
      return manageIntent(asked);
    case 'equityDepositBuild':
      return depositIntent(asked);
    case 'equityExitBuild':
      return exitIntent(asked);
    default:
      throw lacking(`a known row (it is ${String(row)})`);
  }
}

/** The chain of a plan is stated by the service: it has to be the requested one. */
export function requireChain(row: BuildRequest['row'], { chain, fields }: Pick<Asked, 'chain' | 'fields'>): void {
  const ofPosition = /^(\d{1,12})-/.exec(fields.positionId ?? '')?.[1];
  // An index alone is one of chain 1; the strategy of another row is looked up on the chain.
  const byRow = row === 'manageBuild' && ofPosition === undefined ? DEFAULT_CHAIN : chain.chainId;
  const wanted = [fields.chainId ?? byRow, Number(ofPosition ?? chain.chainId)].find((id) => id !== chain.chainId);
  if (wanted === undefined) return;
  throw new VerificationError('chain', `The plan is for chain ${chain.chainId}, and chain ${wanted} was asked for.`);
}

async function openIntent(asked: Asked): Promise<Intent> {
  const { chain, state, fields, owner, options } = asked;
  const market = trustedMarketOf(chain, needed(fields.strategyId, 'strategyId'));
  const [price, fees] = await Promise.all([state.priceOf(market), state.fees()]);
  const pay = await paymentOf(asked, market, price, 'collateral');
  return {
    action: 'open_leverage',
    chainId: chain.chainId,
    owner,
    marketId: market.id,
    pay,
    ...targetOf(fields),
    ...openLimits(fields),
    reallocation: options.reallocation,
    state: { price, ...fees },
    minAmountOut: leastOf(asked, market.collateralToken),
  };
}

async function manageIntent(asked: Asked): Promise<Intent> {
  const { chain, state, fields, owner } = asked;
  const { marketId: named, positionId } = positionOf(fields);
  const position = await state.position(owner, positionId);
  if (named !== undefined && named.toLowerCase() !== position.marketId) {
    throw new VerificationError(
      'position',
      `Position ${positionId} of ${owner} is on the market ${position.marketId}.`,
    );
  }
  const market = trustedMarketOf(chain, position.marketId);
  const of = { chainId: chain.chainId, owner, marketId: market.id, positionId };
  const [reading, { depositFee, yieldFee }] = await Promise.all([readingOf(asked, market, position), state.fees()]);
  const fees = { depositFee, yieldFee };
  const slippage = slippageOf(fields);
  const amount = (token: string) => unitsOf(chain, token, needed(fields.amount, 'amount'));
  switch (fields.action) {
    case 'increase_leverage':
      return {
        ...of,
        action: 'increase_leverage',
        ...targetOf(fields),
        ...openLimits(fields),
        state: reading,
        minAmountOut: leastOf(asked, market.collateralToken),
      };
    case 'add_collateral': {
      const pay = await paymentOf(asked, market, reading.price, 'collateral');
      const minAmountOut = leastOf(asked, market.collateralToken);
      return { ...of, action: 'add_collateral', ...paymentLimits(fields, pay), minAmountOut, pay, state: fees };
    }
    case 'remove_collateral':
      return { ...of, action: 'remove_collateral', amount: amount(market.collateralToken), state: fees };
    case 'borrow':
      return { ...of, action: 'borrow', amount: amount(market.loanToken) };
    case 'repay': {
      const full = fields.full === true;
      const pay = full
        ? await wholeDebt(asked, market, reading)
        : await paymentOf(asked, market, reading.price, 'loan');
      // The service swaps exactly the amount of the request.
      const isExact = full && pay.worth !== undefined && fields.amount !== undefined;
      const owed = full ? { ...fees, debt: reading.debt } : fees;
      return {
        ...of,
        action: 'repay',
        ...paymentLimits(fields, pay),
        full,
        isExact,
        pay,
        state: owed,
        minAmountOut: leastOf(asked, market.loanToken),
      };
    }
    case 'close': {
      const sold = fields.amount === undefined ? undefined : amount(market.collateralToken);
      const minAmountOut = leastOf(asked, market.loanToken);
      return {
        ...of,
        action: 'close',
        slippage,
        ...saleLoss(fields, [{ ...reading, sold }]),
        minAmountOut,
        amount: sold,
        exact: fields.exact,
        state: reading,
      };
    }
    default:
      throw lacking(`a known action (it is ${fields.action})`);
  }
}

async function depositIntent({ chain, state, fields, owner }: Asked): Promise<Intent> {
  const { vault } = trustedVaultOf(chain, needed(fields.strategyId, 'strategyId'));
  const stock = trustedMarketOf(chain, vault.stockMarketId);
  const yieldMarket = trustedMarketOf(chain, vault.yieldMarketId);
  const [stockPrice, yieldPrice, { depositFee }] = await Promise.all([
    state.priceOf(stock),
    state.priceOf(yieldMarket),
    state.fees(),
  ]);
  return {
    action: 'equity_deposit',
    chainId: chain.chainId,
    owner,
    vaultId: vault.id,
    ...openLimits(fields),
    amount: unitsOf(chain, stock.loanToken, needed(fields.amount, 'amount')),
    stockLtv: fields.stockLtvPct ?? vault.targetLtvPct,
    state: { stock: { price: stockPrice }, yield: { price: yieldPrice, depositFee } },
  };
}

async function exitIntent(asked: Asked): Promise<Intent> {
  const { chain, state, fields, owner, closed } = asked;
  const { vault } = trustedVaultOf(chain, needed(fields.strategyId, 'strategyId'));
  const stock = trustedMarketOf(chain, vault.stockMarketId);
  const yieldMarket = trustedMarketOf(chain, vault.yieldMarketId);
  const positions = await state.positions(owner);
  // A request without a list closes the loops of the vault. Only the service tells them from other positions on their market:
  // of those it may close any, and no position elsewhere.
  const onMarket = positions.flatMap(({ isOpen, marketId }, id) =>
    isOpen && marketId === yieldMarket.id.toLowerCase() ? [id] : [],
  );
  const ids = fields.yieldPositionIds ?? onMarket.filter((id) => closed?.includes(id) ?? true);
  const loops = await Promise.all(
    ids.map(async (id) => {
      const position = positions[id];
      if (!position) throw new VerificationError('position', `${owner} has no position ${id}.`);
      return [id, await readingOf(asked, yieldMarket, position)] as const;
    }),
  );
  const [price, held] = await Promise.all([state.priceOf(stock), state.holding(owner, stock)]);
  const slippage = slippageOf(fields);
  const legs = [{ price, ...held }, ...loops.map(([, reading]) => reading)];
  const minAmountOut = leastOf(asked, stock.loanToken);
  return {
    action: 'equity_exit',
    chainId: chain.chainId,
    owner,
    vaultId: vault.id,
    slippage,
    ...saleLoss(fields, legs),
    minAmountOut,
    positionIds: ids,
    exact: fields.exact,
    state: {
      stock: { price, ...held, maxLtv: BigInt(stock.lltv) - STOCK_BUFFER },
      loops: Object.fromEntries(loops),
    },
  };
}

async function readingOf({ state }: Asked, market: TrustedMarket, { proxy, basis }: HeldPosition) {
  const [price, held, { yieldFee }, maxLtv] = await Promise.all([
    state.priceOf(market),
    state.holding(proxy, market),
    state.fees(),
    state.maxLtvOf(market),
  ]);
  return { price, ...held, basis, yieldFee, maxLtv };
}

/** The payment, with its worth where it is swapped. */
async function paymentOf(asked: Asked, market: TrustedMarket, price: bigint, into: 'collateral' | 'loan') {
  const { chain, fields } = asked;
  const token = needed(fields.payToken, 'payToken');
  const amount = unitsOf(chain, token, needed(fields.amount, 'amount'));
  return { token, amount, worth: await worthOf(asked, { token, amount }, market, price, into) };
}

/** The payment of a full repayment: the amount of the request, or the most that the service takes by the debt without one. */
async function wholeDebt(
  asked: Asked,
  market: TrustedMarket,
  { debt, price }: { readonly debt: bigint; readonly price: bigint },
): Promise<Payment> {
  const { chain, state, fields } = asked;
  const token = fields.payToken ?? market.loanToken;
  const given = fields.amount === undefined ? undefined : unitsOf(chain, token, fields.amount);
  const { depositFee } = await state.fees();
  const owed = more(debt, market.correlated ? INTEREST : INTEREST + depositFee) + ROUNDING;
  // Nothing is swapped, and the service takes no more than the debt.
  if (isSame(token, market.loanToken)) return { token, amount: given !== undefined && given < owed ? given : owed };
  if (given !== undefined) {
    return { token, amount: given, worth: await worthOf(asked, { token, amount: given }, market, price, 'loan') };
  }
  const worthAt = async (amount: bigint) => {
    const worth = (await worthOf(asked, { token, amount }, market, price, 'loan')) ?? 0n;
    if (worth <= 0n) throw lacking(`a price of ${token}`);
    return worth;
  };
  const most = more(owed, SWAPPED_REST + wadOf(shareOf(fields.maxSwapLossPct ?? 0), 'maxSwapLossPct'));
  const unit = 10n ** BigInt(decimalsOf(chain, token));
  // One token of little value is worth few base units, whose rounding would be multiplied: the whole payment is valued.
  const about = (most * unit) / (await worthAt(unit)) + 1n;
  const worth = await worthAt(about);
  const amount = (about * most) / worth + 1n;
  return { token, amount, worth: (worth * amount) / about };
}

/** `undefined` = it is not swapped. */
async function worthOf(
  { chain, options }: Asked,
  { token, amount }: { readonly token: string; readonly amount: bigint },
  { collateralToken, loanToken }: TrustedMarket,
  price: bigint,
  into: 'collateral' | 'loan',
): Promise<bigint | undefined> {
  const wanted = into === 'collateral' ? collateralToken : loanToken;
  if (isSame(token, wanted)) return undefined;
  if (isSame(token, loanToken)) return collateralFor(amount, price);
  if (isSame(token, collateralToken)) return loanValue(amount, price);
  if (options.worth) return options.worth({ chainId: chain.chainId, token, amount, into: wanted });
  throw lacking(
    `the worth of the payment in ${token}, which the oracle of the market does not price: pass \`worth\` with a price that you trust`,
  );
}

/** `minAmountOut` of the request. */
const leastOf = ({ chain, fields }: Asked, token: string) =>
  fields.minAmountOut === undefined ? undefined : unitsOf(chain, token, fields.minAmountOut);

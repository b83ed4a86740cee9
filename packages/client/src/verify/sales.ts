import { flashLeverageAbi } from '../abi/index.ts';
import { methodsOf } from './calldata.ts';
import { VerificationError } from './errors.ts';
import {
  highCostOf,
  type LeftLeg,
  less,
  liquidationOf,
  loanValue,
  lossOf,
  more,
  percentOf,
  READING_TOLERANCE,
  type SALE_DEFAULTS,
  type SwapAtLeast,
  type VAULT_DEFAULTS,
  WAD,
  yieldFeeOf,
} from './numbers.ts';
import { amountOf, type Proof, recordChange, requireSameNumber, takeDecoded } from './proof.ts';
import { proveSwap, proveTotalLoss } from './swaps.ts';
import type { PositionReading, TotalLimits, TrustedMarket } from './types.ts';

const DELEVERAGE = methodsOf(flashLeverageAbi, ['deleverage']);

/** The sale of a leg of a position. Loan base units. */
export interface Sale extends SwapAtLeast {
  readonly index: number;
  /** The debt that it repays. */
  readonly debt: bigint;
  /** The whole leg. */
  readonly left: LeftLeg;
}

/** A leg as it was read. The default of its max LTV is its liquidation LTV. */
export function leftLeg(market: TrustedMarket, { price, collateral, debt, maxLtv }: PositionReading): LeftLeg {
  const value = loanValue(collateral, price);
  const lltv = BigInt(market.lltv);
  return { value, debt, liquidation: liquidationOf(lltv, maxLtv ?? lltv, value, debt) };
}

/** The most that the sale of a leg may lose, WAD: as much as a liquidation would take, where no limit is given. */
export function saleLossOf(limits: TotalLimits, { value, liquidation }: LeftLeg, defaults: SaleDefaults): bigint {
  const loss = lossOf(limits, defaults);
  if (limits.maxSwapLoss !== undefined || value === 0n) return loss;
  const relaxed = lossOf({ ...limits, maxSwapLoss: 0 }, defaults) + (liquidation * WAD) / value;
  return relaxed > loss ? relaxed : loss;
}

/** Whether an amount is all collateral, as it was read some blocks apart, but for what its debt may be rounded by. */
const isNear = (sold: bigint, collateral: bigint) =>
  sold >= less(collateral, READING_TOLERANCE) && sold <= more(collateral, READING_TOLERANCE) && sold > 0n;

type SaleDefaults = typeof SALE_DEFAULTS | typeof VAULT_DEFAULTS;

/**
 * Prove the output and the loss of all sales of a plan together: each of them may be within its own bounds, and their sum not.
 * @throws VerificationError
 */
export function proveSales(
  proof: Proof,
  limits: TotalLimits,
  token: string,
  sales: readonly Sale[],
  defaults: SaleDefaults,
): void {
  const sum = (read: (sale: Sale) => bigint) => sales.reduce((total, sale) => total + read(sale), 0n);
  const index = sales.at(-1)?.index ?? 0;
  const minimum = sum((sale) => sale.minimum);
  if (limits.minAmountOut !== undefined && minimum < limits.minAmountOut) {
    const [given, asked] = [minimum, limits.minAmountOut].map((units) => amountOf(proof, token, units).text);
    const message = `the sales may give as little as ${given}, and minAmountOut of the intent is ${asked}.`;
    throw new VerificationError('minimum', message, index);
  }
  const equity = sum(({ left }) => left.value - left.debt);
  const left = sales.map((sale) => sale.left);
  proveTotalLoss(proof, index, limits, sales, { token, equity, left, defaults });
  const cost = highCostOf(limits, sales, equity, defaults);
  if (cost === undefined) return;
  proof.highCost = { amount: amountOf(proof, token, cost), ofEquityPct: percentOf(cost, equity) };
}

/**
 * Prove the sale of a position's collateral, all of it or an amount. @throws VerificationError
 */
export function proveDeleverage(
  proof: Proof,
  market: TrustedMarket,
  limits: TotalLimits,
  id: number,
  reading: PositionReading,
  defaults: SaleDefaults,
  asked: { readonly amount?: bigint | undefined; readonly exact?: boolean | undefined } = {},
): Sale {
  const { price, collateral, debt, basis = 0n, yieldFee } = reading;
  const left = leftLeg(market, reading);
  const { index, decoded } = takeDecoded(proof, proof.chain.contracts.flashLeverage, 'FlashLeverage', DELEVERAGE);
  const [positionId, sold, swapData, minimum] = decoded.args;
  requireSameNumber(index, 'position', 'it acts on position', positionId, BigInt(id));
  const text = (units: bigint) => amountOf(proof, market.collateralToken, units).text;
  const soldText = (units: bigint) => (units === 0n ? 'all collateral' : text(units));
  // Asked for as an amount or not, all collateral is a whole close: by a part the contract repays a share of the debt only.
  const isWhole = asked.amount === undefined || asked.amount === collateral;
  const isExact = asked.exact === true && isWhole && isNear(sold, collateral);
  const amount = isExact ? sold : sold === 0n && isWhole && asked.exact !== true ? undefined : asked.amount;
  requireSameNumber(index, 'amount', 'it sells', sold, amount ?? 0n, soldText);
  const input = amount ?? collateral;
  proveSwap(proof, {
    index,
    places: decoded.places,
    path: 'swapData.extCalldata',
    swapData,
    partial: 'reverts',
    of: `position ${id}`,
    sells: { token: market.collateralToken, amount: input },
    tokenOut: market.loanToken,
    minimum,
    reference: loanValue(input, price),
    loss: saleLossOf(limits, left, defaults),
  });
  const share = (whole: bigint) => (collateral === 0n ? 0n : (whole * input + collateral - 1n) / collateral);
  const rest = minimum > share(debt) ? minimum - share(debt) : 0n;
  const profit = rest > share(basis) ? rest - share(basis) : 0n;
  const least = rest - (profit - less(profit, yieldFeeOf(market, yieldFee)));
  const received = amountOf(proof, market.loanToken, least);
  if (least > 0n) proof.receives.push(received);
  recordChange(proof, id, market, { takesOut: amount ?? 'all', owes: share(debt) });
  proof.sentences.push(
    `${amount === undefined ? 'Closes' : `Sells ${text(amount)} of`} position ${id} for at least ${amountOf(proof, market.loanToken, minimum).text}, repays ${amount === undefined ? 'its debt' : 'the same share of its debt'} out of it and pays out the rest, at least ${received.text}.`,
  );
  proof.assumptions.push(
    `Position ${id} holds ${text(collateral)} and owes ${amountOf(proof, market.loanToken, debt).text} when it is sent.`,
  );
  if (isExact)
    proof.assumptions.push(
      `What somebody adds to position ${id} before it is sent stays there, with its share of the debt.`,
    );
  if (amount !== undefined) {
    proof.assumptions.push(
      'A part of the collateral repays the same share of the debt. The deployed contract does not publish this rule: simulate a partial close.',
    );
  }
  return { index, reference: loanValue(input, price), minimum, debt: share(debt), left };
}

import { flashLeverageAbi, flashLeverageRouterAbi } from '../abi/index.ts';
import { proveApprovals, takeApprovals } from './approvals.ts';
import { decodeExactly, methodsOf, type Places } from './calldata.ts';
import { VerificationError } from './errors.ts';
import { requireNoLimits } from './intent-fields.ts';
import { proveLoan } from './loan.ts';
import {
  collateralFor,
  depositFeeOf,
  less,
  loanValue,
  lossOf,
  percentOf,
  SALE_DEFAULTS,
  targetLtv,
  WAD,
  yieldFeeOf,
} from './numbers.ts';
import { addressOf } from './plan.ts';
import {
  amountOf,
  differs,
  isNative,
  type Proof,
  recordChange,
  requireSameAddress,
  requireSameNumber,
  requireValue,
  shown,
  symbolOf,
  takeCall,
  takeDecoded,
} from './proof.ts';
import { proveDeleverage, proveSales } from './sales.ts';
import { proveSwap, proveTotalLoss } from './swaps.ts';
import { trustedMarketOf } from './trusted.ts';
import type {
  AddIntent,
  BorrowIntent,
  CloseIntent,
  IncreaseIntent,
  RemoveIntent,
  RepayIntent,
  TrustedMarket,
} from './types.ts';

const MAX_UINT256 = (1n << 256n) - 1n;
const INCREASE = methodsOf(flashLeverageAbi, ['increaseLeverage']);
const SUPPLY = methodsOf(flashLeverageAbi, ['supplyCollateral']);
const WITHDRAW = methodsOf(flashLeverageAbi, ['withdrawCollateral']);
const REPAY = methodsOf(flashLeverageAbi, ['repay']);
const BORROW = methodsOf(flashLeverageAbi, ['borrow']);
const SWAP_AND_SUPPLY = methodsOf(flashLeverageRouterAbi, ['swapAndSupplyCollateral']);
const SWAP_AND_REPAY = methodsOf(flashLeverageRouterAbi, ['swapAndRepay']);

/** @throws VerificationError */
export function proveIncrease(proof: Proof, intent: IncreaseIntent): void {
  const market = managed(proof, intent);
  const { index, decoded } = takeDecoded(proof, proof.chain.contracts.flashLeverage, 'FlashLeverage', INCREASE);
  const [positionId, amount, swapData, minimum] = decoded.args;
  const { price, collateral, debt } = intent.state;
  const loss = lossOf(intent);
  requirePosition(index, positionId, intent);
  const value = loanValue(collateral, price);
  const target = targetLtv(intent);
  proveLoan(proof, { index, token: market.loanToken, amount, target, value, valueAtLeast: value, debt, loss });
  proveSwap(proof, {
    index,
    places: decoded.places,
    path: 'swapData.extCalldata',
    swapData,
    partial: 'reverts',
    of: 'loan',
    sells: { token: market.loanToken, amount },
    tokenOut: market.collateralToken,
    minimum,
    reference: collateralFor(amount, price),
    loss,
    asked: intent.minAmountOut,
  });
  const equity = value > debt ? collateralFor(value - debt, price) : 0n;
  const swaps = [{ reference: collateralFor(amount, price), minimum }];
  proveTotalLoss(proof, index, intent, swaps, { token: market.collateralToken, equity });
  const held = collateral + minimum;
  const collateralAtLeast = amountOf(proof, market.collateralToken, held);
  const debtAtMost = amountOf(proof, market.loanToken, debt + amount);
  const ltvAtMostPct = percentOf(debt + amount, loanValue(held, price));
  proof.position = { collateralAtLeast, debtAtMost, ltvAtMostPct };
  recordChange(proof, intent.positionId, market, { adds: minimum, borrows: amount });
  proof.sentences.push(
    `Raises the leverage of position ${intent.positionId}: it borrows ${amountOf(proof, market.loanToken, amount).text} more for at least ${amountOf(proof, market.collateralToken, minimum).text}, an LTV of at most ${ltvAtMostPct} %.`,
  );
}

/** @throws VerificationError */
export function proveAdd(proof: Proof, intent: AddIntent): void {
  const market = managed(proof, intent);
  const { collateralToken } = market;
  const { contracts } = proof.chain;
  const payToken = addressOf(intent.pay.token, 'pay.token');
  const fee = depositFeeOf(market, intent.state?.depositFee);
  const approvals = takeApprovals(proof);
  if (payToken === collateralToken.toLowerCase()) {
    requireNoLimits(intent, symbolOf(proof, payToken));
    const { index, decoded } = takeDecoded(proof, contracts.flashLeverage, 'FlashLeverage', SUPPLY);
    const [user, positionId, amount] = decoded.args;
    requireOwn(proof, index, user, positionId, intent);
    requirePaid(proof, index, payToken, amount, intent.pay.amount);
    proveApprovals(proof, approvals, { token: payToken, spender: contracts.flashLeverage, amount, callIndex: index });
    spend(proof, payToken, amount);
    addedSentence(proof, intent, market, less(amount, fee));
    return;
  }
  const call = takeCall(proof, contracts.flashLeverageRouter, 'FlashLeverageRouter');
  const { args, places } = decodeExactly(SWAP_AND_SUPPLY, call.data, call.index);
  const minimum = provePaidSwap(proof, { ...call, args, places, approvals }, intent, market, collateralToken);
  addedSentence(proof, intent, market, less(minimum, fee));
}

/** @throws VerificationError */
export function proveRemove(proof: Proof, intent: RemoveIntent): void {
  const market = managed(proof, intent);
  const { index, decoded } = takeDecoded(proof, proof.chain.contracts.flashLeverage, 'FlashLeverage', WITHDRAW);
  const [positionId, amount] = decoded.args;
  requirePosition(index, positionId, intent);
  const text = (units: bigint) => amountOf(proof, market.collateralToken, units).text;
  requireSameNumber(index, 'amount', 'it takes out', amount, intent.amount, text);
  const least = less(amount, yieldFeeOf(market, intent.state?.yieldFee));
  proof.receives.push(amountOf(proof, market.collateralToken, least));
  recordChange(proof, intent.positionId, market, { takesOut: amount });
  proof.sentences.push(`Takes ${text(amount)} out of position ${intent.positionId}, to its owner.`);
}

/** @throws VerificationError */
export function proveBorrow(proof: Proof, intent: BorrowIntent): void {
  const market = managed(proof, intent);
  const { index, decoded } = takeDecoded(proof, proof.chain.contracts.flashLeverage, 'FlashLeverage', BORROW);
  const [positionId, amount] = decoded.args;
  requirePosition(index, positionId, intent);
  const text = (units: bigint) => amountOf(proof, market.loanToken, units).text;
  requireSameNumber(index, 'amount', 'it borrows', amount, intent.amount, text);
  proof.receives.push(amountOf(proof, market.loanToken, amount));
  recordChange(proof, intent.positionId, market, { borrows: amount });
  proof.sentences.push(`Borrows ${text(amount)} against position ${intent.positionId}, to its owner.`);
}

/** @throws VerificationError */
export function proveRepay(proof: Proof, intent: RepayIntent): void {
  const market = managed(proof, intent);
  const { loanToken } = market;
  const { contracts } = proof.chain;
  const payToken = addressOf(intent.pay.token, 'pay.token');
  const shares = intent.full === true ? MAX_UINT256 : 0n;
  const sharesText = (value: bigint) => (value === MAX_UINT256 ? 'the whole debt' : `${value} shares`);
  const approvals = takeApprovals(proof);
  const fee = depositFeeOf(market, intent.state?.depositFee);
  const rest = symbolOf(proof, loanToken);
  const repaid = (index: number, atLeast: bigint) => {
    const repays = less(atLeast, fee);
    if (intent.full === true) requireWhole(proof, index, intent, loanToken, atLeast - (atLeast * fee) / WAD);
    recordChange(proof, intent.positionId, market, { repays });
    return intent.full === true
      ? `Repays the whole debt of position ${intent.positionId}; the rest comes back${payToken === loanToken.toLowerCase() ? '' : ` as ${rest}, not in the paid token`}.`
      : `Repays at least ${amountOf(proof, loanToken, repays).text} of the debt of position ${intent.positionId}, or all of it where less is owed.`;
  };
  if (payToken === loanToken.toLowerCase()) {
    requireNoLimits(intent, symbolOf(proof, payToken));
    const { index, decoded } = takeDecoded(proof, contracts.flashLeverage, 'FlashLeverage', REPAY);
    const [user, positionId, amount, borrowShares] = decoded.args;
    requireOwn(proof, index, user, positionId, intent);
    requireSameNumber(index, 'amount', 'it repays', borrowShares, shares, sharesText);
    requirePaid(proof, index, payToken, amount, intent.pay.amount, isSized(intent));
    proveApprovals(proof, approvals, { token: payToken, spender: contracts.flashLeverage, amount, callIndex: index });
    spend(proof, payToken, amount);
    proof.sentences.push(repaid(index, amount));
    return;
  }
  const call = takeCall(proof, contracts.flashLeverageRouter, 'FlashLeverageRouter');
  const { args, places } = decodeExactly(SWAP_AND_REPAY, call.data, call.index);
  requireSameNumber(call.index, 'amount', 'it repays', args[7], shares, sharesText);
  const minimum = provePaidSwap(proof, { ...call, args, places, approvals }, intent, market, loanToken);
  proof.sentences.push(repaid(call.index, minimum));
}

/** Whether the service has chosen the payment: `pay.amount` is the most of it then. */
const isSized = (intent: AddIntent | RepayIntent) =>
  intent.action === 'repay' && intent.full === true && intent.isExact !== true;

/** Require that a full repayment brings the debt. @throws VerificationError */
function requireWhole(proof: Proof, index: number, intent: RepayIntent, loanToken: string, repays: bigint): void {
  const { positionId, state } = intent;
  const text = (units: bigint) => amountOf(proof, loanToken, units).text;
  proof.assumptions.push(
    `Position ${positionId} owes at most ${text(repays)} when it is sent: with a larger debt it reverts.`,
  );
  if (state?.debt === undefined || repays >= state.debt) return;
  const message = `it may repay as little as ${text(repays)} after fees, and the whole debt of ${text(state.debt)} was asked for.`;
  throw new VerificationError('minimum', message, index);
}

/** @throws VerificationError */
export function proveClose(proof: Proof, intent: CloseIntent): void {
  const market = managed(proof, intent);
  const sale = proveDeleverage(proof, market, intent, intent.positionId, intent.state, SALE_DEFAULTS, intent);
  proveSales(proof, intent, market.loanToken, [sale], SALE_DEFAULTS);
}

interface PaidCall {
  readonly index: number;
  readonly value: bigint;
  readonly to: `0x${string}`;
  readonly data: string;
  readonly approvals: ReturnType<typeof takeApprovals>;
  readonly places: Places;
  readonly args: readonly [
    user: `0x${string}`,
    positionId: bigint,
    marketId: string,
    tokenIn: `0x${string}`,
    amountIn: bigint,
    swapData: { readonly extRouter: string; readonly extCalldata: string },
    minTokenOut: bigint,
    ...unknown[],
  ];
}

/** Prove a payment that the router swaps into a token of the position. Returns the least that it gives. */
function provePaidSwap(
  proof: Proof,
  { args, places, approvals, ...call }: PaidCall,
  intent: AddIntent | RepayIntent,
  market: TrustedMarket,
  tokenOut: string,
): bigint {
  const [user, positionId, marketId, tokenIn, amountIn, swapData, minimum] = args;
  const { index } = call;
  const { pay } = intent;
  requireOwn(proof, index, user, positionId, intent);
  requireSameAddress(index, 'market', 'it acts on the market', marketId, market.id);
  requireSameAddress(index, 'token', 'it is paid with', tokenIn, pay.token);
  requirePaid(proof, index, tokenIn, amountIn, pay.amount, isSized(intent));
  requireValue(call, isNative(tokenIn) ? amountIn : 0n, proof.chain);
  // A full repayment may take less than the most that may be spent.
  const reference = pay.worth === undefined || pay.amount === 0n ? undefined : (pay.worth * amountIn) / pay.amount;
  proveSwap(proof, {
    index,
    places,
    path: 'swapData.extCalldata',
    swapData,
    partial: 'returned',
    of: 'payment',
    sells: { token: tokenIn, amount: amountIn },
    tokenOut,
    minimum,
    reference,
    loss: lossOf(intent),
    asked: intent.minAmountOut,
  });
  const spender = proof.chain.contracts.flashLeverageRouter;
  proveApprovals(proof, approvals, { token: tokenIn, spender, amount: amountIn, callIndex: index });
  spend(proof, tokenIn, amountIn);
  return minimum;
}

function requirePaid(proof: Proof, index: number, token: string, paid: bigint, asked: bigint, atMost = false): void {
  const text = (units: bigint) => amountOf(proof, token, units).text;
  if (atMost ? paid <= asked && paid > 0n : paid === asked) return;
  throw differs(index, 'amount', 'it pays', text(paid), `${atMost ? 'at most ' : ''}${text(asked)}`);
}

function spend(proof: Proof, token: string, amount: bigint): void {
  proof.spends.push(amountOf(proof, token, amount));
}

function addedSentence(proof: Proof, { positionId }: AddIntent, market: TrustedMarket, added: bigint) {
  recordChange(proof, positionId, market, { adds: added });
  const text = amountOf(proof, market.collateralToken, added).text;
  proof.sentences.push(`Adds at least ${text} of collateral to position ${positionId}.`);
}

/** The market of a position does not stand in most of its calls. */
function managed(proof: Proof, intent: { readonly marketId: string; readonly positionId: number }): TrustedMarket {
  const market = trustedMarketOf(proof.chain, intent.marketId);
  proof.assumptions.push(`Position ${intent.positionId} of ${shown(proof.owner)} is on the market ${market.id}.`);
  return market;
}

function requirePosition(index: number, actual: bigint, { positionId }: { readonly positionId: number }): void {
  requireSameNumber(index, 'position', 'it acts on position', actual, BigInt(positionId));
}

function requireOwn(
  proof: Proof,
  index: number,
  user: string,
  positionId: bigint,
  intent: { readonly positionId: number },
): void {
  requireSameAddress(index, 'owner', 'it acts for', user, proof.owner);
  requirePosition(index, positionId, intent);
}

import { flashLeverageAbi, flashLeverageRouterAbi } from '../abi/index.ts';
import { proveApprovals, takeApprovals } from './approvals.ts';
import { decodeExactly, methodsOf, type Places } from './calldata.ts';
import { VerificationError } from './errors.ts';
import { requireNoLimits } from './intent-fields.ts';
import { proveLoan } from './loan.ts';
import { collateralFor, counted, depositFeeOf, less, loanValue, lossOf, percentOf, targetLtv } from './numbers.ts';
import { addressOf } from './plan.ts';
import {
  amountOf,
  isNative,
  type Proof,
  recordChange,
  requireSameAddress,
  requireSameNumber,
  requireValue,
  shown,
  symbolOf,
  takeCall,
} from './proof.ts';
import { proveReallocations, type Reallocations } from './reallocation.ts';
import { proveSwap, proveTotalLoss } from './swaps.ts';
import { trustedMarketOf } from './trusted.ts';
import type { OpenIntent, TrustedMarket } from './types.ts';

const DIRECT = methodsOf(flashLeverageAbi, ['leverage']);
const ROUTED = methodsOf(flashLeverageRouterAbi, [
  'swapAndLeverage',
  'reallocateAndLeverage',
  'reallocateSwapAndLeverage',
]);

interface SwapData {
  readonly extRouter: string;
  readonly extCalldata: string;
}

export interface LeverageParams {
  readonly marketId: string;
  readonly amountCollateral: bigint;
  readonly amountFlashLoan: bigint;
  readonly swapData: SwapData;
  readonly minTokenOut: bigint;
}

/** The content of an opening call, for each of the four functions. */
interface Opening {
  readonly index: number;
  readonly places: Places;
  /** Path of its leverage parameters. */
  readonly path: string;
  readonly user?: string;
  readonly params: LeverageParams;
  readonly entry?: {
    readonly tokenIn: string;
    readonly amountIn: bigint;
    readonly swapData: SwapData;
    readonly minTokenOut: bigint;
  };
  readonly reallocations: Reallocations;
}

/** Prove the opening of a position. @throws VerificationError */
export function proveOpen(proof: Proof, intent: OpenIntent): void {
  const { contracts } = proof.chain;
  const market = trustedMarketOf(proof.chain, intent.marketId);
  const payToken = addressOf(intent.pay.token, 'pay.token');
  const paysDirectly = payToken === market.collateralToken.toLowerCase();
  if (paysDirectly) requireNoLimits(intent, symbolOf(proof, payToken), ['minAmountOut']);
  const approvals = takeApprovals(proof);
  const isRouted = proof.left[0]?.to === contracts.flashLeverageRouter.toLowerCase();
  const spender = isRouted ? contracts.flashLeverageRouter : contracts.flashLeverage;
  const call = takeCall(proof, spender, isRouted ? 'FlashLeverageRouter' : 'FlashLeverage');
  const opening = isRouted ? readRouted(call) : readDirect(call);
  const { index, user, params, entry, reallocations } = opening;
  if (user !== undefined) requireSameAddress(index, 'owner', 'the position is opened for', user, proof.owner);
  requireSameAddress(index, 'market', 'it opens on the market', params.marketId, market.id);
  if ((entry === undefined) !== paysDirectly) {
    const message = paysDirectly
      ? 'it swaps a payment that is the collateral itself.'
      : 'it takes the collateral, and another token was to be paid.';
    throw new VerificationError('token', message, index);
  }
  const fee = proveReallocations(proof, { index, places: opening.places, reallocations, market }, intent.reallocation);
  const collateral = entry ? proveEntry(proof, intent, market, opening, entry) : params.amountCollateral;
  const text = (token: string) => (units: bigint) => amountOf(proof, token, units).text;
  const paid = entry?.amountIn ?? params.amountCollateral;
  requireSameNumber(index, 'amount', 'it pays', paid, intent.pay.amount, text(payToken));
  requireValue(call, fee + (isNative(payToken) ? paid : 0n), proof.chain);
  proveLeverage(proof, intent, market, { ...opening, collateral });
  proveApprovals(proof, approvals, { token: payToken, spender, amount: paid, callIndex: index });
  proof.spends.push(amountOf(proof, payToken, paid));
}

function readDirect({ index, data }: { readonly index: number; readonly data: string }): Opening {
  const { args, places } = decodeExactly(DIRECT, data, index);
  const [user, params] = args;
  return { index, places, path: 'params', user, params, reallocations: [] };
}

function readRouted({ index, data }: { readonly index: number; readonly data: string }): Opening {
  const { functionName, args, places } = decodeExactly(ROUTED, data, index);
  const about = { index, places, path: 'leverageParams' };
  if (functionName === 'reallocateAndLeverage') return { ...about, params: args[1], reallocations: args[0] };
  const [tokenIn, amountIn, swapData, minTokenOut, params] =
    functionName === 'swapAndLeverage' ? args : ([args[1], args[2], args[3], args[4], args[5]] as const);
  const reallocations = functionName === 'swapAndLeverage' ? [] : args[0];
  return { ...about, params, entry: { tokenIn, amountIn, swapData, minTokenOut }, reallocations };
}

/** Prove the swap of the payment, and return the least collateral that it gives. */
function proveEntry(
  proof: Proof,
  intent: OpenIntent,
  market: TrustedMarket,
  { index, places, params }: Opening,
  entry: NonNullable<Opening['entry']>,
): bigint {
  const { collateralToken } = market;
  requireSameAddress(index, 'token', 'it is paid with', entry.tokenIn, intent.pay.token);
  proveSwap(proof, {
    index,
    places,
    path: 'swapData.extCalldata',
    swapData: entry.swapData,
    partial: 'returned',
    of: 'payment',
    sells: { token: entry.tokenIn, amount: entry.amountIn },
    tokenOut: collateralToken,
    minimum: entry.minTokenOut,
    reference: intent.pay.worth,
    loss: lossOf(intent),
    asked: intent.minAmountOut,
  });
  // The router replaces it by the output of the swap. Another number there would not be executed.
  requireSameNumber(index, 'amount', 'its amountCollateral is', params.amountCollateral, entry.minTokenOut);
  return entry.minTokenOut;
}

/** Prove loan and swap of an opening, and record the position that they make at the least. */
function proveLeverage(
  proof: Proof,
  intent: OpenIntent,
  market: TrustedMarket,
  { index, places, path, params, entry, collateral }: Opening & { readonly collateral: bigint },
): void {
  const { loanToken, collateralToken } = market;
  const { price, depositFee } = intent.state;
  const loss = lossOf(intent);
  const fee = depositFeeOf(market, depositFee);
  const { amountFlashLoan, minTokenOut, swapData } = params;
  const worth = intent.pay.worth ?? 0n;
  proveLoan(proof, {
    index,
    token: loanToken,
    amount: amountFlashLoan,
    target: targetLtv(intent),
    debt: 0n,
    loss,
    value: loanValue(entry ? worth : collateral, price),
    valueAtLeast: loanValue(less(entry ? counted(collateral, worth) : collateral, fee), price),
  });
  proveSwap(proof, {
    index,
    places,
    path: `${path}.swapData.extCalldata`,
    swapData,
    partial: 'reverts',
    of: 'loan',
    sells: { token: loanToken, amount: amountFlashLoan },
    tokenOut: collateralToken,
    minimum: minTokenOut,
    reference: collateralFor(amountFlashLoan, price),
    loss,
  });
  const swaps = [{ reference: collateralFor(amountFlashLoan, price), minimum: minTokenOut }];
  proveTotalLoss(proof, index, intent, entry ? [{ reference: worth, minimum: entry.minTokenOut }, ...swaps] : swaps, {
    token: collateralToken,
    equity: entry ? worth : collateral,
  });
  const held = less(collateral, fee) + minTokenOut;
  const [collateralAtLeast, debtAtMost] = [
    amountOf(proof, collateralToken, held),
    amountOf(proof, loanToken, amountFlashLoan),
  ];
  const ltvAtMostPct = percentOf(amountFlashLoan, loanValue(held, price));
  proof.position = { collateralAtLeast, debtAtMost, ltvAtMostPct };
  recordChange(proof, 'opened', market, { adds: held, borrows: amountFlashLoan });
  const paid = amountOf(proof, entry ? entry.tokenIn : collateralToken, entry?.amountIn ?? collateral).text;
  proof.sentences.push(
    `Opens a position of ${shown(proof.owner)} with ${paid}: it borrows ${debtAtMost.text} and holds at least ${collateralAtLeast.text}, an LTV of at most ${ltvAtMostPct} %.`,
  );
}

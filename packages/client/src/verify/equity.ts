import { equityRouterAbi } from '../abi/index.ts';
import { proveApprovals, takeApprovals } from './approvals.ts';
import { proveWhileAuthorized } from './authorization.ts';
import { methodsOf } from './calldata.ts';
import { VerificationError } from './errors.ts';
import { ltvBelowLiquidation, proveLoan } from './loan.ts';
import {
  collateralFor,
  counted,
  depositFeeOf,
  less,
  loanValue,
  lossOf,
  more,
  READING_TOLERANCE,
  VAULT_DEFAULTS,
  WAD,
  wadOf,
} from './numbers.ts';
import {
  amountOf,
  differs,
  type Proof,
  recordChange,
  requireSameAddress,
  requireSameNumber,
  shown,
  takeDecoded,
} from './proof.ts';
import { leftLeg, proveDeleverage, proveSales, type Sale, saleLossOf } from './sales.ts';
import { proveSwap, proveTotalLoss, type SwapCheck } from './swaps.ts';
import { trustedMarketOf, trustedVaultOf } from './trusted.ts';
import type { DepositIntent, ExitIntent, TrustedMarket } from './types.ts';

const ENTRY = methodsOf(equityRouterAbi, ['equityEntry']);
const EXIT = methodsOf(equityRouterAbi, ['equityExit']);
/** Below the liquidation LTV, at the least; the contract's own buffer is further below. WAD. */
const SAFE_BUFFER = 75n * 10n ** 14n;
/** How far the LTV of a yield leg may end below that: the largest buffer of a published contract. WAD. */
const LARGEST_BUFFER = 25n * 10n ** 15n;

interface Vault {
  readonly router: `0x${string}`;
  readonly stock: TrustedMarket;
  readonly yieldMarket: TrustedMarket;
}

/** @throws VerificationError */
export function proveDeposit(proof: Proof, intent: DepositIntent): void {
  const vault = vaultOf(proof, intent.vaultId);
  const { loanToken: token } = vault.stock;
  const approvals = takeApprovals(proof);
  proveWhileAuthorized(proof, vault.router, () => {
    const { index, decoded } = takeDecoded(proof, vault.router, 'the equity router', ENTRY);
    const [params] = decoded.args;
    const text = (units: bigint) => amountOf(proof, token, units).text;
    requireSameAddress(index, 'token', 'it deposits the token', params.depositToken, token);
    requireSameNumber(index, 'amount', 'it deposits', params.amountIn, intent.amount, text);
    requireSameAddress(index, 'market', 'its stock market is', params.stockMarketId, vault.stock.id);
    requireSameAddress(index, 'market', 'its yield market is', params.leverageParams.marketId, vault.yieldMarket.id);
    // The router replaces it by the output of the swap.
    requireSameNumber(index, 'amount', 'its amountCollateral is', params.leverageParams.amountCollateral, 0n);
    proveLegs(proof, { index, places: decoded.places, params }, intent, vault);
    const allowance = { token, spender: vault.router, amount: intent.amount, callIndex: index };
    proveApprovals(proof, approvals, allowance);
  });
  proof.spends.push(amountOf(proof, token, intent.amount));
}

interface DepositCall {
  readonly index: number;
  readonly places: SwapCheck['places'];
  readonly params: {
    readonly stockSwapData: SwapCheck['swapData'];
    readonly stockMinOut: bigint;
    readonly stockBorrowAmount: bigint;
    readonly yieldSwapData: SwapCheck['swapData'];
    readonly yieldMinOut: bigint;
    readonly leverageParams: {
      readonly amountFlashLoan: bigint;
      readonly swapData: SwapCheck['swapData'];
      readonly minTokenOut: bigint;
    };
  };
}

function proveLegs(
  proof: Proof,
  { index, places, params }: DepositCall,
  intent: DepositIntent,
  { stock, yieldMarket }: Vault,
): void {
  const { state, amount } = intent;
  const loss = lossOf(intent, VAULT_DEFAULTS);
  const { stockMinOut, stockBorrowAmount, yieldMinOut, leverageParams } = params;
  const { amountFlashLoan, minTokenOut } = leverageParams;
  const at = { index, places, loss };
  const toYield = { ...at, tokenOut: yieldMarket.collateralToken };
  proveSwap(proof, {
    ...at,
    path: 'params.stockSwapData.extCalldata',
    swapData: params.stockSwapData,
    partial: 'returned',
    of: 'payment',
    sells: { token: stock.loanToken, amount },
    tokenOut: stock.collateralToken,
    minimum: stockMinOut,
    reference: collateralFor(amount, state.stock.price),
  });
  proveStockBorrow(proof, index, intent, stock, stockMinOut, stockBorrowAmount);
  proveSwap(proof, {
    ...toYield,
    path: 'params.yieldSwapData.extCalldata',
    swapData: params.yieldSwapData,
    partial: 'returned',
    of: 'stock loan',
    sells: { token: stock.loanToken, amount: stockBorrowAmount },
    minimum: yieldMinOut,
    reference: collateralFor(stockBorrowAmount, state.yield.price),
  });
  const target =
    intent.yieldLtv === undefined ? BigInt(yieldMarket.lltv) - SAFE_BUFFER : wadOf(intent.yieldLtv, 'yieldLtv', 16);
  const fee = depositFeeOf(yieldMarket, state.yield.depositFee);
  const bought = collateralFor(stockBorrowAmount, state.yield.price);
  const value = loanValue(bought, state.yield.price);
  const yieldAtLeast = loanValue(less(counted(yieldMinOut, bought), fee), state.yield.price);
  proveLoan(proof, {
    index,
    token: yieldMarket.loanToken,
    amount: amountFlashLoan,
    target,
    debt: 0n,
    loss,
    value,
    valueAtLeast: yieldAtLeast,
    ...(intent.yieldLtv === undefined ? { lowestTarget: target - LARGEST_BUFFER } : NO_LOWER),
  });
  proveSwap(proof, {
    ...toYield,
    path: 'params.leverageParams.swapData.extCalldata',
    swapData: leverageParams.swapData,
    of: 'loan',
    sells: { token: yieldMarket.loanToken, amount: amountFlashLoan },
    partial: 'reverts',
    minimum: minTokenOut,
    reference: collateralFor(amountFlashLoan, state.yield.price),
  });
  const least = (reference: bigint, minimum: bigint, price: bigint) => ({
    reference,
    minimum: loanValue(minimum, price),
  });
  proveTotalLoss(
    proof,
    index,
    intent,
    [
      least(amount, stockMinOut, state.stock.price),
      least(stockBorrowAmount, yieldMinOut, state.yield.price),
      least(amountFlashLoan, minTokenOut, state.yield.price),
    ],
    { token: stock.loanToken, equity: amount, defaults: VAULT_DEFAULTS },
  );
  const held = less(yieldMinOut, fee) + minTokenOut;
  const collateralAtLeast = amountOf(proof, yieldMarket.collateralToken, held);
  const debtAtMost = amountOf(proof, yieldMarket.loanToken, amountFlashLoan);
  const ltvAtMostPct = ltvBelowLiquidation(index, yieldMarket, amountFlashLoan, loanValue(held, state.yield.price));
  proof.position = { collateralAtLeast, debtAtMost, ltvAtMostPct };
  recordChange(proof, 'opened', yieldMarket, { adds: held, borrows: amountFlashLoan });
  recordChange(proof, 'wallet', stock, { adds: stockMinOut, borrows: stockBorrowAmount });
  proof.sentences.push(
    `Deposits ${amountOf(proof, stock.loanToken, amount).text} into a vault of ${shown(proof.owner)}: it buys at least ${amountOf(proof, stock.collateralToken, stockMinOut).text} as the wallet's own collateral, borrows ${amountOf(proof, stock.loanToken, stockBorrowAmount).text} against it, and opens a position with it that borrows ${debtAtMost.text} and holds at least ${collateralAtLeast.text}, an LTV of at most ${ltvAtMostPct} %.`,
  );
}

const NO_LOWER = {};

/** The stock's loan is sized on the least stock that the swap may give, and on no more of it than the deposit is worth. */
function proveStockBorrow(
  proof: Proof,
  index: number,
  { amount, stockLtv, state: { stock: reading } }: DepositIntent,
  { loanToken }: TrustedMarket,
  stock: bigint,
  borrowed: bigint,
): void {
  const ltv = wadOf(stockLtv, 'stockLtv', 16);
  const sizedOn = (units: bigint) => (loanValue(units, reading.price) * ltv) / WAD;
  const sized = sizedOn(counted(stock, collateralFor(amount, reading.price)));
  if (borrowed <= more(sizedOn(stock), READING_TOLERANCE) && borrowed >= less(sized, READING_TOLERANCE)) return;
  const text = (units: bigint) => amountOf(proof, loanToken, units).text;
  throw differs(index, 'loan', 'it borrows', text(borrowed), `${text(sized)} against the stock`);
}

/** @throws VerificationError */
export function proveExit(proof: Proof, intent: ExitIntent): void {
  const { router, stock, yieldMarket } = vaultOf(proof, intent.vaultId);
  if (stock.loanToken.toLowerCase() !== yieldMarket.loanToken.toLowerCase()) {
    throw new VerificationError('market', `The legs of ${intent.vaultId} are sold into different tokens.`);
  }
  const ids = new Set(intent.positionIds);
  const sales: Sale[] = [];
  for (const closed of closedFirst(proof, ids)) {
    const reading = intent.state.loops[closed];
    if (!reading) throw new VerificationError('intent', `state.loops of the intent lacks position ${closed}.`);
    proof.assumptions.push(`Position ${closed} of ${shown(proof.owner)} is on the market ${yieldMarket.id}.`);
    sales.push(proveDeleverage(proof, yieldMarket, intent, closed, reading, VAULT_DEFAULTS, { exact: intent.exact }));
  }
  proveWhileAuthorized(proof, router, () => {
    const { index, decoded } = takeDecoded(proof, router, 'the equity router', EXIT);
    const [{ stockMarketId, stockSwapData, minLoanOut }] = decoded.args;
    const { price, collateral, debt } = intent.state.stock;
    const reference = loanValue(collateral, price);
    const left = leftLeg(stock, intent.state.stock);
    requireSameAddress(index, 'market', 'its stock market is', stockMarketId, stock.id);
    proveSwap(proof, {
      index,
      places: decoded.places,
      path: 'params.stockSwapData.extCalldata',
      swapData: stockSwapData,
      of: 'stock leg',
      sells: { token: stock.collateralToken, amount: collateral },
      partial: 'returned',
      tokenOut: stock.loanToken,
      minimum: minLoanOut,
      reference,
      loss: saleLossOf(intent, left, VAULT_DEFAULTS),
    });
    sales.push({ index, reference, minimum: minLoanOut, debt, left });
    const received = amountOf(proof, stock.loanToken, minLoanOut > debt ? minLoanOut - debt : 0n);
    if (received.amount > 0n) proof.receives.push(received);
    recordChange(proof, 'wallet', stock, { takesOut: 'all', owes: debt });
    proof.sentences.push(
      `Sells the whole stock leg of ${shown(proof.owner)} for at least ${amountOf(proof, stock.loanToken, minLoanOut).text}, repays its debt out of it and pays out the rest, at least ${received.text}.`,
    );
    proof.assumptions.push(
      `The stock leg holds ${amountOf(proof, stock.collateralToken, collateral).text} and owes ${amountOf(proof, stock.loanToken, debt).text} when it is sent.`,
    );
  });
  proveSales(proof, intent, stock.loanToken, sales, VAULT_DEFAULTS);
}

/** Read which position each call closes, in their order: every one of the intent once. @throws VerificationError */
function closedFirst({ left }: Proof, ids: Set<number>): readonly number[] {
  return left.slice(0, ids.size).map(({ index, data }) => {
    const id = BigInt(`0x${data.slice(10, 74) || '0'}`);
    if (id <= Number.MAX_SAFE_INTEGER && ids.delete(Number(id))) return Number(id);
    const missing = [...ids].join(', ');
    throw new VerificationError('position', `it does not close position ${missing}, which was asked for.`, index);
  });
}

function vaultOf(proof: Proof, vaultId: string): Vault {
  proof.assumptions.push('The equity router has the effects that its interface describes. Its code is not published.');
  const { vault, router } = trustedVaultOf(proof.chain, vaultId);
  const [stock, yieldMarket] = [vault.stockMarketId, vault.yieldMarketId].map((id) => trustedMarketOf(proof.chain, id));
  if (!stock || !yieldMarket) throw new VerificationError('market', `The markets of ${vaultId} are not trusted.`);
  return { router, stock, yieldMarket };
}

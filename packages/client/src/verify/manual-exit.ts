import { morphoBlueAbi, userProxyAbi } from '../abi/index.ts';
import { proveApprovals, takeApprovals } from './approvals.ts';
import { decodeExactly, methodsOf } from './calldata.ts';
import { VerificationError } from './errors.ts';
import { more, ROUNDING } from './numbers.ts';
import { addressOf } from './plan.ts';
import { amountOf, differs, type Proof, requireSameAddress, requireSameNumber, shown, takeDecoded } from './proof.ts';
import { trustedMarketOf } from './trusted.ts';
import type { ManualExitIntent, TrustedMarket } from './types.ts';

const REPAY = methodsOf(morphoBlueAbi, ['repay']);
const EXECUTE = methodsOf(userProxyAbi, ['execute']);
const WITHDRAW = methodsOf(morphoBlueAbi, ['withdrawCollateral']);
/** Repaid by shares: the allowance carries the interest until it is sent. WAD. */
const INTEREST_ALLOWANCE = 10n ** 16n;

/** Prove the end of a position in manual mode. @throws VerificationError */
export function proveManualExit(proof: Proof, intent: ManualExitIntent): void {
  const market = trustedMarketOf(proof.chain, intent.marketId);
  const proxy = addressOf(intent.proxy, 'proxy');
  const { collateral, borrowShares, debt } = intent.state;
  if (borrowShares > 0n) proveMorphoRepay(proof, market, proxy, borrowShares, debt);
  const { index, decoded } = takeDecoded(proof, proxy, 'the contract of the position', EXECUTE);
  const inner = decodeExactly(WITHDRAW, decoded.args[0], index);
  const [params, assets, onBehalf, receiver] = inner.args;
  requireMarket(index, params, market);
  const text = (units: bigint) => amountOf(proof, market.collateralToken, units).text;
  requireSameNumber(index, 'amount', 'it takes out', assets, collateral, text);
  requireSameAddress(index, 'position', 'it takes collateral of', onBehalf, proxy);
  requireSameAddress(index, 'owner', 'it sends the collateral to', receiver, proof.owner);
  proof.receives.push(amountOf(proof, market.collateralToken, collateral));
  proof.sentences.push(`Takes ${text(collateral)} out of the contract ${shown(proxy)}, to its owner.`);
  proof.assumptions.push(`${shown(proxy)} is the contract of a position of ${shown(proof.owner)} in manual mode.`);
}

function proveMorphoRepay(proof: Proof, market: TrustedMarket, proxy: string, shares: bigint, debt: bigint): void {
  const { morphoBlue } = proof.chain.contracts;
  const { loanToken } = market;
  const approvals = takeApprovals(proof);
  const { index, decoded } = takeDecoded(proof, morphoBlue, 'Morpho Blue', REPAY);
  const [params, assets, repaid, onBehalf, data] = decoded.args;
  requireMarket(index, params, market);
  requireSameNumber(index, 'amount', 'it repays, besides shares,', assets, 0n);
  requireSameNumber(index, 'amount', 'it repays shares:', repaid, shares);
  requireSameAddress(index, 'position', 'it repays the debt of', onBehalf, proxy);
  if (data !== '0x') throw new VerificationError('encoding', 'it asks Morpho for a callback.', index);
  const allowed = approvedAmount(approvals.at(-1)?.data);
  const most = more(debt, INTEREST_ALLOWANCE) + ROUNDING;
  const text = (units: bigint) => amountOf(proof, loanToken, units).text;
  if (allowed === undefined || allowed > most || allowed < debt) {
    throw differs(
      approvals.at(-1)?.index ?? index,
      'approval',
      'it approves',
      allowed === undefined ? 'nothing' : text(allowed),
      `between ${text(debt)} and ${text(most)}`,
    );
  }
  proveApprovals(proof, approvals, {
    token: loanToken,
    spender: morphoBlue,
    amount: allowed,
    callIndex: index,
    leavesRest: true,
  });
  proof.spends.push(amountOf(proof, loanToken, allowed));
  proof.sentences.push(`Repays the whole debt of the contract ${shown(proxy)}, about ${text(debt)}.`);
}

function approvedAmount(data: string | undefined): bigint | undefined {
  return data === undefined || data.length !== 138 ? undefined : BigInt(`0x${data.slice(74)}`);
}

function requireMarket(
  index: number,
  params: { loanToken: string; collateralToken: string; oracle: string; irm: string; lltv: bigint },
  market: TrustedMarket,
): void {
  const names = ['loanToken', 'collateralToken', 'oracle', 'irm'] as const;
  for (const name of names)
    requireSameAddress(index, 'market', `the ${name} of its market is`, params[name], market[name]);
  requireSameNumber(index, 'market', 'the lltv of its market is', params.lltv, BigInt(market.lltv));
}

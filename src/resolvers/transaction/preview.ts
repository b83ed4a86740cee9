import type { PreviewArgs } from '../../schema/transaction/preview-input.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { Address, ChainId, PositionName } from '../../shared/ids.ts';
import type { AppContext } from '../common/context.ts';
import { vaultDepositPreview, vaultExitPreview } from '../equity/equity.ts';
import { notOne } from './input.ts';
import { previewLeverage, previewManage } from './leverage.ts';

export interface PreviewRequest {
  readonly chainId?: ChainId | null | undefined;
  readonly wallet?: Address | null | undefined;
  readonly input: PreviewArgs;
  readonly maxQuoteAgeSec: number;
}

const CASES = ['openLeverage', 'manageLeverage', 'equityDeposit', 'equityExit'];

/** Preview an action. @throws the refusals of its build, BadRequestError */
export function previewOf({ chainId, wallet, input, maxQuoteAgeSec }: PreviewRequest, ctx: AppContext) {
  const { openLeverage, manageLeverage, equityDeposit, equityExit } = input;
  if ([openLeverage, manageLeverage, equityDeposit, equityExit].filter((one) => one != null).length !== 1) {
    throw notOne('input', CASES);
  }
  const age = { maxQuoteAgeSec };
  if (manageLeverage) {
    const position = onChain(manageLeverage.position, chainId);
    return previewManage(wallet, { ...manageLeverage, position }, age, ctx);
  }
  if (equityDeposit) return vaultDepositPreview(wallet, { ...equityDeposit, chainId }, age, ctx);
  if (equityExit) {
    if (wallet == null) throw new BadRequestError('Send wallet: the owner of the vault.', { field: 'wallet' });
    return vaultExitPreview(wallet, { ...equityExit, chainId }, age, ctx);
  }
  if (!openLeverage) throw notOne('input', CASES);
  if (wallet != null) {
    throw new BadRequestError('The preview of an opening takes no wallet. Leave wallet out.', { field: 'wallet' });
  }
  return previewLeverage({ ...openLeverage, chainId }, age, ctx);
}

/** The id with its chain. @throws BadRequestError where both name one, and not the same */
function onChain(position: PositionName, chainId: ChainId | null | undefined): PositionName {
  if (chainId == null || position.chainId === chainId) return position;
  if (position.chainId === undefined) return { ...position, chainId };
  throw new BadRequestError(
    `chainId ${chainId} contradicts input.manageLeverage.position, which is on chain ${position.chainId}. Send chainId ${position.chainId}, or leave it out.`,
    { field: 'chainId', value: String(chainId), limit: { oneOf: [position.chainId] } },
  );
}

import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import type { Chain, Market } from '../../catalog/types.ts';
import { NotEligibleError } from '../errors.ts';
import { type Read, readOf } from './reads.ts';

/** How many answers `planContract` takes. */
export const CONTRACT_READS = 2;

/** Whether the contract is paused, and whether it supports the market; `undefined` = the deployment does not tell. */
export type ContractAnswers = readonly [isPaused: boolean | undefined, isSupported: boolean | undefined];

/** Plan what the contract that holds positions lets happen now. */
export function planContract({ contracts }: Chain, market: Market): readonly [Read<boolean>, Read<boolean>] {
  return [
    readOf(contracts.flashLeverage, flashLeverageAbi, 'paused', []),
    readOf(contracts.flashLeverage, flashLeverageAbi, 'isSupportedMarket', [market.id]),
  ];
}

/** Refuse everything while the contract is paused. What it does not tell stands against nothing: the simulation decides. @throws NotEligibleError */
export function requireUnpaused([isPaused]: ContractAnswers): void {
  if (isPaused !== true) return;
  throw new NotEligibleError(
    'The contract that holds positions is paused by its owner: none can be opened, changed or closed there until it is unpaused. Try again later.',
    { reason: 'market_closed' },
  );
}

/**
 * Refuse a new position while the contract is paused, or on a market that it does not support.
 * @param exit where what is open can still be left, when it is not where positions are managed
 * @throws NotEligibleError
 */
export function requireOpenMarket(market: Market, answers: ContractAnswers, exit?: string): void {
  requireUnpaused(answers);
  const [, isSupported] = answers;
  if (isSupported !== false) return;
  throw new NotEligibleError(
    `The market ${market.id} is closed to new positions. What is open there can still be left${exit === undefined ? '' : ` through ${exit}`}.`,
    { reason: 'market_closed', ...(exit === undefined ? {} : { pointer: exit }) },
  );
}

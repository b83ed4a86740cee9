import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import type { Chain, Market } from '../../catalog/types.ts';
import { DEFAULT_DEPOSIT_FEE, DEFAULT_YIELD_FEE } from '../../domain/leverage/fees.ts';
import type { LtvLimits } from '../../domain/leverage/limits.ts';
import { limitsOf } from '../../domain/market/statics.ts';
import { NAMES } from '../../shared/names.ts';
import { NotEligibleError } from '../errors.ts';
import { type ReadPlan, readOf } from './reads.ts';

/** State of the deployed contract and of one market in it; fees are shares in WAD. */
export interface Deployment {
  readonly limits: LtvLimits;
  /** Of a deposit; 0 on a correlated market. */
  readonly depositFee: bigint;
  /** Of the yield; 0 on an uncorrelated market. */
  readonly yieldFee: bigint;
  readonly isCorrelated: boolean;
  /** Whether it is paused; absent = the deployment does not answer. */
  readonly isPaused?: boolean | undefined;
  /** Whether it opens positions in the market; absent = the deployment does not answer. */
  readonly isSupported?: boolean | undefined;
  /** Views that did not answer: their documented defaults are used. */
  readonly unknown: readonly string[];
}

export type DeploymentAnswers = readonly [
  isPaused: boolean | undefined,
  isSupported: boolean | undefined,
  buffer: bigint | undefined,
  yieldFee: bigint | undefined,
  depositFee: bigint | undefined,
  isCorrelated: boolean | undefined,
];

const WAD = 10n ** 18n;
/** Whether positions can be opened or changed at all. */
const STATE_VIEWS: readonly string[] = ['paused', 'isSupportedMarket'];
const VIEWS = [...STATE_VIEWS, 'LIQUIDATION_BUFFER', 's_yieldFee', 's_depositFee', 's_isCorrelated'];

/** Plan the state of the contract and of a market in it. */
export function planDeployment({ contracts }: Chain, market: Market): ReadPlan<Deployment> {
  const { flashLeverage } = contracts;
  return {
    reads: [
      readOf(flashLeverage, flashLeverageAbi, 'paused', []),
      readOf(flashLeverage, flashLeverageAbi, 'isSupportedMarket', [market.id]),
      readOf(flashLeverage, flashLeverageAbi, 'LIQUIDATION_BUFFER', []),
      readOf(flashLeverage, flashLeverageAbi, 's_yieldFee', []),
      readOf(flashLeverage, flashLeverageAbi, 's_depositFee', []),
      readOf(flashLeverage, flashLeverageAbi, 's_isCorrelated', [market.id]),
    ],
    fold: (answers) => foldDeployment(market, answers as unknown as DeploymentAnswers),
  };
}

/** Fold the answers of `planDeployment`. A view that is missing, or above 100 %, is unknown and does not affect the others. */
export function foldDeployment(market: Market, answers: DeploymentAnswers): Deployment {
  const believed = answers.map((answer) => (typeof answer === 'bigint' && answer >= WAD ? undefined : answer));
  const [isPaused, isSupported, buffer, yieldFee, depositFee, correlated] = believed as unknown as DeploymentAnswers;
  const isCorrelated = correlated ?? market.correlated;
  return {
    limits: limitsOf(market, buffer),
    depositFee: isCorrelated ? 0n : (depositFee ?? DEFAULT_DEPOSIT_FEE),
    yieldFee: isCorrelated ? (yieldFee ?? DEFAULT_YIELD_FEE) : 0n,
    isCorrelated,
    isPaused,
    isSupported,
    unknown: VIEWS.filter((_, i) => believed[i] === undefined),
  };
}

/** Name the views of the contract that did not answer: their defaults are no measurements. */
export function deploymentNotes({ unknown }: Pick<Deployment, 'unknown'>): readonly string[] {
  const state = unknown.filter((view) => STATE_VIEWS.includes(view));
  const terms = unknown.filter((view) => !STATE_VIEWS.includes(view));
  return [
    ...(state.length === 0
      ? []
      : [
          `The contract did not answer ${state.join(', ')}: it counts as open, and only a simulation can confirm that.`,
        ]),
    ...(terms.length === 0
      ? []
      : [
          `The contract did not answer ${terms.join(', ')}: documented defaults are used (0.25 points of buffer, 5 % of the yield, 1 % of a deposit, the catalog's kind of market).`,
        ]),
  ];
}

/** Refuse everything while the contract is paused. Without an answer the simulation decides. @throws NotEligibleError */
export function requireUnpaused({ isPaused }: Pick<Deployment, 'isPaused'>): void {
  if (isPaused !== true) return;
  throw new NotEligibleError(
    'The contract that holds positions is paused by its owner: none can be opened, changed or closed there until it is unpaused. Try again later.',
    { reason: 'market_closed', rule: 'paused' },
  );
}

/**
 * Refuse a new position while the contract is paused, or on a market that it does not support.
 * @param exit whether open positions are left through the exit of the vault, and not where positions are managed
 * @throws NotEligibleError
 */
export function requireOpenMarket(market: Market, deployment: Deployment, exit?: 'vault'): void {
  requireUnpaused(deployment);
  if (deployment.isSupported !== false) return;
  const { equityExit } = NAMES.places;
  throw new NotEligibleError(
    `The market ${market.id} is closed to new positions. Open positions can still be left${exit === undefined ? '' : ` through ${equityExit}`}.`,
    { reason: 'market_closed', rule: 'unsupported', pointer: exit && equityExit },
  );
}

import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import type { Chain, Market } from '../../catalog/types.ts';
import type { LtvLimits } from '../../domain/leverage/limits.ts';
import { limitsOf } from '../../domain/market/statics.ts';
import { readOf } from './reads.ts';

/** What the deployed contract says of itself and of one market; fees are shares in WAD of what they are taken from there. */
export interface Deployment {
  readonly limits: LtvLimits;
  /** Of what is paid in; 0 on a correlated market. */
  readonly depositFee: bigint;
  /** Of the yield; 0 on an uncorrelated market. */
  readonly yieldFee: bigint;
  readonly isCorrelated: boolean;
  /** Views that did not answer: their documented defaults are used. */
  readonly unknown: readonly string[];
}

export type DeploymentAnswers = readonly [
  bigint | undefined,
  bigint | undefined,
  bigint | undefined,
  boolean | undefined,
];

/** What the published source takes at deployment, used where a view does not answer: 5 % of the yield, and the most for a deposit. */
const DEFAULT_YIELD_FEE = 5n * 10n ** 16n;
const DEFAULT_DEPOSIT_FEE = 10n ** 16n;
const WAD = 10n ** 18n;
const VIEWS = ['LIQUIDATION_BUFFER', 's_yieldFee', 's_depositFee', 's_isCorrelated'] as const;

/** Plan what the contract's deployment says about a market. */
export function planDeployment({ contracts }: Chain, market: Market) {
  const { flashLeverage } = contracts;
  return [
    readOf(flashLeverage, flashLeverageAbi, 'LIQUIDATION_BUFFER', []),
    readOf(flashLeverage, flashLeverageAbi, 's_yieldFee', []),
    readOf(flashLeverage, flashLeverageAbi, 's_depositFee', []),
    readOf(flashLeverage, flashLeverageAbi, 's_isCorrelated', [market.id]),
  ] as const;
}

/** Fold the answers of `planDeployment`. A view that is missing, or says more than all, is unknown and takes nothing else down. */
export function foldDeployment(market: Market, answers: DeploymentAnswers): Deployment {
  const [buffer, yieldFee, depositFee, correlated] = answers.map((answer) =>
    typeof answer === 'bigint' && answer >= WAD ? undefined : answer,
  ) as unknown as DeploymentAnswers;
  const isCorrelated = correlated ?? market.correlated;
  return {
    limits: limitsOf(market, buffer),
    depositFee: isCorrelated ? 0n : (depositFee ?? DEFAULT_DEPOSIT_FEE),
    yieldFee: isCorrelated ? (yieldFee ?? DEFAULT_YIELD_FEE) : 0n,
    isCorrelated,
    unknown: VIEWS.filter((_, i) => [buffer, yieldFee, depositFee, correlated][i] === undefined),
  };
}

/** Say which views of the contract did not answer, so that nobody takes a default for a measurement. */
export function deploymentNotes({ unknown }: Deployment): readonly string[] {
  if (unknown.length === 0) return [];
  return [
    `The contract did not answer ${unknown.join(', ')}: documented defaults stand in for it (0.25 points of buffer, 5 % of the yield, 1 % of a deposit, the catalog's kind of market).`,
  ];
}

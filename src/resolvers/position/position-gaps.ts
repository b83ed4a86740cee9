import type { EquityPosition } from '../../domain/equity/position.ts';
import { gap } from '../../domain/freshness/gaps.ts';
import type { Gap } from '../../domain/freshness/types.ts';
import type { Position } from '../../domain/position/types.ts';
import type { AppContext } from '../common/context.ts';
import { renamedGaps } from '../common/gap-names.ts';
import { explorerLinksOf, openedAtOf } from './position-result.ts';

/** Fields of a position that the domain names otherwise than the schema. */
const NAMES: Readonly<Record<string, string>> = {
  collateralSymbol: 'collateralToken',
  collateralAddress: 'collateralToken',
  collateralDecimals: 'collateralToken',
  loanSymbol: 'loanToken',
  loanAddress: 'loanToken',
  loanDecimals: 'loanToken',
  amountLeveragedCollateral: 'collateralAmount',
  netCollateral: 'netCollateralAmount',
  amountLoan: 'debtAmount',
  currentLeverage: 'leverage',
  currentLeverageApyPct: 'leverageApyPct',
  amountDepositedInLoanToken: 'depositBasis',
  amountReturnedInLoanToken: 'returnedAmount',
};
const NO_EXPLORER = gap('explorerLinks', 'NOT_MEASURED', 'No block explorer of the chain is known.');
const NOT_MANUAL = gap('manualModeCalls', 'NOT_APPLICABLE', 'The position is not in manual mode.');

/** Give the reasons of a position's empty fields, by their names in the schema. */
export function holdingGaps(position: Position, ctx: AppContext): readonly Gap[] | Promise<readonly Gap[]> {
  const named = renamedGaps(position.gaps, NAMES);
  // The rows of /v1 treat these fields as unknown when they have no gap.
  return ctx.contract === 'v1' ? named : withOpenedAt(ownGaps(position, named, ctx), position, ctx);
}

async function withOpenedAt(gaps: readonly Gap[], position: Position, ctx: AppContext): Promise<readonly Gap[]> {
  const openedAt = await openedAtOf(position, ctx);
  return typeof openedAt === 'number' ? gaps : [...gaps, { ...openedAt, field: 'openedAt' }];
}

function ownGaps(position: Position, named: readonly Gap[], ctx: AppContext): readonly Gap[] {
  const unvalued = named.find(({ field }) => field === 'closeNow');
  const fields = position.freshness ? [] : ['freshness', 'oraclePriceAsOf'];
  return [
    ...named,
    ...(unvalued ? fields.map((field) => ({ ...unvalued, field })) : []),
    ...(position.manual ? [] : [manualGap(position, named)]),
    ...(explorerLinksOf(position, ctx) ? [] : [NO_EXPLORER]),
  ];
}

function manualGap({ manualMode }: Position, named: readonly Gap[]): Gap {
  const why = named.find(({ field }) => field === (manualMode ? 'closeNow' : 'manualMode'));
  return why ? { ...why, field: 'manualModeCalls' } : NOT_MANUAL;
}

/** Fields of a vault that the domain names otherwise than the schema. */
const VAULT_NAMES: Readonly<Record<string, string>> = {
  'stock.debtUsdg': 'stock.debtAmount',
  ambiguousYieldLoopIds: 'yieldPositionIds',
  currentNetApyPct: 'netApyPct',
};
const NOT_AMBIGUOUS = gap('yieldPositionIds', 'NOT_APPLICABLE', 'The loops of the vault are known, or it has none.');

/** Give the reasons of a vault's empty fields, by their names in the schema. */
export function equityPositionGaps(position: EquityPosition, { contract }: AppContext): readonly Gap[] {
  const named = renamedGaps(position.gaps, VAULT_NAMES);
  return contract === 'v1' || position.yieldLoopMatch === 'ambiguous' ? named : [...named, NOT_AMBIGUOUS];
}

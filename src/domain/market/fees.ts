import type { Market } from '../../catalog/types.ts';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { whyUnknown } from '../deployment/terms.ts';
import { type ChainFacts, type ContractDeployment, DEPLOYMENT_KEY, type GroupState } from '../facts.ts';
import { gap, gapOfGroup } from '../freshness/gaps.ts';
import { stampOf } from '../freshness/stamp.ts';
import type { Gap, Stamp } from '../freshness/types.ts';
import { DEFAULT_DEPOSIT_FEE, DEFAULT_YIELD_FEE } from '../leverage/fees.ts';

/**
 * The fees of the contract that holds positions, shares in WAD. One that it does not tell has the documented default, and a
 * gap `fees.<field>` that says so.
 */
export interface ContractFees {
  /** Of the yield, at closing and withdrawing; on a market without it 0. */
  readonly yieldFee: bigint;
  /** Of what is paid in; on a market without it 0. */
  readonly depositFee: bigint;
  /** Receives both; absent = not known. */
  readonly treasury?: Address;
  /** Age of what the contract told; absent = it has told nothing yet. */
  readonly stamp?: Stamp;
  readonly gaps: readonly Gap[];
}

/** The fees of one market: the yield fee of a correlated one, the deposit fee of any other. */
export interface MarketFees extends ContractFees {
  /** Which of both fees it has: as the contract says, else as the catalog does. */
  readonly isCorrelated: boolean;
}

/** Tell what the contract of a chain takes, by its own last answer. */
export function contractFeesOf({ groups }: ChainFacts, staleAfterSec: number): ContractFees {
  const fact = groups.deployment.items.get(DEPLOYMENT_KEY);
  const { yieldFee, depositFee, treasury } = fact?.value ?? {};
  const gaps: Gap[] = [];
  const orDefault = (field: 'yieldFee' | 'depositFee', told: bigint | undefined, byDefault: bigint): bigint => {
    if (told !== undefined) return told;
    const missing = gapOf(`fees.${field}Pct`, groups.deployment, field);
    const message = `The documented ${percentOf(byDefault)} % is taken. ${missing.message}`;
    gaps.push({ ...missing, message });
    return byDefault;
  };
  const fees = {
    yieldFee: orDefault('yieldFee', yieldFee, DEFAULT_YIELD_FEE),
    depositFee: orDefault('depositFee', depositFee, DEFAULT_DEPOSIT_FEE),
  };
  if (treasury === undefined) gaps.push(gapOf('fees.treasury', groups.deployment, 'treasury'));
  if (!fact) gaps.push(gapOf('fees.freshness', groups.deployment, 'yieldFee'));
  return {
    ...fees,
    ...(treasury === undefined ? {} : { treasury }),
    ...(fact ? { stamp: stampOf(fact, staleAfterSec) } : {}),
    gaps,
  };
}

/** Tell what of it is due on a market. */
export function marketFeesOf(
  market: Pick<Market, 'id' | 'correlated'>,
  { groups }: ChainFacts,
  { yieldFee, depositFee, gaps, ...contract }: ContractFees,
): MarketFees {
  const told = groups.marketSupport.items.get(market.id)?.value.isCorrelated;
  const isCorrelated = told ?? market.correlated;
  const without = isCorrelated ? 'fees.depositFeePct' : 'fees.yieldFeePct';
  const due = gaps.filter(({ field }) => field !== without);
  return {
    ...contract,
    isCorrelated,
    yieldFee: isCorrelated ? yieldFee : 0n,
    depositFee: isCorrelated ? 0n : depositFee,
    gaps: told === undefined ? [...due, ...assumedKind(market, groups.marketSupport)] : due,
  };
}

/** Fees ready to show: percent as plain decimals. */
export interface ShownFees {
  readonly yieldFeePct: string;
  readonly depositFeePct: string;
  readonly treasury?: Address;
  readonly freshness?: Stamp;
}

/** Show the fees of a contract, or of a market. */
export function formatFees({ yieldFee, depositFee, treasury, stamp }: ContractFees): ShownFees {
  return {
    yieldFeePct: percentOf(yieldFee),
    depositFeePct: percentOf(depositFee),
    ...(treasury === undefined ? {} : { treasury }),
    ...(stamp === undefined ? {} : { freshness: stamp }),
  };
}

/** A share in WAD as percent, exact. */
function percentOf(share: bigint): string {
  return formatUnitsPlain(share, 16);
}

function assumedKind(market: Pick<Market, 'id'>, group: GroupState<unknown>): readonly Gap[] {
  const missing = group.items.has(market.id) ? gap('', 'NOT_MEASURED', SILENT) : gapOfGroup('', group, market.id);
  const message = `Which fee it has is taken from the kind of market in the catalog. ${missing.message}`;
  return ['fees.yieldFeePct', 'fees.depositFeePct'].map((field) => ({ ...missing, field, message }));
}

function gapOf(field: string, group: GroupState<ContractDeployment>, of: keyof ContractDeployment): Gap {
  return { ...whyUnknown(group, of), field };
}

const SILENT = 'The contract does not tell its own.';

import type { Market } from '../../catalog/types.ts';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { whyUnknown } from '../deployment/terms.ts';
import type { ContractDeployment } from '../deployment/types.ts';
import { type ChainFacts, DEPLOYMENT_KEY, type GroupState } from '../facts.ts';
import { gap, gapOfGroup } from '../freshness/gaps.ts';
import { stampOf } from '../freshness/stamp.ts';
import type { Gap, Stamp } from '../freshness/types.ts';
import { DEFAULT_DEPOSIT_FEE, DEFAULT_YIELD_FEE } from '../leverage/fees.ts';

/**
 * The fees of the contract that holds positions, shares in WAD. An unknown fee has its documented default and a gap
 * `fees.<field>`.
 */
export interface ContractFees {
  /** Share of the yield, due when closing and withdrawing; 0 on a market without it. */
  readonly yieldFee: bigint;
  /** Share of a deposit; 0 on a market without it. */
  readonly depositFee: bigint;
  /** Receives both fees; absent = not known. */
  readonly treasury?: Address | undefined;
  /** Age of the contract's values; absent before the first reading. */
  readonly stamp?: Stamp | undefined;
  /** The rates as strategies show them. */
  readonly formatted: FormattedFees;
  readonly gaps: readonly Gap[];
}

/** The fees of one market: the yield fee of a correlated one, the deposit fee of any other. */
export interface MarketFees extends ContractFees {
  /** Which of the two fees applies: by the contract, or by the catalog while the contract's flag is not known. */
  readonly isCorrelated: boolean;
}

/** Return the fees of a chain's contract from its last reading. */
export function contractFeesOf({ groups }: ChainFacts, staleAfterSec: number): ContractFees {
  const fact = groups.deployment.items.get(DEPLOYMENT_KEY);
  const { yieldFee, depositFee, treasury } = fact?.value ?? {};
  const gaps: Gap[] = [];
  const orDefault = (field: 'yieldFee' | 'depositFee', onChain: bigint | undefined, byDefault: bigint): bigint => {
    if (onChain !== undefined) return onChain;
    const missing = gapOf(`fees.${field}Pct`, groups.deployment, field);
    const message = `The documented ${percentOf(byDefault)} % is used. ${missing.message}`;
    gaps.push({ ...missing, message });
    return byDefault;
  };
  const fees = {
    yieldFee: orDefault('yieldFee', yieldFee, DEFAULT_YIELD_FEE),
    depositFee: orDefault('depositFee', depositFee, DEFAULT_DEPOSIT_FEE),
  };
  if (treasury === undefined) gaps.push(gapOf('fees.treasury', groups.deployment, 'treasury'));
  if (!fact) gaps.push(gapOf('fees.freshness', groups.deployment, 'yieldFee'));
  return withFormatted({ ...fees, treasury, stamp: fact && stampOf(fact, staleAfterSec), gaps });
}

/** Return the fees of a market by its kind: that of the contract, or that of the catalog while the contract's is not known. */
export function marketFeesOf(
  market: Pick<Market, 'id' | 'correlated'>,
  { groups }: ChainFacts,
  fees: FeesByKind,
): MarketFees {
  const isCorrelated = groups.marketSupport.items.get(market.id)?.value.isCorrelated;
  if (isCorrelated !== undefined) return fees[`${isCorrelated}`];
  const assumed = fees[`${market.correlated}`];
  return { ...assumed, gaps: [...assumed.gaps, ...assumedKind(market, groups.marketSupport)] };
}

/** The fees of the two kinds of markets: correlated or not. */
export type FeesByKind = Readonly<Record<'true' | 'false', MarketFees>>;

/** Derive the fees of both kinds of markets from those of the contract. */
export function feesByKind(contract: ContractFees): FeesByKind {
  const of = (isCorrelated: boolean): MarketFees => {
    const { treasury, stamp } = contract;
    const without = isCorrelated ? 'fees.depositFeePct' : 'fees.yieldFeePct';
    const fees = withFormatted({
      yieldFee: isCorrelated ? contract.yieldFee : 0n,
      depositFee: isCorrelated ? 0n : contract.depositFee,
      treasury,
      stamp,
      gaps: contract.gaps.filter(({ field }) => field !== without),
    });
    return { ...fees, isCorrelated };
  };
  return { true: of(true), false: of(false) };
}

/** Formatted fees: percent as plain decimals. */
export interface FormattedFees {
  readonly yieldFeePct: string;
  readonly depositFeePct: string;
  readonly treasury?: Address | undefined;
  readonly freshness?: Stamp | undefined;
}

function withFormatted(fees: Omit<ContractFees, 'formatted'>): ContractFees {
  const { yieldFee, depositFee, treasury, stamp } = fees;
  const formatted = {
    yieldFeePct: percentOf(yieldFee),
    depositFeePct: percentOf(depositFee),
    treasury,
    freshness: stamp,
  };
  return { ...fees, formatted };
}

/** Convert a share in WAD to percent, exact. */
function percentOf(share: bigint): string {
  return formatUnitsPlain(share, 16);
}

function assumedKind(market: Pick<Market, 'id'>, group: GroupState<unknown>): readonly Gap[] {
  const missing = group.items.has(market.id) ? gap('', 'NOT_MEASURED', SILENT) : gapOfGroup('', group, market.id);
  const message = `The kind of market in the catalog decides its fee. ${missing.message}`;
  return ['fees.yieldFeePct', 'fees.depositFeePct'].map((field) => ({ ...missing, field, message }));
}

function gapOf(field: string, group: GroupState<ContractDeployment>, of: keyof ContractDeployment): Gap {
  return { ...whyUnknown(group, of), field };
}

const SILENT = 'The contract does not return its own.';

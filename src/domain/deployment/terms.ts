import type { Market } from '../../catalog/types.ts';
import {
  type ChainFacts,
  type ContractDeployment,
  DEPLOYMENT_KEY,
  type FreshnessBudgets,
  type GroupState,
  type MarketSupport,
} from '../facts.ts';
import { gap, gapOfGroup } from '../freshness/gaps.ts';
import { earliestStale, stampOf } from '../freshness/stamp.ts';
import type { Gap, Stamp } from '../freshness/types.ts';
import { LIQUIDATION_BUFFER_POINTS } from '../leverage/limits.ts';
import { contractOf } from './routers.ts';

/** What the deployed contract says that holds for positions on one market, beside its fees. Absent = it does not tell: see `gaps`. */
export interface DeploymentTerms {
  readonly isPaused?: boolean | undefined;
  readonly isSupported?: boolean | undefined;
  readonly isCorrelated?: boolean | undefined;
  /** WAD, below the liquidation LTV. */
  readonly liquidationBuffer?: bigint | undefined;
  /** Who told it; absent while nothing was measured. */
  readonly source?: string;
  /** Of the older of both readings. */
  readonly stamp?: Stamp;
  /** Terms that are not known, by the name that they are shown under, and what stands in for them. */
  readonly gaps: readonly Gap[];
}

/** Gather what is known of the deployment for positions on a market. */
export function deploymentTerms(
  { id }: Pick<Market, 'id'>,
  facts: ChainFacts,
  budgets: Pick<FreshnessBudgets, 'deployment' | 'marketSupport'>,
): DeploymentTerms {
  const { marketSupport, deployment } = facts.groups;
  const contract = contractOf(facts);
  const support = marketSupport.items.get(id);
  const stamps = [
    ...(contract ? [stampOf(contract, budgets.deployment)] : []),
    ...(support ? [stampOf(support, budgets.marketSupport)] : []),
  ];
  const [first, ...others] = stamps;
  const source = contract?.source ?? support?.source;
  const { isSupported, isCorrelated } = support?.value ?? {};
  return {
    ...(contract ? termsOf(contract.value) : {}),
    isSupported,
    isCorrelated,
    ...(source === undefined ? {} : { source }),
    ...(first ? { stamp: earliestStale(first, ...others) } : {}),
    gaps: [...contractGaps(deployment), ...supportGaps(marketSupport, id)],
  };
}

function termsOf(contract: ContractDeployment) {
  const { isPaused, liquidationBuffer } = contract;
  return { isPaused, liquidationBuffer };
}

/** What stands in for a term of the contract that is not known, by the field that it is kept in and the one that it is shown as. */
const CONTRACT_TERMS = [
  ['isPaused', 'paused', 'It is taken as open.'],
  [
    'liquidationBuffer',
    'liquidationBufferPct',
    `The documented ${LIQUIDATION_BUFFER_POINTS.toFixed()} points are taken.`,
  ],
] as const satisfies readonly (readonly [keyof ContractDeployment, string, string])[];

const SUPPORT_TERMS = [
  ['isSupported', 'supported', 'The market is taken as supported.'],
  ['isCorrelated', 'correlated', "The catalog's kind of market is taken."],
] as const satisfies readonly (readonly [keyof MarketSupport, string, string])[];

function contractGaps(group: GroupState<ContractDeployment>): readonly Gap[] {
  return CONTRACT_TERMS.flatMap(([field, shown, instead]) => {
    if (group.items.get(DEPLOYMENT_KEY)?.value[field] !== undefined) return [];
    return [assumed(shown, instead, whyUnknown(group, field))];
  });
}

/** Why the contract's own word on something is not known. */
export function whyUnknown(group: GroupState<ContractDeployment>, field: keyof ContractDeployment): Gap {
  const fact = group.items.get(DEPLOYMENT_KEY);
  if (!fact) return gapOfGroup('', group, DEPLOYMENT_KEY);
  return fact.value.implausible?.includes(field)
    ? gap('', 'IMPLAUSIBLE', 'What the contract tells cannot be, and is not believed.', fact.asOfMs)
    : gap('', 'NOT_MEASURED', 'The contract does not tell it.', fact.asOfMs);
}

function supportGaps(group: GroupState<MarketSupport>, id: Market['id']): readonly Gap[] {
  return SUPPORT_TERMS.flatMap(([field, shown, instead]) => {
    if (group.items.get(id)?.value[field] !== undefined) return [];
    return [assumed(shown, instead, whyUnsupported(group, id))];
  });
}

/** Why it is not known what the contract says of a market. */
export function whyUnsupported(group: GroupState<MarketSupport>, id: Market['id']): Gap {
  const fact = group.items.get(id);
  return fact ? gap('', 'NOT_MEASURED', 'The contract does not tell it.', fact.asOfMs) : gapOfGroup('', group, id);
}

/** Make a gap that says what stands in for what is not known. */
export function assumed(field: string, instead: string, why: Gap): Gap {
  return { ...why, field, message: `${instead} ${why.message}` };
}

/** What the deployed contract says of itself, whatever the market, beside its fees. */
export interface ContractTerms extends ReturnType<typeof termsOf>, Pick<DeploymentTerms, 'source' | 'stamp' | 'gaps'> {
  readonly hasCode?: boolean | undefined;
  readonly routers: ContractDeployment['swapRouters'];
  readonly operators: ContractDeployment['operators'];
}

/** Gather what is known of the contract of a chain. */
export function contractTerms(facts: ChainFacts, budgetSec: number): ContractTerms {
  const { deployment } = facts.groups;
  const contract = contractOf(facts);
  const told = contract?.value ?? { swapRouters: [], operators: [] };
  const hasCode = told.hasCode;
  return {
    ...termsOf(told),
    hasCode,
    routers: told.swapRouters,
    operators: told.operators,
    ...(contract ? { source: contract.source, stamp: stampOf(contract, budgetSec) } : {}),
    gaps: [
      ...(hasCode === undefined
        ? [assumed('hasCode', 'It is taken as there.', whyUnknown(deployment, 'hasCode'))]
        : []),
      ...contractGaps(deployment),
    ],
  };
}

import type { Market } from '../../catalog/types.ts';
import { type ChainFacts, DEPLOYMENT_KEY, type FreshnessBudgets, type GroupState } from '../facts.ts';
import { gap, gapOfGroup } from '../freshness/gaps.ts';
import { earliestStale, stampOf } from '../freshness/stamp.ts';
import type { Gap, Stamp } from '../freshness/types.ts';
import { LIQUIDATION_BUFFER_POINTS } from '../leverage/limits.ts';
import { contractOf } from './routers.ts';
import type { ContractDeployment, MarketSupport } from './types.ts';

/** Terms of the deployed contract for positions on one market, without its fees. Absent = not known, with a gap. */
export interface DeploymentTerms {
  readonly isPaused?: boolean | undefined;
  readonly isSupported?: boolean | undefined;
  readonly isCorrelated?: boolean | undefined;
  /** Distance below the liquidation LTV, WAD. */
  readonly liquidationBuffer?: bigint | undefined;
  /** Source of the terms; absent before the first measurement. */
  readonly source?: string | undefined;
  /** Stamp of the older of the two readings. */
  readonly stamp?: Stamp | undefined;
  /** Unknown terms by their public name, each with the value that is assumed. */
  readonly gaps: readonly Gap[];
}

/** Gather the known terms of the deployment for positions on a market. */
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
    isPaused: contract?.value.isPaused,
    liquidationBuffer: contract?.value.liquidationBuffer,
    isSupported,
    isCorrelated,
    source,
    stamp: first && earliestStale(first, ...others),
    gaps: [
      ...contractGaps(deployment),
      ...supportGaps(marketSupport, id),
      ...(first ? [] : unread(gapOfGroup('', deployment, DEPLOYMENT_KEY))),
    ],
  };
}

/** For each term of the contract: its field, its public name, and the value that is assumed while it is unknown. */
const CONTRACT_TERMS = [
  ['isPaused', 'paused', 'It counts as not paused.'],
  [
    'liquidationBuffer',
    'liquidationBufferPct',
    `The documented ${LIQUIDATION_BUFFER_POINTS.toFixed()} points are used.`,
  ],
] as const satisfies readonly (readonly [keyof ContractDeployment, string, string])[];

const SUPPORT_TERMS = [
  ['isSupported', 'supported', 'The market counts as supported.'],
  ['isCorrelated', 'correlated', "The catalog's kind of market is used."],
] as const satisfies readonly (readonly [keyof MarketSupport, string, string])[];

function contractGaps(group: GroupState<ContractDeployment>): readonly Gap[] {
  return CONTRACT_TERMS.flatMap(([field, published, instead]) => {
    if (group.items.get(DEPLOYMENT_KEY)?.value[field] !== undefined) return [];
    return [assumed(published, instead, whyUnknown(group, field))];
  });
}

/** Explain why a value of the contract is not known. */
export function whyUnknown(group: GroupState<ContractDeployment>, field: keyof ContractDeployment): Gap {
  const fact = group.items.get(DEPLOYMENT_KEY);
  if (!fact) return gapOfGroup('', group, DEPLOYMENT_KEY);
  return fact.value.implausible?.includes(field)
    ? gap('', 'IMPLAUSIBLE', 'The value of the contract is impossible and was rejected.', fact.asOfMs)
    : gap('', 'NOT_MEASURED', 'The contract does not return it.', fact.asOfMs);
}

function supportGaps(group: GroupState<MarketSupport>, id: Market['id']): readonly Gap[] {
  return SUPPORT_TERMS.flatMap(([field, published, instead]) => {
    if (group.items.get(id)?.value[field] !== undefined) return [];
    return [assumed(published, instead, whyUnsupported(group, id))];
  });
}

/** Explain why the contract's support of a market is not known. */
export function whyUnsupported(group: GroupState<MarketSupport>, id: Market['id']): Gap {
  const fact = group.items.get(id);
  return fact ? gap('', 'NOT_MEASURED', 'The contract does not return it.', fact.asOfMs) : gapOfGroup('', group, id);
}

/** Make a gap that names the value assumed in its place. */
export function assumed(field: string, instead: string, why: Gap): Gap {
  return { ...why, field, message: `${instead} ${why.message}` };
}

/** Terms of the deployed contract that hold for every market, without its fees. */
export interface ContractTerms
  extends Pick<ContractDeployment, 'isPaused' | 'liquidationBuffer'>,
    Pick<DeploymentTerms, 'source' | 'stamp' | 'gaps'> {
  readonly hasCode?: boolean | undefined;
  readonly routers: ContractDeployment['swapRouters'];
  readonly operators: ContractDeployment['operators'];
}

/** Gather the known terms of a chain's contract. */
export function contractTerms(facts: ChainFacts, budgetSec: number): ContractTerms {
  const { deployment } = facts.groups;
  const contract = contractOf(facts);
  const deployed = contract?.value ?? { swapRouters: [], operators: [] };
  const hasCode = deployed.hasCode;
  return {
    isPaused: deployed.isPaused,
    liquidationBuffer: deployed.liquidationBuffer,
    hasCode,
    routers: deployed.swapRouters,
    operators: deployed.operators,
    source: contract?.source,
    stamp: contract && stampOf(contract, budgetSec),
    gaps: [
      ...(hasCode === undefined
        ? [assumed('hasCode', 'It counts as present.', whyUnknown(deployment, 'hasCode'))]
        : []),
      ...contractGaps(deployment),
      ...(contract ? [] : unread(gapOfGroup('', deployment, DEPLOYMENT_KEY))),
    ],
  };
}

/** Explain why terms have neither a source nor an age. */
function unread(why: Gap): readonly Gap[] {
  return ['source', 'freshness'].map((field) => ({ ...why, field }));
}

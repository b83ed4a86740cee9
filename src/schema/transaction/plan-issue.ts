import { findCatalogToken } from '../../resolvers/market/tokens.ts';
import { MAX_ISSUES_PER_KIND } from '../../shared/contract/list-bounds.ts';
import { Decimal } from '../../shared/decimal.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { Issue } from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';
import { TokenRef } from '../refs.ts';

const ISSUE_KINDS = enumValues<Issue['kind']>({
  INSUFFICIENT_BALANCE: 'The wallet holds less than the plan takes.',
  APPROVAL_NEEDED: 'The contract may not take the token yet; an approval of the plan allows it.',
  PRICE_UNVERIFIED: 'Nothing but the venue itself prices the token.',
  NOT_SIMULATED: 'The calls could not be simulated.',
  REFERENCE_OLD: 'A feed behind the oracle that judges a swap is past its heartbeat: its last price is used.',
  REFERENCE_UNDATED: 'The age of the price of the oracle that judges a swap is not known.',
  SLIPPAGE_TIGHTENED: 'Less slippage than requested holds in the calldata: more would break a limit of the contracts.',
  SLIPPAGE_CAPPED:
    'The requested slippage is above the cap, which counts in its place: only over REST, since here it is refused.',
  LOOPS_STAY_OPEN: 'The exit leaves open yield loops: none is known to belong to the vault, or they are under water.',
  HIGH_COST: 'The sales are expected to lose 2 % of the equity or more against the prices of the oracles.',
  UNDER_WATER:
    'A payment goes into a position whose debt is above the value of its collateral: a part of it goes to the lenders.',
});
/** Maximum number of issues of a preview or plan. */
export const MAX_ISSUES: number = MAX_ISSUES_PER_KIND * Object.keys(ISSUE_KINDS).length;

const IssueKindRef = builder.enumType('PlanIssueKind', {
  description: 'A kind of thing to know or to do before signing.',
  values: ISSUE_KINDS,
});

/** Part of a preview or plan, with the chain that its token is on. */
export interface OnChain {
  readonly chainId: ChainId;
}

export const PlanIssueRef = builder.objectRef<Issue & OnChain>('PlanIssue').implement({
  description: 'A fact to consider or a step to take before signing. It never stops a plan.',
  fields: (t) => ({
    kind: t.expose('kind', { type: IssueKindRef, description: 'The kind of issue.' }),
    message: t.exposeString('message', { description: 'The issue in a sentence.' }),
    token: t.field({
      type: TokenRef,
      nullable: true,
      description: 'The token in question; `null` = no token is, or one that is not curated.',
      resolve: ({ chainId, token: address }, _args, ctx) =>
        address === undefined ? null : findCatalogToken({ chainId, address }, ctx),
    }),
    tokenAddress: t.expose('token', {
      type: 'Address',
      nullable: true,
      description: 'Address of the token in question, also of one that is not curated; `null` = no token is.',
    }),
    required: t.expose('required', {
      type: 'Decimal',
      nullable: true,
      description: 'Required amount, whole tokens; `null` = the issue has no amount.',
    }),
    available: t.expose('available', {
      type: 'Decimal',
      nullable: true,
      description: 'Available amount, whole tokens; `null` = the issue has no amount.',
    }),
    askedSlippageBps: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Requested slippage, basis points; `null` = slippage is not in question.',
      resolve: ({ requested }) => (requested === undefined ? null : bpsOfRatio(requested)),
    }),
    costPctOfEquity: t.expose('costPctOfEquity', {
      type: 'Decimal',
      nullable: true,
      description: 'Expected cost, percent of the equity; `null` = no cost is in question, or there is no equity.',
    }),
    toLendersAmount: t.expose('toLenders', {
      type: 'Decimal',
      nullable: true,
      description:
        'Part of the payment that goes to the lenders of a position under water, whole loan tokens; `null` = none is in question.',
    }),
    costUsd: t.expose('costUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Expected cost in USD; `null` = no cost is in question, or nothing prices it.',
    }),
    effectiveSlippageBps: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Slippage that holds in the calldata, basis points; `null` = slippage is not in question.',
      resolve: ({ effective }) => (effective === undefined ? null : bpsOfRatio(effective)),
    }),
  }),
});

/** Show a ratio in basis points. */
export function bpsOfRatio(ratio: Decimal | string): Decimal {
  return new Decimal(ratio).shiftedBy(4);
}

import { repairOf } from '../../domain/drift/repair.ts';
import {
  type ChainEvidence,
  type Drift,
  type DriftOccurrence,
  MAX_EARLIER_DRIFT,
  type RegisterEvidence,
} from '../../domain/drift/types.ts';
import { readDrift } from '../../resolvers/ops/ops.ts';
import { builder } from '../builder.ts';
import { defineNode } from '../common/node.ts';
import { measuredFields } from '../common/page.ts';
import { ReadAtRef } from '../common/stamp.ts';
import { PositionStatusRef } from '../position/position.ts';
import { DriftKindRef, DriftSeverityRef } from './ops-inputs.ts';
import { seenTimes } from './sighting-times.ts';

const ChainEvidenceRef = builder.objectRef<ChainEvidence>('DriftChainEvidence').implement({
  description: 'State of a position on chain.',
  fields: (t) => ({
    status: t.expose('status', { type: PositionStatusRef, description: 'Status on chain.' }),
    readAt: t.field({
      type: ReadAtRef,
      description: 'Block at which the position was read.',
      resolve: (evidence) => evidence,
    }),
    proxy: t.expose('proxy', { type: 'Address', description: 'Contract that holds the position.' }),
    collateralAmount: t.expose('collateral', {
      type: 'Decimal',
      nullable: true,
      description: 'Collateral, whole tokens; `null` = the token is not known.',
    }),
    debtAmount: t.expose('debt', {
      type: 'Decimal',
      nullable: true,
      description: 'Debt, whole tokens of the loan token; `null` = not known.',
    }),
    netValueUsd: t.expose('netValueUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'Collateral less debt, USD rounded to 2 places, negative under water; `null` = not known. `pnl.netValueUsd` of the loop is exact, and 0 under water.',
    }),
  }),
});

const RegisterEvidenceRef = builder.objectRef<RegisterEvidence>('DriftRegisterEvidence').implement({
  description: 'State of a position in the register.',
  fields: (t) => ({
    isOpen: t.exposeBoolean('isOpen', { description: 'Whether the position is registered as open.' }),
    depositedUsd: t.expose('depositedUsd', { type: 'Decimal', description: 'Sum of all deposits. USD. Signed.' }),
    returnedUsd: t.expose('returnedUsd', { type: 'Decimal', description: 'Sum of all withdrawals. USD. Signed.' }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'Time of the registration; a future time is returned as now.',
      resolve: ({ createdAtMs }) => createdAtMs,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'Latest change of the row; a future time is returned as now.',
      resolve: ({ updatedAtMs }) => updatedAtMs,
    }),
    closedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'Time of the closing in the register; `null` = not closed, no time given, or a time that lies ahead.',
      resolve: ({ closedAtMs }) => closedAtMs,
    }),
  }),
});

const DriftOccurrenceRef = builder.objectRef<DriftOccurrence>('DriftOccurrence').implement({
  description: 'Time over which a disagreement was seen.',
  fields: (t) => ({
    firstSeenAt: t.field(seenTimes.first),
    lastSeenAt: t.field(seenTimes.last),
    goneAt: t.field({
      type: 'DateTime',
      description: 'Time of the first reading without the disagreement.',
      resolve: ({ goneMs }) => goneMs,
    }),
  }),
});

export const DriftRef = builder.objectRef<Drift>('Drift');
defineNode(DriftRef, {
  key: ['chainId', 'address', 'index'],
  keyOf: ({ chainId, wallet, positionIndex }) => [chainId, wallet, positionIndex],
  load: ([chainId, wallet, positionIndex], ctx) => readDrift({ chainId, wallet, positionIndex }, ctx),
  scope: 'ops',
});

DriftRef.implement({
  description: 'A position about which register and chain disagree, with both sides. The service never repairs either.',
  fields: (t) => ({
    kind: t.expose('kind', { type: DriftKindRef, description: 'Kind of the disagreement.' }),
    severity: t.expose('severity', { type: DriftSeverityRef, description: 'Weight of the disagreement.' }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain.' }),
    wallet: t.expose('wallet', { type: 'Address', description: 'Owner of the position.' }),
    positionIndex: t.exposeInt('positionIndex', {
      description: 'Index of the position in the array of the wallet on chain.',
    }),
    positionId: t.expose('positionId', {
      type: 'PositionId',
      description: 'Domain id: `{chainId}-{marketId}-{positionIndex}`.',
    }),
    marketId: t.expose('marketId', { type: 'MarketId', description: 'Market of the position.' }),
    vaultId: t.expose('vaultId', {
      type: 'StrategyId',
      nullable: true,
      description: 'Equity vault that the position belongs to; `null` = none.',
    }),
    message: t.exposeString('message', { description: 'One plain sentence for people.' }),
    firstSeenAt: t.field({
      type: 'DateTime',
      description: 'Time at which the service first saw the disagreement; starts anew after the disagreement was gone.',
      resolve: ({ firstSeenMs }) => firstSeenMs,
    }),
    lastSeenAt: t.field({
      type: 'DateTime',
      description: 'Time of the reading that this answer is from.',
      resolve: ({ lastSeenMs }) => lastSeenMs,
    }),
    earlier: t.expose('earlier', {
      type: [DriftOccurrenceRef],
      description: `Earlier times over which the position had the same kind of disagreement until it was gone, the latest first, at most ${MAX_EARLIER_DRIFT}.`,
      extensions: { jsonSchema: { maxItems: MAX_EARLIER_DRIFT } },
    }),
    suggestedSql: t.string({
      nullable: true,
      description:
        'SQL for an operator that brings the row of the register in line with the chain; the service never runs it. It changes at most one row, and none when the register has changed since. A missing row needs the psql variable `deposited_usd`. `null` = no statement can be suggested.',
      resolve: repairOf,
    }),
    onChain: t.expose('chain', { type: ChainEvidenceRef, description: 'Evidence on chain.' }),
    inRegister: t.expose('register', {
      type: RegisterEvidenceRef,
      nullable: true,
      description: 'Evidence in the register; `null` = the register has no row.',
    }),
  }),
});

export const DriftConnectionRef = builder.connectionObject(
  {
    type: DriftRef,
    name: 'DriftConnection',
    description: 'A page of disagreements.',
    fields: (t) => ({
      asOf: t.field(measuredFields.asOf),
      missingChains: t.field(measuredFields.missingChains),
    }),
  },
  { name: 'DriftEdge', description: 'A disagreement and its place in the list.' },
);

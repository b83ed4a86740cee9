import { requestedPageSize } from '../../../resolvers/common/page.ts';
import { builder } from '../../../schema/builder.ts';
import { CHAINS, pageArgs } from '../../../schema/common/page.ts';
import { OpsRef } from '../../../schema/ops/ops.ts';
import { DriftFilterRef, DriftKindRef, DriftSeverityRef } from '../../../schema/ops/ops-inputs.ts';
import { seenTimes } from '../../../schema/ops/sighting-times.ts';
import type { DriftRecord } from '../domain/types.ts';
import { listDriftHistory } from '../resolvers/drift-history.ts';

const DriftRecordRef = builder.objectRef<DriftRecord>('DriftRecord').implement({
  description:
    'A time over which register and chain disagreed about a position. One disagreement that comes back has several records.',
  fields: (t) => ({
    kind: t.expose('kind', { type: DriftKindRef, description: 'Kind of the disagreement.' }),
    severity: t.expose('severity', {
      type: DriftSeverityRef,
      description: 'Weight of the disagreement when it was last seen.',
    }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain.' }),
    wallet: t.expose('wallet', { type: 'Address', description: 'Owner of the position.' }),
    positionIndex: t.exposeInt('positionIndex', {
      description: 'Index of the position in the array of the wallet on chain.',
    }),
    positionId: t.field({
      type: 'PositionId',
      description: 'Domain id: `{chainId}-{marketId}-{positionIndex}`.',
      resolve: ({ chainId, marketId, positionIndex }) => `${chainId}-${marketId}-${positionIndex}`,
    }),
    marketId: t.expose('marketId', { type: 'MarketId', description: 'Market of the position.' }),
    vaultId: t.expose('vaultId', {
      type: 'StrategyId',
      nullable: true,
      description: 'Equity vault that the position belonged to when it was last seen; `null` = none.',
    }),
    firstSeenAt: t.field(seenTimes.first),
    lastSeenAt: t.field(seenTimes.last),
    goneAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the first reading without the disagreement; `null` = every reading since has it.',
      resolve: ({ goneMs }) => goneMs,
    }),
  }),
});

const DriftRecordConnectionRef = builder.connectionObject(
  { type: DriftRecordRef, name: 'DriftRecordConnection', description: 'A page of the history of drift.' },
  { name: 'DriftRecordEdge', description: 'A record of the history of drift and its place in the list.' },
);

builder.objectFields(OpsRef, (t) => ({
  driftHistory: t.field({
    type: DriftRecordConnectionRef,
    nullable: true,
    complexity: (args) => ({ field: 1, multiplier: requestedPageSize(args) }),
    description:
      'Times over which register and chain disagreed, open and gone ones, the latest recorded first. Each reading of the reports is recorded; records are kept for 400 days after their end.',
    args: {
      chainIds: t.arg({ type: ['ChainId'], description: CHAINS }),
      filter: t.arg({ type: DriftFilterRef, description: 'Conditions on records; all given ones must hold.' }),
      isGone: t.arg.boolean({
        description: 'Only those that are gone, or only those that are open; all when left out.',
      }),
      ...pageArgs(t.arg),
    },
    resolve: (_ops, args, ctx) => listDriftHistory(args, ctx),
  }),
}));

import type { ChainEvidence, Drift, RegisterEvidence } from '../../domain/drift/types.ts';
import { builder } from '../builder.ts';
import { PositionStatusRef } from '../position/position.ts';
import { DriftKindRef, DriftSeverityRef } from './ops-inputs.ts';

const ChainEvidenceRef = builder.objectRef<ChainEvidence>('DriftChainEvidence').implement({
  description: 'What the chain says of a position.',
  fields: (t) => ({
    status: t.expose('status', { type: PositionStatusRef, description: 'Its life on chain.' }),
    blockNumber: t.expose('blockNumber', { type: 'BigInteger', description: 'Block at which it was read.' }),
    blockTime: t.field({
      type: 'DateTime',
      description: 'Time of that block.',
      resolve: ({ blockTimeMs }) => blockTimeMs,
    }),
    proxy: t.expose('proxy', { type: 'Address', description: 'Contract that holds it.' }),
    collateral: t.expose('collateral', {
      type: 'Decimal',
      nullable: true,
      description: 'Collateral, whole tokens; `null` = its token is not known.',
    }),
    debt: t.expose('debt', { type: 'Decimal', nullable: true, description: 'Debt, whole tokens; `null` = not known.' }),
    netValueUsd: t.expose('netValueUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Collateral less debt, USD with 2 places; `null` = not known.',
    }),
  }),
});

const RegisterEvidenceRef = builder.objectRef<RegisterEvidence>('DriftRegisterEvidence').implement({
  description: 'What the register says of a position.',
  fields: (t) => ({
    isOpen: t.exposeBoolean('isOpen', { description: 'Whether it is registered as open.' }),
    depositedUsd: t.expose('depositedUsd', { type: 'Decimal', description: 'All that was put in, USD.' }),
    returnedUsd: t.expose('returnedUsd', { type: 'Decimal', description: 'All that was taken out, USD.' }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was registered; a time that lies ahead is shown as now.',
      resolve: ({ createdAtMs }) => createdAtMs,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'Latest change of the row; a time that lies ahead is shown as now.',
      resolve: ({ updatedAtMs }) => updatedAtMs,
    }),
    closedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'When it was registered as closed; `null` = it was not, the app did not say when, or said a time that lies ahead.',
      resolve: ({ closedAtMs }) => closedAtMs,
    }),
  }),
});

export const DriftRef = builder.objectRef<Drift>('Drift').implement({
  description:
    'A position about which the register and the chain disagree, with both sides. The service never heals it.',
  fields: (t) => ({
    kind: t.expose('kind', { type: DriftKindRef, description: 'How they disagree.' }),
    severity: t.expose('severity', { type: DriftSeverityRef, description: 'How much it matters.' }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    wallet: t.expose('wallet', { type: 'Address', description: 'Owner of the position.' }),
    positionIndex: t.exposeInt('positionIndex', { description: 'Index in the array of the wallet on chain.' }),
    positionId: t.exposeString('positionId', { description: '`{chainId}-{marketId}-{index}`.' }),
    marketId: t.expose('marketId', { type: 'MarketId', description: 'Its market.' }),
    vaultId: t.expose('vaultId', {
      type: 'StrategyId',
      nullable: true,
      description: 'Equity vault that it belongs to; `null` = none.',
    }),
    message: t.exposeString('message', { description: 'One plain sentence for people.' }),
    firstSeen: t.field({
      type: 'DateTime',
      description: 'When the service first met it; it starts anew after it was gone.',
      resolve: ({ firstSeenMs }) => firstSeenMs,
    }),
    chain: t.expose('chain', { type: ChainEvidenceRef, description: 'The evidence on chain.' }),
    register: t.expose('register', {
      type: RegisterEvidenceRef,
      nullable: true,
      description: 'The evidence in the register; `null` = there is no row.',
    }),
  }),
});

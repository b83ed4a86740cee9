import { priceAgeState } from '../../domain/market/price-age.ts';
import { formatCalls } from '../../resolvers/common/calls.ts';
import { depositEquity, exitEquity, previewEquity } from '../../resolvers/equity/equity.ts';
import { formatPct } from '../../shared/decimal.ts';
import {
  AmbiguousYieldLoopsError,
  type BuiltBatch,
  type BuiltDeposit,
  type BuiltExit,
  type PreviewedDeposit,
} from '../../transactions/equity/index.ts';
import { builder } from '../builder.ts';
import { detailsOf, RefusalRef } from '../common/refusals.ts';
import {
  ORACLE_PRICE_AS_OF,
  OraclePriceAgeRef,
  PREVIEW_PRICE_AGE,
  PREVIEW_READ_AT,
  ReadAtRef,
} from '../common/stamp.ts';
import { CostRef, WorstCaseRef } from '../position/position-preview.ts';
import { builtField } from '../transaction/built-field.ts';
import { IssueRef, SendCallsRef, TokenAmountRef, UnsignedCallRef } from '../transaction/transaction.ts';
import { DepositEquityInputRef, EquityPreviewInputRef, ExitEquityInputRef } from './equity-inputs.ts';
import { EquityPositionRef } from './equity-position.ts';
import { DepositPreviewRef } from './equity-preview.ts';

const EQUITY_ACTIONS = ['equity_deposit', 'equity_exit'] as const;
const ActionRef = builder.enumType('EquityAction', {
  description: 'What is done with a vault. As the v1 contract names it.',
  values: {
    equity_deposit: { value: EQUITY_ACTIONS[0], description: 'Enter it.' },
    equity_exit: { value: EQUITY_ACTIONS[1], description: 'Leave it.' },
  } as const,
});

builder.objectType(AmbiguousYieldLoopsError, {
  name: 'AmbiguousYieldLoopsRefusal',
  interfaces: [RefusalRef],
  description: 'Which loops belong to the vault cannot be told: name those that shall be closed.',
  fields: (t) => ({
    field: t.string({ description: 'The input that has to be sent.', resolve: (error) => detailsOf(error).field }),
    vaultId: t.field({
      type: 'StrategyId',
      description: 'The vault.',
      resolve: (error) => detailsOf(error).vaultId,
    }),
    candidates: t.intList({
      description: 'Ids of the loops that may be its own, ascending.',
      resolve: (error) => [...detailsOf(error).candidates],
    }),
  }),
});

const PreviewResultRef = builder.objectRef<PreviewedDeposit>('EquityPreview').implement({
  description: 'What a deposit into an equity vault would be. Nothing is built and no wallet is needed.',
  fields: (t) => ({
    chainId: t.field({ type: 'ChainId', description: 'The chain.', resolve: ({ terms }) => terms.vault.chainId }),
    strategyId: t.field({ type: 'StrategyId', description: 'The vault.', resolve: ({ terms }) => terms.vault.id }),
    action: t.field({ type: ActionRef, description: 'What is previewed.', resolve: () => 'equity_deposit' as const }),
    preview: t.field({
      type: DepositPreviewRef,
      description: 'The vault after the expected fills.',
      resolve: ({ terms }) => terms.preview,
    }),
    slippage: t.field({
      type: 'Decimal',
      description: 'The slippage that counts, a ratio: what was asked for, capped.',
      resolve: ({ slippage }) => slippage.value,
    }),
    note: t.exposeString('note', { description: 'What it assumes, in sentences.' }),
  }),
});

type AnyBatch = BuiltBatch & Pick<BuiltDeposit | BuiltExit, 'terms'>;

const BatchRef = builder.interfaceRef<AnyBatch>('EquityBatch').implement({
  description:
    'Unsigned calls for one wallet, the whole batch tried out on the newest state. The last call revokes the authorization that one before it grants.',
  fields: (t) => ({
    chainId: t.field({ type: 'ChainId', description: 'The chain.', resolve: ({ terms }) => terms.vault.chainId }),
    strategyId: t.field({ type: 'StrategyId', description: 'The vault.', resolve: ({ terms }) => terms.vault.id }),
    atomic: t.boolean({
      description: 'Always true. A wallet that cannot batch sends the calls in order, and the last one in any case.',
      resolve: () => true,
    }),
    calls: t.field({
      type: [UnsignedCallRef],
      complexity: { field: 1, multiplier: 6 },
      description: 'The calls in order.',
      resolve: ({ calls, user }) => formatCalls(calls, user),
    }),
    sendCalls: t.field({
      type: SendCallsRef,
      description: 'All of it as one atomic batch for `wallet_sendCalls`.',
      resolve: ({ terms, user, calls }) => ({
        chainId: terms.vault.chainId,
        from: user,
        calls,
        atomicRequired: true,
      }),
    }),
    slippage: t.field({
      type: 'Decimal',
      description: 'The slippage that counts, a ratio: what was asked for, capped.',
      resolve: ({ slippage }) => slippage.value,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When the earliest of its quotes expires, at most 60 s away.',
      resolve: ({ expiresAtMs }) => expiresAtMs,
    }),
    signingUrl: t.exposeString('signingUrl', {
      nullable: true,
      description: 'Link to review and sign in the app; `null` = no app is configured.',
    }),
    instructions: t.exposeString('instructions', { description: 'What to do with it, in sentences.' }),
    issues: t.field({
      type: [IssueRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'What there is to know or to do before signing.',
      resolve: ({ issues }) => [...issues],
    }),
    simulatedGas: t.expose('gasUsed', {
      type: 'BigInteger',
      nullable: true,
      description: 'Gas that the simulation of all calls used; `null` = it could not be simulated, see `issues`.',
    }),
  }),
});

const DepositRef = builder.objectRef<BuiltDeposit>('EquityDeposit').implement({
  description: 'The batch of a deposit.',
  interfaces: [BatchRef],
  fields: (t) => ({
    action: t.field({ type: ActionRef, description: 'What it does.', resolve: () => 'equity_deposit' as const }),
    preview: t.field({
      type: DepositPreviewRef,
      description: 'The vault after the expected fills.',
      resolve: ({ terms }) => terms.preview,
    }),
  }),
});

const ExitRef = builder.objectRef<BuiltExit>('EquityExit').implement({
  description: 'The batch that fully unwinds a vault.',
  interfaces: [BatchRef],
  fields: (t) => ({
    action: t.field({ type: ActionRef, description: 'What it does.', resolve: () => 'equity_exit' as const }),
    position: t.expose('position', { type: EquityPositionRef, description: 'The vault that is left, as it stands.' }),
    received: t.field({
      type: [TokenAmountRef],
      nullable: true,
      complexity: { field: 1, multiplier: 2 },
      description:
        'What the wallet had more after the simulation, fees of the contracts paid; empty = nothing, `null` = it could not be simulated.',
      resolve: ({ received }) => (received ? [...received] : null),
    }),
    readAt: t.field({
      type: ReadAtRef,
      nullable: true,
      description: PREVIEW_READ_AT,
      resolve: ({ priced }) => priced.readAt ?? null,
    }),
    oraclePriceAsOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: `${ORACLE_PRICE_AS_OF}, of the stock; \`null\` = see \`oraclePriceAge\`.`,
      resolve: ({ priced }) => priced.oraclePriceAsOfMs ?? null,
    }),
    oraclePriceAge: t.field({
      type: OraclePriceAgeRef,
      description: PREVIEW_PRICE_AGE,
      resolve: ({ priced }) => priceAgeState(priced.oraclePriceAsOfMs),
    }),
    costs: t.field({
      type: [CostRef],
      complexity: { field: 1, multiplier: 4 },
      description: 'What it costs at once, by kind.',
      resolve: ({ costs }) => [...costs],
    }),
    totalSwapCostPctOfEquity: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'All that its sales lose, percent of what the vault is worth with 2 places; `null` = it is worth nothing.',
      resolve: ({ totalSwapCostPctOfEquity: pct }) => (pct ? formatPct(pct) : null),
    }),
    worstCase: t.expose('worstCase', {
      type: WorstCaseRef,
      description: 'What is paid out when every sale gives its minimum only, fees of the contract paid.',
    }),
    closes: t.intList({
      description: 'Ids of the yield loops that it closes, in order; nothing else is closed.',
      resolve: ({ terms }) => terms.loops.map(({ positionId }) => positionId),
    }),
  }),
});

/** Three quotes, chain reads and a simulation: dearer than anything that is read from the snapshot. */
const COMPLEXITY = 60;

builder.queryFields((t) => ({
  equityPreview: t.field({
    type: PreviewResultRef,
    description: 'Preview a deposit into an equity vault: no wallet, nothing built. Needs a key.',
    args: { input: t.arg({ type: EquityPreviewInputRef, required: true, description: 'What to deposit.' }) },
    ...builtField({
      complexity: COMPLEXITY,
      union: { name: 'EquityPreviewResult', description: 'The preview, or why there is none.' },
    }),
    resolve: (_root, { input }, ctx) => previewEquity(input, ctx),
  }),
  depositEquity: t.field({
    type: DepositRef,
    description:
      'Build the unsigned batch of a deposit into an equity vault. Changes nothing: the wallet signs and sends. Needs a key.',
    args: {
      input: t.arg({ type: DepositEquityInputRef, required: true, description: 'What to deposit, and who signs.' }),
    },
    ...builtField({
      complexity: COMPLEXITY,
      union: { name: 'DepositEquityResult', description: 'The batch, or why there is none.' },
    }),
    resolve: (_root, { input }, ctx) => depositEquity(input, ctx),
  }),
  exitEquity: t.field({
    type: ExitRef,
    description:
      'Build the unsigned batch that fully unwinds an equity vault. Changes nothing: the wallet signs and sends. Needs a key.',
    args: {
      input: t.arg({ type: ExitEquityInputRef, required: true, description: 'Which vault to leave, and who signs.' }),
    },
    ...builtField({
      complexity: COMPLEXITY,
      union: { name: 'ExitEquityResult', description: 'The batch, or why there is none.' },
      further: [AmbiguousYieldLoopsError],
    }),
    resolve: (_root, { input }, ctx) => exitEquity(input, ctx),
  }),
}));

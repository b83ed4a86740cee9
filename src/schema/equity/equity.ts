import {
  type DepositPlanView,
  type DepositPreviewView,
  type ExitPlanView,
  type ExitPreviewView,
  type ExitView,
  vaultDepositPlan,
  vaultExitPlan,
} from '../../resolvers/equity/equity.ts';
import { MAX_WALLET_POSITIONS } from '../../shared/contract/list-bounds.ts';
import { builder } from '../builder.ts';
import { CHAIN_OF_ID } from '../common/page.ts';
import { EXIT_REFUSALS, PLAN_REFUSALS } from '../refusal/refusal.ts';
import { builtField } from '../transaction/built-field.ts';
import { EstimateRef, planAction, WORST_CASE } from '../transaction/estimate.ts';
import { TransactionPlanRef } from '../transaction/plan.ts';
import { PreviewRef } from '../transaction/preview.ts';
import { EquityDepositRef } from './equity-deposit.ts';
import { EquityDepositInputRef, EquityExitInputRef } from './equity-inputs.ts';
import { EquityPositionRef } from './equity-position.ts';

const ALWAYS_ATOMIC = {
  type: 'Boolean',
  description:
    'Always true: the calls have to be sent as one atomic batch. A wallet that cannot batch sends them in order, and the last one in any case: it revokes an authorization that one before it grants.',
  extensions: { jsonSchema: { const: true } },
} as const;

export const EquityDepositPreviewRef = builder.objectRef<DepositPreviewView>('EquityDepositPreview').implement({
  description:
    'A preview of a deposit into an equity vault at current prices. Nothing is built and no wallet is needed; a plan takes fresh quotes.',
  interfaces: [EstimateRef, PreviewRef],
  fields: (t) => ({
    action: t.expose('action', planAction('equity_deposit')),
    worstCase: t.expose('worstCase', WORST_CASE),
    deposit: t.expose('deposit', {
      type: EquityDepositRef,
      description: 'The deposit after the expected fill of its swaps.',
    }),
  }),
});

const PlannedExitRef = builder.interfaceRef<ExitView>('PlannedEquityExit').implement({
  description: 'What a plan that unwinds an equity vault decides, and its preview.',
  interfaces: [EstimateRef],
  fields: (t) => ({
    position: t.expose('position', { type: EquityPositionRef, description: 'The vault before the exit.' }),
    yieldPositionIds: t.intList({
      description: `Indexes of the yield loops that are closed, in order, one per loop of the wallet, at most ${MAX_WALLET_POSITIONS}; nothing else is closed.`,
      resolve: ({ closes }) => [...closes],
    }),
  }),
});

export const EquityExitPreviewRef = builder.objectRef<ExitPreviewView>('EquityExitPreview').implement({
  description: 'A preview of the exit from an equity vault.',
  interfaces: [EstimateRef, PreviewRef, PlannedExitRef],
  fields: (t) => ({
    action: t.expose('action', planAction('equity_exit')),
    worstCase: t.expose('worstCase', WORST_CASE),
  }),
});

const DepositPlanRef = builder.objectRef<DepositPlanView>('EquityDepositPlan').implement({
  description: 'A plan of a deposit into an equity vault.',
  interfaces: [EstimateRef, TransactionPlanRef],
  fields: (t) => ({
    atomic: t.expose('atomicRequired', ALWAYS_ATOMIC),
    action: t.expose('action', planAction('equity_deposit')),
    worstCase: t.expose('worstCase', WORST_CASE),
    deposit: t.expose('deposit', {
      type: EquityDepositRef,
      description: 'The deposit after the expected fill of its swaps.',
    }),
  }),
});

const ExitPlanRef = builder.objectRef<ExitPlanView>('EquityExitPlan').implement({
  description: 'A plan that fully unwinds an equity vault.',
  interfaces: [EstimateRef, PlannedExitRef, TransactionPlanRef],
  fields: (t) => ({
    action: t.expose('action', planAction('equity_exit')),
    worstCase: t.expose('worstCase', WORST_CASE),
    atomic: t.expose('atomicRequired', ALWAYS_ATOMIC),
  }),
});

/** Three quotes, chain reads and a simulation: dearer than anything that is read from the snapshot. */
const COMPLEXITY = 60;

builder.mutationFields((t) => ({
  equityDepositPlan: t.field({
    type: DepositPlanRef,
    description:
      'Build the unsigned batch of a deposit into an equity vault for a wallet. Changes nothing: the wallet signs and sends. Needs a key.',
    args: {
      wallet: t.arg({
        type: 'Address',
        required: true,
        description: 'The wallet that signs: the stock leg and the yield loop are opened for it.',
      }),
      chainId: t.arg({ type: 'ChainId', description: CHAIN_OF_ID }),
      input: t.arg({ type: EquityDepositInputRef, required: true, description: 'The deposit.' }),
    },
    ...builtField({
      complexity: COMPLEXITY,
      refusals: PLAN_REFUSALS,
      union: { name: 'EquityDepositPlanResult', description: 'The plan, or the refusal in its place.' },
    }),
    resolve: (_root, { wallet, chainId, input }, ctx) => vaultDepositPlan(wallet, { ...input, chainId }, ctx),
  }),
  equityExitPlan: t.field({
    type: ExitPlanRef,
    description:
      'Build the unsigned batch that fully unwinds an equity vault of a wallet. Changes nothing: the wallet signs and sends. Needs a key.',
    args: {
      wallet: t.arg({ type: 'Address', required: true, description: 'The wallet that owns the vault and signs.' }),
      chainId: t.arg({ type: 'ChainId', description: CHAIN_OF_ID }),
      input: t.arg({ type: EquityExitInputRef, required: true, description: 'The vault to leave.' }),
    },
    ...builtField({
      complexity: COMPLEXITY,
      refusals: EXIT_REFUSALS,
      union: { name: 'EquityExitPlanResult', description: 'The plan, or the refusal in its place.' },
    }),
    resolve: (_root, { wallet, chainId, input }, ctx) => vaultExitPlan(wallet, { ...input, chainId }, ctx),
  }),
}));

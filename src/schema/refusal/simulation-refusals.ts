import { requireCatalogToken } from '../../resolvers/market/tokens.ts';
import { MAX_ERROR_ARGUMENTS } from '../../shared/contract/list-bounds.ts';
import { NotSimulatedError, SimulationMismatchError, SimulationRevertedError } from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import { TokenRef } from '../refs.ts';
import { NamedValueRef } from '../transaction/call.ts';
import { SwapSourceRef } from '../transaction/swap-source.ts';
import { detailsOf, RefusalRef } from './refusal.ts';

builder.objectType(SimulationRevertedError, {
  name: 'SimulationRevertedRefusal',
  interfaces: [RefusalRef],
  description:
    'The calls were executed on the newest state and reverted by their own logic. `retryable` when fresh quotes may cure it.',
  fields: (t) => ({
    contractError: t.string({
      description:
        'Name of the contract error, e.g. `FlashLeverage__MinTokenOutNotMet`; `unknown` when nothing decodes it.',
      resolve: (error) => detailsOf(error).reason,
    }),
    args: t.field({
      type: [NamedValueRef],
      complexity: { field: 1, multiplier: 3 },
      description: `Arguments of the contract error, those that it declares, at most ${MAX_ERROR_ARGUMENTS}.`,
      resolve: (error) => detailsOf(error).args.slice(0, MAX_ERROR_ARGUMENTS),
    }),
    cause: t.string({
      nullable: true,
      description: 'The cause in one sentence; `null` = nothing is known about this contract error.',
      resolve: (error) => detailsOf(error).cause ?? null,
    }),
    nextStep: t.string({
      nullable: true,
      description: 'The next step in one sentence; `null` = nothing is known about this contract error.',
      resolve: (error) => detailsOf(error).nextStep ?? null,
    }),
    callIndex: t.int({
      description: 'The call that reverted, counted from 0 in the order of the plan: approvals first.',
      resolve: (error) => detailsOf(error).callIndex,
    }),
  }),
});

const ShortfallRef = builder.enumType('SimulationShortfall', {
  description: 'The part of a simulation that fell short of its plan.',
  values: {
    SWAP_OUTPUT: { value: 'swap_output', description: 'The output of one swap.' },
    NET_VALUE: { value: 'net_value', description: 'The value of the position less its debt.' },
  } as const,
});

builder.objectType(SimulationMismatchError, {
  name: 'SimulationMismatchRefusal',
  interfaces: [RefusalRef],
  description:
    'The calls were executed on the newest state, with quotes taken twice, and gave less than their quotes say. More than quoted is never refused.',
  fields: (t) => ({
    shortfall: t.field({
      type: ShortfallRef,
      description: 'The part that fell short.',
      resolve: (error) => detailsOf(error).of,
    }),
    expected: t.field({
      type: 'Decimal',
      description: 'Amount that was planned. Whole tokens.',
      resolve: (error) => detailsOf(error).expected,
    }),
    simulated: t.field({
      type: 'Decimal',
      description: 'Amount that the simulation ended with. Whole tokens.',
      resolve: (error) => detailsOf(error).simulated,
    }),
    token: t.field({
      type: TokenRef,
      description: 'The token of both amounts.',
      resolve: (error, _args, ctx) =>
        requireCatalogToken({ chainId: error.chainId, address: detailsOf(error).token.address }, ctx),
    }),
    tolerancePct: t.field({
      type: 'Decimal',
      description: 'Percent of `expected` that may be missing.',
      resolve: (error) => detailsOf(error).tolerancePct,
    }),
    swapSource: t.field({
      type: SwapSourceRef,
      nullable: true,
      description: 'Venue of the swap that fell short; `null` = no single swap did.',
      resolve: (error) => detailsOf(error).source ?? null,
    }),
  }),
});

builder.objectType(NotSimulatedError, {
  name: 'NotSimulatedRefusal',
  interfaces: [RefusalRef],
  description:
    'No node of the chain can simulate the calls now. Actions that add risk are not built without a simulation; others are built when the input has `allowUnsimulated: true`.',
  fields: (t) => ({
    allowUnsimulatedHelps: t.boolean({
      description: 'Whether the same request passes with `allowUnsimulated: true`, because it lowers risk.',
      resolve: ({ lowersRisk }) => lowersRisk,
    }),
  }),
});

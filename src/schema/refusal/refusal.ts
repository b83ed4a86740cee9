import type { AppError } from '../../shared/errors.ts';
import { AmbiguousYieldLoopsError } from '../../transactions/equity/index.ts';
import {
  InsufficientLiquidityError,
  LimitExceededError,
  NoRouteError,
  NotEligibleError,
  NotSimulatedError,
  PositionProxyError,
  SimulationMismatchError,
  SimulationRevertedError,
  StaleDataError,
} from '../../transactions/index.ts';
import { builder } from '../builder.ts';

/** Every type of refusal with the code that is its own. */
const CODES = {
  StaleDataRefusal: 'STALE_DATA',
  NoRouteRefusal: 'NO_ROUTE',
  InsufficientLiquidityRefusal: 'INSUFFICIENT_LIQUIDITY',
  LimitExceededRefusal: 'LIMIT_EXCEEDED',
  SimulationRevertedRefusal: 'SIMULATION_REVERTED',
  SimulationMismatchRefusal: 'SIMULATION_MISMATCH',
  NotSimulatedRefusal: 'NOT_SIMULATED',
  NotEligibleRefusal: 'NOT_ELIGIBLE',
  PositionProxyRefusal: 'POSITION_PROXY',
  AmbiguousYieldLoopsRefusal: 'AMBIGUOUS_YIELD_LOOPS',
} as const;

const RefusalCodeRef = builder.enumType('RefusalCode', {
  description: 'The reason for which nothing was built. Each type of refusal has one code of its own.',
  values: {
    STALE_DATA: { description: 'A fact that the build depends on is too old, or of unknown age and contradicted.' },
    NO_ROUTE: { description: 'No venue has a believable route at this size.' },
    INSUFFICIENT_LIQUIDITY: { description: 'A market or the lending protocol does not hold enough.' },
    LIMIT_EXCEEDED: { description: 'An input lies beyond a limit.' },
    SIMULATION_REVERTED: { description: 'The calls reverted in simulation.' },
    SIMULATION_MISMATCH: { description: 'The calls returned less than their quotes in simulation.' },
    NOT_SIMULATED: { description: 'No node of the chain can simulate the calls.' },
    NOT_ELIGIBLE: { description: 'The strategy or position does not take the action.' },
    POSITION_PROXY: { description: 'The wallet is the contract that holds a position, and cannot sign.' },
    AMBIGUOUS_YIELD_LOOPS: { description: 'The loops of the vault have to be named.' },
  },
});

/** Seconds after which a refused build may pass, where the refusal itself says no other number: quotes change, state is refreshed. */
const RETRY_AFTER_SEC = 5;

export const RefusalRef = builder.interfaceRef<AppError<unknown>>('Refusal').implement({
  description:
    'An expected answer in place of a preview or plan: nothing was built, and the fields say for which reason. Show `message` to people; decide on the type or on `code`, and on `retryable`.',
  fields: (t) => ({
    code: t.field({
      type: RefusalCodeRef,
      description: 'The code of this type of refusal.',
      resolve: (_error, _args, _ctx, { parentType }) => CODES[parentType.name as keyof typeof CODES],
    }),
    message: t.exposeString('message', { description: 'One or two sentences: the value, the limit, the next step.' }),
    retryable: t.exposeBoolean('retryable', { description: 'Whether the same request may pass later.' }),
    retryAfterSec: t.int({
      nullable: true,
      description: 'Seconds to wait before the same request makes sense again; `null` = not retryable.',
      resolve: ({ retryable, retryAfterSec }) => (retryable ? (retryAfterSec ?? RETRY_AFTER_SEC) : null),
    }),
  }),
});

/** Read the details, which every class of refusals has: the base type alone leaves them open. */
export function detailsOf<D>(error: AppError<D>): D {
  if (error.details === undefined) throw new Error(`${error.name} carries no details`);
  return error.details;
}

/** Refusals of everything that counts on facts and quotes. */
const FACT_REFUSALS = [
  StaleDataError,
  NoRouteError,
  InsufficientLiquidityError,
  LimitExceededError,
  NotEligibleError,
] as const;

/** And of plans for one wallet, which are simulated. */
export const PLAN_REFUSALS = [
  ...FACT_REFUSALS,
  SimulationRevertedError,
  SimulationMismatchError,
  NotSimulatedError,
  PositionProxyError,
] as const;

/** And of the exit from a vault, which closes loops. */
export const EXIT_REFUSALS = [...PLAN_REFUSALS, AmbiguousYieldLoopsError] as const;

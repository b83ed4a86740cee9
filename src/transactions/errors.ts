import type { SwapSource } from '../catalog/schema.ts';
import type { Token } from '../catalog/types.ts';
import type { FailureReason } from '../domain/facts.ts';
import type { VisibilityCheckName } from '../domain/strategy/types.ts';
import { INELIGIBILITIES, type LIQUIDITY_PLACES } from '../shared/contract/error-details.ts';
import { Decimal } from '../shared/decimal.ts';
import { AppError } from '../shared/errors.ts';
import type { Address, ChainId, MarketId } from '../shared/ids.ts';
import { NAMES } from '../shared/names.ts';
import type { Shortfall, SwapPair } from './types.ts';

/*
 * The expected refusals of a build. Each is a type of the GraphQL unions; REST shows the same
 * code, message and details in its envelope.
 */

export interface StaleDataDetails {
  /** Group of facts that is too old: `lendingState` or `oracle`. */
  readonly group: string;
  /** ISO 8601. */
  readonly asOf: string;
  readonly staleAfterSec: number;
  readonly staleForSec: number;
  /** The oracle, where its price is too old or of unknown age. */
  readonly reference?: string | undefined;
  /** The feed behind it that is past its heartbeat. */
  readonly feed?: Address | undefined;
  /** How far a price of unknown age is from the USD prices of its tokens, percent. */
  readonly deviationPct?: string | undefined;
}

/** Market state or the oracle's value is past its budget: nothing is built on it, though reads go on. */
export class StaleDataError extends AppError<StaleDataDetails> {
  constructor(details: StaleDataDetails, message?: string) {
    const { group, asOf, staleAfterSec } = details;
    super(
      'stale_data',
      message ??
        `Nothing is built on old numbers: ${group} was last measured at ${asOf} and may be ${staleAfterSec} s old. Try again when it has been refreshed.`,
      { details },
    );
  }
}

/** Why a venue gave no usable quote. `not_allowed`: the contract does not allow its router. */
export type VenueReason = FailureReason | 'no_route' | 'not_allowed';

/** The answer of one venue without a usable quote. */
export interface VenueAnswer {
  readonly source: SwapSource;
  readonly reason: VenueReason;
}

export interface NoRouteDetails {
  readonly chainId: ChainId;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** Base units of `tokenIn`. */
  readonly amountIn: string;
  readonly venues: readonly VenueAnswer[];
}

/** No venue has a believable route for the pair at this size. */
export class NoRouteError extends AppError<NoRouteDetails> {
  constructor(details: NoRouteDetails, message?: string) {
    const answers = details.venues.map(({ source, reason }) => `${source}: ${reason}`).join(', ');
    super(
      'no_route',
      message ??
        `No venue swaps ${details.amountIn} base units of ${details.tokenIn} into ${details.tokenOut} now (${answers || 'none serves the pair'}). Try another amount or another token, or try again later.`,
      { details },
    );
  }
}

/** A venue's quotes for one loan get worse with every request: no loan ends at the requested LTV. */
export class UnsteadyQuotesError extends NoRouteError {
  constructor(quote: {
    readonly chainId: ChainId;
    readonly tokenIn: Address;
    readonly tokenOut: Address;
    /** Of the last quote, base units of `tokenIn`. */
    readonly amountIn: string;
    readonly source: SwapSource;
    /** The LTV at the last quote, and the requested one. */
    readonly ltvPct: Decimal;
    readonly targetLtvPct: Decimal;
  }) {
    const { source, ltvPct, targetLtvPct, ...swap } = quote;
    const ends = ltvPct.isFinite() ? `at an LTV of ${ltvPct.toFixed(4, Decimal.ROUND_UP)} %` : 'without a value';
    super(
      { ...swap, venues: [{ source, reason: 'implausible' }] },
      `The quotes of ${source} returned a smaller share for each smaller loan, so that the position would end ${ends}, above the requested ${targetLtvPct.toFixed()} %. Nothing is built on them: try again later, or ask for less leverage or another amount.`,
    );
  }
}

/** A token of the catalog, and its symbol for sentences. */
export type NamedToken = Pick<Token, 'chainId' | 'address' | 'symbol'>;

/** The liquidity of one market, or the loan tokens that the lending protocol holds. */
export type LiquidityPlace = (typeof LIQUIDITY_PLACES)[number];

/** The largest input that liquidity allows now, with the rest of the request unchanged. */
export interface LargestInput {
  /** Of `amount`, in its own token: whole tokens. */
  readonly maxAmount?: string | undefined;
  /** Of the target, where the action takes no amount; 2 places. */
  readonly maxLeverage?: string | undefined;
  readonly maxLtvPct?: string | undefined;
}

export interface InsufficientLiquidityDetails extends LargestInput {
  /** Whole loan tokens. */
  readonly needed: string;
  readonly available: string;
  readonly loan: NamedToken;
  /** The place of the shortfall: the market, or the protocol while a flash loan is outstanding. */
  readonly place: LiquidityPlace;
  /** Which market, where it is a market. */
  readonly marketId?: MarketId | undefined;
}

/** The market cannot lend the amount that the action borrows, or the protocol holds less than the calls need at the same time. */
export class InsufficientLiquidityError extends AppError<InsufficientLiquidityDetails> {
  constructor(details: InsufficientLiquidityDetails) {
    super('insufficient_liquidity', `${shortfallOf(details)} ${nextStepOf(details)}`, { details });
  }
}

function shortfallOf({ place, needed, available, loan: { symbol } }: InsufficientLiquidityDetails): string {
  return place === 'market'
    ? `The market can lend ${available} ${symbol} now and this needs ${needed}.`
    : `The lending protocol holds ${available} ${symbol} now and this takes ${needed} out at once, its flash loan included.`;
}

function nextStepOf({ maxAmount, maxLeverage, maxLtvPct }: LargestInput): string {
  if (maxAmount !== undefined && Number(maxAmount) > 0)
    return `Send an amount of at most ${maxAmount}, or try again later.`;
  if (maxLeverage !== undefined) {
    return `Ask for at most ${maxLeverage}x, that is an LTV of ${maxLtvPct} %, or try again later.`;
  }
  return 'Try again later.';
}

export interface LimitExceededDetails {
  /** The input that broke the limit, e.g. `body.leverage`. */
  readonly field: string;
  readonly value: string;
  readonly limit: Readonly<Record<string, string>>;
}

/** A request above a limit of the market. It is refused and never lowered. */
export class LimitExceededError extends AppError<LimitExceededDetails> {
  constructor(message: string, details: LimitExceededDetails) {
    super('bad_request', message, { details });
  }
}

export interface SimulationRevertedDetails {
  /** Name of the contract's error, e.g. `FlashLeverage__MinTokenOutNotMet`; `unknown` when nothing known decodes it. */
  readonly reason: string;
  readonly args: readonly { readonly name: string; readonly value: string }[];
  /** The call that failed: 0 is the first approval; the last is the transaction itself. */
  readonly callIndex: number;
  /** Why, in one sentence; absent where nothing is known about the reason. */
  readonly cause?: string | undefined;
  /** The next step; absent with `cause`. */
  readonly nextStep?: string | undefined;
}

/** The built calls were executed and their own logic reverted. 503 when a fresh quote may cure it, else 400. */
export class SimulationRevertedError extends AppError<SimulationRevertedDetails> {
  constructor(details: SimulationRevertedDetails, curable: boolean) {
    const args = details.args.map(({ name, value }) => `${name} ${value}`).join(', ');
    const fallback = curable
      ? 'Build again for a fresh quote.'
      : 'Building it again will not help: change the request.';
    super(
      'simulation_reverted',
      [
        `The transaction would revert with ${details.reason}${args === '' ? '' : ` (${args})`}.`,
        ...(details.cause === undefined ? [] : [details.cause]),
        details.nextStep ?? fallback,
      ].join(' '),
      { details, retryable: curable, status: curable ? 503 : 400 },
    );
  }
}

/** Where a simulation fell short of its plan, and both numbers. */
export type SimulationMismatchDetails = Omit<Shortfall, 'swap'>;

/** The built calls were executed and gave less than their quotes say. Fresh quotes may help. */
export class SimulationMismatchError extends AppError<SimulationMismatchDetails> {
  /** The swap that fell short; absent where it is the position. */
  readonly swap: SwapPair | undefined;

  /** Chain of the calls, and so of the token. */
  readonly chainId: ChainId;

  constructor({ swap, ...details }: Shortfall, chainId: ChainId) {
    const { of, expected, simulated, tolerancePct, source } = details;
    const { symbol } = details.token;
    const what = of === 'swap_output' ? `the swap at ${source ?? 'the venue'}` : 'the position less its debt';
    super(
      'simulation_mismatch',
      `In simulation ${what} comes to ${simulated} ${symbol} instead of ${expected}; at most ${tolerancePct} % may be missing. Nothing is built on it: build again for fresh quotes.`,
      { details },
    );
    this.swap = swap;
    this.chainId = chainId;
  }
}

/** No node of the chain can simulate, and the requested transaction is not built without a simulation. */
export class NotSimulatedError extends AppError<{ readonly provider: string; readonly reason: string }> {
  /** Whether it is built when the request allows it untried. */
  readonly lowersRisk: boolean;

  constructor(chainId: ChainId, lowersRisk: boolean) {
    const why = `No node of chain ${chainId} can simulate transactions now: neither eth_simulateV1 nor code overrides work there.`;
    super(
      'upstream_unavailable',
      lowersRisk
        ? `${why} Try again later, or send allowUnsimulated: true to get the transaction without a simulation.`
        : `${why} Nothing that adds risk is built without a simulation: try again later. Actions that take risk back (${NAMES.actions.close}, ${NAMES.actions.repay}, ${NAMES.actions.add_collateral}, the exit of a vault) are built with allowUnsimulated: true.`,
      { details: { provider: 'chain', reason: 'not_simulated' }, retryAfterSec: 60 },
    );
    this.lowersRisk = lowersRisk;
  }
}

export interface PositionProxyDetails {
  /** The input that named the proxy. */
  readonly field: string;
  readonly value: Address;
  /** The owner of the position: the wallet to send instead. */
  readonly owner: Address;
  /** Which of the owner's positions. */
  readonly positionId: number;
}

/** The address is the contract that holds a position. It has no key and can sign nothing. */
export class PositionProxyError extends AppError<PositionProxyDetails> {
  constructor(details: PositionProxyDetails) {
    const { field, value, owner, positionId } = details;
    super(
      'bad_request',
      `${NAMES.input(field)} ${value} is the contract that holds position ${positionId} of ${owner}: it cannot sign. Send ${owner}, and ${positionId} as the id where one is required.`,
      { details },
    );
  }
}

export { INELIGIBILITIES };
export type Ineligibility = (typeof INELIGIBILITIES)[number];

/** Another action that leads to the requested state. */
export interface Alternative {
  readonly action: 'repay' | 'add_collateral' | 'close';
  /** Its amount, whole tokens. */
  readonly amount: string;
  readonly token: NamedToken;
  /** Whether its proceeds have to be repaid afterwards. */
  readonly thenRepay?: boolean | undefined;
}

export interface NotEligibleDetails {
  readonly reason: Ineligibility;
  /** The listing rule that decided, where it is one. */
  readonly rule?: VisibilityCheckName | undefined;
  /** Each of them alone leads to the requested state; absent when none does. */
  readonly alternatives?: readonly Alternative[] | undefined;
  /** The place to use instead, e.g. a path of this service; absent if there is none. */
  readonly pointer?: string | undefined;
}

/** The strategy or position does not take this action. */
export class NotEligibleError extends AppError<NotEligibleDetails> {
  constructor(message: string, details: NotEligibleDetails) {
    super('bad_request', message, { details });
  }
}

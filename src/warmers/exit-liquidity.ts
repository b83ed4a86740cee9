import type { Chain, Token } from '../catalog/types.ts';
import {
  EXIT_SIZES_USD,
  type ExitSizeUsd,
  type ExitSweep,
  type Fact,
  type Failure,
  type FailureReason,
  type Suspect,
} from '../domain/facts.ts';
import { CONFIRMING_READINGS, nextReading } from '../domain/plausibility/assess.ts';
import type { Clock } from '../shared/clock.ts';
import { Decimal, fromUnits, HUNDRED, toUnits, ZERO } from '../shared/decimal.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';
import type { ChainId } from '../shared/ids.ts';
import type { RoutePort } from '../upstreams/types.ts';
import { reasonOf, reportOf, type Snapshot } from './refresh.ts';
import type { RunMode, Warmer } from './types.ts';
import { type UsdPriceOf, usdPriceOf } from './usd-price.ts';

export interface ExitLiquidityDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
  /** Source of a token's USD price; default: measured price, otherwise by the oracle. */
  readonly usdPriceOf?: UsdPriceOf | undefined;
}

const SOURCE = 'AggregatorOne';
/** Source of the failure when the collateral has no price. */
const PRICE_SOURCE = 'prices';
const LEAST_WAIT_SEC = 10;
/** The budget stretches a first sweep over minutes: what is measured is published meanwhile. */
const PUBLISH_EVERY_MS = 10_000;
/** A sale with a larger gain was measured against a wrong price. */
const MAX_GAIN_PCT = 5;
/** A loss that grows by more points than this from one sweep to the next needs confirmation. */
const MAX_FALL_POINTS = 50;
/** A sweep of all tokens is spread over its cadence: a `due` run measures the oldest of them, in this many runs all. */
const RUNS_PER_SWEEP = 24;

interface Measured {
  readonly sweep: ExitSweep;
  /** Times of the quotes by the provider, ms; absent where it gives none. */
  readonly quotedMs: Partial<Record<ExitSizeUsd, number>>;
}

type Swept =
  | Measured
  | {
      readonly reason: FailureReason;
      readonly source?: string | undefined;
      readonly error?: unknown;
      /** An implausible loss. */
      readonly impossiblePct?: Decimal | undefined;
    };

/**
 * Create the warmer of exit liquidity: each collateral is quoted for sale into the chain's stablecoin at every size. If one
 * size fails, the token stays at last-good. The budget of requests ends a run, and so does a refusal by the provider; finished
 * tokens are published, and the next run requests the rest.
 */
export function createExitLiquidityWarmer(
  deps: ExitLiquidityDeps,
  chain: Chain,
  port: RoutePort,
  everySec: number,
): Warmer {
  const { snapshot, clock } = deps;
  const { chainId } = chain;
  /** Tokens without a measurement or with a failed one, all that are too old, and the oldest of the others. */
  const due = (): Token[] => {
    const { items, failures } = snapshot.facts(chainId).groups.exitLiquidity;
    const asOfMs = ({ address }: Token): number => (failures.has(address) ? 0 : (items.get(address)?.asOfMs ?? 0));
    const collaterals = sellable(chain, clock.now());
    const oldestFirst = collaterals.toSorted((a, b) => asOfMs(a) - asOfMs(b));
    const overdue = oldestFirst.filter((token) => clock.now() - asOfMs(token) >= everySec * 1_000);
    return oldestFirst.slice(0, Math.max(overdue.length, Math.ceil(collaterals.length / RUNS_PER_SWEEP)));
  };

  const suspectOf = (token: Token): Suspect | undefined =>
    snapshot.facts(chainId).groups.exitLiquidity.failures.get(token.address)?.suspect;

  /**
   * A sale that suddenly loses far more than the last good one awaits three observations that agree; so does one without a
   * route, which loses everything, also before anything is known. The smallest such size is compared.
   */
  const doubtSweep = (token: Token, { sweep, quotedMs }: Measured, atMs: number): Suspect | undefined => {
    const known = snapshot.facts(chainId).groups.exitLiquidity.items.get(token.address)?.value;
    const before = (size: ExitSizeUsd) => lossOf(known ? known.slippagePct[size] : ZERO);
    const isGone = EXIT_SIZES_USD.every((size) => sweep.slippagePct[size] === null);
    if (!known && !isGone) return undefined;
    const size = EXIT_SIZES_USD.find((each) => lossOf(sweep.slippagePct[each]).minus(before(each)).gt(MAX_FALL_POINTS));
    const wasGone = known && EXIT_SIZES_USD.every((each) => known.slippagePct[each] === null);
    const doubted = size ?? (isGone && !wasGone ? EXIT_SIZES_USD[0] : undefined);
    if (!doubted) return undefined;
    const reading = { value: lossOf(sweep.slippagePct[doubted]), atMs, measuredMs: quotedMs[doubted] };
    return nextReading(reading, suspectOf(token), everySec * 1_000);
  };

  return {
    name: `exit-liquidity:${chainId}`,
    groups: ['exitLiquidity'],
    everySec: Math.ceil(everySec / RUNS_PER_SWEEP),
    phase: 2,
    run: async (signal: AbortSignal, mode: RunMode) => {
      const attemptedAtMs = clock.now();
      const queue = mode === 'all' ? sellable(chain, clock.now()) : due();
      const failures = new Map<string, Omit<Failure, 'sinceMs'>>();
      let measured = 0;
      let refused: unknown;
      let thrown: unknown;
      let resumeSec: number | undefined;
      const gathered = gatherPublications(deps, chainId, attemptedAtMs);
      const fail = ({ address }: Token, failure: Omit<Failure, 'sinceMs'>): void => {
        failures.set(address, failure);
        gathered.failures.set(address, failure);
      };
      // One after the other: parallel sweeps would share the same budget, and the first result would come later.
      const sweepAll = async (): Promise<void> => {
        for (const token of queue) {
          if (refused !== undefined || resumeSec !== undefined) return;
          await gathered.publish(PUBLISH_EVERY_MS);
          const asOfMs = clock.now();
          const swept = await sweepToken(deps, chain, port, token, signal);
          const suspect = 'sweep' in swept ? doubtSweep(token, swept, asOfMs) : undefined;
          if (suspect && suspect.readings < CONFIRMING_READINGS) {
            fail(token, { reason: 'implausible', source: SOURCE, suspect });
            continue;
          }
          if ('sweep' in swept) {
            measured += 1;
            gathered.items.set(token.address, { value: swept.sweep, asOfMs, source: SOURCE });
            continue;
          }
          const { reason, source = SOURCE, impossiblePct } = swept;
          if (reason === 'throttled') {
            // Our own budget ends the sweep, which is no failure: the next run goes on with the tokens that are left.
            resumeSec ??= waitOf(swept.error);
            continue;
          }
          const impossible = impossiblePct && { value: impossiblePct, atMs: asOfMs };
          const implausible = impossible && nextReading(impossible, suspectOf(token), everySec * 1_000);
          fail(token, { reason, source, suspect: implausible });
          thrown ??= swept.error;
          if (swept.reason === 'rate_limited') refused ??= swept.error;
        }
      };
      try {
        await sweepAll();
      } finally {
        // Also after an abort, because finished measurements are valid.
        await gathered.publish(0);
      }
      if (refused !== undefined) throw refused;
      if (measured === 0 && thrown !== undefined) throw thrown;
      return { ...reportOf(measured, [...failures.values()]), resumeSec };
    },
  };
}

/** Gather measurements and failures, and publish those of some time at once. */
function gatherPublications({ snapshot, clock }: ExitLiquidityDeps, chainId: ChainId, attemptedAtMs: number) {
  let [items, failures] = [new Map<string, Fact<ExitSweep>>(), new Map<string, Omit<Failure, 'sinceMs'>>()];
  // A chain opens once every group was tried: the first result of a first start is published at once.
  const isFirst = snapshot.facts(chainId).groups.exitLiquidity.lastAttemptMs === null;
  let publishedMs = isFirst ? Number.NEGATIVE_INFINITY : attemptedAtMs;
  return {
    get items() {
      return items;
    },
    get failures() {
      return failures;
    },
    /** Publish if the last time is at least so long ago, ms. */
    async publish(afterMs: number): Promise<void> {
      if (items.size + failures.size === 0 || clock.now() - publishedMs < afterMs) return;
      const publication = { attemptedAtMs, items, failures };
      [items, failures] = [new Map(), new Map()];
      publishedMs = clock.now();
      await snapshot.publish(chainId, 'exitLiquidity', publication);
    },
  };
}

/** Seconds until the budget permits further requests. */
function waitOf(error: unknown): number {
  return (error instanceof UpstreamUnavailableError ? error.requestedWaitSec : undefined) ?? LEAST_WAIT_SEC;
}

/** The loss of a sale, percent; without a route everything. */
function lossOf(lossPct: Decimal | null): Decimal {
  return lossPct ?? HUNDRED;
}

/** Quote the sale of a token at every size. */
async function sweepToken(
  { snapshot, clock, usdPriceOf: priceOf = usdPriceOf }: ExitLiquidityDeps,
  chain: Chain,
  port: RoutePort,
  token: Token,
  signal: AbortSignal,
): Promise<Swept> {
  const facts = snapshot.facts(chain.chainId);
  const usd = priceOf(chain, facts, token, clock.now());
  const stableUsd = priceOf(chain, facts, chain.stable, clock.now());
  if (usd === null) return { reason: 'missing', source: PRICE_SOURCE };
  const slippagePct: Partial<Record<ExitSizeUsd, Decimal | null>> = {};
  const quotedMs: Partial<Record<ExitSizeUsd, number>> = {};
  for (const size of EXIT_SIZES_USD) {
    const amountIn = toUnits(new Decimal(size).div(usd), token.decimals);
    try {
      const request = { chain, tokenIn: token.address, tokenOut: chain.stable.address, amountIn };
      const route = await port.route(request, { signal });
      const inUsd = fromUnits(amountIn, token.decimals).times(usd);
      const outUsd =
        route && (stableUsd ? fromUnits(route.amountOut, chain.stable.decimals).times(stableUsd) : route.amountOutUsd);
      if (outUsd === undefined) return { reason: 'missing' };
      const lossPct = outUsd === null ? null : HUNDRED.times(inUsd.minus(outUsd)).div(inUsd);
      if (lossPct?.lt(-MAX_GAIN_PCT)) return { reason: 'implausible', impossiblePct: lossPct };
      slippagePct[size] = lossPct;
      if (route?.quotedMs !== undefined) quotedMs[size] = route.quotedMs;
    } catch (error) {
      signal.throwIfAborted();
      return { reason: reasonOf(error), error };
    }
  }
  return { sweep: { slippagePct: slippagePct as ExitSweep['slippagePct'] }, quotedMs };
}

/**
 * The collaterals that are quoted: each once, without the stablecoin itself and tokens without a known venue. That of the most
 * markets is the first, so that most strategies are measured soon after a start; those of matured ones are not listed.
 */
export function sellable(chain: Chain, nowMs: number): Token[] {
  const tokens = new Map(chain.markets.map(({ collateral }) => [collateral.address, collateral]));
  const marketsOf = ({ address, maturity = Number.POSITIVE_INFINITY }: Token): number =>
    maturity * 1_000 > nowMs ? chain.markets.filter(({ collateral }) => collateral.address === address).length : 0;
  return [...tokens.values()]
    .filter((token) => token.address !== chain.stable.address && !token.noSwapRoute)
    .toSorted((a, b) => marketsOf(b) - marketsOf(a));
}

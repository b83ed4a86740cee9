import type { CollateralApySource } from '../catalog/schema.ts';
import type { Chain, Token } from '../catalog/types.ts';
import type { ChainReader } from '../chain/reader.ts';
import { apyPctFromRayRate } from '../domain/apy/rates.ts';
import { DAY_MS } from '../domain/apy/series.ts';
import type { CollateralApy } from '../domain/facts.ts';
import { isSuspectRate } from '../domain/plausibility/suspect.ts';
import type { Clock } from '../shared/clock.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { isFromFuture } from '../shared/observed.ts';
import type { RateHistory } from '../shared/rate-history.ts';
import type { CollateralApySourcePort } from '../upstreams/types.ts';
import { refreshGroup, reportOf, type Snapshot } from './refresh.ts';
import { bestEffort, continueSeries, RETENTION_DAYS } from './series.ts';
import type { Beside, ReadApys, RecordApys, Warmer } from './types.ts';

export interface CollateralApyDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recordApys: RecordApys;
  readonly readApys: ReadApys;
  /** Absent: a run waits for its writes. */
  readonly beside?: Beside | undefined;
}

/** Pick the tokens of a chain that use a source. Tokens with source `none` are in no request. */
export function tokensWithSource(chain: Chain, source: CollateralApySource): readonly Token[] {
  return chain.tokens.filter((token) => token.apySource === source);
}

/** Create the warmer of one provider's APYs on one chain. */
export function createProviderApyWarmer(
  deps: CollateralApyDeps,
  chain: Chain,
  port: CollateralApySourcePort,
  everySec: number,
): Warmer {
  const tokens = tokensWithSource(chain, port.name);
  return apyWarmer(deps, chain, port.name, everySec, tokens, (wanted, signal) => port.apys(chain, wanted, { signal }));
}

/** Create the warmer of the APYs that tokens publish on chain as a growth rate per second. */
export function createOnchainApyWarmer(
  deps: CollateralApyDeps,
  chain: Chain,
  reader: ChainReader,
  everySec: number,
): Warmer {
  const tokens = tokensWithSource(chain, 'onchain');
  return apyWarmer(deps, chain, 'onchain', everySec, tokens, async (wanted, signal) => {
    const { block, rates } = await reader.readOnchainRates(wanted, { signal });
    const apys = [...rates.values].map(([address, rate]) => [address, { apyPct: apyPctFromRayRate(rate) }] as const);
    return { values: new Map(apys), failures: rates.failures, asOfMs: Number(block.timestamp) * 1_000 };
  });
}

function apyWarmer(
  deps: CollateralApyDeps,
  chain: Chain,
  source: CollateralApySource,
  everySec: number,
  tokens: readonly Token[],
  ask: (
    wanted: readonly Token[],
    signal: AbortSignal,
  ) => ReturnType<Parameters<typeof refreshGroup<'collateralApy'>>[1]['ask']>,
): Warmer {
  const own = createOwnApys(deps, chain.chainId);
  return {
    name: `collateral-apy-${source}:${chain.chainId}`,
    groups: ['collateralApy'],
    everySec,
    phase: 1,
    run: async (signal) => {
      const nowMs = deps.clock.now();
      const wanted = tokens.filter((token) => !hasMatured(token, nowMs));
      if (wanted.length === 0) return reportOf(0, []);
      const recorded = await own.read();
      const keys = wanted.map((token) => token.address);
      const report = await refreshGroup(deps, {
        everySec,
        chainId: chain.chainId,
        group: 'collateralApy',
        keys,
        source,
        signal,
        ask: () => ask(wanted, signal),
        doubt: (fresh, lastGood, key) =>
          source === 'onchain' ? undefined : doubtRate(fresh, lastGood, recorded.get(key)),
        combine: (fresh, lastGood, key) => keepHistory(fresh, lastGood, recorded.get(key)),
      });
      await own.record(keys);
      return report;
    },
  };
}

/** A principal token past its maturity earns nothing. No source lists it, and that is not a failure. */
function hasMatured(token: Token, nowMs: number): boolean {
  return token.maturity !== undefined && token.maturity * 1_000 <= nowMs;
}

/**
 * A rate awaits confirmation when it is far from the last good one, or without one from our own newest sample or its own
 * history. On-chain rates need no confirmation.
 */
export function doubtRate(
  fresh: CollateralApy,
  lastGood: CollateralApy | undefined,
  own?: RateHistory,
): CollateralApy['apyPct'] | undefined {
  const newestOf = (history: RateHistory | undefined) => (history === undefined ? undefined : history.at(-1)?.ratePct);
  const known = lastGood?.apyPct ?? newestOf(own);
  return isSuspectRate(fresh.apyPct, known, newestOf(fresh.history)) ? fresh.apyPct : undefined;
}

/** Take the fresh rate and merge its history into the known one. Our own samples fill the days that neither has. */
export function keepHistory(
  fresh: CollateralApy,
  lastGood: CollateralApy | undefined,
  own?: RateHistory,
): CollateralApy {
  const history = continueSeries(continueSeries(fresh.history, lastGood?.history), own);
  return history === undefined ? fresh : { ...fresh, history };
}

/** Our own observations of each token, one sample per UTC day, as the history of sources that have none. */
export function createOwnApys(deps: CollateralApyDeps, chainId: ChainId) {
  const { snapshot, clock, logger, beside = (work) => work } = deps;
  const tryTo = bestEffort(logger, { chainId });
  return {
    async read(): Promise<ReadonlyMap<string, RateHistory>> {
      const days = await tryTo(
        'samples of APYs read',
        () => deps.readApys(chainId, clock.now() - RETENTION_DAYS * DAY_MS),
        [],
      );
      const points = new Map<string, { readonly atMs: number; readonly ratePct: CollateralApy['apyPct'] }[]>();
      for (const { token, dayMs, apyPct } of days) {
        // A sample from the future, written by a process with a wrong clock, would push current days out of the history.
        if (isFromFuture(dayMs, clock.now())) continue;
        const known = points.get(token) ?? [];
        points.set(token, known);
        known.push({ atMs: dayMs, ratePct: apyPct });
      }
      return new Map([...points].map(([token, history]) => [token, history]));
    },
    async record(tokens: readonly Token['address'][]): Promise<void> {
      const { items } = snapshot.facts(chainId).groups.collateralApy;
      const samples = tokens.flatMap((token) => {
        const fact = items.get(token);
        return fact ? [{ token, atMs: fact.asOfMs, apyPct: fact.value.apyPct }] : [];
      });
      await beside(tryTo('store APY samples', () => deps.recordApys(chainId, samples), undefined));
    },
  };
}

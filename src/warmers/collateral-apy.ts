import type { CollateralApySource } from '../catalog/schema.ts';
import type { Chain, Token } from '../catalog/types.ts';
import type { ChainReader } from '../chain/reader.ts';
import { apyPctFromRayRate } from '../domain/apy/rates.ts';
import type { CollateralApy } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { CollateralApySourcePort } from '../upstreams/types.ts';
import { refreshGroup, reportOf, type Snapshot } from './refresh.ts';
import { continueSeries } from './series.ts';
import type { Warmer } from './types.ts';

export interface CollateralApyDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
}

/** Pick the tokens of a chain that use a source. Tokens with source `none` are asked nowhere. */
export function tokensWithSource(chain: Chain, source: CollateralApySource): readonly Token[] {
  return chain.tokens.filter((token) => token.apySource === source);
}

/** Create the warmer of the APYs that one provider tells for one chain. */
export function createProviderApyWarmer(
  deps: CollateralApyDeps,
  chain: Chain,
  port: CollateralApySourcePort,
  everySec: number,
): Warmer {
  const tokens = tokensWithSource(chain, port.name);
  return apyWarmer(deps, chain, port.name, everySec, tokens, (asked, signal) => port.apys(chain, asked, { signal }));
}

/** Create the warmer of the APYs that tokens publish on chain as a growth rate per second. */
export function createOnchainApyWarmer(
  deps: CollateralApyDeps,
  chain: Chain,
  reader: ChainReader,
  everySec: number,
): Warmer {
  const tokens = tokensWithSource(chain, 'onchain');
  return apyWarmer(deps, chain, 'onchain', everySec, tokens, async (asked, signal) => {
    const { block, rates } = await reader.readOnchainRates(asked, { signal });
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
    asked: readonly Token[],
    signal: AbortSignal,
  ) => ReturnType<Parameters<typeof refreshGroup<'collateralApy'>>[1]['ask']>,
): Warmer {
  return {
    name: `collateral-apy-${source}:${chain.chainId}`,
    groups: ['collateralApy'],
    everySec,
    phase: 1,
    run: async (signal) => {
      const nowMs = deps.clock.now();
      const asked = tokens.filter((token) => !hasMatured(token, nowMs));
      if (asked.length === 0) return reportOf(0, []);
      return refreshGroup(deps, {
        chainId: chain.chainId,
        group: 'collateralApy',
        keys: asked.map((token) => token.address),
        source,
        signal,
        ask: () => ask(asked, signal),
        combine: keepHistory,
      });
    },
  };
}

/** A principal token past its maturity earns nothing any more: no source lists it, and that is no failure. */
function hasMatured(token: Token, nowMs: number): boolean {
  return token.maturity !== undefined && token.maturity * 1_000 <= nowMs;
}

/** The rate is the fresh one; its history continues the known one. */
export function keepHistory(fresh: CollateralApy, lastGood: CollateralApy | undefined): CollateralApy {
  const history = continueSeries(fresh.history, lastGood?.history);
  return history === undefined ? fresh : { ...fresh, history };
}

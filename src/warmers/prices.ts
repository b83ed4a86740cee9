import type { Chain, Token } from '../catalog/types.ts';
import type { FailureReason, UsdPrice } from '../domain/facts.ts';
import type { Clock } from '../shared/clock.ts';
import type { Batch, PricePort } from '../upstreams/types.ts';
import { type Answer, reasonOf, refreshGroup, type Snapshot } from './refresh.ts';
import type { Warmer } from './types.ts';

export interface PricesDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
}

/**
 * Create the warmer of token prices: the first provider for all, the second for what the first failed on. Each price
 * carries the source it came from; a token that neither has an id for is not configured, and nobody is asked about it.
 */
export function createPricesWarmer(
  deps: PricesDeps,
  chain: Chain,
  ports: readonly [PricePort, PricePort],
  everySec: number,
): Warmer {
  const { tokens, chainId } = chain;
  return {
    name: `prices:${chainId}`,
    groups: ['price'],
    everySec,
    phase: 1,
    run: (signal) =>
      refreshGroup(deps, {
        chainId,
        group: 'price',
        keys: tokens.map((token) => token.address),
        source: ports[0].name,
        signal,
        ask: () => askInTurn(ports, tokens, signal),
      }),
  };
}

interface Asked extends Batch<UsdPrice> {
  /** The provider as a whole failed: its reasons say nothing about a single token. */
  readonly error?: unknown;
}

async function askInTurn(
  [first, second]: readonly [PricePort, PricePort],
  tokens: readonly Token[],
  signal: AbortSignal,
): Promise<Answer<UsdPrice>> {
  const primary = await ask(first, tokens, signal);
  const open = tokens.filter((token) => !primary.values.has(token.address));
  if (open.length === 0) return primary;
  const fallback = await ask(second, open, signal);
  if (primary.error !== undefined && fallback.error !== undefined) throw primary.error;
  const failed = open.filter((token) => !fallback.values.has(token.address));
  return {
    values: new Map([...primary.values, ...fallback.values]),
    failures: new Map(failed.map(({ address }) => [address, whyUnpriced(address, primary, fallback)])),
    sourceOf: (address) => (fallback.values.has(address) ? second.name : first.name),
  };
}

async function ask(port: PricePort, tokens: readonly Token[], signal: AbortSignal): Promise<Asked> {
  try {
    return await port.usdPrices(tokens, { signal });
  } catch (error) {
    signal.throwIfAborted();
    const reason = reasonOf(error);
    return { values: new Map(), failures: new Map(tokens.map(({ address }) => [address, reason])), error };
  }
}

/** Not configured at either provider is no failure of theirs; else the reason of the first that should have known. */
function whyUnpriced(address: string, ...asked: readonly Asked[]): FailureReason {
  const reasonOfOne = ({ failures }: Asked): FailureReason => failures.get(address) ?? 'missing';
  const answered = asked.filter(({ error }) => error === undefined).map(reasonOfOne);
  if (answered.every((reason) => reason === 'not_configured')) return 'not_configured';
  return asked.map(reasonOfOne).find((reason) => reason !== 'not_configured') ?? 'missing';
}

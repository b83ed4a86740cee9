import type { Chain, Token } from '../catalog/types.ts';
import type { FailureReason, UsdPrice } from '../domain/facts.ts';
import { agree, isSuspectPrice, type PriceReferences } from '../domain/plausibility/assess.ts';
import type { Clock } from '../shared/clock.ts';
import type { Decimal } from '../shared/decimal.ts';
import type { Batch, PricePort } from '../upstreams/types.ts';
import { type ReceivedPrices, referencesOf } from './price-references.ts';
import { type RefreshAnswer, reasonOf, refreshGroup, type Snapshot } from './refresh.ts';
import type { Warmer } from './types.ts';

export interface PricesDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
}

/**
 * Create the warmer of token prices: the first provider for all tokens, the second for those that failed. Each price carries
 * its source. A token without an id at both is not configured, and no request is made for it. A price that is off its peg, far
 * from the last good one, or old, is also requested from the second provider: the value that both agree on is published, or
 * the newer one of two. The age of a price is that of its observation, not of the request.
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
        everySec,
        chainId,
        group: 'price',
        keys: tokens.map((token) => token.address),
        source: ports[0].name,
        signal,
        ask: () => {
          const facts = deps.snapshot.facts(chainId);
          const references: References = (token, received) => referencesOf(chain, facts, token, received);
          return askInTurn(ports, tokens, references, deps.clock.now(), signal);
        },
      }),
  };
}

type References = (token: Token, received: ReceivedPrices) => PriceReferences;

interface PriceAnswer extends Batch<UsdPrice> {
  /** Failure of the whole provider; per-token reasons then have no meaning. */
  readonly error?: unknown;
}

/** A price with an older observation is also requested from the second provider, and the newer one counts. */
const OLD_MS = 10 * 60_000;

/** The chosen price with its source, and whether it may be published. */
interface Choice {
  readonly price: UsdPrice;
  /** Time of its observation, ms; absent when not known. */
  readonly observedMs: number | undefined;
  readonly source: PricePort;
  readonly isSuspect: boolean;
}

async function askInTurn(
  [first, second]: readonly [PricePort, PricePort],
  tokens: readonly Token[],
  references: References,
  nowMs: number,
  signal: AbortSignal,
): Promise<RefreshAnswer<UsdPrice>> {
  const primary = await ask(first, tokens, signal);
  const isDoubtful = (token: Token, { usd }: UsdPrice): boolean => {
    const known = references(token, () => []);
    // Without a last good price, a second source is worth a request: oracles are valued with prices of the same answer.
    return known.lastGood === undefined || isSuspectPrice(usd, known);
  };
  const isOld = ({ address }: Token): boolean => nowMs - (primary.measuredMs?.get(address) ?? nowMs) > OLD_MS;
  const open = tokens.filter((token) => {
    const price = primary.values.get(token.address);
    return price === undefined || isOld(token) || isDoubtful(token, price);
  });
  if (open.length === 0) return primary;
  const fallback = await ask(second, open, signal);
  if (primary.error !== undefined && fallback.error !== undefined) throw primary.error;
  const received: ReceivedPrices = (address) =>
    [primary, fallback].flatMap(({ values }) => {
      const price = values.get(address);
      return price ? [price] : [];
    });
  const choose = (token: Token): Choice | null => {
    const known = references(token, received);
    const from = (source: PricePort, answer: PriceAnswer): Choice[] => {
      const price = answer.values.get(token.address);
      if (price === undefined) return [];
      const seenMs = answer.measuredMs?.get(token.address);
      return [{ price, observedMs: seenMs, source, isSuspect: isSuspectPrice(price.usd, known) }];
    };
    const candidates = [...from(first, primary), ...from(second, fallback)];
    if (isOld(token)) candidates.sort((a, b) => (b.observedMs ?? nowMs) - (a.observedMs ?? nowMs));
    const [best, other] = candidates;
    if (best && other && agree(best.price.usd, other.price.usd)) return { ...best, isSuspect: false };
    if (!best) return null;
    const isUnknown = (known.lastGood ?? known.oracle) === undefined && !known.pegged;
    // Two sources contradict each other, and there is no reference to decide.
    if (isUnknown && other) return { ...best, isSuspect: true };
    return candidates.find(({ isSuspect }) => !isSuspect) ?? best;
  };
  const chosen = new Map(open.map((token) => [token.address as string, choose(token)] as const));
  const values = new Map(primary.values);
  const measuredMs = new Map(primary.measuredMs);
  const doubted = new Map<string, Decimal>();
  const failures = new Map<string, FailureReason>();
  for (const [address, choice] of chosen) {
    if (choice === null) failures.set(address, whyUnpriced(address, primary, fallback));
    else values.set(address, choice.price);
    measuredMs.delete(address);
    if (choice?.observedMs !== undefined) measuredMs.set(address, choice.observedMs);
    if (choice?.isSuspect) doubted.set(address, choice.price.usd);
  }
  return { values, failures, measuredMs, doubted, sourceOf: (address) => (chosen.get(address)?.source ?? first).name };
}

async function ask(port: PricePort, tokens: readonly Token[], signal: AbortSignal): Promise<PriceAnswer> {
  try {
    return await port.usdPrices(tokens, { signal });
  } catch (error) {
    signal.throwIfAborted();
    const reason = reasonOf(error);
    return { values: new Map(), failures: new Map(tokens.map(({ address }) => [address, reason])), error };
  }
}

/** A token without an id at both providers is `not_configured`; otherwise the reason of the first provider that has an id. */
function whyUnpriced(address: string, ...answers: readonly PriceAnswer[]): FailureReason {
  const reasonOfOne = ({ failures }: PriceAnswer): FailureReason => failures.get(address) ?? 'missing';
  const answered = answers.filter(({ error }) => error === undefined).map(reasonOfOne);
  if (answered.every((reason) => reason === 'not_configured')) return 'not_configured';
  return answers.map(reasonOfOne).find((reason) => reason !== 'not_configured') ?? 'missing';
}

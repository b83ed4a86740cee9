import type { Chain, Token } from '../catalog/types.ts';
import type { FailureReason, UsdPrice } from '../domain/facts.ts';
import { agree, isSuspectPrice, type PriceReferences } from '../domain/plausibility/suspect.ts';
import type { Clock } from '../shared/clock.ts';
import type { Decimal } from '../shared/decimal.ts';
import type { Address, ChainId } from '../shared/ids.ts';
import { type Batch, type PricePort, priceKey } from '../upstreams/types.ts';
import { type ReceivedPrices, referencesOf } from './price-references.ts';
import { type RefreshAnswer, reasonOf, refreshGroup, type Snapshot, sumReports } from './refresh.ts';
import type { Warmer } from './types.ts';

export interface PricesDeps {
  readonly snapshot: Snapshot;
  readonly clock: Clock;
}

/**
 * Create the warmer of token prices: the first provider for all tokens of all chains at once, the second for those that failed.
 * Each price carries its source. A token without an id at both is not configured, and no request is made for it. A price that is
 * off its peg, far from the last good one, or old, is also requested from the second provider: the value that both agree on is
 * published, or the newer one of two. The age of a price is that of its observation, not of the request.
 */
export function createPricesWarmer(
  deps: PricesDeps,
  chains: readonly Chain[],
  ports: readonly [PricePort, PricePort],
  everySec: number,
): Warmer {
  const tokens = chains.flatMap((chain) => chain.tokens);
  return {
    name: 'prices',
    groups: ['price'],
    everySec,
    phase: 1,
    run: async (signal) => {
      const references: References = (token, received) => {
        const chain = chains.find(({ chainId }) => chainId === token.chainId);
        if (!chain) throw new Error(`${token.symbol} is of no chain of the catalog`);
        const receivedHere = (address: string) => received(keyOf(chain.chainId, address));
        return referencesOf(chain, deps.snapshot.facts(chain.chainId), token, receivedHere);
      };
      const asked = askInTurn(ports, tokens, references, deps.clock.now(), signal);
      const ended = await Promise.allSettled(
        chains.map(({ chainId, tokens: own }) =>
          refreshGroup(deps, {
            everySec,
            chainId,
            group: 'price',
            keys: own.map((token) => token.address),
            source: ports[0].name,
            signal,
            ask: async () => answerOf(chainId, own, await asked),
          }),
        ),
      );
      const failed = ended.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
      return sumReports(ended.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
    },
  };
}

function keyOf(chainId: ChainId, address: string): string {
  return priceKey({ chainId, address: address as Address });
}

/** The part of an answer that concerns the tokens of one chain, by their addresses. */
function answerOf(
  chainId: ChainId,
  tokens: readonly Token[],
  answer: RefreshAnswer<UsdPrice>,
): RefreshAnswer<UsdPrice> {
  const pick = <T>(from: ReadonlyMap<string, T> | undefined): ReadonlyMap<string, T> =>
    new Map(
      tokens.flatMap(({ address }) => {
        const value = from?.get(keyOf(chainId, address));
        return value === undefined ? [] : [[address as string, value] as const];
      }),
    );
  return {
    values: pick(answer.values),
    failures: pick(answer.failures),
    measuredMs: pick(answer.measuredMs),
    doubted: pick(answer.doubted),
    sourceOf: answer.sourceOf && ((address) => answer.sourceOf?.(keyOf(chainId, address)) ?? ''),
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
  const isOld = (token: Token): boolean => nowMs - (primary.measuredMs?.get(priceKey(token)) ?? nowMs) > OLD_MS;
  const open = tokens.filter((token) => {
    const price = primary.values.get(priceKey(token));
    return price === undefined || isOld(token) || isDoubtful(token, price);
  });
  if (open.length === 0) return primary;
  const fallback = await ask(second, open, signal);
  if (primary.error !== undefined && fallback.error !== undefined) throw primary.error;
  const received: ReceivedPrices = (key) =>
    [primary, fallback].flatMap(({ values }) => {
      const price = values.get(key);
      return price ? [price] : [];
    });
  const choose = (token: Token): Choice | null => {
    const known = references(token, received);
    const from = (source: PricePort, answer: PriceAnswer): Choice[] => {
      const price = answer.values.get(priceKey(token));
      if (price === undefined) return [];
      const seenMs = answer.measuredMs?.get(priceKey(token));
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
  const chosen = new Map(open.map((token) => [priceKey(token), choose(token)] as const));
  const values = new Map(primary.values);
  const measuredMs = new Map(primary.measuredMs);
  const doubted = new Map<string, Decimal>();
  const failures = new Map<string, FailureReason>();
  for (const [key, choice] of chosen) {
    if (choice === null) failures.set(key, whyUnpriced(key, primary, fallback));
    else values.set(key, choice.price);
    measuredMs.delete(key);
    if (choice?.observedMs !== undefined) measuredMs.set(key, choice.observedMs);
    if (choice?.isSuspect) doubted.set(key, choice.price.usd);
  }
  return { values, failures, measuredMs, doubted, sourceOf: (key) => (chosen.get(key)?.source ?? first).name };
}

async function ask(port: PricePort, tokens: readonly Token[], signal: AbortSignal): Promise<PriceAnswer> {
  try {
    return await port.usdPrices(tokens, { signal });
  } catch (error) {
    signal.throwIfAborted();
    const reason = reasonOf(error);
    return { values: new Map(), failures: new Map(tokens.map((token) => [priceKey(token), reason])), error };
  }
}

/** A token without an id at both providers is `not_configured`; otherwise the reason of the first provider that has an id. */
function whyUnpriced(key: string, ...answers: readonly PriceAnswer[]): FailureReason {
  const reasonOfOne = ({ failures }: PriceAnswer): FailureReason => failures.get(key) ?? 'missing';
  const answered = answers.filter(({ error }) => error === undefined).map(reasonOfOne);
  if (answered.every((reason) => reason === 'not_configured')) return 'not_configured';
  return answers.map(reasonOfOne).find((reason) => reason !== 'not_configured') ?? 'missing';
}

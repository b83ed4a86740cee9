import type { Market, Token } from '../../src/catalog/types.ts';
import { isOffPeg } from '../../src/domain/plausibility/suspect.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address } from '../../src/shared/ids.ts';
import type { Observation, Observations } from '../core/observations.ts';
import type { Line, LineMaker } from '../core/types.ts';

/** Fees, depth and different ages explain a smaller difference; a larger one indicates another unit. */
const APART_PCT = 20;
const TODO_UNIT =
  'Compare with the site of the provider; if its unit has changed, change its adapter in src/upstreams.';

export interface CompareContext {
  readonly observations: Observations;
  readonly isPegged: (token: Token) => boolean;
}

/** Judge prices and quotes by those of other sources: one line per surface. */
export function compareProviders({ observations, isPegged }: CompareContext): readonly Line[] {
  const lines: Line[] = [];
  for (const [make, group] of byMaker(observations.all())) {
    const wrong = group.flatMap((observation) => {
      const found =
        observation.kind === 'price'
          ? priceFault(observation, isPegged, observations)
          : quoteFault(observation, observations);
      return found ?? [];
    });
    const judged = group.length;
    lines.push(
      wrong.length === 0
        ? make.ok(
            'units',
            judged === 1
              ? 'its number is near those of other sources'
              : `${judged} numbers are near those of other sources`,
          )
        : make.failure('units', `${wrong.length} of ${judged} numbers are implausible: ${wrong[0]}`, TODO_UNIT),
    );
  }
  return lines;
}

type Price = Extract<Observation, { kind: 'price' }>;
type Quote = Extract<Observation, { kind: 'quote' }>;

/** Pegged tokens are judged by their peg; other tokens by the same provider's pegged ones and by other providers. */
function priceFault(
  { make, token, usd }: Price,
  isPegged: CompareContext['isPegged'],
  { all }: Observations,
): string | undefined {
  if (isPegged(token)) return isOffPeg(usd) ? `${token.symbol} at ${formatDigits(usd)} USD` : undefined;
  const others = all().filter(
    (other): other is Price =>
      other.kind === 'price' &&
      other.make !== make &&
      other.token.address === token.address &&
      other.token.chainId === token.chainId,
  );
  // When two providers differ, the one with wrong pegged tokens too is at fault.
  const sound = others.filter((other) => !hasOffPeg(other.make, isPegged, all()));
  const far = sound.find((other) => percentApart(usd, other.usd) > APART_PCT);
  return far && `${token.symbol} at ${formatDigits(usd)} USD, elsewhere ${formatDigits(far.usd)} USD`;
}

function hasOffPeg(make: LineMaker, isPegged: CompareContext['isPegged'], all: readonly Observation[]): boolean {
  return all.some(
    (other) => other.kind === 'price' && other.make === make && isPegged(other.token) && isOffPeg(other.usd),
  );
}

/** Compare with the market's own oracle. */
function quoteFault({ market, amountIn, amountOut }: Quote, { oracles }: Observations): string | undefined {
  const price = oracles(market.chainId)?.oracle.values.get(market.oracle)?.price;
  if (price === undefined || price === 0n) return undefined;
  const expected = new Decimal(((amountIn * 10n ** 36n) / price).toString());
  const output = new Decimal(amountOut.toString());
  if (percentApart(output, expected) <= APART_PCT) return undefined;
  return `${formatDigits(whole(output, market))} ${market.collateral.symbol} quoted, ${formatDigits(whole(expected, market))} by the oracle`;
}

function whole(units: Decimal, { collateral }: Market): Decimal {
  return units.shiftedBy(-collateral.decimals);
}

function percentApart(a: Decimal, b: Decimal): number {
  const [low, high] = a.lt(b) ? [a, b] : [b, a];
  return low.isZero() ? Number.POSITIVE_INFINITY : high.minus(low).times(100).div(low).toNumber();
}

function formatDigits(value: Decimal): string {
  return value.toPrecision(6);
}

function byMaker(all: readonly Observation[]): ReadonlyMap<LineMaker, readonly Observation[]> {
  const groups = new Map<LineMaker, Observation[]>();
  for (const observation of all) groups.set(observation.make, [...(groups.get(observation.make) ?? []), observation]);
  return groups;
}

/** The best known price of each token, from a provider with correct pegged tokens. */
export function usdPrices({ observations, isPegged }: CompareContext): (token: Address) => Decimal | undefined {
  const prices = new Map<Address, Decimal>();
  for (const observation of observations.all()) {
    if (observation.kind !== 'price' || prices.has(observation.token.address)) continue;
    if (!hasOffPeg(observation.make, isPegged, observations.all()))
      prices.set(observation.token.address, observation.usd);
  }
  return (token) => prices.get(token);
}

import type { Chain, Token } from '../../catalog/types.ts';
import type { CollateralApy, FailureReason } from '../../domain/facts.ts';
import { ZERO } from '../../shared/decimal.ts';
import { toBatch } from '../batch.ts';
import { ABSENT, type Documented } from '../http.ts';
import { checkSwap, saysNoRoute } from '../quotes.ts';
import { APY_PCT, type ParsedValue, readAddress, readDecimal, USD_AMOUNT } from '../readings.ts';
import type { Batch, SwapQuote, SwapRequest } from '../types.ts';
import { type Convert, convertRefusalSchema, type MarketRow, marketRowSchema } from './schema.ts';

/** The implied APY of each token, from the rows of all markets. `dropped`: rows without a principal token. */
export function mapApys(
  chain: Chain,
  tokens: readonly Token[],
  rows: readonly unknown[],
): Batch<CollateralApy> & { readonly dropped: number } {
  const byPt = new Map<string, MarketRow>();
  let dropped = 0;
  for (const raw of rows) {
    const row = marketRowSchema.safeParse(raw);
    if (!row.success) {
      dropped += 1;
      continue;
    }
    const pt = row.data.pt.toLowerCase();
    const known = byPt.get(pt);
    if (known === undefined || isBetterMarket(row.data, known)) byPt.set(pt, row.data);
  }
  const batch = toBatch(
    tokens.map((token): [string, ParsedValue<CollateralApy>] => {
      const row = byPt.get(`${chain.chainId}-${token.address.toLowerCase()}`);
      const apy = readDecimal(row?.details?.impliedApy, APY_PCT, 2);
      return [token.address, apy.ok ? { ok: true, value: { apyPct: apy.value } } : apy];
    }),
  );
  return { ...batch, dropped };
}

/** Among the markets of one principal token the deepest one counts; equally deep: the lower address. */
function isBetterMarket(candidate: MarketRow, known: MarketRow): boolean {
  const [a, b] = [candidate, known].map((row) => {
    const liquidity = readDecimal(row.details?.liquidity, USD_AMOUNT);
    return liquidity.ok ? liquidity.value : ZERO;
  });
  const order = (a ?? ZERO).comparedTo(b ?? ZERO) ?? 0;
  return order === 0 ? (candidate.address ?? '') < (known.address ?? '') : order > 0;
}

/** A conversion without a route is refused in words alone. Every other refusal, such as one of our parameters, is a failure. */
export const convertCodes: Documented = ({ status, body }) =>
  status >= 400 && status < 500 && saysNoRoute(convertRefusalSchema.safeParse(body).data?.message) ? ABSENT : undefined;

/** The provider's name for a conversion without an aggregator. */
const NO_AGGREGATOR = 'VOID';

/** The first route as a quote; `null` = no route. */
export function mapConvert(
  request: SwapRequest,
  answer: Convert,
  expiresAtMs: number,
): SwapQuote | FailureReason | null {
  const route = answer.routes[0];
  const output = route?.outputs[0];
  if (route === undefined || output === undefined) return null;
  const token = readAddress(output.token);
  if (output.token !== undefined && !(token.ok && token.value === request.tokenOut)) return 'implausible';
  const { to, data, value } = route.tx;
  // Only the aggregator takes the fee, so a conversion without one has none.
  const isAggregated = route.data?.aggregatorType !== NO_AGGREGATOR;
  return checkSwap(
    'YieldMarket',
    request,
    { to, data, value, amountOut: output.amount, feeBps: isAggregated ? undefined : 0 },
    expiresAtMs,
  );
}

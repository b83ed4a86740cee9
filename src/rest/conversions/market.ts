import { Decimal, formatPct } from '../../shared/decimal.ts';
import type { Conversions } from '../derive/conversion.ts';
import type { JsonSchema } from '../openapi/json-schema.ts';
import { exactDecimal } from './values.ts';

const listOf = <T>(value: unknown) => value as readonly T[];

interface Campaign {
  readonly symbol: string;
  readonly aprPct: string;
}
interface Slippage {
  readonly sizeUsd: string;
  readonly slippagePct?: string;
}

interface Age {
  readonly asOf?: string;
  readonly status: string;
}
interface PricedToken {
  readonly address: string;
  readonly price?: { readonly usd: string; readonly freshness: Age };
}

/** When a value was measured, ms; one that was never measured is the oldest. */
const timeOf = ({ asOf }: Age) => (asOf === undefined ? 0 : Date.parse(asOf));

const PCT: JsonSchema = { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$', examples: ['12.34'] };
const LOSS = 'Loss in percent at this size, signed; null = no route.';

/** Losses by the sizes that the list has. */
function slippages({ items }: JsonSchema, value: JsonSchema): JsonSchema {
  const { properties } = items as { readonly properties: { readonly sizeUsd: { readonly enum: readonly string[] } } };
  const sizes = properties.sizeUsd.enum;
  return {
    type: 'object',
    description: 'Loss by the USD of collateral that are sold.',
    required: sizes,
    properties: Object.fromEntries(
      sizes.map((size) => [size, { description: LOSS, anyOf: [value, { type: 'null' }] }]),
    ),
  };
}

function bySize(list: unknown, show: (pct: string) => unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    listOf<Slippage>(list).map(({ sizeUsd, slippagePct }) => [
      sizeUsd,
      slippagePct === undefined ? null : show(slippagePct),
    ]),
  );
}

/** Required fields with a conservative value, named in their description, while an input is not known. */
const ASSUMED: ReadonlySet<string> = new Set([
  'collateralApyPct',
  'totalCollateralApyPct',
  'netBorrowApyPct',
  'effectiveCollateralApyPct',
  'maxLtvPct',
  'safeLtvPct',
  'ltvPct.max',
  'fees.yieldFeePct',
  'fees.depositFeePct',
  'maxLeverage',
  'equityVault.yieldLegApyPct',
  'leverageLadder',
  'defaultLeverage',
  'noSwapRoute',
  'freshness.exitLiquidity',
]);

/** Listing rules without a value: their decision is formatted as one word. */
const RULE = 'visibility.checks.';

/** Pick the gaps of required fields; `null`, which is left out of an answer, when there are none. */
function assumedIn(
  gaps: readonly { readonly field: string; readonly reason: string; readonly message: string }[],
): readonly { readonly field: string; readonly reason: string; readonly message: string }[] | null {
  const assumed = gaps.filter(({ field }) => ASSUMED.has(field) || field.startsWith(RULE));
  if (assumed.length === 0) return null;
  return assumed.map(({ field, reason, message }) => ({
    field: field.startsWith(RULE) ? 'listed' : field,
    reason,
    message,
  }));
}

/** Facts of markets and strategies in the forms of the contract. */
export const marketConversions = {
  /** Campaigns as one line per reward symbol, with 2 places. */
  bySymbol: {
    schema: (of) => of,
    convert: (list) => {
      const sums = new Map<string, Decimal>();
      for (const { symbol, aprPct } of listOf<Campaign>(list)) {
        sums.set(symbol, new Decimal(aprPct).plus(sums.get(symbol) ?? 0));
      }
      return [...sums].map(([symbol, aprPct]) => ({ symbol, aprPct: formatPct(aprPct) }));
    },
  },
  /** Prices by token address, as old as the oldest. Unknown ones are left out. */
  pricesByToken: {
    schema: () => ({
      type: 'object',
      required: ['asOf', 'stale', 'prices'],
      properties: {
        asOf: {
          description: 'Time of the oldest price; null = no known price.',
          anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
        },
        stale: {
          type: 'boolean',
          description: 'Whether the oldest price is past its freshness budget, or there is none.',
        },
        prices: {
          type: 'object',
          additionalProperties: { type: 'number', exclusiveMinimum: 0 },
          description: 'USD per token by checksummed token address; unknown prices are left out.',
        },
      },
    }),
    convert: (list) => {
      const priced = listOf<PricedToken>(list).flatMap(({ address, price }) => (price ? [{ address, ...price }] : []));
      const [oldest] = priced.map(({ freshness }) => freshness).sort((a, b) => timeOf(a) - timeOf(b));
      return {
        asOf: oldest?.asOf ?? null,
        stale: oldest === undefined || oldest.status === 'stale',
        prices: Object.fromEntries(priced.map(({ address, usd }) => [address, Number(usd)])),
      };
    },
  },
  /** Losses by size, with 2 places. */
  slippageBySize: {
    schema: (of) => slippages(of, PCT),
    convert: (list) => bySize(list, (pct) => formatPct(new Decimal(pct))),
  },
  /** Losses by size as exact decimals of the app market model. */
  exactSlippageBySize: {
    schema: (of, refer) => slippages(of, exactDecimal(refer)),
    convert: (list) => bySize(list, (pct) => ({ $bn: pct })),
  },
  /** The measured cost of selling the collateral, or that it was not measured. */
  exitLiquidity: {
    takesNull: true,
    schema: (of, refer) => ({
      anyOf: [
        refer('UnmeasuredExitLiquidity', () => ({
          type: 'object',
          description: 'The cost of selling was not measured: it is unknown, neither zero nor safe.',
          required: ['measured'],
          properties: { measured: { type: 'boolean', const: false, description: 'Not measured.' } },
        })),
        refer('MeasuredExitLiquidity', () => measuredExit(of)),
      ],
    }),
    convert: (exit) => {
      if (exit === null) return { measured: false };
      const { source, ...measured } = exit as { readonly source: string };
      return { measured: true, method: `${source} quotes`, direction: 'collateral to stable', ...measured };
    },
  },
  /** Failed rules of a listing; absent when it has passed all. */
  failedRules: {
    mayBeAbsent: true,
    schema: () => ({ type: 'array', items: { type: 'string' }, description: 'The listing rules that failed.' }),
    convert: (checks) => {
      const failed = listOf<{ rule: string; passed: boolean }>(checks).flatMap(({ rule, passed }) =>
        passed ? [] : [rule],
      );
      return failed.length === 0 ? undefined : failed;
    },
  },
  /** Terms that were read at a time; absent when none were. */
  ifDated: {
    mayBeAbsent: true,
    schema: (of) => ({ ...of, required: ['source', 'freshness'] }),
    convert: (terms) => ((terms as { freshness?: unknown }).freshness === undefined ? undefined : terms),
  },
  /** Gaps of fields that have a conservative value, under the names of the row; absent when there are none. */
  assumed: {
    mayBeAbsent: true,
    schema: (of) => of,
    convert: (gaps, { namesOf }) =>
      assumedIn(
        listOf<{ field: string; reason: string; message: string }>(gaps).flatMap((gap) => {
          const names = namesOf(gap.field);
          return (names.length === 0 ? [gap.field] : names).map((field) => ({ ...gap, field }));
        }),
      ) ?? undefined,
  },
} as const satisfies Conversions;

function measuredExit(of: JsonSchema): JsonSchema {
  const { source: _source, ...properties } = (of as { properties: Record<string, JsonSchema> }).properties;
  return {
    type: 'object',
    description: 'The measured cost of selling.',
    required: ['measured', 'method', 'direction', ...Object.keys(properties)],
    properties: {
      measured: { type: 'boolean', const: true, description: 'Measured.' },
      method: { type: 'string', description: 'Method of the measurement.' },
      direction: { type: 'string', description: 'Direction of the sale.' },
      ...properties,
    },
  };
}

import type { Conversions } from '../derive/conversion.ts';
import type { JsonSchema } from '../openapi/json-schema.ts';

type Properties = Readonly<Record<string, JsonSchema>>;
const propertiesOf = (of: JsonSchema) => (of as { readonly properties: Properties }).properties;
const itemOf = ({ items }: JsonSchema) => items as JsonSchema;
const NO_PAST = { complete: false, count: 0, next: null, events: [], equity: [], gaps: [] };

interface GapBody {
  readonly reason: string;
  readonly message: string;
}
interface SeriesBody {
  readonly marketId?: string;
  readonly complete: boolean;
  readonly freshness?: { readonly asOf?: string; readonly status: string };
  readonly history: readonly unknown[];
  readonly gaps: readonly GapBody[];
}
interface ChainBody {
  readonly chainId: number;
  readonly rateHistories: readonly SeriesBody[];
}

/** Reasons that are known facts: there is no history, and there cannot be one. */
const KNOWN: ReadonlySet<string> = new Set(['NONE', 'NOT_APPLICABLE']);

/** Whether a history is missing that could be there: it is as stale as can be. */
function isUnknown({ freshness, gaps: [gap] }: SeriesBody): boolean {
  return freshness === undefined && gap !== undefined && !KNOWN.has(gap.reason);
}

function historyOf({ freshness, complete, gaps: [gap], ...series }: SeriesBody) {
  return {
    ...series,
    asOf: freshness?.asOf ?? null,
    // A history that cannot grow any more does not become stale.
    stale:
      isUnknown({ freshness, complete, gaps: gap ? [gap] : [], ...series } as SeriesBody) ||
      (!complete && freshness?.status === 'stale'),
    ...(gap ? { gap } : {}),
  };
}

const seriesOf = (chains: unknown) => (chains as readonly ChainBody[]).flatMap(({ rateHistories }) => rateHistories);

const AS_OF = (description: string): JsonSchema => ({
  description,
  anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
});

function historySchema(of: JsonSchema): JsonSchema {
  const { freshness: _freshness, complete: _complete, gaps = {}, ...shown } = propertiesOf(of);
  return {
    ...of,
    required: [...(of.required as readonly string[]).filter((name) => name in shown), 'asOf', 'stale'],
    properties: {
      ...shown,
      asOf: AS_OF('Time of the newest point; null = no record.'),
      stale: {
        type: 'boolean',
        description: 'Whether it is past its freshness budget, or unknown. False if there is none.',
      },
      gap: { ...itemOf(gaps), description: 'Reason for a missing history; absent if there is one.' },
    },
  };
}

/** Histories in the forms of the contract. */
export const historyConversions = {
  /** A history with its age and the reason for a missing one. */
  history: { schema: historySchema, convert: (series) => historyOf(series as SeriesBody) },
  /** The history of one id, which is on one chain, with the id of that chain. */
  oneHistory: {
    schema: (of) => {
      const chain = propertiesOf(itemOf(of));
      const whole = historySchema(itemOf(chain.rateHistories ?? {})) as { properties: Properties; required: string[] };
      const { marketId, ...more } = whole.properties;
      return {
        ...whole,
        required: whole.required.filter((name) => name !== 'marketId'),
        properties: {
          ...more,
          marketId: {
            ...marketId,
            description: 'Of an equity vault the market whose history this is; absent of a market.',
          },
        },
      };
    },
    convert: (chains) => {
      const [found] = (chains as readonly ChainBody[]).flatMap(({ chainId, rateHistories }) =>
        rateHistories.map((series) => ({ chainId, ...historyOf(series) })),
      );
      return found ?? null;
    },
  },
  /** The histories of all markets by market id. Unknown ones are left out: an empty list would be a history without points. */
  histories: {
    schema: (of) => {
      const { history = {}, gaps = {} } = propertiesOf(itemOf(propertiesOf(itemOf(of)).rateHistories ?? {}));
      return {
        type: 'object',
        required: ['asOf', 'stale', 'histories'],
        properties: {
          asOf: AS_OF('Time of the newest point of the oldest history; null = no record.'),
          stale: { type: 'boolean', description: 'Whether one of them is past its freshness budget, or unknown.' },
          histories: {
            type: 'object',
            additionalProperties: history,
            description: 'By market id; unknown histories are left out.',
          },
          gaps: {
            type: 'object',
            additionalProperties: itemOf(gaps),
            description: 'By market id: reason for a missing history. Absent if every market has one.',
          },
        },
      };
    },
    convert: (chains) => {
      const items = seriesOf(chains);
      const ageing = items.filter(({ complete }) => !complete).flatMap(({ freshness }) => freshness ?? []);
      const timeOf = ({ asOf }: { readonly asOf?: string }) => (asOf === undefined ? 0 : Date.parse(asOf));
      const [oldest] = [...ageing].sort((a, b) => timeOf(a) - timeOf(b));
      const gaps = items.flatMap(({ marketId, gaps: [gap] }) => (gap ? [[marketId, gap] as const] : []));
      return {
        asOf: oldest?.asOf ?? null,
        stale: items.some(isUnknown) || oldest?.status === 'stale',
        histories: Object.fromEntries(
          items.flatMap((item) => (isUnknown(item) ? [] : [[item.marketId, item.history]])),
        ),
        ...(gaps.length === 0 ? {} : { gaps: Object.fromEntries(gaps) }),
      };
    },
  },
  /** The recorded past of a position; before the market is known there is none. */
  orNoPast: { schema: (of) => of, takesNull: true, convert: (past) => past ?? NO_PAST },
  /** The stock leg on the chain that has it. */
  foundStockLeg: {
    schema: (of) => propertiesOf(itemOf(of)).stockLeg ?? {},
    convert: (chains) =>
      (chains as readonly { readonly stockLeg?: unknown }[]).map(({ stockLeg }) => stockLeg).find(Boolean) ?? null,
  },
} as const satisfies Conversions;

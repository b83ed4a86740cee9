import type { Caller } from '../resolvers/common/caller.ts';
import { ON_DEMAND_POINTS } from './points.ts';

export const TIERS = ['anonymous', 'partner', 'ops'] as const;
export type Tier = (typeof TIERS)[number];

export interface TierLimits {
  /** Cost points per window and client; 0 = no rate limit. */
  readonly points: number;
  /** Maximum size of a GraphQL request body, bytes. */
  readonly bodyBytes: number;
  /** Maximum number of operations in one GraphQL request. */
  readonly batch: number;
  /** Maximum depth of fields. The introspection query of common tools has 15. */
  readonly depth: number;
  /** Maximum number of aliased fields, `__typename` included, fragments expanded. */
  readonly aliases: number;
  /** Maximum number of directives, fragments expanded. */
  readonly directives: number;
  /** Maximum number of fields, fragments expanded. */
  readonly fields: number;
  readonly tokens: number;
  /** Maximum number of line breaks: the place of each error in an answer is counted in lines. */
  readonly lines: number;
  /** Maximum nesting of brackets of all kinds: selections, arguments, lists and objects. */
  readonly brackets: number;
  /** Maximum number of selections in the text, before fragments are expanded. */
  readonly selections: number;
  /** Maximum number of fragment definitions, and of spread fragments. */
  readonly fragments: number;
  /** Maximum cost of validation, which blocks the event loop until it ends. */
  readonly validation: number;
  /** Maximum number of open subscriptions, per client and process. */
  readonly streams: number;
  /** Maximum cost of one operation, list sizes included. */
  readonly cost: number;
  /**
   * Maximum number of calls per window and client, by coordinate, of fields that ask an upstream or a chain on demand, or may
   * do so with a key. Fields of one name share a counter, so that no field gives more of an upstream than another.
   */
  readonly calls: Readonly<Record<string, number>>;
  /** The maximum for every other root field that needs a key. */
  readonly keyedCalls: number;
}

export type Limits = Readonly<Record<Tier, TierLimits>>;

/** Window of the budgets and of the per-field limits, seconds. */
export const WINDOW_SEC = 60;

/**
 * Maximum bytes of unread answers, of the process and of one address, before new large ones are refused. A connection buffers
 * a usual answer at once, so only slow readers count here.
 */
export const UNREAD_LIMITS = { processBytes: 64 * 2 ** 20, addressBytes: 16 * 2 ** 20 } as const;

/** Every field that relays from an upstream, with one maximum. */
function relayCalls(max: number): Readonly<Record<string, number>> {
  const coordinates = ['Query', 'Token'].flatMap((type) =>
    Object.keys(ON_DEMAND_POINTS).map((name) => `${type}.${name}`),
  );
  return Object.fromEntries(coordinates.map((coordinate) => [coordinate, max]));
}

export function createLimits(points: Readonly<Record<Tier, number>>): Limits {
  return {
    anonymous: {
      points: points.anonymous,
      bodyBytes: 64 * 1024,
      batch: 5,
      depth: 16,
      aliases: 30,
      directives: 20,
      fields: 500,
      tokens: 2_000,
      lines: 1_000,
      brackets: 64,
      selections: 1_000,
      fragments: 50,
      validation: 300,
      streams: 10,
      cost: 10_000,
      calls: { ...relayCalls(30) },
      keyedCalls: 30,
    },
    partner: {
      points: points.partner,
      bodyBytes: 128 * 1024,
      batch: 10,
      depth: 16,
      aliases: 60,
      directives: 40,
      fields: 1_000,
      tokens: 4_000,
      lines: 4_000,
      brackets: 64,
      selections: 2_000,
      fragments: 100,
      validation: 600,
      streams: 50,
      cost: 20_000,
      calls: {
        ...relayCalls(120),
        'Query.node': 240,
        'Query.nodes': 240,
        'Position.deleverageOptions': 60,
        'Position.rewards': 60,
      },
      keyedCalls: 240,
    },
    ops: {
      points: points.ops,
      bodyBytes: 256 * 1024,
      batch: 10,
      depth: 16,
      aliases: 100,
      directives: 60,
      fields: 2_000,
      tokens: 8_000,
      lines: 8_000,
      brackets: 64,
      selections: 4_000,
      fragments: 100,
      validation: 600,
      streams: 100,
      cost: 50_000,
      calls: {
        ...relayCalls(240),
        'Query.node': 480,
        'Query.nodes': 480,
        'Ops.portfolio': 480,
        'Position.deleverageOptions': 120,
        'Position.rewards': 60,
      },
      keyedCalls: 480,
    },
  };
}

export function tierOf(caller: Caller): Tier {
  return caller.kind === 'key' ? caller.tier : 'anonymous';
}

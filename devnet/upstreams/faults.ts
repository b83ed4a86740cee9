import { z } from 'zod';
import { PROVIDERS, type Provider } from './types.ts';

const ms = z.int().min(0).max(600_000);

/** Kinds of faults of a provider. */
export const faultSchema = z.discriminatedUnion('kind', [
  /** Answers correctly after a delay. */
  z.strictObject({ kind: z.literal('latency'), ms }),
  /** Refuses with that status, in its own error form. */
  z.strictObject({ kind: z.literal('status'), status: z.int().min(400).max(599) }),
  /** Answers exactly that, e.g. with the provider's own code: `{"status": 400, "body": {"code": 4004}}`. */
  z.strictObject({
    kind: z.literal('answer'),
    status: z.int().min(200).max(599),
    body: z.unknown().default({}),
    headers: z.record(z.string(), z.string()).default({}),
  }),
  /** Fields with these names, wherever they are, have these values: `{"whitelist": ["0x…"]}`, `{"avg7d": 0}`, `{"apr": null}`. */
  z.strictObject({ kind: z.literal('fields'), set: z.record(z.string(), z.unknown()) }),
  /** 429; with a `Retry-After` of that many seconds, as a number or as an HTTP date, or without one. */
  z.strictObject({
    kind: z.literal('rateLimited'),
    retryAfterSec: z.int().min(0).optional(),
    asDate: z.boolean().optional(),
  }),
  /** 401, in its own error form. */
  z.strictObject({ kind: z.literal('unauthorized') }),
  /** Truncated JSON with status 200 and its true length. */
  z.strictObject({ kind: z.literal('malformed') }),
  /** A web page with status 200. */
  z.strictObject({ kind: z.literal('html') }),
  /** Of every list the second of three items is missing, and the third lacks the relevant fields; a single item lacks them too. */
  z.strictObject({ kind: z.literal('partial') }),
  /** Every item lacks the relevant fields (or the named one). */
  z.strictObject({ kind: z.literal('missingField'), field: z.string().min(1).optional() }),
  /** Lists are empty; a single item is `{}`. */
  z.strictObject({ kind: z.literal('empty') }),
  /** The relevant values are -1e9 and 1e30 in turn. */
  z.strictObject({ kind: z.literal('absurd') }),
  /** The relevant values are multiplied: percent for fractions is 100, fractions for percent 0.01. */
  z.strictObject({ kind: z.literal('scaled'), factor: z.number().positive().default(100) }),
  /** The relevant values are the text "NaN". */
  z.strictObject({ kind: z.literal('nan') }),
  /** Every item of every list comes twice. */
  z.strictObject({ kind: z.literal('duplicate') }),
  /** Every history has one row more, two years ahead; bodies with a single time claim that time. */
  z.strictObject({ kind: z.literal('future') }),
  /** Every history lacks its last 40 days; bodies with a single time are that old. */
  z.strictObject({ kind: z.literal('frozen') }),
  /** The connection is reset in the middle of the body. */
  z.strictObject({ kind: z.literal('reset') }),
  /** The body comes in small pieces with pauses. */
  z.strictObject({ kind: z.literal('slowDrip'), chunkBytes: z.int().min(1).default(16), everyMs: ms.default(250) }),
  /** Never answers; the connection stays open. */
  z.strictObject({ kind: z.literal('hang') }),
]);
export type Fault = z.input<typeof faultSchema>;
export type AppliedFault = z.output<typeof faultSchema>;
export type FaultKind = Fault['kind'];
export const FAULT_KINDS: readonly FaultKind[] = faultSchema.options.map((option) => option.shape.kind.value);

export interface FaultOptions {
  /** Only requests whose path and query contain this text. */
  readonly path?: string | undefined;
  /** Only that many requests; after them the provider answers correctly. */
  readonly times?: number | undefined;
}

export interface ActiveFault extends FaultOptions {
  readonly provider: Provider;
  readonly fault: AppliedFault;
}

export interface FaultStore {
  /** Set a fault of one provider or of all; replaces the fault of the same `path`. The latest matching one applies. @throws Error for an invalid fault */
  set(provider: Provider | 'all', fault: Fault, options?: FaultOptions): void;
  /** Remove the faults of one provider, or of all. */
  clear(provider?: Provider): void;
  list(): readonly ActiveFault[];
  /** Take the fault that hits this request, counting it down. */
  take(provider: Provider, pathAndQuery: string): AppliedFault | undefined;
}

interface Rule extends ActiveFault {
  left: number;
}

/** Store the faults by provider. */
export function createFaultStore(): FaultStore {
  let rules: Rule[] = [];
  return {
    set(provider, fault, options = {}) {
      const parsed = faultSchema.parse(fault);
      const { times } = options;
      if (times !== undefined && !(Number.isInteger(times) && times > 0)) throw new Error('times must be 1 or more');
      const targets = provider === 'all' ? PROVIDERS : [provider];
      rules = [
        ...targets.map((target) => ({
          provider: target,
          fault: parsed,
          ...options,
          left: times ?? Number.POSITIVE_INFINITY,
        })),
        ...rules.filter((rule) => !(targets.includes(rule.provider) && rule.path === options.path)),
      ];
    },
    clear(provider) {
      rules = provider === undefined ? [] : rules.filter((rule) => rule.provider !== provider);
    },
    list() {
      return rules.map(({ left, times, ...rule }) => (times === undefined ? rule : { ...rule, times: left }));
    },
    take(provider, pathAndQuery) {
      const hit = rules.find(
        (rule) => rule.provider === provider && (rule.path === undefined || pathAndQuery.includes(rule.path)),
      );
      if (hit === undefined) return undefined;
      hit.left -= 1;
      if (hit.left <= 0) rules = rules.filter((rule) => rule !== hit);
      return hit.fault;
    },
  };
}

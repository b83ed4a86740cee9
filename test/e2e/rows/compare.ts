import { BigNumber } from 'bignumber.js';
import type { Json } from '../../support/service.ts';
import { WARNED } from '../reads/strategy-contract.ts';

/*
 * The comparison of an answer of /v1 with one of GraphQL, leaf by leaf: the names of /v1 become those of the schema by a table,
 * and the values of the schema become those of /v1 by their units.
 */

/** Units of /v1 that the schema has otherwise. */
const UNITS = {
  seconds: (at: string) => Date.parse(at) / 1_000,
  milliseconds: (at: string) => Date.parse(at),
  day: (at: string) => at.slice(0, 10),
  ratioOfPct: (pct: string) => new BigNumber(pct).shiftedBy(-2).toNumber(),
  ratioOfBps: (bps: string) => new BigNumber(bps).shiftedBy(-4).toNumber(),
  /** Kinds of issues in the case of the contract. */
  lowerCase: (kind: string) => kind.toLowerCase(),
  isStale: (status: string) => status === 'STALE',
  /** Texts name the slippage and the parts of a plan as the caller of the interface does. */
  textOfRest: (text: string) =>
    text
      .replace(
        /maxSlippageBps ([\d.]+) only ([\d.]+) (holds|counts)/,
        (_all, requested, effective, verb) =>
          `the slippage ${UNITS.ratioOfBps(requested)} only ${UNITS.ratioOfBps(effective)} ${verb}`,
      )
      .replace('the approval in "calls"', '"approvals"')
      .replace('approval in "calls"', 'entry of "approvals"')
      .replace('the last of "calls"', '"tx"'),
  fieldOfWarning: (field: string) => WARNED[field],
} as const satisfies Record<string, (value: string) => Json>;

/** Part of a path of /v1, the same part in the schema, and the unit where it differs. All that match apply, in order. */
export type Name = readonly [rest: RegExp, typed: string, unit?: keyof typeof UNITS | undefined];
/** Leaves, as `path = value`, that are on one side only, and why. */
export type OneSided = readonly (readonly [leaf: RegExp, reason: string])[];

export interface Table {
  readonly names?: readonly Name[];
  readonly restOnly?: OneSided;
  readonly typedOnly?: OneSided;
}

/** Lists whose items have a name in paths; all others have their index. */
const KEYS = ['field', 'sizeUsd'] as const;
const KEYED = /(^|\.)(gaps|slippages)$/;

type Leaves = Map<string, string | number | boolean>;

function leavesOf(value: Json, path: string, leaves: Leaves): Leaves {
  if (value === null || value === undefined) return leaves;
  if (typeof value !== 'object') return leaves.set(path, value);
  const tagged = value.$bn ?? value.$bigint;
  if (tagged !== undefined) return leaves.set(path, tagged);
  for (const [name, inner] of Object.entries<Json>(value)) {
    const key =
      Array.isArray(value) && KEYED.test(path) ? (KEYS.map((field) => inner[field]).find(Boolean) ?? name) : name;
    leavesOf(inner, path === '' ? key : `${path}.${key}`, leaves);
  }
  return leaves;
}

const word = (text: Json) =>
  String(text)
    .replace(/[_\s-]/g, '')
    .toLowerCase();

/** Exactly the same; a JSON number is its decimal string rounded to a double, and a word an enum of the schema. */
function isSame(rest: Json, typed: Json): boolean {
  if (rest === typed) return true;
  if (typeof rest === 'number' && typeof typed === 'string' && typed !== '') return rest === Number(typed);
  return typeof typed === 'string' && /^[A-Z][A-Z\d]*(_[A-Z\d]+)*$/.test(typed) && word(rest) === word(typed);
}

/** Every leaf of one side that is not that of the other, as a sentence. */
export function differencesOf(rest: Json, typed: Json, { names = [], restOnly = [], typedOnly = [] }: Table): string[] {
  const known = leavesOf(typed, '', new Map());
  const unused = new Set(known.keys());
  const differences: string[] = [];
  for (const [path, value] of leavesOf(rest, '', new Map())) {
    if (restOnly.some(([only]) => only.test(`${path} = ${value}`))) continue;
    let at = path;
    let unit: keyof typeof UNITS | undefined;
    for (const [from, to, unitOf] of names) {
      if (!from.test(at)) continue;
      at = at.replace(from, to);
      unit = unitOf ?? unit;
    }
    unused.delete(at);
    const found = known.get(at);
    if (found === undefined) {
      differences.push(`${path} = ${value} has no counterpart ${at}`);
      continue;
    }
    const expected = unit === undefined ? found : UNITS[unit](String(found));
    if (!isSame(value, expected)) differences.push(`${path} = ${value}, but ${at} = ${found}`);
  }
  for (const path of unused) {
    if (typedOnly.some(([only]) => only.test(`${path} = ${known.get(path)}`))) continue;
    differences.push(`${path} = ${known.get(path)} is not in /v1`);
  }
  return differences;
}

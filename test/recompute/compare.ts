import { expect } from 'vitest';
import type { Json } from '../support/service.ts';
import { Exact } from './protocol.ts';

/*
 * Compares an answer with the computed values, number by number: a number of the answer without a computed value is a mistake,
 * as is one that differs.
 */

/** A number that agrees when it is no further away than that. */
export interface Near {
  readonly near: Exact;
  readonly within: string;
}

/** Digits to which full-precision numbers have to agree: rates pass through double precision, everything else is exact. */
const PRECISION = '1e-9';
const NUMBER = /^-?\d+(\.\d+)?$/;

export const near = (exact: Exact, within = PRECISION): Near => ({ near: exact, within });
/** Within a part of the number. */
export const nearly = (exact: Exact, part: string): Near => near(exact, exact.times(part).abs().toFixed());
export const big = (value: bigint) => ({ $bigint: value.toString() });
export const bn = (value: Exact, within = PRECISION) => ({ $bn: near(value, within) });

/** Compare every number of an answer. Other expected values have to be equal as well. */
export function expectNumbers(answer: Json, wanted: Json, where: string): void {
  const wrong: string[] = [];
  compare(answer, wanted, where, wrong);
  expect(wrong).toEqual([]);
}

function compare(actual: Json, wanted: Json, path: string, wrong: string[]): void {
  if (isNear(wanted)) {
    const value = isNumber(actual) ? new Exact(actual) : undefined;
    if (value?.minus(wanted.near).abs().lte(wanted.within)) return;
    wrong.push(`${path}: ${actual} is not ${wanted.near.toFixed()}`);
  } else if (isObject(actual) || isObject(wanted)) {
    const keys = new Set([...Object.keys(actual ?? {}), ...Object.keys(wanted ?? {})]);
    for (const key of keys) compare(actual?.[key], wanted?.[key], `${path}.${key}`, wrong);
  } else if (wanted === undefined) {
    if (isNumber(actual)) wrong.push(`${path}: ${actual} is not recomputed`);
  } else if (actual !== wanted) {
    wrong.push(`${path}: ${actual} is not ${wanted}`);
  }
}

const isNear = (value: Json): value is Near => isObject(value) && 'near' in value && 'within' in value;
const isObject = (value: Json): boolean => typeof value === 'object' && value !== null;
const isNumber = (value: Json): boolean =>
  typeof value === 'number' || (typeof value === 'string' && NUMBER.test(value));

import { InputError } from './errors.ts';

/** @throws InputError unless the value is a number of milliseconds from 0 on */
export function timeOf(name: string, ms: number): number {
  if (Number.isFinite(ms) && ms >= 0) return ms;
  throw new InputError(`${name} is ${String(ms)}. Give milliseconds from 0 on.`);
}

/** @throws InputError unless the value is a number of milliseconds from 0 on, or `Infinity` */
export function timeLimitOf(name: string, ms: number): number {
  if (ms === Number.POSITIVE_INFINITY) return ms;
  if (Number.isFinite(ms) && ms >= 0) return ms;
  throw new InputError(`${name} is ${String(ms)}. Give milliseconds from 0 on, or Infinity for no limit.`);
}

/** @throws InputError unless the value is a number of seconds from 0 on, or `Infinity` */
export function secondsOf(name: string, seconds: number): number {
  if (typeof seconds === 'number' && seconds >= 0) return seconds;
  throw new InputError(`${name} is ${String(seconds)}. Give seconds from 0 on, or Infinity for no limit.`);
}

/** @throws InputError unless the value is a whole number from 0 on */
export function countOf(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InputError(`${name} is ${String(value)}. Give a whole number from 0 on.`);
}

/** @throws InputError unless the value is a whole number from 0 on, or `Infinity` */
export function countLimitOf(name: string, value: number): number {
  if (value === Number.POSITIVE_INFINITY) return value;
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InputError(`${name} is ${String(value)}. Give a whole number from 0 on, or Infinity for no limit.`);
}

/** @throws InputError unless the value is a percentage from 0 on, or `Infinity` */
export function percentageOf(name: string, value: number): number {
  if (typeof value === 'number' && value >= 0) return value;
  throw new InputError(`${name} is ${String(value)}. Give a percentage from 0 on, or Infinity for no limit.`);
}

/** @throws InputError unless the value is a function or absent */
export function requireFunction(name: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return;
  throw new InputError(`${name} is ${textOf(value)}. Give a function, or leave it out.`);
}

/** A value for a message, without what an object may contain. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

import { readFileSync } from 'node:fs';
import { createCatalog, curatedChains } from '../../../src/catalog/index.ts';
import type { Chain, Token } from '../../../src/catalog/types.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import type { LogFields, Logger } from '../../../src/shared/logger.ts';
import type { ProviderConfig } from '../../../src/upstreams/config.ts';
import type { AdapterDeps, UpstreamCall } from '../../../src/upstreams/http.ts';

/** 2026-11-20T12:00:00Z */
export const NOW_MS = 1_795_176_000_000;
export const API_KEY = 'key-that-must-not-leak';

const catalog = createCatalog(curatedChains);
export const ethereum = must(catalog.chain(1));
export const robinhood = must(catalog.chain(4663));

export function token(symbol: string, chain: Chain = ethereum): Token {
  return must(chain.tokens.find((candidate) => candidate.symbol === symbol));
}

export function must<T>(value: T | undefined | null): T {
  if (value === undefined || value === null) throw new Error('The test world lacks something that this test needs.');
  return value;
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** An answer in the real shape of the provider. */
export function fixture(name: string): Json {
  return JSON.parse(readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), 'utf8')) as Json;
}

/** The same JSON with another value at `path`; `undefined` removes it. Throws for an unknown path. */
export function change(json: Json, path: readonly (string | number)[], value: Json | undefined): Json {
  const [key, ...rest] = path;
  if (key === undefined) return value ?? null;
  if (Array.isArray(json)) {
    if (!(Number(key) in json)) throw new Error(`The fixture has no ${path.join('.')}`);
    if (rest.length === 0 && value === undefined) return json.filter((_, index) => index !== key);
    return json.map((entry: Json, index) => (index === key ? change(entry, rest, value) : entry));
  }
  const entries = Object.entries(json as { readonly [key: string]: Json });
  if (!entries.some(([name]) => name === key)) throw new Error(`The fixture has no ${path.join('.')}`);
  return Object.fromEntries(
    entries.flatMap(([name, entry]) => {
      if (name !== key) return [[name, entry]];
      return rest.length === 0 && value === undefined ? [] : [[name, change(entry, rest, value)]];
    }),
  );
}

/** The value at `path`. */
export function at(json: Json, path: readonly (string | number)[]): Json {
  return path.reduce<Json>((node, key) => must((node as { readonly [key: string]: Json })[key]), json);
}

export interface TestDeps extends AdapterDeps {
  readonly clock: { now(): number; advance(ms: number): void };
  readonly slept: number[];
  readonly calls: UpstreamCall[];
  readonly lines: { level: string; msg: string; fields: LogFields }[];
}

/** Injected dependencies: a clock moved only by tests and `sleep`, no jitter, recorded logs and metrics. */
export function testDeps(baseUrl: string, config: Partial<ProviderConfig> = {}, startMs = NOW_MS): TestDeps {
  let nowMs = startMs;
  const slept: number[] = [];
  const calls: UpstreamCall[] = [];
  const lines: TestDeps['lines'] = [];
  const logger = (bound: LogFields): Logger => {
    const write = (level: string) => (fields: LogFields, msg: string) => {
      lines.push({ level, msg, fields: { ...bound, ...fields } });
    };
    return {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      child: (fields) => logger({ ...bound, ...fields }),
    };
  };
  const clock = {
    now: () => nowMs,
    advance(ms: number) {
      nowMs += ms;
    },
  };
  return {
    config: { baseUrl, apiKey: API_KEY, timeoutMs: 5_000, rules: { limits: { minute: 1_000 } }, ...config },
    fetch,
    clock,
    random: () => 1,
    logger: logger({}),
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      clock.advance(ms);
    },
    onCall: (call) => calls.push(call),
    slept,
    calls,
    lines,
  };
}

/** Exact values as text, for comparison of whole answers. */
export function plain(value: unknown): unknown {
  if (Decimal.isBigNumber(value)) return value.toFixed();
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, entry]) => [key, plain(entry)]));
  if (Array.isArray(value)) return value.map(plain);
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, plain(entry)]));
  }
  return value;
}

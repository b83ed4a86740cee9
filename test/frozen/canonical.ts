import { createHash } from 'node:crypto';
import type { Answer, Json } from '../support/service.ts';

/** Items of a list that are kept; of the others only the hash. */
const KEPT_ITEMS = 2;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const SECRET = /whsec_[A-Za-z0-9+/=_-]+/g;
/** Fields that differ from run to run; a local chain suggests a price of gas by how fast it was seeded. */
const MEASURED = new Map([
  ['correlationId', '<correlation id>'],
  ['latencyMs', '<latency>'],
  ['spentInDay', '<requests>'],
  ['gasUsd', '<gas>'],
]);
/** The use of a key counts the requests of the test itself. */
const USED = new Map([
  ['calls', '<calls>'],
  ['points', '<points>'],
]);
const LOOPBACK = /127\.0\.0\.1:\d+/g;

/** An answer as it is compared: keys in order, random values masked, long lists cut to their first items and a hash of all. */
export function frozen({ status, headers, body }: Answer): Json {
  const type = headers.get('content-type')?.split(';')[0];
  return { status, ...(type === 'application/json' ? {} : { type }), body: cut(sorted(body)) };
}

function sorted(value: Json): Json {
  if (typeof value === 'string') return masked(value);
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value).sort();
  const counted = names.includes('refusals') ? USED : MEASURED;
  return Object.fromEntries(names.map((name) => [masked(name), counted.get(name) ?? sorted(value[name])]));
}

/** Ids of the seeding are fixed and keep their value: they begin with zeros. */
function masked(text: string): string {
  return text
    .replace(UUID, (id) => (id.startsWith('00000000-') ? id : '<id>'))
    .replace(SECRET, '<secret>')
    .replace(LOOPBACK, '127.0.0.1');
}

function cut(value: Json): Json {
  if (Array.isArray(value)) {
    if (value.length <= KEPT_ITEMS) return value.map(cut);
    const hash = hashOf(value);
    return [...value.slice(0, KEPT_ITEMS).map(cut), `… ${value.length} items, sha256 ${hash}`];
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries<Json>(value).map(([name, part]) => [name, cut(part)]));
}

const hashOf = (value: Json): string => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

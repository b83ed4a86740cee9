import { readFileSync } from 'node:fs';
import type { HttpMessage } from '../../devnet/http.ts';
import { seededWallet } from '../../devnet/seed/wallets.ts';
import { UNKNOWN_ADDRESS, UNKNOWN_ID } from '../e2e/known.ts';
import { MORE_EXAMPLES } from '../e2e/rows/more-examples.ts';
import { conformanceTo, type DocumentedOperation, examplesOf } from '../support/openapi.ts';
import { OPS, PARTNER } from '../support/service.ts';

/** One request to a row of /v1. */
export interface FrozenRequest {
  /** Title of the request within its row. */
  readonly name: string;
  readonly url: string;
  readonly init: HttpMessage & { readonly headers: Readonly<Record<string, string>> };
}

export const { operations, violation } = conformanceTo(JSON.parse(readFileSync('openapi.json', 'utf8')));

const JSON_BODY = { 'content-type': 'application/json' };
const OWNER = seededWallet('looper').account.address;

/** Alerts belong to the key that made them: those of the local world to the partner's. */
const keyOf = ({ path, operation }: DocumentedOperation): Readonly<Record<string, string>> => {
  if (path.startsWith('/v1/partner/alerts')) return PARTNER;
  const [surface] = operation.tags as readonly string[];
  return surface === 'Partner' || surface === 'Ops' ? OPS : {};
};

/** The examples of a row: those of the document, on each chain, and some more. */
export function positiveRequests(row: DocumentedOperation): readonly FrozenRequest[] {
  const { method, path, operation } = row;
  const headers = keyOf(row);
  const documented = examplesOf(row).map(({ name, url, init }) => ({
    name,
    url,
    init: { ...init, headers: { ...init.headers, ...headers } },
  }));
  const more = (MORE_EXAMPLES[path] ?? []).map(({ summary, params = {}, query, body }): FrozenRequest => {
    const place = path.replace(/\{(\w+)\}/g, (_all, name: string) => params[name] ?? '');
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return {
      name: summary,
      url: query === undefined ? place : `${place}?${new URLSearchParams(query)}`,
      init: { method, ...sent, headers: { ...(body === undefined ? {} : JSON_BODY), ...headers } },
    };
  });
  const first = documented[0];
  const hasChain = (operation.parameters ?? []).some(
    ({ name, in: place }: { name: string; in: string }) => name === 'chainId' && place === 'query',
  );
  const onChains =
    first === undefined || !hasChain || method !== 'GET'
      ? []
      : [1, 4663].map((chainId) => {
          const [place = '', query] = first.url.split('?');
          const parameters = new URLSearchParams(query);
          parameters.set('chainId', String(chainId));
          return { ...first, name: `chain ${chainId}`, url: `${place}?${parameters}` };
        });
  return [...documented, ...more, ...onChains];
}

/** The refusals that every row has: of its key, its path, its query and its body. */
export function refusedRequests(row: DocumentedOperation): readonly FrozenRequest[] {
  const { method, path } = row;
  const headers = keyOf(row);
  const example = positiveRequests(row)[0];
  if (example === undefined) return [];
  const { url, init } = example;
  const found: FrozenRequest[] = [];
  const add = (name: string, changed: Partial<FrozenRequest>) => found.push({ name, url, init, ...changed });
  const without = Object.fromEntries(Object.entries(init.headers).filter(([name]) => name !== 'authorization'));
  if (Object.keys(headers).length > 0) {
    add('without a key', { init: { ...init, headers: without } });
    add('with an unknown key', { init: { ...init, headers: { ...without, authorization: 'Bearer sg_unknown' } } });
  }
  if (path.startsWith('/v1/ops')) add('with a key of a partner', { init: { ...init, headers: PARTNER } });
  add('with an unknown parameter', { url: `${url}${url.includes('?') ? '&' : '?'}nosuch=1` });
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const at = (name: string, value: string) => {
    const parts = path.split('/').map((part, i) => (part === `{${name}}` ? value : url.split(/[/?]/)[i]));
    return `${parts.join('/')}${query}`;
  };
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    add(`with a malformed ${name}`, { url: at(name, '%24') });
    add(`with an unknown ${name}`, { url: at(name, unknownOf(path, name)) });
  }
  if (method !== 'POST' || init.body === undefined) return found;
  add('with an empty object', { init: { ...init, body: '{}' } });
  add('with broken JSON', { init: { ...init, body: '{' } });
  add('with another content type', { init: { ...init, headers: { ...init.headers, 'content-type': 'text/plain' } } });
  const body = JSON.parse(String(init.body)) as Readonly<Record<string, unknown>>;
  for (const [field, value] of Object.entries(body)) {
    add(`with a wrong ${field}`, { init: { ...init, body: JSON.stringify({ ...body, [field]: { wrong: value } }) } });
  }
  for (const change of CHANGED_BODIES[path] ?? []) {
    add(JSON.stringify(change), { init: { ...init, body: JSON.stringify({ ...body, ...change }) } });
  }
  return found;
}

/** A value of the right form for a path parameter, which names nothing. */
function unknownOf(path: string, name: string): string {
  if (name === 'address') return UNKNOWN_ADDRESS;
  if (path.startsWith('/v1/partner/alerts')) return '00000000-0000-4000-8000-00000000ffff';
  return path.startsWith('/v1/partner/positions') && !path.includes('/vaults/') ? '99' : UNKNOWN_ID;
}

/** Changes of the first example that a build or a preview refuses, or answers with an issue, for a reason of its own. */
const CHANGED_BODIES: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> = {
  '/v1/partner/leverage/simulate': [
    { amount: '0' },
    { amount: '0.000000000000000000000000001' },
    { amount: '900000000' },
    { desiredLtv: '99' },
    { desiredLtv: undefined, leverage: 500 },
    { slippage: 0.5 },
    { slippage: '-1' },
    { strategyId: UNKNOWN_ID },
    { chainId: 2 },
  ],
  '/v1/partner/leverage/build': [
    { userAddress: UNKNOWN_ADDRESS },
    { userAddress: 'nobody' },
    { amount: '0' },
    { amount: '900000000' },
    { desiredLtv: '99' },
    { slippage: 0.5 },
    { payToken: UNKNOWN_ADDRESS },
    { strategyId: UNKNOWN_ID },
    { chainId: 2 },
    { userAddress: OWNER },
  ],
  '/v1/partner/manage/build': [
    { id: 99 },
    { userAddress: UNKNOWN_ADDRESS },
    { action: 'nothing' },
    { action: 'borrow', amount: '900000000' },
    { action: 'remove_collateral', amount: '900000000' },
    { action: 'repay', amount: '0' },
    { action: 'close', amount: '900000000' },
    { action: 'increase_leverage', desiredLtv: '10' },
    { action: 'close', slippage: 0.5 },
  ],
  '/v1/partner/equity/simulate': [{ amount: '0' }, { amount: '900000000' }, { strategyId: UNKNOWN_ID }, { chainId: 1 }],
  '/v1/partner/equity/deposit/build': [
    { amount: '0' },
    { amount: '900000000' },
    { userAddress: UNKNOWN_ADDRESS },
    { chainId: 1 },
  ],
  '/v1/partner/equity/exit/build': [{ userAddress: UNKNOWN_ADDRESS }, { strategyId: UNKNOWN_ID }, { chainId: 1 }],
};

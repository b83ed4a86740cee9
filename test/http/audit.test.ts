import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from './test-gateway.ts';

let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: UNLIMITED });
});
afterAll(() => front.stop());

const callers = [
  ['without a key', {}],
  ['with a key', PARTNER_KEY],
] as const;

describe.each(callers)('GraphQL over HTTP %s', (_caller, key) => {
  const fetchFn = (url: string, init: RequestInit = {}) =>
    fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...key } });
  const audits = serverAudits({ url: () => `${front.url}/graphql`, fetchFn });

  test('default: the number of audits is unchanged', () => {
    expect(audits).toHaveLength(61);
  });

  test.each(audits.map((audit) => [audit.id, audit.name, audit] as const))(
    'default: audit %s %s',
    async (_id, _name, audit) => {
      expect(await audit.fn()).toMatchObject({ status: 'ok' });
    },
  );
});

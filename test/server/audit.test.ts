import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Front, startFront, UNLIMITED } from './front.ts';

let front: Front;
beforeAll(async () => {
  front = await startFront({ env: UNLIMITED });
});
afterAll(() => front.stop());

describe('GraphQL over HTTP', () => {
  test.each(serverAudits({ url: () => `${front.url}/graphql` }).map((audit) => [audit.id, audit.name, audit] as const))(
    'default: audit %s %s',
    async (_id, _name, audit) => {
      expect(await audit.fn()).toMatchObject({ status: 'ok' });
    },
  );
});

import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createOpenApi } from '../../src/rest/openapi/document.ts';
import { createRoutes } from '../../src/rest/routes/index.ts';
import { INTERFACE_VERSION } from '../../src/rest/types.ts';
import { sharedSchema } from '../../src/schema/index.ts';
import { BadRequestError } from '../../src/shared/errors.ts';
import { MANAGE_ACTIONS } from '../../src/shared/names.ts';
import type { Json } from '../support/service.ts';

const routes = createRoutes({ schema: sharedSchema(), chainIds: [1, 4663], equityChainIds: [4663] });
const document = createOpenApi({ routes, version: INTERFACE_VERSION }) as Json;
const ajv = new Ajv2020({ strict: false });
for (const format of ['date-time', 'int32']) ajv.addFormat(format, true);
ajv.addSchema(document, 'openapi');

const MARKET = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

/** Whether the documented schema of a row's body accepts a body, and whether the row itself does. */
function verdicts(path: string, body: unknown): { documented: boolean; taken: boolean } {
  const row = routes.find((route) => route.path === path);
  const name = document.paths[path].post.requestBody.content['application/json'].schema.$ref.split('/').at(-1);
  const validate = ajv.getSchema(`openapi#/components/schemas/${name}`);
  if (!row?.body || !validate) throw new Error(`no body at ${path}`);
  return { documented: validate(body) as boolean, taken: isTaken(row, body) };
}

function isTaken(row: (typeof routes)[number], body: unknown): boolean {
  const parsed = row.body?.safeParse(body);
  if (!parsed?.success) return false;
  try {
    row.variables({ params: {}, body: parsed.data, headers: {} });
    return true;
  } catch (error) {
    if (error instanceof BadRequestError) return false;
    throw error;
  }
}

const maybe = <T>(value: T) => fc.option(fc.constant(value), { nil: undefined });
const target = {
  leverage: fc.constantFrom<unknown>(undefined, 5, null, '5'),
  desiredLtv: fc.constantFrom<unknown>(undefined, '80', null, 80),
};

describe('bodies in the document', () => {
  test.each([
    ['/v1/partner/leverage/simulate', {}],
    ['/v1/partner/leverage/build', { userAddress: WALLET }],
  ])('behavior: %s accepts a body exactly if its documented form does', (path, more) => {
    fc.assert(
      fc.property(
        fc.record({ ...target, amount: maybe('1000'), slippage: maybe(0.005), surprise: maybe(1) }),
        (given) => {
          const body = JSON.parse(JSON.stringify({ strategyId: MARKET, payToken: WALLET, ...more, ...given }));
          const { documented, taken } = verdicts(path, body);
          expect(taken, JSON.stringify(body)).toBe(documented);
        },
      ),
    );
  });

  test('behavior: manage/build accepts a body exactly if the documented form of its action does', () => {
    fc.assert(
      fc.property(
        fc.record({
          ...target,
          action: fc.constantFrom(...MANAGE_ACTIONS),
          amount: maybe('10'),
          payToken: maybe(WALLET),
          full: fc.constantFrom(undefined, true, false),
          minAmountOut: maybe('1'),
          at: fc.constantFrom({ id: 0 }, { positionId: `1-${MARKET}-0` }),
        }),
        ({ at, ...given }) => {
          // Generators need the `null` of a target that is left out only beside the other form.
          fc.pre(given.action === 'increase_leverage' || (given.leverage !== null && given.desiredLtv !== null));
          const body = JSON.parse(JSON.stringify({ userAddress: WALLET, ...at, ...given }));
          const { documented, taken } = verdicts('/v1/partner/manage/build', body);
          expect(taken, JSON.stringify(body)).toBe(documented);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('behavior: every example has exactly one documented form', () => {
    for (const { path, examples } of routes) {
      for (const { body, summary } of examples) {
        if (body !== undefined)
          expect([summary, verdicts(path, body)]).toEqual([summary, { documented: true, taken: true }]);
      }
    }
  });
});

import { describe, expect, test } from 'vitest';
import { type Failure, nextStepOf } from '../../src/mcp/next-steps.ts';
import { createTools } from '../../src/mcp/tools.ts';
import { INELIGIBILITIES } from '../../src/shared/contract/error-details.ts';
import { ERROR_CODES, type ErrorCode } from '../../src/shared/errors.ts';
import { MANAGE_ACTIONS, REST_NAMES } from '../../src/shared/names.ts';
import { FOREIGN_REVERTS } from '../../src/transactions/simulate/foreign-reverts.ts';
import { PRODUCT_REVERTS } from '../../src/transactions/simulate/product-reverts.ts';
import { routes } from './routes.ts';

const tools = createTools(routes);
const rows = [...tools.values()];
const argumentNames = new Set(rows.flatMap(({ names }) => names));
const CODES = Object.keys(ERROR_CODES) as ErrorCode[];
const WALLET = `0x${'9'.repeat(40)}`;

/** Words of the error itself, and of answers of list_strategies and list_positions, which a step may name. */
const ERROR_WORDS = ['retryAfterSec', 'correlationId', 'liquidityUsd', 'amountDepositedInLoanToken', 'manualModeCalls'];

/** After these, only time helps. */
const WAITS: readonly ErrorCode[] = ['rate_limited', 'not_ready', 'upstream_unavailable', 'stale_data'];

/** What stands in a sentence but is not there: tools, arguments of this tool or of one it names, details. */
function unknownIn(step: string, failure: Failure, own: readonly string[]): readonly string[] {
  const named = [...step.matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g)].map(([word]) => word);
  const known = named.flatMap((name) => tools.get(name)?.names ?? []);
  const arguments_ = [...step.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  const camel = [...step.matchAll(/\b[a-z]+[A-Z]\w*\b/g)].map(([word]) => word);
  const details = [...step.matchAll(/\bdetails\.(\w+)/g)].map(([, name = '']) => name);
  const given = Object.keys((failure.details ?? {}) as object);
  return [
    ...named.filter((name) => !tools.has(name)),
    ...arguments_.filter((name) => ![...own, ...known].includes(name)),
    ...camel.filter((word) => ![...ERROR_WORDS, ...given, ...own, ...known].includes(word)),
    ...details.filter((name) => !given.includes(name)),
  ];
}

/** Every form that details of a code have. */
const DETAILS: Readonly<Partial<Record<ErrorCode, readonly unknown[]>>> = {
  bad_request: [
    undefined,
    ...[...argumentNames, 'unknown', 'yieldPositionIds.0', 'headers.x'].flatMap((field) => [
      { field },
      { field, value: '1', limit: { max: '1' } },
    ]),
    ...INELIGIBILITIES.flatMap((reason) => [
      { reason },
      { reason, pointer: 'list_positions (chainId: 1)' },
      { reason, pointer: '/health' },
    ]),
    { reason: 'matured', alternatives: [{ action: 'repay', amount: '1', symbol: 'USDC' }] },
    { field: 'yieldPositionIds', vaultId: 'x', yieldPositionIds: [0, 1] },
    { field: 'userAddress', value: WALLET, owner: WALLET, positionId: 3 },
  ],
  not_found: [{ resource: 'strategy', id: 'x' }],
  insufficient_liquidity: [
    { needed: '2', available: '1' },
    { needed: '2', available: '1', maxAmount: '1' },
    { needed: '2', available: '1', maxAmount: '0' },
    { needed: '2', available: '1', maxLeverage: '2', maxLtvPct: '50' },
  ],
  simulation_reverted: [
    { reason: 'x', callIndex: 0 },
    ...[...PRODUCT_REVERTS, ...FOREIGN_REVERTS].map(({ reason, nextStep }) => ({ reason, nextStep })),
  ],
};

describe.each(rows.map((row) => [row.tool.name, row] as const))('%s', (name, { names }) => {
  test.each(CODES)('behavior: after %s, the next step names only what there is', (code) => {
    for (const details of DETAILS[code] ?? [undefined]) {
      for (const retryAfterSec of [undefined, 7]) {
        const failure = { code, details, retryAfterSec };
        const step = nextStepOf(failure, { name, names });
        expect([step, unknownIn(step, failure, names)]).toEqual([step, []]);
        expect(step).toMatch(/^[A-Z].{20,}[.]$/s);
        if (WAITS.includes(code))
          expect(step).toContain(retryAfterSec === undefined ? 'a minute' : 'retryAfterSec (7 s)');
      }
    }
  });
});

test.each(CODES)('behavior: the listed step of %s names only what there is', (code) => {
  const step = nextStepOf({ code });
  expect([step, unknownIn(step, { code }, [...argumentNames])]).toEqual([step, []]);
});

describe('texts of the rows', () => {
  const [{ terms }] = rows as [(typeof rows)[number]];

  test.each([
    ['strategies', REST_NAMES.places.strategies(), 'list_strategies'],
    ['strategies of a chain', REST_NAMES.places.strategies(1), 'list_strategies (chainId: 1)'],
    ['positions', REST_NAMES.places.positions(WALLET, 1), `list_positions (address: ${WALLET}, chainId: 1)`],
    ['deposits', REST_NAMES.places.equityDeposit, 'build_vault_deposit'],
    ['previews of deposits', REST_NAMES.places.equityPreview, 'preview_vault_deposit'],
    ['exits', REST_NAMES.places.equityExit, 'build_vault_exit'],
    ['opens', REST_NAMES.places.leverage, 'preview_open'],
    ['previews of opens', REST_NAMES.places.leveragePreview, 'preview_open'],
    ['markets', '/v1/app/markets', 'list_markets'],
    ['a template', 'POST /v1/partner/positions/{address}', 'list_positions'],
  ])('default: the place of %s is a tool', (_name, place, expected) => {
    expect(terms(`Send an id from ${place}.`)).toBe(`Send an id from ${expected}.`);
  });

  test('behavior: a path without a tool and other texts stay as they are', () => {
    for (const text of ['See /v1/ops/portfolios.', 'https://example.com/v1x/a', 'a /v1/ b'])
      expect(terms(text)).toBe(text);
  });

  test('behavior: no listed text has a path', () => {
    expect(JSON.stringify(rows.map(({ listed }) => listed))).not.toContain('/v1/');
  });

  test('behavior: actions of alternatives are those of build_manage', () => {
    const properties = tools.get('build_manage')?.listed.inputSchema.properties;
    expect((properties?.action as { readonly enum?: readonly string[] } | undefined)?.enum).toEqual(
      expect.arrayContaining([...MANAGE_ACTIONS]),
    );
  });
});

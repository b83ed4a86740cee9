import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RangeRefusedError } from '../../src/chain/logs/refusal.ts';
import { BlockMissingError, ChainReadError } from '../../src/chain/rpc/errors.ts';
import { DatabaseUnavailableError } from '../../src/database/connection/errors.ts';
import { PayloadTooLargeError } from '../../src/http/body.ts';
import { UnreadAnswersError } from '../../src/http/unread-answers.ts';
import { KeyInputError, KeyNotActiveError, KeyNotFoundError } from '../../src/keys/errors.ts';
import { TooManyConnectionsError } from '../../src/limits/admission.ts';
import { RateLimitedError } from '../../src/limits/budgets.ts';
import { CallerLeftError } from '../../src/limits/fair-queue.ts';
import { QueryTooComplexError } from '../../src/limits/query-too-complex.ts';
import { UnsupportedMediaTypeError } from '../../src/rest/input.ts';
import { createOpenApi } from '../../src/rest/openapi/document.ts';
import { MethodNotAllowedError } from '../../src/rest/router.ts';
import { ERROR_DETAILS, errorEnvelopeOf } from '../../src/rest/schemas/errors.ts';
import { INTERFACE_VERSION } from '../../src/rest/types.ts';
import { INELIGIBILITIES } from '../../src/shared/contract/error-details.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import {
  type AppError,
  BadRequestError,
  ConflictError,
  ERROR_CODES,
  type ErrorCode,
  NotFoundError,
  NotReadyError,
  UnauthorizedError,
  UpstreamUnavailableError,
} from '../../src/shared/errors.ts';
import type { StrategyId } from '../../src/shared/ids.ts';
import { AmbiguousYieldLoopsError } from '../../src/transactions/equity/index.ts';
import {
  InsufficientLiquidityError,
  LimitExceededError,
  NoRouteError,
  NotEligibleError,
  NotSimulatedError,
  PositionProxyError,
  SimulationMismatchError,
  SimulationRevertedError,
  StaleDataError,
  UnsteadyQuotesError,
} from '../../src/transactions/index.ts';
import { UpstreamError } from '../../src/upstreams/errors.ts';
import { marketOf } from '../e2e/leverage/support.ts';
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';
import { errorClasses } from '../support/error-classes.ts';
import { type Conformance, conformanceTo } from '../support/openapi.ts';
import type { Answer, Json } from '../support/service.ts';

const market = marketOf(1, 'sUSDe/PYUSD 91.5');
const address = market.collateral.address;
const limit = { max: '1', known: false, oneOf: [1, 4663], maxDecimals: 6, exactlyOneOf: ['leverage', 'desiredLtv'] };
const issues = [{ field: 'leverage', message: 'too much' }];

const alternatives = [
  { action: 'repay', amount: '10.5', token: market.loan },
  { action: 'close', amount: '20', token: market.collateral, thenRepay: true },
] as const;

/** Of every class of errors, one with every detail that it can have, and one with the fewest. */
const SAMPLES: Readonly<Record<string, readonly AppError[]>> = {
  BadRequestError: [
    new BadRequestError('m', { field: 'amount', value: '1', limit, issues }),
    new BadRequestError('m', { field: 'amount' }),
  ],
  LimitExceededError: [new LimitExceededError('m', { field: 'leverage', value: '12', limit: { maxLeverage: '10.5' } })],
  NotEligibleError: INELIGIBILITIES.map(
    (reason, i) =>
      new NotEligibleError('m', {
        reason,
        pointer: i === 0 ? '/v1/strategies' : undefined,
        rule: i === 0 ? 'maturity' : undefined,
        alternatives: i === 0 ? alternatives : undefined,
      }),
  ),
  PositionProxyError: [new PositionProxyError({ field: 'userAddress', value: address, owner: address, positionId: 3 })],
  AmbiguousYieldLoopsError: [
    new AmbiguousYieldLoopsError({
      field: 'yieldPositionIds',
      vaultId: `equity-${market.id}` as StrategyId,
      yieldPositionIds: [0, 1],
    }),
  ],
  KeyInputError: [new KeyInputError('m', { field: 'label', value: '', limit: { minLength: 1, maxLength: 80 } })],
  KeyNotActiveError: [new KeyNotActiveError('prefix', 'revoked')],
  UnauthorizedError: [new UnauthorizedError()],
  NotFoundError: [new NotFoundError('m', { resource: 'strategy', id: '0x1' })],
  ConflictError: [
    new ConflictError('m', {
      field: 'headers.idempotency-key',
      value: 'k',
      resource: 'alert',
      id: 'a',
      reason: 'deleted',
    }),
  ],
  KeyNotFoundError: [new KeyNotFoundError('prefix')],
  MethodNotAllowedError: [new MethodNotAllowedError('PUT', '/v1/prices', ['GET', 'HEAD'])],
  PayloadTooLargeError: [new PayloadTooLargeError(65_536)],
  UnsupportedMediaTypeError: [new UnsupportedMediaTypeError()],
  QueryTooComplexError: [
    new QueryTooComplexError({ measure: 'cost', limit: 1_000, actual: 2_000, tier: 'partner' }),
    new QueryTooComplexError({ measure: 'tokens', limit: 1_000, tier: 'anonymous' }),
  ],
  RateLimitedError: [
    new RateLimitedError({ scope: 'field', policy: 'ops', limit: 60, windowSec: 60, field: 'Query.openLeverage' }, 5),
    new RateLimitedError({ scope: 'client', policy: 'partner', limit: 3_000, windowSec: 60 }, 5),
  ],
  NotReadyError: [new NotReadyError('m', ['lendingState', 'oracle'])],
  CallerLeftError: [new CallerLeftError()],
  UnreadAnswersError: [new UnreadAnswersError()],
  TooManyConnectionsError: [new TooManyConnectionsError()],
  DatabaseUnavailableError: [new DatabaseUnavailableError('silent')],
  UpstreamUnavailableError: [new UpstreamUnavailableError('database', 'timeout')],
  UpstreamError: [new UpstreamError('coingecko', 'malformed')],
  BlockMissingError: [new BlockMissingError()],
  RangeRefusedError: [new RangeRefusedError('refused', 'server_error')],
  ChainReadError: [new ChainReadError('timeout')],
  StaleDataError: [
    new StaleDataError({ group: 'oracle', asOf: '2026-11-21T00:00:00.000Z', staleAfterSec: 900, staleForSec: 5 }),
    new StaleDataError({
      group: 'oracle',
      asOf: '2026-11-21T00:00:00.000Z',
      staleAfterSec: 900,
      staleForSec: 5,
      reference: 'oracle 0x… (SPY/USDG)',
      feed: address,
      deviationPct: '1.50',
    }),
  ],
  NoRouteError: [
    new NoRouteError({
      chainId: 1,
      tokenIn: address,
      tokenOut: market.loan.address,
      amountIn: '1000000',
      venues: [{ source: 'AggregatorOne', reason: 'no_route' }],
    }),
  ],
  UnsteadyQuotesError: [
    new UnsteadyQuotesError({
      chainId: 1,
      tokenIn: address,
      tokenOut: market.loan.address,
      amountIn: '1000000',
      source: 'AggregatorOne',
      ltvPct: new Decimal('81.2'),
      targetLtvPct: new Decimal('80'),
    }),
  ],
  InsufficientLiquidityError: [
    new InsufficientLiquidityError({
      needed: '5.5',
      available: '1',
      loan: market.loan,
      place: 'market',
      marketId: market.id,
      maxAmount: '0.4',
    }),
    new InsufficientLiquidityError({
      needed: '5.5',
      available: '0',
      loan: market.loan,
      place: 'protocol',
      maxLeverage: '2.5',
      maxLtvPct: '60',
    }),
  ],
  SimulationRevertedError: [
    new SimulationRevertedError(
      {
        reason: 'FlashLeverage__ExceedsMaxLTV',
        args: [{ name: 'effectiveLtv', value: '9' }],
        callIndex: 1,
        cause: 'why',
        nextStep: 'what to do',
      },
      false,
    ),
    new SimulationRevertedError({ reason: 'unknown', args: [], callIndex: 0 }, true),
  ],
  NotSimulatedError: [new NotSimulatedError(1, true), new NotSimulatedError(4663, false)],
  SimulationMismatchError: [
    new SimulationMismatchError(
      {
        of: 'swap_output',
        expected: '100',
        simulated: '99.28',
        token: market.collateral,
        tolerancePct: '0.20',
        source: 'AggregatorOne',
      },
      1,
    ),
    new SimulationMismatchError(
      {
        of: 'net_value',
        expected: '9856.1',
        simulated: '9162',
        token: market.loan,
        tolerancePct: '1.9',
      },
      1,
    ),
  ],
};

const OPEN = '/v1/partner/leverage/build';
const EXIT = '/v1/partner/equity/exit/build';
const BODIES: Readonly<Record<string, object>> = {
  [OPEN]: { strategyId: market.id, payToken: address, amount: '1', leverage: 2, userAddress: address },
  [EXIT]: { strategyId: `equity-${market.id}`, userAddress: address },
};

let thrown: AppError;
const fail = async (): Promise<never> => {
  throw thrown;
};
let front: Front;
let document: Conformance;
beforeAll(async () => {
  const { leverage, equity } = servicesThatFail();
  front = await startTestGateway({ env: UNLIMITED, services: { leverage, equity } });
  document = conformanceTo(createOpenApi({ routes: front.routes, version: INTERFACE_VERSION }));
});
afterAll(() => front.stop());

function servicesThatFail() {
  return {
    leverage: {
      preview: fail,
      previewManage: fail,
      open: fail,
      manage: fail,
      deleverage: fail,
      exitCost: fail,
      proxyOwners: fail,
      usdOf: () => undefined,
    },
    equity: { preview: fail, previewExit: fail, deposit: fail, exit: fail },
  };
}

/** The REST answer to a thrown error of a builder. */
function answerTo(error: AppError): Promise<Answer> {
  thrown = error;
  const path = error instanceof AmbiguousYieldLoopsError ? EXIT : OPEN;
  return front.send(path, {
    method: 'POST',
    headers: { ...PARTNER_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(BODIES[path]),
  });
}

const samples = Object.entries(SAMPLES).flatMap(([name, errors]) =>
  errors.map((error, i) => [`${name} ${i + 1}`, error] as const),
);

describe('ERROR_DETAILS', () => {
  test('behavior: every answerable class has a sample with its code', () => {
    const classes = errorClasses();
    expect(Object.keys(SAMPLES).sort()).toEqual([...classes.keys()].sort());
    for (const [name, errors] of Object.entries(SAMPLES)) {
      expect(errors.map((error) => [error.name, error.code])).toEqual(errors.map(() => [name, classes.get(name)]));
    }
  });

  test.each(samples)(
    'behavior: the REST answer for %s fits its code, and no additional field does',
    async (_name, error) => {
      const { status, body } = await answerTo(error);
      expect([status, body.error.code]).toEqual([error.status, error.code]);
      const schema = errorEnvelopeOf(error.code);
      expect(schema.safeParse(body).error).toBeUndefined();
      expect('details' in body.error).toBe(error.details !== undefined);
      const more = { error: { ...body.error, details: { ...body.error.details, somethingElse: 1 } } };
      expect(schema.safeParse(more).success).toBe(false);
    },
  );

  test('behavior: every detail of a code occurs in an error', async () => {
    const observed = new Map<string, Set<string>>();
    for (const [, error] of samples) {
      const { body } = await answerTo(error);
      const keys = observed.get(error.code) ?? new Set();
      observed.set(error.code, new Set([...keys, ...Object.keys(body.error.details ?? {})]));
    }
    for (const [code, schema] of Object.entries<Json>(ERROR_DETAILS)) {
      const parts: readonly Json[] = schema === null ? [] : (schema.options ?? [schema]);
      const documented = new Set(parts.flatMap(({ shape }) => Object.keys(shape)));
      expect([code, [...documented].sort()]).toEqual([code, [...(observed.get(code) ?? [])].sort()]);
    }
  });
});

describe('openapi.json', () => {
  test.each(samples)('behavior: %s is answered as documented on each path with the code', async (_name, error) => {
    const { operations, violation } = document;
    const path = error instanceof AmbiguousYieldLoopsError ? EXIT : OPEN;
    const operation = operations.find((candidate) => candidate.path === path);
    const listed = operation?.operation.responses[error.status]?.description.includes(`\`${error.code}\``) ?? false;
    if (!operation || !listed) return expect(UNLISTED).toContain(error.code);
    expect(violation(operation, await answerTo(error))).toBeNull();
  });

  /** Codes that no builder throws: refused earlier, or on other surfaces only. */
  const UNLISTED: readonly ErrorCode[] = ['not_found', 'method_not_allowed', 'conflict', 'query_too_complex'];

  test('behavior: every code is in the table', () => {
    expect(Object.keys(ERROR_DETAILS)).toEqual(Object.keys(ERROR_CODES));
  });
});

/*
 * The interface document, written out once: what every version of `/v1` serves and takes. The service may add to it.
 * `signingUrl` may be absent: there is none without an app. `details` of errors is optional and of any type.
 *
 * A field is `name` or, where it may be absent, `name?`. Its type is one of JSON (`object`, `string`, `number`, `integer`,
 * `boolean`, `null`), a form of text (`decimal`, `date-time`), the name of a shape, a list (`T[]`), a choice (`a | b`), or the
 * values of an enumeration (`'a' | 'b'`).
 */

export type Shape = Readonly<Record<string, string>>;

const FRESHNESS_FIELDS = { asOf: 'date-time', staleAfterSec: 'integer', 'staleForSec?': 'integer' };
const TVL_FIGURES = {
  tvlUsd: 'number',
  grossTvlUsd: 'number',
  borrowedUsd: 'number',
  positions: 'integer',
  users: 'integer',
};
const PATHS = [
  'leverage',
  'swapAndLeverage',
  'reallocateAndLeverage',
  'reallocateSwapAndLeverage',
  'deleverage',
  'increaseLeverage',
  'supplyCollateral',
  'swapAndSupplyCollateral',
  'repay',
  'swapAndRepay',
  'withdrawCollateral',
  'borrow',
];
const PATH = PATHS.map((path) => `'${path}'`).join(' | ');
const batch = (action: string, meta: string) => ({
  chainId: 'integer',
  action: `'${action}'`,
  strategyId: 'string',
  calls: 'Call[]',
  atomic: 'boolean',
  meta,
});
const BATCH_META = { slippage: 'number', expiresAt: 'date-time', 'signingUrl?': 'string', instructions: 'string' };

/** The shapes of answers, by their names. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  Strategy: {
    id: 'string',
    chainId: 'integer',
    correlated: 'boolean',
    'curator?': 'string | null',
    collateral: 'Collateral',
    loan: 'object',
    collateralApyPct: 'decimal',
    collateralApySource: "'yieldmarket' | 'aggregator' | 'incentivemarket' | 'stableindex' | 'onchain' | 'none'",
    'yieldSustainabilityPct?': 'object',
    'pointsIncentive?': 'PointsIncentive | null',
    borrowApyPct: 'decimal',
    'quarterlyBorrowApyPct?': 'decimal',
    'borrowIncentive?': 'object | null',
    netBorrowApyPct: 'decimal',
    'supplyUsd?': 'number',
    'liquidityUsd?': 'number',
    'publicAllocatorLiquidityUsd?': 'number',
    maxLeverage: 'decimal',
    'utilizationPct?': 'decimal',
    leverageLadder: 'LadderEntry[]',
    defaultLeverage: 'LadderEntry',
    'historicalLeverageApyPct?': 'object',
    ltvPct: 'LtvPct',
    'oracle?': 'object',
    exitLiquidity: 'object',
    noSwapRoute: 'boolean',
    'spiralHints?': 'object',
    freshness: 'StrategyFreshness',
    'links?': 'object',
  },
  Collateral: { 'description?': 'string' },
  PointsIncentive: { program: 'string', perDayPerCollateralToken: 'number' },
  LadderEntry: { leverage: 'decimal', ltvPct: 'decimal', leverageApyPct: 'decimal' },
  LtvPct: { liquidation: 'decimal', max: 'decimal' },
  StrategyFreshness: { borrow: 'Freshness', collateralApy: 'Freshness', exitLiquidity: 'Freshness' },
  Freshness: FRESHNESS_FIELDS,
  Strategies: { asOf: 'date-time', chainId: 'integer', count: 'integer', strategies: 'Strategy[]' },
  Tvl: { asOf: 'date-time', stale: 'boolean', total: 'TvlTotal', chains: 'TvlChain[]' },
  TvlTotal: TVL_FIGURES,
  TvlChain: { chainId: 'integer', asOf: 'date-time', stale: 'boolean', ...TVL_FIGURES },
  StableApy: { stableApy: 'object[]' },
  PositionPreview: {
    'leverage?': 'decimal',
    'requestedLtv?': 'decimal',
    'effectiveLtv?': 'decimal',
    'amountLeveragedCollateral?': 'decimal',
    'expectedLeverageApy?': 'decimal',
    'priceImpactPct?': 'decimal',
    'swapSource?': "'AggregatorOne' | 'AggregatorTwo' | 'YieldMarket'",
  },
  Call: { to: 'string', data: 'string', 'value?': 'string' },
  Bundle: { chainId: 'integer', action: 'string', path: PATH, approvals: 'Call[]', tx: 'Call', meta: 'BundleMeta' },
  BundleMeta: {
    'positionPreview?': 'PositionPreview',
    'amountFlashLoan?': 'decimal',
    'minTokenOut?': 'decimal',
    'slippage?': 'number',
    'expiresAt?': 'date-time',
    'signingUrl?': 'string',
    'instructions?': 'string',
  },
  LeverageSimulation: {
    path: 'string',
    isDirect: 'boolean',
    isReallocate: 'boolean',
    positionPreview: 'PositionPreview',
    amountFlashLoan: 'string',
    minTokenOut: 'string',
    reallocationFeeWei: 'string | null',
    slippage: 'number',
    note: 'string',
  },
  EquitySimulation: {
    chainId: 'integer',
    strategyId: 'string',
    action: "'equity_deposit'",
    preview: 'object',
    note: 'string',
  },
  DepositBatch: batch('equity_deposit', 'DepositMeta'),
  DepositMeta: { preview: 'object', ...BATCH_META },
  ExitBatch: batch('equity_exit', 'ExitMeta'),
  ExitMeta: { position: 'object', ...BATCH_META },
  WalletPositions: {
    chainId: 'integer',
    userAddress: 'string',
    positions: 'object[]',
    equityPositions: 'object[]',
  },
  Portfolios: {
    chainId: 'integer',
    asOf: 'string',
    stale: 'boolean',
    degraded: 'boolean',
    computedAt: 'string',
    counts: 'object',
    users: 'PortfolioUser[]',
  },
  PortfolioUser: {
    'positions?': 'PortfolioEntry[]',
    'equityPositions?': 'PortfolioEntry[]',
    'closed?': 'PortfolioEntry[]',
  },
  PortfolioEntry: { dbDrift: 'string | null' },
  Candles: { stale: 'boolean' },
  Error: { error: 'Problem' },
  Problem: { code: 'string', message: 'string', correlationId: 'string' },
  Object: {},
};

export interface Endpoint {
  readonly operation: `${'get' | 'post'} ${string}`;
  readonly needsKey: boolean;
  /** The shape of a 200. */
  readonly answer: string;
  /** Statuses with the error envelope. */
  readonly errors: readonly number[];
  /** Parameters of path and query: accepted values of each, and its default. */
  readonly parameters?: Readonly<
    Record<string, { readonly accepts: readonly unknown[]; readonly required?: true; readonly default?: unknown }>
  >;
  /** Bodies that are accepted, one for each field and each value of an enumeration. */
  readonly bodies?: readonly Readonly<Record<string, unknown>>[];
  /** Fields that no body may lack. */
  readonly requires?: readonly string[];
}

const MARKET_ID = `0x${'0123456789abcdefABCDEF'.repeat(3).slice(0, 64)}`;
const ADDRESS = MARKET_ID.slice(0, 42);
const VAULT_ID = `equity-${MARKET_ID}`;
const chainId = { accepts: [1, 4663] };
const id = { accepts: [MARKET_ID], required: true } as const;
const address = { accepts: [ADDRESS], required: true } as const;
const KEYED = [400, 401, 429, 503];

const read = (path: string, answer: string, errors: readonly number[], parameters: Endpoint['parameters'] = {}) =>
  ({ operation: `get ${path}`, needsKey: false, answer, errors, parameters }) as const;
const partner = (
  path: string,
  answer: string,
  requires: readonly string[],
  bodies: readonly Readonly<Record<string, unknown>>[],
) => ({ operation: `post ${path}`, needsKey: true, answer, errors: KEYED, requires, bodies }) as const;
/** A body, and the same with each of some more fields. */
const withEach = (body: object, more: Readonly<Record<string, unknown>>) => [
  { ...body },
  ...Object.entries(more).map(([name, value]) => ({ ...body, [name]: value })),
];

const OPEN = { strategyId: MARKET_ID, payToken: ADDRESS, amount: '1.5' };
const openings = (body: object) => [
  ...withEach({ ...body, leverage: 3.5 }, { slippage: 0.01, chainId: 1 }),
  ...withEach({ ...body, desiredLtv: '70.5' }, { slippage: 0.005, chainId: 4663 }),
];
const DEPOSIT = { strategyId: VAULT_ID, amount: '1.5' };
const DEPOSIT_OPTIONS = { stockLtvPct: '40', slippage: 0.01, chainId: 4663 };
const manage = { userAddress: ADDRESS, id: 0 };

export const ENDPOINTS: readonly Endpoint[] = [
  read('/health', 'Object', []),
  read('/ready', 'Object', []),
  read('/v1/strategies', 'Strategies', [503], { chainId }),
  read('/v1/strategies/{id}', 'Strategy', [400, 404], { id }),
  read('/v1/stable-apy', 'StableApy', []),
  read('/v1/tvl', 'Tvl', [503]),
  read('/v1/app/markets', 'Object', [503]),
  read('/v1/markets/borrow-apy-history', 'Object', []),
  read('/v1/markets/{id}/borrow-apy-history', 'Object', [], { id }),
  read('/v1/collateral/apy-history', 'Object', []),
  read('/v1/collateral/{id}/apy-history', 'Object', [], { id }),
  read('/v1/markets/{id}/incentive-history', 'Object', [], { id }),
  read('/v1/prices', 'Object', [], { chainId }),
  read('/v1/prices/chart', 'Object', [400, 503], {
    coinId: { accepts: ['ethereum'], required: true },
    days: { accepts: [7, 30], default: 7 },
    currency: { accepts: ['usd'], default: 'usd' },
  }),
  read('/v1/prices/ohlcv', 'Candles', [400, 404, 503], {
    chainId,
    token: { accepts: [ADDRESS], required: true },
    timeframe: { accepts: ['minute', 'hour', 'day'], default: 'hour' },
    aggregate: { accepts: [1, 4, 5, 12, 15], default: 1 },
    limit: { accepts: [1, 1000], default: 168 },
  }),
  partner('/v1/partner/leverage/simulate', 'LeverageSimulation', ['strategyId', 'payToken', 'amount'], openings(OPEN)),
  partner(
    '/v1/partner/leverage/build',
    'Bundle',
    ['strategyId', 'payToken', 'amount', 'userAddress'],
    openings({ ...OPEN, userAddress: ADDRESS }),
  ),
  partner(
    '/v1/partner/manage/build',
    'Bundle',
    ['userAddress', 'action'],
    [
      ...withEach({ ...manage, action: 'close' }, { slippage: 0.01, chainId: 1 }),
      { ...manage, action: 'increase_leverage', leverage: 4 },
      { ...manage, action: 'increase_leverage', desiredLtv: '70' },
      { ...manage, action: 'add_collateral', amount: '1', payToken: ADDRESS },
      { ...manage, action: 'remove_collateral', amount: '1' },
      { ...manage, action: 'repay', amount: '1', payToken: ADDRESS },
      { ...manage, action: 'repay', full: true, payToken: ADDRESS },
      { ...manage, action: 'borrow', amount: '1', chainId: 4663 },
    ],
  ),
  partner(
    '/v1/partner/equity/simulate',
    'EquitySimulation',
    ['strategyId', 'amount'],
    withEach(DEPOSIT, DEPOSIT_OPTIONS),
  ),
  partner(
    '/v1/partner/equity/deposit/build',
    'DepositBatch',
    ['strategyId', 'amount', 'userAddress'],
    withEach({ ...DEPOSIT, userAddress: ADDRESS }, DEPOSIT_OPTIONS),
  ),
  partner(
    '/v1/partner/equity/exit/build',
    'ExitBatch',
    ['strategyId', 'userAddress'],
    withEach(
      { strategyId: VAULT_ID, userAddress: ADDRESS },
      { yieldPositionIds: [0, 7], slippage: 0.01, chainId: 4663 },
    ),
  ),
  {
    operation: 'get /v1/partner/positions/{address}',
    needsKey: true,
    answer: 'WalletPositions',
    errors: KEYED,
    parameters: { address, chainId },
  },
  {
    operation: 'get /v1/ops/portfolios',
    needsKey: true,
    answer: 'Portfolios',
    errors: KEYED,
    parameters: { chainId },
  },
  {
    operation: 'get /v1/ops/portfolio/{address}',
    needsKey: true,
    answer: 'Object',
    errors: KEYED,
    parameters: { address, chainId },
  },
];

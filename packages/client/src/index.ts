export { type Client, createClient, type Plan } from './client.ts';
export * from './errors.ts';
/** All records of the interface document. */
export type * as Records from './generated/openapi.ts';
export type {
  AppMarket,
  EquityDepositBatch,
  EquityExitBatch,
  EquityPosition,
  LeverageBuildBody,
  LeverageSimulation,
  ManageBuildBody,
  Position,
  Strategies,
  Strategy,
  TransactionBundle,
  WalletPositions,
} from './generated/openapi.ts';
export type { CallOptions, ClientOptions } from './http/requests.ts';
export type { FetchFunction } from './http/transport.ts';
export type { LiveOptions, LiveState } from './live/follow.ts';
export type { FreshnessChange, Live, StrategyChange, WalletChange } from './live/live.ts';
export type { Page, PageMethods, Pages } from './pages.ts';
export type { RowAnswer, RowInput, Rows } from './rows.ts';
export type { Wait } from './wait.ts';

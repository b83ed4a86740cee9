export { type Client, createClient, type Plan } from './client.ts';
export * from './errors.ts';
export type { Comparison, Difference } from './execute/compare.ts';
export * from './execute/errors.ts';
export { type Execution, execute } from './execute/execute.ts';
export type { ExecuteOptions, Progress } from './execute/options.ts';
export type { LendingChange, Outcome, PositionChange, TokenFlow } from './execute/outcome.ts';
export { type PlanProof, type ProofOptions, prove, type Readings } from './execute/proof.ts';
export type { Receipt } from './execute/receipts.ts';
export { proposeToSafe, type SafeProposal } from './execute/safe.ts';
export type { Eip1193Provider, ViemWallet, Wallet } from './execute/wallet.ts';
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
export type { IntentOptions, UnpricedPayment } from './intent/derive.ts';
export { type GraphqlPlan, type GraphqlRequest, planOfGraphql } from './intent/graphql.ts';
export type { BuildRequest } from './intent/request.ts';
export type { LiveOptions, LiveState } from './live/follow.ts';
export type { FreshnessChange, Live, StrategyChange, WalletChange } from './live/live.ts';
export type { Page, PageMethods, Pages } from './pages.ts';
export type { RowAnswer, RowInput, Rows } from './rows.ts';
export {
  MULTI_SEND_CALL_ONLY,
  type SafeOptions,
  type SafeTransaction,
  safeTransaction,
  type TransactionBuilderFile,
} from './safe/safe.ts';
export { verifyWebhook, WebhookError, type WebhookEvent, type WebhookInput } from './verify-webhook.ts';
export type { Wait } from './wait.ts';

import type { RowInput } from '../rows.ts';

/** A request for a plan, as the body of the row that builds it. */
export type BuildRequest =
  | { readonly row: 'leverageBuild'; readonly input: RowInput<'leverageBuild'> }
  | { readonly row: 'manageBuild'; readonly input: RowInput<'manageBuild'> }
  | { readonly row: 'equityDepositBuild'; readonly input: RowInput<'equityDepositBuild'> }
  | { readonly row: 'equityExitBuild'; readonly input: RowInput<'equityExitBuild'> };

/** The fields of all bodies. A caller of JavaScript may leave out fields that the types require. */
export interface RequestFields {
  readonly action?: string | undefined;
  readonly strategyId?: string | undefined;
  readonly chainId?: number | undefined;
  readonly userAddress?: string | undefined;
  readonly positionId?: string | undefined;
  readonly id?: number | undefined;
  readonly payToken?: string | undefined;
  readonly amount?: string | undefined;
  readonly full?: boolean | undefined;
  readonly exact?: boolean | undefined;
  readonly leverage?: number | string | null | undefined;
  readonly desiredLtv?: string | null | undefined;
  readonly stockLtvPct?: string | undefined;
  readonly yieldPositionIds?: readonly number[] | undefined;
  readonly slippage?: number | undefined;
  readonly maxSwapLossPct?: number | undefined;
  readonly minAmountOut?: string | undefined;
  /** Of a rebuild only: a simulation proves nothing. */
  readonly allowUnsimulated?: boolean | undefined;
}

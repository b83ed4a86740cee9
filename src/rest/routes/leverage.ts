import { z } from 'zod';
import { MANAGE_ACTIONS } from '../../shared/vocabulary.ts';
import { dropAbsent } from '../absence.ts';
import type {
  LeverageBuildQuery,
  LeverageSimulateQuery,
  ManageBuildQuery,
  PlanFieldsFragment,
} from '../generated/operations.ts';
import { isRefusal, refusalError } from '../refusal.ts';
import {
  addressText,
  amountText,
  chainIdField,
  leverageSimulation,
  plainNumber,
  strategyIdText,
  transactionBundle,
} from '../schemas/transactions.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import { PARTNER_ERRORS, type RouteOptions, SIMULATION_ERRORS } from './shared.ts';

const BUILD_ERRORS = [
  ...PARTNER_ERRORS,
  'not_ready',
  'stale_data',
  'no_route',
  'insufficient_liquidity',
  'upstream_unavailable',
] as const;

const SUSDE_PYUSD = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const SUSDE = '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497';
const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const USER = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
/** A wallet of the local world with an open position. */
const OWNER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

/** Body of an open, as in the contract. */
const openBody = ({ chainIds }: RouteOptions) => ({
  strategyId: strategyIdText('Market id from the strategies list.'),
  payToken: addressText('The collateral (direct) or any token (swapped first); ETH is the zero address.'),
  amount: amountText('Amount of it, whole tokens. Never rounded.'),
  leverage: plainNumber('Target leverage; this or desiredLtv.').optional(),
  desiredLtv: amountText('Target LTV in percent; this or leverage.').optional(),
  slippage: plainNumber('Ratio; 0.005 when left out, capped at 0.01.').optional(),
  maxSwapLossPct: plainNumber(
    "Maximum cost of all swaps and fees together, percent of the equity. Replaces the limits of 1 % of a swap's input and 2 % of the equity; up to 10.",
  ).optional(),
  minAmountOut: amountText(
    'Minimum collateral from the swap of the pay token, whole tokens. Required if the service has no price for the pay token.',
  ).optional(),
  chainId: chainIdField(chainIds, chainIds[0] ?? 1),
});

/** The three leverage rows of the partner surface. */
export function leverageRoutes(options: RouteOptions): AnyRoute[] {
  const open = openBody(options);
  const user = addressText('The signing wallet; approvals and the position are for it.');
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/partner/leverage/simulate',
      surface: 'Partner',
      summary: 'Preview opening a leveraged position',
      description: 'Result of an open at current prices. Needs no wallet and builds nothing.',
      operation: 'LeverageSimulate',
      params: z.object({}),
      body: z.strictObject(open),
      variables: ({ body }) => ({ input: body }),
      project: ({ leveragePreview: answer }: LeverageSimulateQuery) => {
        const preview = answered(answer);
        if (isRefusal(preview)) throw refusalError(preview);
        const { __typename, position, slippage, ...rest } = preview;
        return dropAbsent(
          leverageSimulation,
          { ...rest, positionPreview: position, slippage: Number(slippage) },
          (path) => !path.endsWith('oraclePriceAsOf') || position.oraclePriceAge === 'NOT_APPLICABLE',
        );
      },
      response: leverageSimulation,
      errors: BUILD_ERRORS,
      examples: [
        {
          summary: 'Five times sUSDe with USDT',
          body: { strategyId: SUSDE_PYUSD, payToken: USDT, amount: '1000', leverage: 5 },
        },
      ],
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/partner/leverage/build',
      surface: 'Partner',
      summary: 'Build the transaction that opens a leveraged position',
      description:
        'Unsigned approvals and transaction, executed in simulation before they are returned. A wallet without the funds gets them too, with a note. The service never signs or sends.',
      operation: 'LeverageBuild',
      params: z.object({}),
      body: z.strictObject({ ...open, userAddress: user }),
      variables: ({ body }) => ({ input: body }),
      project: ({ openLeverage: answer }: LeverageBuildQuery) => {
        const plan = answered(answer);
        if (isRefusal(plan)) throw refusalError(plan);
        return projectPlan(plan);
      },
      response: transactionBundle,
      errors: [...BUILD_ERRORS, ...SIMULATION_ERRORS],
      examples: [
        {
          summary: 'sUSDe at an LTV of 80 %',
          body: { strategyId: SUSDE_PYUSD, payToken: SUSDE, amount: '500', desiredLtv: '80', userAddress: USER },
        },
      ],
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/partner/manage/build',
      surface: 'Partner',
      summary: 'Build the transaction that manages or closes a position',
      description:
        'Fields per action. close: none, or amount (of the collateral) to sell a part. increase_leverage: leverage or desiredLtv. add_collateral: amount and payToken. remove_collateral: amount (of the collateral). repay: payToken and amount, or full: true. borrow: amount (of the loan token). Other fields are refused.',
      operation: 'ManageBuild',
      params: z.object({}),
      body: z.strictObject({
        userAddress: addressText('The signing wallet, which owns the position.'),
        id: z.int().min(0).max(1_000_000).describe('Index of the position on chain, from the positions endpoint.'),
        action: z.enum(MANAGE_ACTIONS).describe('The action.'),
        amount: amountText('Amount in whole tokens of the token of the action.').optional(),
        payToken: addressText('Token of the payment; ETH is the zero address.').optional(),
        full: z.boolean().optional().describe('repay only: repay the entire remaining debt.'),
        desiredLtv: amountText('Target LTV in percent; this or leverage.').optional(),
        leverage: plainNumber('Target leverage; this or desiredLtv.').optional(),
        slippage: plainNumber('Ratio; 0.005 when left out, capped at 0.01.').optional(),
        maxSwapLossPct: plainNumber(
          'Maximum cost of all swaps and fees together, percent of the equity (of the payment if a token is swapped to add or to repay). Replaces the usual limits; up to 10, and up to 50 with close and repay.',
        ).optional(),
        minAmountOut: amountText(
          "Minimum output of the action's swap, whole tokens; for a close all proceeds, from which the debt is repaid. Required if the service has no price for the pair.",
        ).optional(),
        allowUnsimulated: z
          .boolean()
          .optional()
          .describe(
            'Whether it is built without simulation if no node of the chain can simulate; its instructions then say NOT_SIMULATED. Applies to close, repay and add_collateral; actions that add risk are refused.',
          ),
        chainId: chainIdField(options.chainIds, options.chainIds[0] ?? 1),
      }),
      variables: ({ body }) => ({ input: body }),
      project: ({ managePosition: answer }: ManageBuildQuery) => {
        const plan = answered(answer);
        if (isRefusal(plan)) throw refusalError(plan);
        return projectPlan(plan);
      },
      response: transactionBundle,
      errors: [...BUILD_ERRORS, ...SIMULATION_ERRORS],
      examples: [{ summary: 'Close', body: { userAddress: OWNER, id: 0, action: 'close' } }],
    }),
  ];
}

/** Project a plan to the frozen bundle: a call's zero value is left out, and so is the preview when no position is left. */
function projectPlan(plan: PlanFieldsFragment): unknown {
  const { chainId, action, path, approvals, tx, position, slippage, ...meta } = plan;
  const { costs, totalSwapCostPctOfEquity, worstCase, amountFlashLoan, minTokenOut, received, ...rest } = meta;
  const { depositBasisBefore, readAt, oraclePriceAsOf, oraclePriceAge, expiresAt, signingUrl, instructions } = rest;
  const call = ({ to, data, value }: PlanFieldsFragment['tx']) => ({ to, data, value: value === '0' ? null : value });
  const body = {
    chainId,
    action,
    path,
    approvals: approvals.map(call),
    tx: call(tx),
    meta: {
      positionPreview: position,
      costs,
      totalSwapCostPctOfEquity,
      worstCase,
      liquidation: position?.liquidation ?? null,
      depositBasisBefore,
      amountFlashLoan,
      minTokenOut,
      received,
      readAt,
      oraclePriceAsOf,
      slippage: Number(slippage),
      expiresAt,
      signingUrl,
      instructions,
    },
  };
  return dropAbsent(
    transactionBundle,
    body,
    (path) => path.endsWith('oraclePriceAsOf') && oraclePriceAge === 'NOT_APPLICABLE',
  );
}

/** Assert an answer. A builder returns data or an error; null would be a fault of ours. */
function answered<T>(answer: T | null): T {
  if (answer === null) throw new Error('the builder returned no result');
  return answer;
}

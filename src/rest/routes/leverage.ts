import { z } from 'zod';
import {
  checkManageFields,
  type GivenFields,
  type GivenTarget,
  requireOneTarget,
} from '../../shared/input/manage-fields.ts';
import { MANAGE_ACTIONS } from '../../shared/vocabulary.ts';
import { absenceOf } from '../absence.ts';
import type {
  EstimateFieldsFragment,
  LeverageBuildMutation,
  LeveragePlanFieldsFragment,
  LeverageSimulateQuery,
  LeverageSimulateQueryVariables,
  ManageBuildMutation,
  ManageBuildMutationVariables,
  PositionPreviewFieldsFragment,
} from '../generated/operations.ts';
import { isRefusal, refusalError } from '../refusal.ts';
import {
  addressText,
  amountText,
  chainIdField,
  leverageSimulation,
  plainNumber,
  strategyChainId,
  strategyIdText,
  transactionBundle,
} from '../schemas/transactions.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import {
  type BoundsBody,
  bodyCall,
  boundsVariables,
  contractCosts,
  contractReceived,
  contractWorstCase,
  inBody,
  slippageRatio,
  targetVariables,
} from './builds.ts';
import { noneIn, PARTNER_ERRORS, type RouteOptions, SIMULATION_ERRORS } from './shared.ts';

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

/** What opening takes, as the contract names it. */
const inBundle = absenceOf(transactionBundle);
const inSimulation = absenceOf(leverageSimulation);

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
  chainId: strategyChainId(chainIds),
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
      variables: ({ body }) => ({ input: openVariables(body) }),
      project: ({ leveragePreview: answer }: LeverageSimulateQuery) => {
        const preview = answered(answer);
        if (isRefusal(preview)) throw refusalError(preview);
        const { path, isDirect, isReallocate, amountFlashLoan, minTokenOut, reallocationFeeWei, note } = preview;
        return inSimulation(
          {
            ...{ path, isDirect, isReallocate, amountFlashLoan, minTokenOut, reallocationFeeWei, note },
            positionPreview: positionPreviewOf(preview, preview.position),
            slippage: slippageRatio(preview),
          },
          isNoneOf(preview),
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
      variables: ({ body: { userAddress, ...body } }) => ({ wallet: userAddress, input: openVariables(body) }),
      project: ({ openLeveragePlan: answer }: LeverageBuildMutation) => {
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
    manageRoute(options),
  ];
}

function manageRoute({ chainIds }: RouteOptions): AnyRoute {
  return defineRoute({
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
      chainId: chainIdField(chainIds, chainIds[0] ?? 1),
    }),
    variables: ({ body: { userAddress, ...body } }) => ({ wallet: userAddress, input: manageVariables(body) }),
    project: ({ manageLeveragePlan: answer }: ManageBuildMutation) => {
      const plan = answered(answer);
      if (isRefusal(plan)) throw refusalError(plan);
      return projectPlan(plan);
    },
    response: transactionBundle,
    errors: [...BUILD_ERRORS, ...SIMULATION_ERRORS],
    examples: [{ summary: 'Close', body: { userAddress: OWNER, id: 0, action: 'close' } }],
  });
}

/** Shape a plan as the frozen bundle: no value where there is none, no preview where no position is left. */
function projectPlan(plan: LeveragePlanFieldsFragment): unknown {
  const { chainId, action, path, approvals, tx, position, depositBasisBefore, amountFlashLoan, minTokenOut } = plan;
  const { received, readAt, oraclePriceAsOf, totalSwapCostOfEquityPct, quotesExpireAt, signingUrl, instructions } =
    plan;
  const body = {
    chainId,
    action,
    path,
    approvals: approvals.map(bodyCall),
    tx: bodyCall(tx),
    meta: {
      positionPreview: position && positionPreviewOf(plan, position),
      costs: contractCosts(plan.costs),
      totalSwapCostPctOfEquity: totalSwapCostOfEquityPct,
      worstCase: contractWorstCase(plan.worstCase),
      liquidation: position?.liquidation ?? null,
      depositBasisBefore,
      amountFlashLoan,
      minTokenOut,
      received: contractReceived(received),
      readAt,
      oraclePriceAsOf,
      slippage: slippageRatio(plan),
      expiresAt: quotesExpireAt,
      signingUrl,
      instructions,
    },
  };
  return inBundle(body, isNoneOf(plan));
}

/**
 * Whether an empty field is `null` instead of absent. Among the nullable fields only the age of the oracle's price can be
 * unknown.
 */
function isNoneOf({ gaps }: EstimateFieldsFragment): (path: string) => boolean {
  const isNone = noneIn(gaps);
  return (path) => !path.endsWith('oraclePriceAsOf') || isNone('oraclePriceAsOf');
}

/** Project the position of a preview or plan to the contract. */
function positionPreviewOf(estimate: EstimateFieldsFragment, position: PositionPreviewFieldsFragment): unknown {
  const { requestedLtvPct: requestedLtv, ltvPct: effectiveLtv, collateralAmount, leverageApyPct, ...rest } = position;
  const { totalSwapCostOfEquityPct: totalSwapCostPctOfEquity, readAt, oraclePriceAsOf } = estimate;
  return {
    ...rest,
    requestedLtv,
    effectiveLtv,
    amountLeveragedCollateral: collateralAmount,
    expectedLeverageApy: leverageApyPct,
    costs: contractCosts(estimate.costs),
    totalSwapCostPctOfEquity,
    worstCase: contractWorstCase(estimate.worstCase),
    readAt,
    oraclePriceAsOf,
  };
}

interface OpenBody extends BoundsBody, GivenTarget {
  readonly strategyId: string;
  readonly payToken: string;
  readonly amount: string;
  readonly chainId?: number | undefined;
}

/**
 * Map a body to the input of the schema.
 * @throws BadRequestError naming the field of the body
 */
function openVariables(body: OpenBody): LeverageSimulateQueryVariables['input'] {
  const { strategyId, chainId, payToken, amount } = body;
  inBody(() => requireOneTarget(body));
  return { strategyId, chainId, payToken, amount, target: targetVariables(body), ...boundsVariables(body) };
}

interface ManageBody extends BoundsBody, Omit<GivenFields, 'minAmountOut'> {
  readonly chainId: number;
  readonly amount?: string | undefined;
  readonly payToken?: string | undefined;
  readonly allowUnsimulated?: boolean | undefined;
}

/** @throws BadRequestError naming a field of the body that the action does not take, or lacks */
function manageVariables(body: ManageBody): ManageBuildMutationVariables['input'] {
  inBody(() => checkManageFields(body));
  const { chainId, id: positionIndex, allowUnsimulated } = body;
  return {
    position: { at: { chainId, positionIndex } },
    action: actionVariables(body),
    ...boundsVariables(body),
    ...(allowUnsimulated === undefined ? {} : { allowUnsimulated }),
  };
}

function actionVariables(body: ManageBody): ManageBuildMutationVariables['input']['action'] {
  const { action, amount = '', payToken = '' } = body;
  const givenAmount = body.amount === undefined ? {} : { amount };
  switch (action) {
    case 'close':
      return { close: givenAmount };
    case 'increase_leverage':
      inBody(() => requireOneTarget(body));
      return { increaseLeverage: targetVariables(body) };
    case 'add_collateral':
      return { addCollateral: { amount, payToken } };
    case 'remove_collateral':
      return { removeCollateral: { amount } };
    case 'repay':
      if (body.full !== true) return { repay: { amount, payToken } };
      return { repayAll: { ...givenAmount, ...(body.payToken === undefined ? {} : { payToken }) } };
    case 'borrow':
      return { borrow: { amount } };
  }
}

/** A builder answers with data or with an error; nothing at all is a fault of ours. */
function answered<T>(answer: T | null): T {
  if (answer === null) throw new Error('the builder returned no result');
  return answer;
}

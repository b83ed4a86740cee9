import { z } from 'zod';
import { type GivenTarget, requireOneTarget } from '../../shared/input/manage-fields.ts';
import { absenceOf } from '../absence.ts';
import type {
  EstimateFieldsFragment,
  LeverageBuildMutation,
  LeveragePlanFieldsFragment,
  LeverageSimulateQuery,
  LeverageSimulateQueryVariables,
  PositionPreviewFieldsFragment,
} from '../generated/operations.ts';
import { isRefusal, refusalError } from '../refusal.ts';
import { includedParts, sendsCalls } from '../schemas/plan.ts';
import {
  amountText,
  anyTarget,
  leverageSimulation,
  paidAddressText,
  slippageNumber,
  strategyChainId,
  strategyIdText,
  swapLossNumber,
  targetForms,
  transactionBundle,
} from '../schemas/transactions.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import {
  type BoundsBody,
  bodyCall,
  boundsVariables,
  contractCosts,
  contractIssues,
  contractReceived,
  contractWorstCase,
  inBody,
  slippageRatio,
  targetVariables,
} from './builds.ts';
import { answered, BUILD_ERRORS, noneIn, type RouteOptions, SIMULATION_ERRORS } from './shared.ts';

const SUSDE_PYUSD = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const SUSDE = '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497';
const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const USER = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';

const inBundle = absenceOf(transactionBundle);
const inSimulation = absenceOf(leverageSimulation);

/** Fields of an open beside its target, by their names in the contract. */
const openFields = ({ chainIds }: RouteOptions) => ({
  strategyId: strategyIdText('Market id from the strategies list.'),
  payToken: paidAddressText('The collateral (direct) or any token (swapped first); ETH is the zero address.'),
  amount: amountText('Amount of it, whole tokens. Never rounded.'),
  slippage: slippageNumber(0.005),
  maxSwapLossPct: swapLossNumber(
    "Maximum cost of all swaps and fees together, percent of the equity. Replaces the limits of 1 % of a swap's input and 2 % of the equity.",
    10,
  ),
  minAmountOut: amountText(
    'Minimum collateral from the swap of the pay token, whole tokens. Required if the service has no price for the pay token.',
  ).optional(),
  chainId: strategyChainId(chainIds),
});

type OpenFields = ReturnType<typeof openFields>;

/** Put the fields of the target where a reader expects them. */
function withTarget<Fields extends OpenFields, Target>(fields: Fields, target: Target) {
  const { strategyId, payToken, amount, ...rest } = fields;
  return { strategyId, payToken, amount, ...target, ...rest };
}

/** The two forms of a body: with a target leverage, or with a target LTV. */
function openForms(name: string, fields: OpenFields): z.ZodType {
  const toLeverage = z.strictObject(withTarget(fields, targetForms.leverage));
  const toLtv = z.strictObject(withTarget(fields, targetForms.ltv));
  return z
    .xor([
      toLeverage.meta({ id: `${name}ToLeverage`, description: 'With a target leverage.' }),
      toLtv.meta({ id: `${name}ToLtv`, description: 'With a target LTV.' }),
    ])
    .meta({ id: name, description: 'JSON, at most 64 KiB: exactly one of leverage and desiredLtv.' });
}

/** The rows that open leveraged positions. */
export function leverageRoutes(options: RouteOptions): AnyRoute[] {
  const open = openFields(options);
  const build = {
    ...open,
    userAddress: paidAddressText('The signing wallet; approvals and the position are for it.'),
    include: includedParts,
  };
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/partner/leverage/simulate',
      surface: 'Partner',
      summary: 'Preview opening a leveraged position',
      description: 'Result of an open at current prices. Needs no wallet and builds nothing.',
      operation: 'LeverageSimulate',
      tool: { name: 'preview_open' },
      params: z.object({}),
      body: z.strictObject(withTarget(open, anyTarget)),
      bodyForms: openForms('LeverageSimulateBody', open),
      variables: ({ body }) => ({ input: openVariables(body) }),
      project: ({ leveragePreview: answer }: LeverageSimulateQuery) => {
        const preview = answered(answer);
        if (isRefusal(preview)) throw refusalError(preview);
        const { path, isDirect, isReallocate, amountFlashLoan, minTokenOut, reallocationFeeWei, borrowApy, note } =
          preview;
        return inSimulation(
          {
            path,
            isDirect,
            isReallocate,
            amountFlashLoan,
            minTokenOut,
            reallocationFeeWei,
            borrowApy,
            note,
            issues: contractIssues(preview.issues),
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
      tool: { name: 'build_open' },
      params: z.object({}),
      body: z.strictObject(withTarget(build, anyTarget)),
      bodyForms: openForms('LeverageBuildBody', build),
      variables: ({ body: { userAddress, include, ...body } }) => ({
        wallet: userAddress,
        input: openVariables(body),
        sendCalls: sendsCalls(include),
      }),
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
        {
          summary: 'With the batch of EIP-5792',
          body: {
            strategyId: SUSDE_PYUSD,
            payToken: SUSDE,
            amount: '500',
            leverage: 5,
            userAddress: USER,
            include: ['sendCalls'],
          },
        },
      ],
    }),
  ];
}

/** Shape a plan as the frozen bundle: no value where there is none. */
export function projectPlan(plan: LeveragePlanFieldsFragment): unknown {
  const { chainId, action, path, calls, position, received, quotesExpireAt } = plan;
  const body = {
    chainId,
    action,
    path,
    approvals: calls.filter(({ isApproval }) => isApproval).map(bodyCall),
    tx: calls.filter(({ isApproval }) => !isApproval).map(bodyCall)[0],
    meta: {
      ...plan,
      positionPreview: positionPreviewOf(plan, position),
      issues: contractIssues(plan.issues),
      received: contractReceived(received),
      slippage: slippageRatio(plan),
      expiresAt: quotesExpireAt,
    },
  };
  return inBundle(body, isNoneOf(plan));
}

/**
 * Whether an empty field is `null` instead of absent. Among the nullable fields only the age of the oracle's price can be
 * unknown.
 */
export function isNoneOf({ gaps }: EstimateFieldsFragment): (path: string) => boolean {
  const isNone = noneIn(gaps);
  return (path) => !path.endsWith('oraclePriceAsOf') || isNone('oraclePriceAsOf');
}

/** Project the position of a preview or plan to the contract. `null` = none is left, and the costs stand alone. */
export function positionPreviewOf(
  estimate: EstimateFieldsFragment,
  position: PositionPreviewFieldsFragment | null,
): unknown {
  const { totalSwapCostOfEquityPct: totalSwapCostPctOfEquity, readAt, oraclePriceAsOf } = estimate;
  return {
    ...(position && positionOf(position)),
    costs: contractCosts(estimate.costs),
    totalSwapCostPctOfEquity,
    worstCase: contractWorstCase(estimate.worstCase),
    readAt,
    oraclePriceAsOf,
  };
}

function positionOf({
  requestedLtvPct: requestedLtv,
  ltvPct: effectiveLtv,
  collateralAmount: amountLeveragedCollateral,
  debtAmount: amountLoan,
  leverageApyPct: expectedLeverageApy,
  ...rest
}: PositionPreviewFieldsFragment) {
  return { ...rest, requestedLtv, effectiveLtv, amountLeveragedCollateral, amountLoan, expectedLeverageApy };
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

import { z } from 'zod';
import { BadRequestError } from '../../shared/errors.ts';
import { checkManageFields, type GivenFields, requireOneTarget } from '../../shared/input/manage-fields.ts';
import { manageBody, manageForms } from '../schemas/manage-body.ts';
import { sendsCalls } from '../schemas/plan.ts';
import type { PositionIdParts } from '../schemas/transactions.ts';
import type { AnyRoute } from '../types.ts';
import { type BoundsBody, boundsVariables, inBody, targetVariables } from './builds.ts';
import { positionIdOf, positionPlace } from './position/place.ts';
import { BUILD_ERRORS, type RouteOptions, SIMULATION_ERRORS } from './shared.ts';

/** A wallet of the local world, and its open position. */
const OWNER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const OPEN_POSITION = '1-0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5-0';

/** The rows that manage positions. */
export function manageRoutes({ chainIds, derive }: RouteOptions): AnyRoute[] {
  const simulate = derive({
    method: 'POST',
    path: '/v1/partner/manage/simulate',
    surface: 'Partner',
    summary: 'Preview an action on a position',
    description:
      'The position before and after the action at current prices, its costs and its limits. The body is that of manage/build; nothing is built. Quotes may be up to 5 s old, see quotesAsOf.',
    operation: 'ManageSimulate',
    tool: { name: 'preview_manage' },
    params: z.object({}),
    body: manageBody(chainIds),
    bodyForms: manageForms(chainIds),
    variables: ({ body: { userAddress, include: _include, ...body } }) => ({
      wallet: userAddress,
      input: manageVariables(body, chainIds),
    }),
    sentAs,
    errors: [...BUILD_ERRORS, ...SIMULATION_ERRORS],
    examples: [
      {
        summary: 'Borrow more',
        body: { userAddress: OWNER, positionId: OPEN_POSITION, action: 'borrow', amount: '10' },
      },
    ],
  });
  const build = derive({
    method: 'POST',
    path: '/v1/partner/manage/build',
    surface: 'Partner',
    summary: 'Build the transaction that manages or closes a position',
    description:
      'Fields per action. close: none, or amount (of the collateral) to sell a part. increase_leverage: leverage or desiredLtv. add_collateral: amount and payToken. remove_collateral: amount (of the collateral). repay: payToken and amount, or full: true. borrow: amount (of the loan token). Other fields are refused.',
    operation: 'ManageBuild',
    tool: { name: 'build_manage' },
    params: z.object({}),
    body: manageBody(chainIds),
    bodyForms: manageForms(chainIds),
    variables: ({ body: { userAddress, include, ...body } }) => ({
      wallet: userAddress,
      input: manageVariables(body, chainIds),
      sendCalls: sendsCalls(include),
    }),
    sentAs,
    errors: [...BUILD_ERRORS, ...SIMULATION_ERRORS],
    examples: [
      { summary: 'Close', body: { userAddress: OWNER, positionId: OPEN_POSITION, action: 'close' } },
      { summary: 'Close by index', body: { userAddress: OWNER, id: 0, action: 'close', chainId: 1 } },
    ],
  });
  return [simulate, build];
}

function sentAs({ body: { positionId } }: { readonly body: Pick<ManageBody, 'positionId'> }) {
  if (positionId === undefined) return {};
  const sent = { field: 'body.positionId', value: positionIdOf(positionId) };
  return { 'body.id': sent, 'body.chainId': sent };
}

interface ManageBody extends BoundsBody, Omit<GivenFields, 'minAmountOut' | 'id'> {
  readonly id?: number | undefined;
  readonly positionId?: PositionIdParts | undefined;
  readonly chainId?: number | undefined;
  readonly amount?: string | undefined;
  readonly payToken?: string | undefined;
  readonly allowUnsimulated?: boolean | undefined;
}

/** @throws BadRequestError naming a field of the body that the action does not take, or lacks */
function manageVariables(body: ManageBody, chainIds: readonly number[]) {
  const at = managedPlace(body, chainIds);
  inBody(() => checkManageFields({ ...body, id: at.positionIndex }));
  const { allowUnsimulated } = body;
  return {
    position:
      at.marketId === undefined ? `${at.chainId}-${at.positionIndex}` : positionIdOf({ ...at, marketId: at.marketId }),
    action: actionVariables(body),
    ...boundsVariables(body),
    allowUnsimulated,
  };
}

/** @throws BadRequestError for both or neither of id and positionId, and as of `positionPlace` */
function managedPlace({ id, positionId, chainId }: ManageBody, chainIds: readonly number[]) {
  if ((id === undefined) === (positionId === undefined)) {
    throw new BadRequestError('Send exactly one of positionId and id, from the positions endpoint.', {
      field: 'body.positionId',
      limit: { exactlyOneOf: ['positionId', 'id'] },
    });
  }
  const fields = { id: 'body.positionId', chainId: 'body.chainId' };
  return positionPlace({ id: positionId ?? id ?? 0, chainId }, chainIds, fields);
}

function actionVariables(body: ManageBody) {
  const { action, amount = '', payToken = '' } = body;
  switch (action) {
    case 'close':
      return { close: { amount: body.amount, exact: body.exact } };
    case 'increase_leverage':
      inBody(() => requireOneTarget(body));
      return { increaseLeverage: targetVariables(body) };
    case 'add_collateral':
      return { addCollateral: { amount, payToken } };
    case 'remove_collateral':
      return { removeCollateral: { amount } };
    case 'repay':
      if (body.full !== true) return { repay: { amount, payToken } };
      return { repayAll: { amount: body.amount, payToken: body.payToken } };
    case 'borrow':
      return { borrow: { amount } };
  }
}

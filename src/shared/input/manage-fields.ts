import { BadRequestError } from '../errors.ts';
import { type MANAGE_ACTIONS, NAMES } from '../names.ts';

type ManageAction = (typeof MANAGE_ACTIONS)[number];
type Field = 'amount' | 'payToken' | 'full' | 'exact' | 'leverage' | 'desiredLtv' | 'minAmountOut';

interface FieldRule {
  readonly required: readonly Field[];
  readonly optional: readonly Field[];
  readonly hint: string;
}

/** The optional fields of each action. A field that an action ignores is refused, because the caller expects an effect. */
const RULES: Readonly<Record<ManageAction, FieldRule>> = {
  close: {
    required: [],
    optional: ['amount', 'exact', 'minAmountOut'],
    hint: 'close takes amount, of the collateral, to sell a part; without it, it sells all and repays all debt, with exact as much as was read.',
  },
  increase_leverage: {
    required: [],
    optional: ['leverage', 'desiredLtv', 'minAmountOut'],
    hint: `${NAMES.actions.increase_leverage} takes exactly one of leverage and ${NAMES.input('desiredLtv')}.`,
  },
  add_collateral: {
    required: ['amount', 'payToken'],
    optional: ['minAmountOut'],
    hint: `${NAMES.actions.add_collateral} takes amount and payToken.`,
  },
  remove_collateral: {
    required: ['amount'],
    optional: [],
    hint: `${NAMES.actions.remove_collateral} takes amount, of the collateral.`,
  },
  repay: {
    required: [],
    optional: ['amount', 'payToken', 'full', 'minAmountOut'],
    hint: `repay takes payToken and amount, or ${NAMES.repayAll} for the whole debt.`,
  },
  borrow: { required: ['amount'], optional: [], hint: 'borrow takes amount, of the loan token.' },
};

/** Actions with a swap, which take the bounds of its loss. */
const SWAPPING: readonly ManageAction[] = ['close', 'increase_leverage', 'add_collateral', 'repay'];

/** Fields of an action; each that is not `undefined` counts as given. */
export interface GivenFields extends GivenTarget {
  readonly id: number;
  readonly action: ManageAction;
  readonly amount?: unknown;
  readonly payToken?: unknown;
  readonly full?: boolean | undefined;
  readonly exact?: boolean | undefined;
  readonly minAmountOut?: unknown;
}

export interface GivenTarget {
  readonly leverage?: unknown;
  readonly desiredLtv?: unknown;
}

/**
 * Check that exactly one form of the target is given.
 * @throws BadRequestError for both or neither
 */
export function requireOneTarget({ leverage, desiredLtv }: GivenTarget): void {
  if ((leverage === undefined) !== (desiredLtv === undefined)) return;
  throw new BadRequestError(
    `Send exactly one of leverage (e.g. 5) and ${NAMES.input('desiredLtv')} (percent, e.g. "80").`,
    {
      field: 'leverage',
      limit: { exactlyOneOf: ['leverage', NAMES.input('desiredLtv')] },
    },
  );
}

/**
 * Check that an action has the fields it needs and no others.
 * @throws BadRequestError naming the field
 */
export function checkManageFields(input: GivenFields): void {
  if (!Number.isInteger(input.id) || input.id < 0) {
    throw new BadRequestError('id must be a position index: 0, 1, 2, … as the positions endpoint lists them.', {
      field: 'id',
      value: String(input.id),
      limit: { min: 0 },
    });
  }
  const { required, optional } = RULES[input.action];
  const given: Readonly<Record<Field, boolean>> = {
    amount: input.amount !== undefined,
    payToken: input.payToken !== undefined,
    full: input.full === true,
    leverage: input.leverage !== undefined,
    desiredLtv: input.desiredLtv !== undefined,
    minAmountOut: input.minAmountOut !== undefined,
    exact: input.exact === true,
  };
  for (const field of Object.keys(given) as Field[]) {
    const isTaken = required.includes(field) || optional.includes(field);
    if (given[field] && !isTaken) {
      throw refusal(field, input.action, `${NAMES.actions[input.action]} does not take ${NAMES.input(field)}. `);
    }
    if (!given[field] && required.includes(field)) {
      throw refusal(field, input.action, `${NAMES.input(field)} is missing. `);
    }
  }
  if (input.action === 'repay' && input.full !== true && (!given.amount || !given.payToken)) {
    throw refusal(given.amount ? 'payToken' : 'amount', input.action, '');
  }
}

function refusal(field: string, action: ManageAction, why: string): BadRequestError {
  const { required, optional, hint } = RULES[action];
  const takes = [...required, ...optional, 'slippage', ...(SWAPPING.includes(action) ? ['maxSwapLossPct'] : [])];
  return new BadRequestError(`${why}${hint}`, {
    field,
    limit: { action: NAMES.actions[action], takes: takes.map(NAMES.input) },
  });
}

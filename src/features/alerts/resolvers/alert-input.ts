import type { AppContext } from '../../../resolvers/common/context.ts';
import { chainOfStrategy, requireChain } from '../../../resolvers/market/chains.ts';
import { requirePlace } from '../../../resolvers/position/positions.ts';
import { Decimal } from '../../../shared/decimal.ts';
import { BadRequestError, type LimitValue } from '../../../shared/errors.ts';
import { type ChainId, formatValue } from '../../../shared/ids.ts';
import { IDEMPOTENCY_KEY, MAX_IDEMPOTENCY_KEY, MAX_LABEL } from '../domain/input-fields.ts';
import { ALERT_UNITS, CONDITIONS_OF, defaultRearmAt } from '../domain/rules.ts';
import type { AlertCondition, AlertRule, AlertSubject } from '../domain/types.ts';
import type { AlertInput } from '../schema/alert-inputs.ts';

const MAX_DECIMALS = 18;

/** Range of the threshold of each condition with a number. */
const THRESHOLDS = {
  headroom_below: { min: new Decimal(0), max: new Decimal(100) },
  apy_below: { min: new Decimal(-100_000), max: new Decimal(100_000) },
  liquidity_below: { min: new Decimal(0), max: new Decimal('1e15') },
} as const;

/** Read an alert. @throws BadRequestError naming the field, its value, and the next step */
export function parseAlert(
  chainId: ChainId,
  input: AlertInput,
  ctx: AppContext,
): { readonly rule: AlertRule; readonly label: string; readonly idempotencyKey: string | undefined } {
  requireChain(ctx, chainId);
  const subject = subjectOf(chainId, input, ctx);
  const { condition } = input;
  const conditions = CONDITIONS_OF[subject.kind];
  if (!conditions.includes(condition)) {
    refuse(
      'condition',
      condition,
      `A ${subject.kind} has no condition "${condition}". Send one of ${conditions.join(', ')}.`,
      {
        oneOf: conditions,
      },
    );
  }
  return {
    rule: { subject, condition, ...numbersOf(input) },
    label: labelOf(input.label ?? ''),
    idempotencyKey: input.idempotencyKey == null ? undefined : idempotencyKeyOf(input.idempotencyKey),
  };
}

function subjectOf(chainId: ChainId, input: AlertInput, ctx: AppContext): AlertSubject {
  const { positionId, strategyId } = input;
  const wallet = input.wallet ?? positionId?.wallet;
  const position = positionInputOf(ctx);
  if (wallet == null && strategyId == null) {
    return refuse(
      'wallet',
      undefined,
      `Send either wallet, with ${position} for one position of it or with the strategyId of an equity vault, or strategyId alone.`,
      { anyOf: ['wallet', 'strategyId'] },
    );
  }
  if (strategyId != null) {
    if (positionId != null) {
      const why = input.wallet == null ? 'A strategy has no position.' : 'An equity vault is not one position.';
      return refuse(position, positionId.text, `${why} Send ${position} or strategyId, not both.`, {
        exactlyOneOf: [position, 'strategyId'],
      });
    }
    const chain = chainOfStrategy(ctx, { chainId, strategyId });
    if (chain === undefined) {
      return refuse(
        'strategyId',
        strategyId,
        'No chain has a strategy with this id. Send an id from the strategies list.',
        {},
      );
    }
    if (wallet == null) return { kind: 'strategy', chainId, strategyId };
    const vaultIds = chain.equityVaults.map(({ id }) => id);
    if (vaultIds.includes(strategyId)) return { kind: 'vault', chainId, wallet, strategyId };
    return refuse(
      'strategyId',
      strategyId,
      `Together with a wallet, strategyId is the id of an equity vault of this chain. Send ${position} for a position of the wallet.`,
      { oneOf: vaultIds },
    );
  }
  if (wallet == null) throw new Error('a subject without wallet and strategy');
  if (positionId == null) return { kind: 'wallet', chainId, wallet };
  const at = requirePlace({ ...positionId, chainId: positionId.chainId ?? chainId }, wallet, `input.${position}`, ctx);
  if (at.chainId !== chainId) {
    throw new BadRequestError(
      `chainId ${chainId} contradicts the ${position}, which is on chain ${at.chainId}. Send chainId ${at.chainId}.`,
      { field: 'chainId', value: String(chainId), limit: { oneOf: [at.chainId] } },
    );
  }
  return { kind: 'position', chainId, wallet, positionIndex: at.index };
}

/** The input that names a position, as the surface of the request has it. */
export function positionInputOf({ contract }: Pick<AppContext, 'contract'>): 'positionIndex' | 'positionId' {
  return contract === 'v1' ? 'positionIndex' : 'positionId';
}

function numbersOf({ condition, threshold, rearmAt }: AlertInput): Pick<AlertRule, 'threshold' | 'rearmAt'> {
  if (!isThreshold(condition)) {
    for (const [field, value] of [
      ['threshold', threshold],
      ['rearmAt', rearmAt],
    ] as const) {
      if (value != null)
        refuse(field, value.toFixed(), `The condition "${condition}" compares no number. Leave ${field} out.`, {});
    }
    return { threshold: null, rearmAt: null };
  }
  const { min, max } = THRESHOLDS[condition];
  const unit = ALERT_UNITS[condition] === 'usd' ? 'USD' : 'percent';
  const limit = { min: min.toFixed(), max: max.toFixed(), maxDecimals: MAX_DECIMALS };
  const check = (field: string, value: Decimal): Decimal => {
    if (value.gte(min) && value.lte(max) && (value.decimalPlaces() ?? 0) <= MAX_DECIMALS) return value;
    return refuse(
      field,
      value.toFixed(),
      `${field} is ${formatValue(value.toFixed())}. Send ${limit.min} to ${limit.max} ${unit}, with at most ${MAX_DECIMALS} decimals.`,
      limit,
    );
  };
  if (threshold == null) {
    return refuse(
      'threshold',
      undefined,
      `The condition "${condition}" needs a threshold. Send ${limit.min} to ${limit.max} ${unit}.`,
      limit,
    );
  }
  const checked = check('threshold', threshold);
  if (rearmAt == null) return { threshold: checked, rearmAt: defaultRearmAt(condition, checked) };
  if (rearmAt.lt(checked)) {
    refuse(
      'rearmAt',
      rearmAt.toFixed(),
      `rearmAt is ${rearmAt.toFixed()}, below the threshold. Send ${checked.toFixed()} or more.`,
      {
        min: checked.toFixed(),
      },
    );
  }
  return { threshold: checked, rearmAt: check('rearmAt', rearmAt) };
}

function isThreshold(condition: AlertCondition): condition is keyof typeof THRESHOLDS {
  return condition in THRESHOLDS;
}

function labelOf(text: string): string {
  const label = text.trim();
  if (label.length <= MAX_LABEL && !/\p{C}/u.test(label)) return label;
  return refuse(
    'label',
    label,
    `The label is longer than ${MAX_LABEL} characters, or has characters that cannot be shown. Shorten it.`,
    {
      maxLength: MAX_LABEL,
    },
  );
}

function idempotencyKeyOf(text: string): string {
  if (IDEMPOTENCY_KEY.test(text)) return text;
  return refuse(
    'idempotencyKey',
    text,
    `The idempotency key has ${text.length} characters. Send 1 to ${MAX_IDEMPOTENCY_KEY} visible ASCII characters without spaces, such as a UUID.`,
    { minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY },
  );
}

function refuse(field: string, value: unknown, message: string, limit: Readonly<Record<string, LimitValue>>): never {
  throw new BadRequestError(message, {
    field: `input.${field}`,
    value: value === undefined ? undefined : formatValue(value),
    limit: Object.keys(limit).length === 0 ? undefined : limit,
  });
}

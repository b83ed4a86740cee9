import { Decimal } from '../../src/shared/decimal.ts';
import { withoutUndefined } from '../../src/shared/without-undefined.ts';
import type { Json } from './service.ts';

/** Variables of a build over GraphQL. */
export interface BuildVariables {
  readonly wallet?: string;
  readonly chainId?: number;
  readonly input: Json;
}

const bps = (ratio: unknown) => new Decimal(String(ratio)).shiftedBy(4).toFixed();
const targetOf = ({ leverage, desiredLtv }: Json) =>
  leverage === undefined ? { ltvPct: String(desiredLtv) } : { leverage: String(leverage) };

function split({ userAddress, slippage, maxSwapLossPct, ...rest }: Json): { about: BuildVariables; rest: Json } {
  const input = withoutUndefined({
    maxSlippageBps: slippage === undefined ? undefined : bps(slippage),
    maxSwapLossPct: maxSwapLossPct === undefined ? undefined : String(maxSwapLossPct),
  });
  return { about: { ...withoutUndefined({ wallet: userAddress }), input }, rest };
}

/** Input that opens a position, from the body of the /v1 row. */
export function openVariables(body: Json): BuildVariables {
  const { about, rest } = split(body);
  const { leverage, desiredLtv, chainId, ...input } = rest;
  return {
    ...about,
    ...withoutUndefined({ chainId }),
    input: { ...input, ...about.input, target: targetOf({ leverage, desiredLtv }) },
  };
}

/** Input that manages a position, from the body of the /v1 row. */
export function manageVariables(body: Json): BuildVariables {
  const { about, rest } = split(body);
  const { chainId = 1, id, action, amount, payToken, full, exact, leverage, desiredLtv, ...input } = rest;
  const given = withoutUndefined({ amount, payToken });
  const actions: Json = {
    close: { close: { ...given, ...withoutUndefined({ exact }) } },
    increase_leverage: { increaseLeverage: targetOf({ leverage, desiredLtv }) },
    add_collateral: { addCollateral: given },
    remove_collateral: { removeCollateral: given },
    repay: full === true ? { repayAll: given } : { repay: given },
    borrow: { borrow: given },
  };
  const position = `${chainId}-${id}`;
  return { ...about, input: { ...input, ...about.input, position, action: actions[action] } };
}

/** Input of a vault deposit or exit, from the body of the /v1 row. */
export function vaultVariables(body: Json): BuildVariables {
  const { about, rest } = split(body);
  const { chainId, ...input } = rest;
  return { ...about, ...withoutUndefined({ chainId }), input: { ...input, ...about.input } };
}

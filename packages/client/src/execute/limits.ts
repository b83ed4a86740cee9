import { createChainState } from '../intent/chain-state.ts';
import { amountOf } from '../verify/proof.ts';
import { trustedChainOf, trustedChains } from '../verify/trusted.ts';
import type { PositionBounds, TrustedChain, VerifiedAmount } from '../verify/types.ts';
import { type Excess, WalletError } from './errors.ts';
import { areEventsKnown } from './expected.ts';
import type { LendingChange, Outcome } from './outcome.ts';
import type { Proven } from './proof.ts';
import type { Rpc } from './wallet.ts';

/** By index of the position: the contract that holds it. */
export type Holders = ReadonlyMap<number, string>;

export interface OutcomeContext {
  readonly account: string;
  readonly holders: Holders;
  /** As those of the proof. */
  readonly chains: readonly TrustedChain[] | undefined;
}

/**
 * Read which contracts hold the positions that a plan changes: the events of the lending protocol name these only.
 *
 * @throws WalletError
 */
export async function holdersOf(
  { proof }: Proven,
  account: string,
  reader: Rpc,
  chains: readonly TrustedChain[] = trustedChains,
): Promise<Holders> {
  const ids = proof.changes.flatMap(({ of }) => (typeof of === 'number' ? [of] : []));
  if (ids.length === 0 || !areEventsKnown(proof)) return new Map();
  const state = createChainState(reader, trustedChainOf(proof.chainId, chains));
  try {
    const found = await Promise.all(ids.map(async (id) => [id, (await state.position(account, id)).proxy] as const));
    return new Map(found);
  } catch (error) {
    reader.signal?.throwIfAborted();
    if (error instanceof WalletError) throw error;
    throw new WalletError('The node gave no contracts of the positions that the plan changes.', error);
  }
}

/**
 * Compare the amounts of an outcome with the bounds of its proof: payments and receipts by the transfers of each token, collateral and
 * debt by the events of the lending protocol. Interest that has accrued since the readings counts as repaid, not as lost.
 */
export function excessesIn(
  outcome: Outcome,
  { proof }: Proven,
  { account, holders, chains = trustedChains }: OutcomeContext,
): readonly Excess[] {
  const chain = trustedChainOf(proof.chainId, chains);
  const textOf = (token: string, amount: bigint) => amountOf({ chain }, token, amount);
  const opened = outcome.positions.find(({ event }) => event === 'LeveragePositionOpened')?.proxy;
  const holderOf = ({ of }: PositionBounds) => (of === 'opened' ? opened : of === 'wallet' ? account : holders.get(of));
  const isKnown = areEventsKnown(proof);
  const changes = (isKnown ? proof.changes : []).map((bounds) => {
    const holder = holderOf(bounds)?.toLowerCase();
    const isOf = ({ marketId, ...change }: LendingChange) =>
      change.holder === holder && marketId.toLowerCase() === bounds.marketId.toLowerCase();
    return { bounds, lent: outcome.lending.find(isOf) ?? NOTHING_LENT };
  });
  const grown = new Map<string, bigint>();
  for (const { bounds, lent } of changes) {
    if (bounds.owes === undefined || lent.repaid <= bounds.owes.amount) continue;
    const token = bounds.owes.token.toLowerCase();
    grown.set(token, (grown.get(token) ?? 0n) + lent.repaid - bounds.owes.amount);
  }
  const of = (amounts: readonly VerifiedAmount[], token: string) =>
    amounts.find((amount) => amount.token.toLowerCase() === token)?.amount ?? 0n;
  const flowOf = (token: string) =>
    outcome.tokens.find((flow) => flow.token === token.toLowerCase()) ?? { in: 0n, out: 0n };
  const tokens = [...proof.receivesAtLeast, ...outcome.tokens].map(({ token }) => token.toLowerCase());
  const moved = [...new Set(tokens)].flatMap((token): readonly Excess[] => {
    const [received, spent] = [of(proof.receivesAtLeast, token), of(proof.spendsAtMost, token)];
    const least = received - spent - (grown.get(token) ?? 0n);
    const flow = flowOf(token);
    const net = flow.in - flow.out;
    if (net >= least) return [];
    const isTooMuch = least <= 0n;
    const [amount, limit] = isTooMuch ? [-net, -least] : [net, least];
    return [
      {
        what: isTooMuch ? 'payment' : 'receipt',
        amount: textOf(token, amount),
        limit: textOf(token, limit),
        isTooMuch,
      },
    ];
  });
  return [
    ...moved,
    ...changes.flatMap(({ bounds, lent }) => excessesOf(bounds, lent, (token) => flowOf(token).in, textOf)),
  ];
}

const NOTHING_LENT = { collateralIn: 0n, collateralOut: 0n, borrowed: 0n, repaid: 0n };

function excessesOf(
  { of, addsAtLeast, takesOutAtMost, borrowsAtMost, repaysAtLeast }: PositionBounds,
  { collateralIn, collateralOut, borrowed, repaid }: typeof NOTHING_LENT,
  receivedOf: (token: string) => bigint,
  textOf: (token: string, amount: bigint) => VerifiedAmount,
): readonly Excess[] {
  const name = of === 'opened' ? 'the opened position' : of === 'wallet' ? 'the stock leg' : `position ${of}`;
  const excess = (what: string, amount: bigint, limit: VerifiedAmount, isTooMuch: boolean): readonly Excess[] =>
    (isTooMuch ? amount <= limit.amount : amount >= limit.amount)
      ? []
      : [{ what: `${what} of ${name}`, amount: textOf(limit.token, amount), limit, isTooMuch }];
  const returned = repaysAtLeast === undefined ? 0n : receivedOf(repaysAtLeast.token);
  return [
    ...excess('collateral', collateralIn, addsAtLeast, false),
    ...(takesOutAtMost === undefined ? [] : excess('withdrawal', collateralOut, takesOutAtMost, true)),
    ...excess('loan', borrowed, borrowsAtMost, true),
    ...(repaysAtLeast === undefined ? [] : excess('repayment', repaid + returned, repaysAtLeast, false)),
  ];
}

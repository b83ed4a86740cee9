import { CONTRACTS } from '../generated/contracts.ts';
import type { Intent, VerifiedAmount } from '../verify/types.ts';
import type { Outcome, PositionChange } from './outcome.ts';
import type { Proven } from './proof.ts';

/** The proven effects of a plan that its execution lacks, in words, by its events. */
export function missingIn(outcome: Outcome, { proof, intent }: Proven): readonly string[] {
  const isMoved = ({ token, amount }: VerifiedAmount, way: 'in' | 'out') => {
    // The native token has no events.
    if (amount === 0n || BigInt(token) === 0n) return true;
    return outcome.tokens.some((flow) => flow.token === token.toLowerCase() && flow[way] > 0n);
  };
  const spent = proof.spendsAtMost.filter((amount) => !isMoved(amount, 'out'));
  const received = proof.receivesAtLeast.filter((amount) => !isMoved(amount, 'in'));
  const isKnown = areEventsKnown(proof);
  return [
    ...(isKnown ? missingEvents(outcome, intent) : []),
    // An increase has no event of its own: the lending protocol's tell of its loan.
    ...(isKnown && intent.action === 'increase_leverage' && !hasLoan(outcome) ? ['a loan'] : []),
    ...spent.map(({ text }) => `the payment of ${text}`),
    ...received.map(({ text }) => `the receipt of ${text}`),
  ];
}

/** Contracts of a list of the caller's own are called, and their events are not read. */
export function areEventsKnown({ chainId, calls }: Proven['proof']): boolean {
  const contracts = (CONTRACTS as Readonly<Record<number, Readonly<Record<string, string>>>>)[chainId] ?? {};
  const own = new Set(Object.values(contracts).map((address) => address.toLowerCase()));
  return calls.some((address) => own.has(address.toLowerCase()));
}

const hasLoan = ({ lending }: Outcome) => lending.some(({ borrowed }) => borrowed > 0n);

function missingEvents({ positions }: Outcome, intent: Intent): readonly string[] {
  const events = eventsOf(intent);
  if (events.length === 0) return [];
  const ids = 'positionId' in intent ? [intent.positionId] : 'positionIds' in intent ? intent.positionIds : [undefined];
  const isOf = (id: number | undefined, index: bigint) => id === undefined || index === BigInt(id);
  return ids
    .filter((id) => !positions.some(({ event, index }) => events.includes(event) && isOf(id, index)))
    .map((id) => `the event ${events.join(' or ')}${id === undefined ? '' : ` of position ${id}`}`);
}

/** Any of them tells that the action happened. */
function eventsOf(intent: Intent): readonly PositionChange['event'][] {
  switch (intent.action) {
    case 'open_leverage':
    case 'equity_deposit':
      return ['LeveragePositionOpened'];
    case 'add_collateral':
      return ['CollateralSupplied'];
    case 'remove_collateral':
      return ['CollateralWithdrawn'];
    case 'borrow':
      return ['AdditionalBorrowed'];
    case 'repay':
      return ['LoanRepaid'];
    case 'equity_exit':
      return ['LeveragePositionClosed', ...(intent.exact === true ? PARTIAL : [])];
    case 'close':
      return ['LeveragePositionClosed', ...(intent.amount === undefined && intent.exact !== true ? [] : PARTIAL)];
    default:
      return [];
  }
}

const PARTIAL = ['CollateralWithdrawn', 'LoanRepaid'] as const;

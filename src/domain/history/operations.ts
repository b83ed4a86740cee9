import type { Address, Hex } from '../../shared/ids.ts';
import { type Payer, payerOf } from './payer.ts';
import { MORPHO_EVENTS, type MorphoEvent, type PositionKey, type RecordedEvent, type RecordedLog } from './types.ts';

/** Kinds of events of a position. */
const POSITION_EVENT_KINDS = [
  'opened',
  'supplied',
  'withdrawn',
  'repaid',
  'borrowed',
  'increased',
  'partly_closed',
  'closed',
  'liquidated',
] as const;
export type PositionEventKind = (typeof POSITION_EVENT_KINDS)[number];

/** Amounts of both tokens of a market, base units. */
export interface Amounts {
  readonly collateral: bigint;
  readonly loan: bigint;
}

/**
 * One event of a position. Amounts are base units. Effects of a transaction beyond the position's contract (a swap of another
 * token before) are not part of it.
 */
export interface Operation {
  readonly kind: PositionEventKind;
  readonly blockNumber: bigint;
  /** Time of the block, ms. */
  readonly atMs: number;
  readonly txHash: Hex;
  /** Of its first event of the lending protocol. */
  readonly logIndex: number;
  /** Changes of the position: collateral, debt without its interest, and borrow shares. */
  readonly collateralChange: bigint;
  readonly debtChange: bigint;
  readonly sharesChange: bigint;
  /** Bad debt: not repaid by the liquidator. */
  readonly badDebt: bigint;
  /** Paid by `payer`, fee included; and received by the owner. */
  readonly paid: Amounts;
  readonly payer: Payer;
  readonly received: Amounts;
  readonly fee: Amounts;
  /** Output of the swap less its input: one of both is negative. `null` = no swap. */
  readonly swap: Amounts | null;
  /** Whether the token transfers do not explain the amounts: fee, swap and payments are then not known. */
  readonly isUnexplained: boolean;
}

/** The position, the tokens of its market, and the contracts whose transfers are no payments. */
export interface OperationsInput {
  readonly key: Pick<PositionKey, 'account' | 'wallet' | 'positionIndex' | 'marketId'>;
  readonly collateral: Address;
  readonly loan: Address;
  readonly morphoBlue: Address;
  readonly flashLeverage: Address;
  /** Passes on payments of its caller, for positions of any owner. */
  readonly flashLeverageRouter: Address;
  /** Every log of the transactions of the position, in the order of the chain. */
  readonly logs: readonly RecordedLog[];
}

/** Find the events of a position in the logs of its transactions, oldest first. */
export function operationsOf(input: OperationsInput): readonly Operation[] {
  const transactions = new Map<string, RecordedLog[]>();
  for (const log of input.logs) {
    const key = `${log.blockNumber} ${log.txHash}`;
    const known = transactions.get(key);
    if (known) known.push(log);
    else transactions.set(key, [log]);
  }
  let [collateral, shares] = [0n, 0n];
  return [...transactions.values()].flatMap((logs) =>
    groupsOf(input, logs).map((group) => {
      const operation = operationOf(input, group);
      collateral += operation.collateralChange;
      shares += operation.sharesChange;
      const isEmptied = operation.kind === 'withdrawn' && collateral === 0n && shares === 0n;
      return isEmptied ? { ...operation, kind: 'closed' as const } : operation;
    }),
  );
}

type LegOf = Readonly<Partial<Record<MorphoEvent, RecordedLog>>>;

/** The logs of one event of a position. */
interface Group {
  readonly first: RecordedLog;
  readonly legs: LegOf;
  /** Events of the product's contract about it. */
  readonly notes: readonly RecordedLog[];
  /** Token transfers since the event of any position before it. */
  readonly transfers: readonly RecordedLog[];
}

interface OpenGroup {
  readonly legs: RecordedLog[];
  readonly notes: RecordedLog[];
  readonly transfers: RecordedLog[];
}

export const isMorpho = (event: RecordedEvent): event is MorphoEvent => MORPHO_EVENTS.some((known) => known === event);

/**
 * Divide the logs of a transaction. The contract ends every operation with its events, except an increase of the leverage, which
 * ends with the loan. Every other leg of the lending protocol without these events was made by the owner's own call.
 */
function groupsOf(input: OperationsInput, logs: readonly RecordedLog[]): readonly Group[] {
  const { account, wallet, positionIndex, marketId } = input.key;
  const groups: Group[] = [];
  let open: OpenGroup = { legs: [], notes: [], transfers: [] };
  const end = (): void => {
    if (open.legs.length > 0) groups.push(...closed(input, open));
    open = { legs: [], notes: [], transfers: [] };
  };
  for (const log of logs) {
    const isOwnNote = log.wallet === wallet && log.positionIndex === positionIndex;
    if (log.event === 'Transfer') {
      // A transfer after the events of the contract belongs to the next operation.
      if (open.notes.length > 0) end();
      open.transfers.push(log);
    } else if (isMorpho(log.event) && log.account === account && log.marketId === marketId) {
      const isComplete = open.notes.length > 0 || open.legs.some(({ event }) => event === log.event) || isWhole(open);
      if (isComplete || log.event === 'Liquidate') {
        // Without an event of the contract, transfers after the last leg belong to the next operation.
        const last = open.notes.length > 0 ? log.logIndex : (open.legs.at(-1)?.logIndex ?? -1);
        const following = open.transfers.filter(({ logIndex }) => logIndex > last);
        end();
        open.transfers.push(...following);
      }
      open.legs.push(log);
      if (log.event === 'Liquidate') end();
    } else if (isOwnNote) {
      open.notes.push(log);
    } else {
      // Of another position: transfers before it were its own.
      end();
    }
  }
  end();
  return groups;
}

function isWhole({ legs }: OpenGroup): boolean {
  const has = (event: MorphoEvent) => legs.some((leg) => leg.event === event);
  return (has('SupplyCollateral') && has('Borrow')) || (has('Repay') && has('WithdrawCollateral'));
}

/** Close a group. Legs that no operation of the contract explains are events of their own. */
function closed(input: OperationsInput, { legs, notes, transfers }: OpenGroup): readonly Group[] {
  const asOne = (own: readonly RecordedLog[], rest: Pick<Group, 'notes' | 'transfers'>): Group[] => {
    const [first] = own;
    return first ? [{ first, legs: Object.fromEntries(own.map((leg) => [leg.event, leg])) as LegOf, ...rest }] : [];
  };
  const isOfContract = notes.length > 0 || isIncrease(input, legs, transfers);
  if (isOfContract) return asOne(legs, { notes, transfers });
  return legs.flatMap((leg) => asOne([leg], { notes: [], transfers: [] }));
}

/** Collateral and a loan without an event of the contract: its increase, if the collateral went through the contract. */
function isIncrease(input: OperationsInput, legs: readonly RecordedLog[], transfers: readonly RecordedLog[]): boolean {
  const supply = legs.find(({ event }) => event === 'SupplyCollateral');
  if (legs.length !== 2 || !supply || !legs.some(({ event }) => event === 'Borrow')) return false;
  return (
    sum(transfers, input.collateral, { to: input.flashLeverage, notFrom: [input.morphoBlue] }) >= supply.collateral
  );
}

export const NOTHING: Amounts = { collateral: 0n, loan: 0n };

const UNKNOWN_PARTS = { paid: NOTHING, received: NOTHING, fee: NOTHING, swap: null };

type Parts = Pick<Operation, 'kind' | 'paid' | 'received' | 'fee' | 'swap'> & { readonly isExplained: boolean };

function operationOf(input: OperationsInput, group: Group): Operation {
  const { first, legs } = group;
  const {
    SupplyCollateral: supply,
    WithdrawCollateral: withdraw,
    Borrow: borrow,
    Repay: repay,
    Liquidate: seizure,
  } = legs;
  const { isExplained, ...parts } = partsOf(input, group);
  const amounts = [parts.paid, parts.received, parts.fee].flatMap(({ collateral, loan }) => [collateral, loan]);
  const isUnexplained = !isExplained || amounts.some((amount) => amount < 0n);
  return {
    ...(isUnexplained ? { kind: parts.kind, ...UNKNOWN_PARTS } : parts),
    payer: payerOf(input, group),
    blockNumber: first.blockNumber,
    atMs: first.atMs,
    txHash: first.txHash,
    logIndex: first.logIndex,
    collateralChange: (supply?.collateral ?? 0n) - (withdraw?.collateral ?? 0n) - (seizure?.collateral ?? 0n),
    debtChange: (borrow?.assets ?? 0n) - (repay?.assets ?? 0n) - (seizure?.assets ?? 0n),
    sharesChange:
      (borrow?.shares ?? 0n) - (repay?.shares ?? 0n) - (seizure?.shares ?? 0n) - (seizure?.badDebtShares ?? 0n),
    badDebt: seizure?.badDebt ?? 0n,
    isUnexplained,
  };
}

function partsOf(input: OperationsInput, group: Group): Parts {
  const { legs, notes } = group;
  const { SupplyCollateral: supply, WithdrawCollateral: withdraw, Borrow: borrow, Repay: repay } = legs;
  const note = (event: RecordedEvent) => notes.find((log) => log.event === event);
  const none = { paid: NOTHING, received: NOTHING, fee: NOTHING, swap: null, isExplained: true };
  if (legs.Liquidate) return { ...none, kind: 'liquidated' };
  const opening = note('LeveragePositionOpened');
  if (supply && (opening || borrow)) {
    const deposit = opening?.collateral ?? 0n;
    return openingParts(input, group, opening ? 'opened' : 'increased', {
      deposit,
      supplied: supply.collateral,
      borrowed: borrow?.assets ?? 0n,
    });
  }
  const isSale = withdraw && notes.length > 0 && (repay || note('LoanRepaid') || !note('CollateralWithdrawn'));
  if (isSale) {
    const kind = note('LeveragePositionClosed') ? 'closed' : 'partly_closed';
    return saleParts(input, group, kind, withdraw.collateral, repay?.assets ?? 0n);
  }
  if (supply) {
    const pulled = notes.length > 0 ? intoContract(input, group, input.collateral) : supply.collateral;
    const fee = { collateral: pulled - supply.collateral, loan: 0n };
    return { ...none, kind: 'supplied', paid: { collateral: pulled, loan: 0n }, fee };
  }
  if (withdraw) {
    const received = note('CollateralWithdrawn')?.collateral ?? withdraw.collateral;
    const fee = { collateral: withdraw.collateral - received, loan: 0n };
    const kind = note('LeveragePositionClosed') ? 'closed' : 'withdrawn';
    return { ...none, kind, received: { collateral: received, loan: 0n }, fee };
  }
  if (repay) return notes.length > 0 ? repaymentParts(input, group, repay.assets) : ownRepayment(repay.assets);
  return { ...none, kind: 'borrowed', received: { collateral: 0n, loan: borrow?.assets ?? 0n } };
}

function ownRepayment(loan: bigint): Parts {
  const paid = { collateral: 0n, loan };
  return { kind: 'repaid', paid, received: NOTHING, fee: NOTHING, swap: null, isExplained: true };
}

/** The deposit and the loan's swap became collateral, less the fee. */
function openingParts(
  input: OperationsInput,
  group: Group,
  kind: 'opened' | 'increased',
  { deposit, supplied, borrowed }: { readonly deposit: bigint; readonly supplied: bigint; readonly borrowed: bigint },
): Parts {
  const bought = supplied - deposit;
  const fee = intoContract(input, group, input.collateral) - supplied;
  return {
    kind,
    paid: { collateral: deposit + fee, loan: 0n },
    received: NOTHING,
    fee: { collateral: fee, loan: 0n },
    swap: { collateral: bought, loan: -borrowed },
    isExplained: bought >= 0n,
  };
}

/** The proceeds of the collateral became the repayment, the fee and the owner's part. */
function saleParts(
  input: OperationsInput,
  group: Group,
  kind: 'closed' | 'partly_closed',
  sold: bigint,
  repaid: bigint,
): Parts {
  const { flashLeverage: contract, morphoBlue, loan, key } = input;
  const proceeds = intoContract(input, group, loan);
  const received = sum(group.transfers, loan, { from: contract, to: key.wallet });
  const fee = sum(group.transfers, loan, { from: contract, notTo: [morphoBlue, key.wallet] });
  return {
    kind,
    paid: NOTHING,
    received: { collateral: 0n, loan: received },
    fee: { collateral: 0n, loan: fee },
    swap: { collateral: -sold, loan: proceeds },
    isExplained: proceeds === repaid + received + fee,
  };
}

/** The pulled loan tokens became the repayment and the fee; the rest went back to the payer. */
function repaymentParts(input: OperationsInput, group: Group, repaid: bigint): Parts {
  const { flashLeverage: contract, morphoBlue, loan } = input;
  const payer = group.transfers.find(
    ({ token, sender, receiver }) => token === loan && receiver === contract && sender !== morphoBlue,
  )?.sender;
  if (!payer) return { ...ownRepayment(repaid), isExplained: false };
  const pulled = sum(group.transfers, loan, { from: payer, to: contract });
  const back = sum(group.transfers, loan, { from: contract, to: payer });
  const fee = sum(group.transfers, loan, { from: contract, notTo: [morphoBlue, payer] });
  return {
    kind: 'repaid',
    paid: { collateral: 0n, loan: repaid + fee },
    received: NOTHING,
    fee: { collateral: 0n, loan: fee },
    swap: null,
    isExplained: pulled === repaid + back + fee,
  };
}

/** The amount of a token that the contract received, except from the lending protocol. */
function intoContract({ flashLeverage, morphoBlue }: OperationsInput, { transfers }: Group, token: Address): bigint {
  return sum(transfers, token, { to: flashLeverage, notFrom: [morphoBlue] });
}

interface Between {
  readonly from?: Address;
  readonly to?: Address;
  readonly notFrom?: readonly Address[];
  readonly notTo?: readonly Address[];
}

function sum(transfers: readonly RecordedLog[], token: Address, between: Between): bigint {
  const { from, to, notFrom = [], notTo = [] } = between;
  return transfers.reduce((total, log) => {
    const { sender, receiver, assets } = log;
    if (log.token !== token || !sender || !receiver) return total;
    const isCounted =
      (!from || sender === from) && (!to || receiver === to) && !notFrom.includes(sender) && !notTo.includes(receiver);
    return isCounted ? total + assets : total;
  }, 0n);
}

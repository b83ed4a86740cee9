import { CONTRACTS } from '../generated/contracts.ts';
import { EVENTS } from '../generated/events.ts';
import type { Log, Receipt } from './receipts.ts';

type PositionEvent = keyof typeof EVENTS.flashLeverage;

/** The change of one position, by an event of FlashLeverage. */
export interface PositionChange {
  /** Name of the event. */
  readonly event: PositionEvent;
  /** Index of the position of the account on chain. */
  readonly index: bigint;
  /** `positionId` of the service; `undefined` = the receipt does not tell the market. */
  readonly positionId: string | undefined;
  readonly marketId: string | undefined;
  /** The contract that holds the position. */
  readonly proxy: string | undefined;
  /** The amounts that the event names, in its order, base units. */
  readonly amounts: readonly bigint[];
}

/** Movement of one ERC-20 token of the account, base units. */
export interface TokenFlow {
  readonly token: string;
  readonly in: bigint;
  readonly out: bigint;
}

/** The records of one position by the lending protocol, base units. An increase of leverage has no other record. */
export interface LendingChange {
  readonly marketId: string;
  /** The contract that holds the position, or the account itself (the stock leg of a vault); lower case. */
  readonly holder: string;
  readonly collateralIn: bigint;
  readonly collateralOut: bigint;
  readonly borrowed: bigint;
  readonly repaid: bigint;
}

export interface Outcome {
  readonly positions: readonly PositionChange[];
  /** Of the account itself, and of the contracts of the positions that the plan or an event names. */
  readonly lending: readonly LendingChange[];
  readonly tokens: readonly TokenFlow[];
  /** Paid for gas, wei; `undefined` = unknown, or paid by another account. */
  readonly gasPaid: bigint | undefined;
}

const addressOf = (topic = '') => `0x${topic.slice(-40).toLowerCase()}`;
const wordsOf = (data: string) => (data.slice(2).match(/.{64}/g) ?? []).map((word) => BigInt(`0x${word}`));

/**
 * Read the result for an account from receipts. Only events of the known contracts of the chain count. `holders` are the contracts
 * of the positions that the plan names.
 */
export function outcomeOf(
  receipts: readonly Receipt[],
  account: string,
  chainId: number,
  holders: readonly string[] = [],
): Outcome {
  const positions = receipts.flatMap((receipt) => positionChanges(receipt.logs, account, chainId));
  const own = new Set([account, ...holders, ...positions.flatMap(({ proxy }) => proxy ?? [])].map(lower));
  const logs = receipts.flatMap((receipt) => receipt.logs);
  const gas = receipts.map(({ from, gasPaid }) => (from === account.toLowerCase() ? gasPaid : undefined));
  return {
    positions,
    lending: lendingChanges(logs, own, chainId),
    tokens: tokenFlows(logs, account),
    gasPaid: gas.reduce<bigint | undefined>(
      (sum, paid) => (sum === undefined || paid === undefined ? undefined : sum + paid),
      0n,
    ),
  };
}

function tokenFlows(logs: readonly Log[], account: string): TokenFlow[] {
  const flows = new Map<string, TokenFlow>();
  for (const { address, topics, data } of logs) {
    if (topics[0] !== EVENTS.transfer || topics.length !== 3) continue;
    const [amount = 0n] = wordsOf(data);
    const token = address.toLowerCase();
    const flow = flows.get(token) ?? { token, in: 0n, out: 0n };
    const isIn = addressOf(topics[2]) === account.toLowerCase();
    const isOut = addressOf(topics[1]) === account.toLowerCase();
    if (isIn || isOut) {
      flows.set(token, { token, in: flow.in + (isIn ? amount : 0n), out: flow.out + (isOut ? amount : 0n) });
    }
  }
  return [...flows.values()];
}

type Contracts = { readonly flashLeverage: string; readonly morphoBlue: string };

const contractsOf = (chainId: number): Contracts | undefined =>
  (CONTRACTS as Readonly<Record<number, Contracts>>)[chainId];
const lower = (text: string) => text.toLowerCase();

function lendingChanges(logs: readonly Log[], holders: ReadonlySet<string>, chainId: number): LendingChange[] {
  const morpho = lower(contractsOf(chainId)?.morphoBlue ?? '');
  const changes = new Map<string, LendingChange>();
  for (const { address, topics, data } of logs) {
    const event = lower(address) === morpho ? lendingEvents.get(topics[0] ?? '') : undefined;
    const [marketId = '', holder] = [topics[1], event && addressOf(topics[event.ownerAt])];
    if (event === undefined || holder === undefined || !holders.has(holder)) continue;
    const key = `${marketId} ${holder}`;
    const none = { collateralIn: 0n, collateralOut: 0n, borrowed: 0n, repaid: 0n };
    const change = changes.get(key) ?? { marketId, holder, ...none };
    const amount = wordsOf(data)[event.assetsAt] ?? 0n;
    changes.set(key, { ...change, [event.field]: change[event.field] + amount });
  }
  return [...changes.values()];
}

const LENDING_FIELDS = {
  SupplyCollateral: 'collateralIn',
  WithdrawCollateral: 'collateralOut',
  Borrow: 'borrowed',
  Repay: 'repaid',
} as const;
const lendingEvents = new Map(
  Object.entries(LENDING_FIELDS).map(([name, field]) => {
    const { topic, ownerAt, assetsAt } = EVENTS.morphoBlue[name as keyof typeof LENDING_FIELDS];
    return [topic as string, { field, ownerAt, assetsAt }];
  }),
);

interface Owner {
  readonly marketId: string;
  readonly proxy: string;
}

function positionChanges(logs: readonly Log[], account: string, chainId: number): PositionChange[] {
  const contracts = contractsOf(chainId);
  if (contracts === undefined) return [];
  const of = (contract: string) => (log: Log) => log.address.toLowerCase() === contract.toLowerCase();
  const ownerOf = (log: Log): Owner | undefined => {
    const place = of(contracts.morphoBlue)(log) ? ownerTopics.get(log.topics[0] ?? '') : undefined;
    const proxy = place === undefined ? undefined : addressOf(log.topics[place]);
    // The account itself is the owner of the stock leg of a vault.
    if (proxy === undefined || proxy === account.toLowerCase()) return undefined;
    return { marketId: log.topics[1] ?? '', proxy };
  };
  const owners = logs.map(ownerOf);
  const only = new Set(owners.flatMap((owner) => owner?.proxy ?? [])).size === 1 ? owners.find(Boolean) : undefined;
  return logs.flatMap((log, i) => {
    const event = of(contracts.flashLeverage)(log) ? eventNames.get(log.topics[0] ?? '') : undefined;
    if (event === undefined || addressOf(log.topics[1]) !== account.toLowerCase()) return [];
    // The lending protocol's events of a position come before its own.
    const owner = only ?? owners.slice(0, i).findLast(Boolean);
    const index = BigInt(log.topics[2] ?? 0);
    const indexed = log.topics.slice(3).map((topic) => BigInt(topic));
    return [
      {
        event,
        index,
        positionId: owner === undefined ? undefined : `${chainId}-${owner.marketId}-${index}`,
        marketId: owner?.marketId,
        proxy: owner?.proxy,
        amounts: [...indexed, ...wordsOf(log.data)],
      },
    ];
  });
}

const eventNames = new Map(
  Object.entries(EVENTS.flashLeverage).map(([name, topic]): [string, PositionEvent] => [topic, name as PositionEvent]),
);
/** By event of the lending protocol: which topic is the owner of the position. */
const ownerTopics = new Map<string, number>(
  Object.values(EVENTS.morphoBlue).map(({ topic, ownerAt }) => [topic, ownerAt]),
);

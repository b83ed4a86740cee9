import { type Address, type Hex, parseAbi } from 'viem';
import { accounts, labelAddress } from '../../devnet/seed/accounts.ts';
import { seededWallets } from '../../devnet/seed/wallets.ts';
import type { Verified } from '../../packages/client/src/verify/index.ts';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { erc20Abi } from '../../src/abi/erc20.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { multicall3Abi } from '../../src/abi/multicall3.ts';
import type { TestService } from '../support/service.ts';

type LocalChain = ReturnType<TestService['world']['chains']['on']>;

/** Every account with a key, every wallet that the seeding knows, and an address that nothing knows. */
const PEOPLE: readonly Address[] = [
  ...new Set([
    ...accounts.map(({ address }) => address),
    ...seededWallets.map(({ account }) => account.address),
    labelAddress('nobody'),
  ]),
];
const MULTICALL_BALANCE = parseAbi(['function getEthBalance(address) view returns (uint256)']);

/** Reads in one call of a node. */
const BATCH = 1_000;

/** One word of the chain's state about an account. */
interface Fact {
  readonly account: Address;
  /** Holder of an allowance or of an authorization. */
  readonly trusted?: Address;
  readonly token?: Address;
  readonly what: 'balance' | 'allowance' | 'authorization' | 'debt' | 'collateral' | 'supply';
  readonly text: string;
}

interface Read {
  readonly target: Address;
  readonly callData: Hex;
  /** One for each word of the answer. */
  readonly facts: readonly Fact[];
}

/** The state of all accounts on the chain, as answers that can be compared as a whole. */
export interface Others {
  read(): Promise<readonly Hex[]>;
  /** Changes of other accounts, and of the rights of the plan's owner beyond the report, by a plan. */
  broken(before: readonly Hex[], after: readonly Hex[], report: Verified): readonly string[];
}

/** Prepare the reading of balances, allowances, authorizations and debts of every known account and position. */
export async function othersOf(local: LocalChain): Promise<Others> {
  const { client, chain } = local;
  const { contracts } = chain;
  const owners = new Map<Address, Address>(PEOPLE.map((account) => [account, account]));
  const reads: Read[] = [];
  for (const account of PEOPLE) {
    const held = await client.readContract({
      address: contracts.flashLeverage,
      abi: flashLeverageAbi,
      functionName: 'getUserLeveragePositions',
      args: [account],
    });
    for (const { userProxy, marketId } of held) {
      owners.set(userProxy, account);
      reads.push(positionOf(contracts.morphoBlue, marketId, userProxy));
    }
    for (const { id } of chain.markets) reads.push(positionOf(contracts.morphoBlue, id, account));
  }
  const routers = Object.values(chain.swapRouters).flatMap((addresses) => addresses ?? []);
  const spenders = [...new Set([...Object.values(contracts).filter((one) => one !== undefined), ...routers])];
  for (const account of PEOPLE) {
    for (const { address: token, symbol, isNative } of chain.tokens) {
      const text = `${symbol} of ${account}`;
      reads.push(
        isNative
          ? readOf(contracts.multicall3, MULTICALL_BALANCE, 'getEthBalance', [account], {
              account,
              token,
              what: 'balance',
              text,
            })
          : readOf(token, erc20Abi, 'balanceOf', [account], { account, token, what: 'balance', text }),
      );
      if (isNative) continue;
      for (const trusted of spenders) {
        const fact = { account, trusted, token, what: 'allowance', text: `${text} allowed to ${trusted}` } as const;
        reads.push(readOf(token, erc20Abi, 'allowance', [account, trusted], fact));
      }
    }
    for (const trusted of [...spenders, ...PEOPLE]) {
      const fact = { account, trusted, what: 'authorization', text: `${account} authorizes ${trusted}` } as const;
      reads.push(readOf(contracts.morphoBlue, morphoBlueAbi, 'isAuthorized', [account, trusted], fact));
    }
  }
  const batches = Array.from({ length: Math.ceil(reads.length / BATCH) }, (_, i) =>
    reads.slice(i * BATCH, (i + 1) * BATCH),
  ).map((batch) => {
    const calls = batch.map(({ target, callData }) => ({ target, callData, allowFailure: false }));
    return {
      data: encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] }),
      words: wordsOf(batch),
    };
  });
  return {
    read: async () => {
      const answers: Hex[] = [];
      // One after the other: together they are more than a node takes in one body.
      for (const { data } of batches) {
        const { data: answer } = await client.call({ to: contracts.multicall3, data });
        if (answer === undefined) throw new Error('no answer about the accounts');
        answers.push(answer);
      }
      return answers;
    },
    broken: (before, after, report) =>
      batches.flatMap(({ words }, i) => {
        const [old = '', now = ''] = [before[i], after[i]];
        // Answers are compared as they are; a fact is found by its place only where they differ.
        if (old === now) return [];
        return words.flatMap(({ fact, at }) => {
          const [was, is] = [old, now].map((hex) => BigInt(`0x${hex.slice(at, at + 64)}`)) as [bigint, bigint];
          return was === is || isReported(fact, was, is, owners, report) ? [] : [`${fact.text}: ${was} became ${is}`];
        });
      }),
  };
}

/** Whether a change is one of the owner's own position or balance, or a right of the owner that the report names. */
function isReported(
  { account, what, trusted, token }: Fact,
  old: bigint,
  now: bigint,
  owners: ReadonlyMap<Address, Address>,
  { owner, authorizes }: Verified,
): boolean {
  if (owners.get(account) !== owner) return false;
  if (what === 'authorization') return now < old;
  if (what !== 'allowance') return true;
  const left = authorizes.find(
    (one) => one.kind === 'allowance' && !one.until && one.spender === trusted && one.amount.token === token,
  );
  return now < old || (left?.kind === 'allowance' && now <= left.amount.amount);
}

function readOf(target: Address, abi: object, functionName: string, args: readonly unknown[], fact: Fact): Read {
  return { target, callData: encodeFunctionData({ abi, functionName, args } as never), facts: [fact] };
}

function positionOf(morphoBlue: Address, marketId: Hex, account: Address): Read {
  const callData = encodeFunctionData({ abi: morphoBlueAbi, functionName: 'position', args: [marketId, account] });
  const facts = (['supply', 'debt', 'collateral'] as const).map((what) => ({
    account,
    what,
    text: `${what} of ${account} on ${marketId}`,
  }));
  return { target: morphoBlue, callData, facts };
}

/** Each fact with its place in the answer of `aggregate3`, in characters. */
function wordsOf(batch: readonly Read[]): readonly { readonly fact: Fact; readonly at: number }[] {
  // Offset and length of the list, the offset of each item; then of each: success, offset, length, and its words.
  let start = 2 + 64 * (2 + batch.length);
  return batch.flatMap(({ facts }) => {
    const words = facts.map((fact, i) => ({ fact, at: start + 64 * (3 + i) }));
    start += 64 * (3 + facts.length);
    return words;
  });
}

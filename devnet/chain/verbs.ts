import { type Address, type Hex, numberToHex, parseAbi, type TransactionReceipt } from 'viem';
import type { Chain, Market, Token } from '../../src/catalog/index.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { LENDER, OWNER } from '../seed/accounts.ts';
import { marketKey } from '../seed/markets.ts';
import { feedsOf, oracleSeed } from '../seed/oracles.ts';
import type { DevnetClient } from './client.ts';
import type { Artifacts } from './compile.ts';
import { marketParams, tokenContract } from './deploy.ts';
import { encode } from './encode.ts';
import { priceCall } from './prices.ts';
import { sendMined } from './receipt.ts';

/** Above the gas of every transaction here, and well below the limit of a block. */
export const TRANSACTION_GAS = 20_000_000n;

const oracleAbi = parseAbi(['function price() view returns (uint256)']);

/** Actions of tests and the control endpoint on one local chain. Amounts are base units. */
export type ChainVerbs = ReturnType<typeof createVerbs>;

export interface Call {
  readonly from: Address;
  readonly to: Address;
  readonly data?: Hex;
  readonly value?: bigint;
}

interface Dependencies {
  readonly chain: Chain;
  readonly client: DevnetClient;
  readonly artifacts: Artifacts;
}

/** Bind the verbs to a running chain. Every verb that sends a transaction resolves when that is mined, and rejects when it reverts. */
export function createVerbs({ chain, client, artifacts }: Dependencies) {
  const { morphoBlue } = chain.contracts;

  const market = (which: Market | string): Market => {
    if (typeof which !== 'string') return which;
    const found = chain.markets.find(({ id }) => id === which.toLowerCase());
    if (found === undefined) throw new Error(`Chain ${chain.chainId} has no market ${which}`);
    return found;
  };
  const token = (which: Token | string): Token => {
    if (typeof which !== 'string') return which;
    const found = chain.tokens.find(
      ({ symbol, address }) => symbol === which || address.toLowerCase() === which.toLowerCase(),
    );
    if (found === undefined) throw new Error(`Chain ${chain.chainId} has no token ${which}`);
    return found;
  };

  /** Send a transaction from any account, with or without a key. */
  const send = async ({ from, to, data = '0x', value = 0n }: Call): Promise<TransactionReceipt> => {
    // A call comes first, so that a revert is reported with its reason and not sent. An estimate would run it some ten times.
    const [called] = await Promise.allSettled([
      client.call({ account: from, to, data, value, gas: TRANSACTION_GAS }),
      client.impersonateAccount({ address: from }),
    ]);
    if (called.status === 'rejected') throw called.reason;
    const quantities = { value: numberToHex(value), gas: numberToHex(TRANSACTION_GAS) };
    const receipt = await sendMined(client, { from, to, data, ...quantities });
    if (receipt.status !== 'success')
      throw new Error(`Transaction ${receipt.transactionHash} from ${from} to ${to} reverted`);
    return receipt;
  };
  const call = async (from: Address, to: Address, contract: string, functionName: string, args: readonly unknown[]) =>
    send({ from, to, data: encode(artifacts, contract, functionName, args) });
  const morpho = (from: Address, functionName: string, args: readonly unknown[]) =>
    call(from, morphoBlue, 'Morpho', functionName, args);

  /** Give an account more of a token; of ETH as well. */
  const mint = async (which: Token | string, to: Address, amount: bigint): Promise<void> => {
    const minted = token(which);
    if (minted.isNative) {
      await client.setBalance({ address: to, value: (await client.getBalance({ address: to })) + amount });
      return;
    }
    await call(OWNER, minted.address, tokenContract(chain, minted), 'mint', [to, amount]);
  };
  const approveMorpho = async (from: Address, which: Token, amount: bigint): Promise<void> => {
    const contract = tokenContract(chain, which);
    // To zero first: USDT refuses to change one non-zero allowance to another.
    await call(from, which.address, contract, 'approve', [morphoBlue, 0n]);
    await call(from, which.address, contract, 'approve', [morphoBlue, amount]);
  };

  const oraclePrice = (which: Market | string): Promise<bigint> =>
    client.readContract({ address: market(which).oracle, abi: oracleAbi, functionName: 'price' });
  /** Set the price of an oracle: of the feed behind it where it has one, which dates it unless it is frozen. */
  const setOraclePrice = (which: Market | string, price: bigint): Promise<TransactionReceipt> =>
    send({ from: OWNER, ...priceCall(market(which), price) });
  const onFeed = (which: Market | string, functionName: string, args: readonly unknown[] = []) => {
    const of = market(which);
    const { kind } = oracleSeed(of);
    if (kind !== 'feed') throw new Error(`The oracle of ${marketKey(of)} has no feed: it is of the kind ${kind}`);
    return call(OWNER, feedsOf(of).base, 'PriceFeed', functionName, args);
  };

  /** Supply freshly minted loan tokens to a market. */
  const supply = async (
    which: Market | string,
    amount: bigint,
    from: Address = LENDER,
  ): Promise<TransactionReceipt> => {
    const into = market(which);
    await mint(into.loan, from, amount);
    await approveMorpho(from, into.loan, amount);
    return morpho(from, 'supply', [marketParams(into), amount, 0n, from, '0x']);
  };
  const borrow = (which: Market | string, amount: bigint, from: Address): Promise<TransactionReceipt> =>
    morpho(from, 'borrow', [marketParams(market(which)), amount, 0n, from, from]);
  const supplyCollateral = async (
    which: Market | string,
    amount: bigint,
    from: Address,
  ): Promise<TransactionReceipt> => {
    const into = market(which);
    await mint(into.collateral, from, amount);
    await approveMorpho(from, into.collateral, amount);
    return morpho(from, 'supplyCollateral', [marketParams(into), amount, from, '0x']);
  };

  let setBack = 0n;
  return {
    chain,
    client,
    market,
    token,
    send,
    call,
    mint,
    oraclePrice,
    setOraclePrice,
    /** Move an oracle by a percentage, e.g. '-3.5'; markets that share the oracle move too. */
    moveOracle: async (which: Market | string, percent: string): Promise<bigint> => {
      const factor = new Decimal(percent).div(100).plus(1);
      const moved = new Decimal((await oraclePrice(which)).toString()).times(factor);
      const price = BigInt(moved.integerValue(Decimal.ROUND_DOWN).toFixed(0));
      await setOraclePrice(which, price);
      return price;
    },
    /** Stop the feed behind an oracle: its date no longer changes, even when its answer is set anew. */
    freezeFeed: (which: Market | string): Promise<TransactionReceipt> => onFeed(which, 'freeze'),
    /** Let the feed publish now, and at every heartbeat again. */
    unfreezeFeed: (which: Market | string): Promise<TransactionReceipt> => onFeed(which, 'unfreeze'),
    /** Let the feed return any date (unix seconds) until it is unfrozen. */
    dateFeed: (which: Market | string, updatedAt: bigint): Promise<TransactionReceipt> =>
      onFeed(which, 'freezeAt', [updatedAt]),
    /** Let time pass: the next block, mined at once, is that many seconds later. */
    increaseTime: async (seconds: number): Promise<void> => {
      // `evm_increaseTime` changes the offset of the real clock only, which the blocks of a chain without real time ignore.
      const { timestamp } = await client.getBlock();
      await client.setNextBlockTimestamp({ timestamp: timestamp + BigInt(seconds) });
      await client.mine({ blocks: 1 });
    },
    mine: (blocks = 1): Promise<void> => client.mine({ blocks }),
    snapshot: (): Promise<Hex> => client.snapshot(),
    /** Go back to a snapshot, which ends with it. @throws Error when the chain does not know it */
    revert: async (id: Hex): Promise<void> => {
      const head = await client.getBlockNumber();
      const isBack = await client.request({ method: 'evm_revert', params: [id] } as never);
      if (isBack !== true) throw new Error(`The chain ${chain.chainId} did not go back to ${id}: ${String(isBack)}`);
      setBack += head - (await client.getBlockNumber());
    },
    /** Blocks that were mined since the genesis, those included that were set back: each took a place in the history of states. */
    minedBlocks: async (): Promise<bigint> => setBack + (await client.getBlockNumber()),
    supply,
    borrow,
    supplyCollateral,
    /** Post freshly minted collateral and borrow against it, as an account's own position on Morpho. */
    openMorphoPosition: async (
      which: Market | string,
      { account, collateral, borrowed }: { account: Address; collateral: bigint; borrowed: bigint },
    ): Promise<void> => {
      await supplyCollateral(which, collateral, account);
      if (borrowed > 0n) await borrow(which, borrowed, account);
    },
    /** Book a market's interest up to now. */
    accrue: (which: Market | string): Promise<TransactionReceipt> =>
      morpho(OWNER, 'accrueInterest', [marketParams(market(which))]),
    /** Set the on-chain savings rate (`str()` or `vsr()`) of a token, per second in ray. */
    setRate: async (which: Token | string, perSecondRay: bigint): Promise<TransactionReceipt> => {
      const rated = token(which);
      if (rated.onchainRate === undefined) throw new Error(`${rated.symbol} publishes no rate on chain`);
      return call(OWNER, rated.address, tokenContract(chain, rated), 'setRate', [perSecondRay]);
    },
    impersonate: (address: Address): Promise<void> => client.impersonateAccount({ address }),
  };
}

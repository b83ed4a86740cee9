import { flashLeverageAbi, morphoBlueAbi } from '../abi/index.ts';
import { WalletError } from '../execute/errors.ts';
import type { Rpc } from '../execute/wallet.ts';
import { selectorsOf } from '../verify/calldata.ts';
import type { TrustedChain, TrustedMarket } from '../verify/types.ts';

const LEVERAGE = selectorsOf(flashLeverageAbi);
const MORPHO = selectorsOf(morphoBlueAbi);
/** `price()` of a Morpho oracle. */
const PRICE = '0xa035b1fe';

/** A position of FlashLeverage as the chain has it. */
export interface HeldPosition {
  readonly isOpen: boolean;
  readonly marketId: string;
  readonly proxy: string;
  /** Loan base units. */
  readonly basis: bigint;
}

/** The readings that judge a plan. They come from a node, at contracts of the trusted list: the service has no say in them. */
export interface ChainState {
  /** Loan per collateral base unit, scaled by 1e36. */
  priceOf(market: TrustedMarket): Promise<bigint>;
  position(owner: string, index: number): Promise<HeldPosition>;
  positions(owner: string): Promise<readonly HeldPosition[]>;
  /** Collateral and debt with its interest of an account at the lending protocol, base units. */
  holding(account: string, market: TrustedMarket): Promise<{ readonly collateral: bigint; readonly debt: bigint }>;
  /** LTV above which the contract lets no position grow, WAD. */
  maxLtvOf(market: TrustedMarket): Promise<bigint>;
  /** Of the contract, WAD. */
  fees(): Promise<{ readonly depositFee: bigint; readonly yieldFee: bigint }>;
}

export function createChainState(reader: Rpc, { contracts }: TrustedChain): ChainState {
  const { flashLeverage, morphoBlue } = contracts;
  const words = async (to: string, selector: string | undefined, ...args: readonly (string | bigint)[]) => {
    const data = `${selector}${args.map(wordOf).join('')}`;
    const answer = await reader.read('eth_call', [{ to, data }, 'latest']);
    if (typeof answer !== 'string' || !/^0x([0-9a-fA-F]{64})+$/.test(answer)) {
      throw new WalletError(`The node answered the call of ${to} with nothing that can be read.`);
    }
    return (answer.slice(2).match(/.{64}/g) ?? []).map((word) => BigInt(`0x${word}`));
  };
  const paramsOf = ({ loanToken, collateralToken, oracle, irm, lltv }: TrustedMarket) =>
    [loanToken, collateralToken, oracle, irm, BigInt(lltv)] as const;
  return {
    priceOf: async ({ oracle }) => {
      const price = first(await words(oracle, PRICE));
      if (price === 0n) throw new WalletError(`The node answered a price of zero for the oracle ${oracle}.`);
      return price;
    },
    position: async (owner, index) =>
      positionIn(await words(flashLeverage, LEVERAGE.get('getUserLeveragePosition'), owner, BigInt(index)), 0),
    positions: async (owner) => {
      const [, count = 0n, ...rest] = await words(flashLeverage, LEVERAGE.get('getUserLeveragePositions'), owner);
      // The list is as long as the answer: a node must not name a number that takes all memory.
      if (count * BigInt(POSITION_WORDS) !== BigInt(rest.length))
        throw new WalletError('The node answered a list of positions that is cut.');
      return Array.from({ length: Number(count) }, (_, i) => positionIn(rest, i * POSITION_WORDS));
    },
    holding: async (account, market) => {
      const [, shares = 0n, collateral = 0n] = await words(morphoBlue, MORPHO.get('position'), market.id, account);
      const params = paramsOf(market);
      const owed = await words(flashLeverage, LEVERAGE.get('getSharesValueInLoanToken'), ...params, shares);
      return { collateral, debt: first(owed) };
    },
    maxLtvOf: async (market) => first(await words(flashLeverage, LEVERAGE.get('getMaxLtv'), ...paramsOf(market))),
    fees: async () => {
      const [deposit, ofYield] = await Promise.all([
        words(flashLeverage, LEVERAGE.get('s_depositFee')),
        words(flashLeverage, LEVERAGE.get('s_yieldFee')),
      ]);
      return { depositFee: first(deposit), yieldFee: first(ofYield) };
    },
  };
}

const POSITION_WORDS = 5;
const first = ([word = 0n]: readonly bigint[]): bigint => word;
const wordOf = (value: string | bigint) => BigInt(value).toString(16).padStart(64, '0');

function positionIn(words: readonly bigint[], at: number): HeldPosition {
  const [open = 0n, market = 0n, proxy = 0n, basis = 0n] = words.slice(at, at + POSITION_WORDS);
  return {
    isOpen: open === 1n,
    marketId: `0x${wordOf(market)}`,
    basis,
    proxy: `0x${wordOf(proxy).slice(24)}`,
  };
}

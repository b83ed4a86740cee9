import { type AbiEvent, encodeEventTopics, pad, toEventSelector } from 'viem';
import { erc20Abi } from '../../abi/erc20.ts';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import { morphoBlueAbi, morphoCreationAbi, morphoLiquidationAbi } from '../../abi/morpho-blue.ts';
import type { Chain } from '../../catalog/types.ts';
import { MORPHO_EVENTS, PRODUCT_EVENTS } from '../../domain/history/types.ts';
import type { Address, Hex, MarketId } from '../../shared/ids.ts';

/** A filter of `eth_getLogs`, without its blocks. Topics of one place are alternatives; `null` = any. */
export interface LogFilter {
  readonly addresses: readonly Address[];
  readonly topics: readonly (readonly Hex[] | null)[];
}

/** The contracts and tokens whose logs tell of positions. */
export interface LogSources {
  readonly morphoBlue: Address;
  readonly flashLeverage: Address;
  readonly flashLeverageRouter: Address;
  /** Tokens of the catalog: any contract may claim transfers of a token of its own. */
  readonly tokens: readonly Address[];
  /** Markets in which wallets hold the stock legs of vaults themselves: events of every account are read. */
  readonly stockMarkets: readonly MarketId[];
}

/** Accounts, or markets, of one filter: geth permits 1,000 alternatives of a topic. */
const ACCOUNTS_PER_FILTER = 500;

const selectorOf = (abi: readonly unknown[], name: string): Hex => {
  const event = (abi as readonly AbiEvent[]).find((item) => item.type === 'event' && item.name === name);
  if (!event) throw new Error(`the ABI has no event ${name}`);
  return toEventSelector(event);
};
const MORPHO = Object.fromEntries(
  MORPHO_EVENTS.map((name) => [name, selectorOf([...morphoBlueAbi, ...morphoLiquidationAbi], name)]),
);
const CREATION = selectorOf(morphoCreationAbi, 'CreateMarket');
const PRODUCT = PRODUCT_EVENTS.map((name) => selectorOf(flashLeverageAbi, name));
const [TRANSFER] = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' }) as [Hex];

export function logSourcesOf({
  contracts,
  tokens,
  markets,
}: Pick<Chain, 'contracts' | 'tokens' | 'markets'>): LogSources {
  return {
    morphoBlue: contracts.morphoBlue,
    flashLeverage: contracts.flashLeverage,
    flashLeverageRouter: contracts.flashLeverageRouter,
    tokens: tokens.filter(({ isNative }) => !isNative).map(({ address }) => address),
    stockMarkets: markets.filter(({ kind }) => kind === 'stock').map(({ id }) => id),
  };
}

/**
 * Plan the filters for all logs of positions: events of the product's contract, events of Morpho on behalf of the positions'
 * contracts, token transfers of all of these and of the router, and all events of the stock markets, whose holders nobody lists.
 * @param accounts the contracts of positions
 */
export function planLogFilters(sources: LogSources, accounts: readonly Address[]): readonly LogFilter[] {
  const { morphoBlue, flashLeverage, flashLeverageRouter, tokens, stockMarkets } = sources;
  const selectors = (...names: (typeof MORPHO_EVENTS)[number][]) => names.map((name) => MORPHO[name] as Hex);
  const ofAccounts = pagesOf(accounts).flatMap((page): LogFilter[] => [
    // The account is at another place in these two.
    { addresses: [morphoBlue], topics: [selectors('WithdrawCollateral', 'Borrow'), null, page] },
    { addresses: [morphoBlue], topics: [selectors('SupplyCollateral', 'Repay', 'Liquidate'), null, null, page] },
  ]);
  const ofTransfers = pagesOf([flashLeverage, flashLeverageRouter, ...accounts]).flatMap((page): LogFilter[] => [
    { addresses: tokens, topics: [[TRANSFER], page] },
    { addresses: tokens, topics: [[TRANSFER], null, page] },
  ]);
  const ofStocks = inParts(stockMarkets).map(
    (page): LogFilter => ({ addresses: [morphoBlue], topics: [[...selectors(...MORPHO_EVENTS), CREATION], page] }),
  );
  return [{ addresses: [flashLeverage], topics: [PRODUCT] }, ...ofAccounts, ...ofTransfers, ...ofStocks];
}

function pagesOf(accounts: readonly Address[]): readonly (readonly Hex[])[] {
  return inParts(accounts).map((page) => page.map((account) => pad(account).toLowerCase() as Hex));
}

function inParts<T>(items: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / ACCOUNTS_PER_FILTER) }, (_, i) =>
    items.slice(i * ACCOUNTS_PER_FILTER, (i + 1) * ACCOUNTS_PER_FILTER),
  );
}

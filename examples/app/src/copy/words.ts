import { trustedChains } from '../client.ts';
import { amount, shortened } from './numbers.ts';

const CATEGORIES: Readonly<Record<string, string>> = {
  stable: 'Stablecoins',
  stable_pt: 'Fixed yield',
  eth: 'Ether',
  btc: 'Bitcoin',
  stocks: 'Stocks',
  other: 'Other',
};
export const category = (code: string | undefined): string => CATEGORIES[code ?? 'other'] ?? 'Other';

/** Actions as a person says them: a title, and what it does. */
const ACTIONS = {
  open_leverage: ['Open a position', 'Borrow against what you pay, and buy more of it.'],
  add_collateral: ['Add collateral', 'More collateral lowers the LTV.'],
  repay: ['Repay debt', 'A smaller debt lowers the LTV and the interest.'],
  lower: ['Lower the leverage', 'Bring the position down to a lower leverage.'],
  increase_leverage: ['Increase the leverage', 'Borrow more and buy more collateral with it.'],
  borrow: ['Borrow', 'Take more of the loan token out to your wallet.'],
  remove_collateral: ['Withdraw collateral', 'Take collateral out to your wallet.'],
  close: ['Close', 'Sell collateral, repay the debt that belongs to it, and take the rest home.'],
  equity_deposit: ['Deposit into the vault', 'Buy the stock, borrow against it, and let the loan earn.'],
  equity_exit: ['Exit the vault', 'Close the yield loops, sell the stock and take the rest home.'],
} as const;
export type ActionName = keyof typeof ACTIONS;

/** The call of an action, as a step that is signed. */
const STEPS: Readonly<Record<string, string>> = {
  open_leverage: 'Open the position',
  add_collateral: 'Add the collateral',
  repay: 'Repay the debt',
  increase_leverage: 'Increase the leverage',
  borrow: 'Borrow',
  remove_collateral: 'Withdraw the collateral',
  close: 'Sell and repay',
  equity_deposit: 'Deposit into the vault',
  equity_exit: 'Sell and repay',
};
export const stepName = (action: string | undefined): string => STEPS[action ?? ''] ?? 'Send the transaction';

const actionOf = (name: string): readonly [string, string] => ACTIONS[name as ActionName] ?? ['Review a request', ''];
export const actionTitle = (name: string): string => actionOf(name)[0];
export const actionHint = (name: string): string => actionOf(name)[1];

/** Short names of the actions, for tabs. */
export const TABS: Readonly<Partial<Record<ActionName, string>>> = {
  add_collateral: 'Add',
  repay: 'Repay',
  lower: 'Lower',
  increase_leverage: 'Increase',
  borrow: 'Borrow',
  remove_collateral: 'Withdraw',
  close: 'Close',
};

const EVENTS: Readonly<Record<string, string>> = {
  opened: 'Opened',
  increased: 'Leverage increased',
  supplied: 'Collateral added',
  withdrawn: 'Collateral withdrawn',
  borrowed: 'Borrowed',
  repaid: 'Debt repaid',
  partly_closed: 'Part closed',
  closed: 'Closed',
  liquidated: 'Liquidated',
};
/** A code of the service without a name here is at least made readable. */
export const eventName = (kind: string): string =>
  EVENTS[kind] ?? `${kind.charAt(0).toUpperCase()}${kind.slice(1).replaceAll('_', ' ')}`;

export const chainName = (chainId: number, names: ReadonlyMap<number, string>): string =>
  names.get(chainId) ?? `chain ${chainId}`;

export interface Token {
  readonly symbol: string;
  readonly decimals: number;
}

const NATIVE = /^0x0{40}$/;

/** A token that the catalog knows; `undefined` = it does not. */
export function tokenAt(chainId: number, address: string): Token | undefined {
  const chain = trustedChains.find((one) => one.chainId === chainId);
  if (NATIVE.test(address)) return { symbol: chain?.nativeSymbol ?? 'ETH', decimals: 18 };
  return chain?.tokens.find((one) => one.address.toLowerCase() === address.toLowerCase());
}

export const symbolAt = (chainId: number, address: string): string =>
  tokenAt(chainId, address)?.symbol ?? shortened(address);

const ADDRESS = /0x[0-9a-fA-F]{40}\b/g;
const HASH = /0x[0-9a-fA-F]{64}\b/g;
/** Not a part of a date, a name or an address. */
const NUMBER = /(?<![\w.…:-])\d+(?:\.\d+)?(?![\w.:-]*\w)/g;

const CONTRACTS: Readonly<Record<string, string>> = {
  morphoBlue: 'Morpho Blue',
  flashLeverage: 'the leverage contract',
  flashLeverageRouter: 'the leverage router',
  equityRouter: 'the vault router',
};

/** Addresses with a name on a chain, in lower case. */
function namesOn(chainId: number | undefined, wallet: string | undefined): ReadonlyMap<string, string> {
  const chains = trustedChains.filter((one) => chainId === undefined || one.chainId === chainId);
  return new Map(
    [
      ...chains.flatMap(({ tokens }) => tokens.map(({ address, symbol }) => [address, symbol] as const)),
      ...chains.flatMap(({ contracts }) =>
        Object.entries(contracts).flatMap(([key, address]) =>
          address === undefined ? [] : [[address, CONTRACTS[key] ?? shortened(address)] as const],
        ),
      ),
      ...(wallet === undefined ? [] : [[wallet, 'your wallet'] as const]),
    ].map(([address, name]) => [address.toLowerCase(), name]),
  );
}

/** A sentence of the service or of a proof, with names in place of addresses and with short numbers. */
export function readable(text: string, chainId?: number, wallet?: string): string {
  const names = namesOn(chainId, wallet);
  return text
    .replace(HASH, shortened)
    .replace(ADDRESS, (address) => names.get(address.toLowerCase()) ?? shortened(address))
    .replace(NUMBER, (digits) => amount(digits));
}

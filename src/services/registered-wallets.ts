import type { Registration, RegistrationRepository } from '../database/registrations.ts';
import type { Address, ChainId } from '../shared/ids.ts';
import { byAddress } from './wallets.ts';

/** A wallet and its rows of the register. */
export interface RegisteredWallet {
  readonly wallet: Address;
  readonly rows: readonly Registration[];
}

/** Rows per page: parsing takes some milliseconds. */
const ROWS_PER_PAGE = 500;

/**
 * Iterate over all wallets of a chain in the order of their addresses, each with its rows: wallets on chain and wallets that
 * only the register has. Pages of both sides are merged, so that at most a page of rows is in memory.
 */
export async function* walkWallets(
  registrations: Pick<RegistrationRepository, 'pageOfChain'>,
  chainId: ChainId,
  onChain: readonly Address[],
  walletsPerPage: number,
): AsyncGenerator<readonly RegisteredWallet[], void> {
  const registered = registeredWallets(registrations, chainId);
  let next = await registered.next();
  const page: RegisteredWallet[] = [];
  const isFull = () => page.length >= walletsPerPage;
  for (const wallet of onChain) {
    while (!next.done && byAddress(next.value.wallet, wallet) < 0) {
      page.push(next.value);
      next = await registered.next();
      if (isFull()) yield page.splice(0);
    }
    if (!next.done && byAddress(next.value.wallet, wallet) === 0) {
      page.push({ wallet, rows: next.value.rows });
      next = await registered.next();
    } else page.push({ wallet, rows: [] });
    if (isFull()) yield page.splice(0);
  }
  while (!next.done) {
    page.push(next.value);
    next = await registered.next();
    if (isFull()) yield page.splice(0);
  }
  if (page.length > 0) yield page;
}

/** Group the pages of the register by wallet; the rows of a wallet may span two pages. */
async function* registeredWallets(
  registrations: Pick<RegistrationRepository, 'pageOfChain'>,
  chainId: ChainId,
): AsyncGenerator<RegisteredWallet, void> {
  let wallet: Address | null = null;
  const own: Registration[] = [];
  let after: Awaited<ReturnType<RegistrationRepository['pageOfChain']>>['next'] = null;
  do {
    const { rows, next } = await registrations.pageOfChain(chainId, { limit: ROWS_PER_PAGE, after });
    for (const row of rows) {
      if (wallet !== null && wallet !== row.wallet) yield { wallet, rows: own.splice(0) };
      wallet = row.wallet;
      own.push(row);
    }
    after = next;
  } while (after !== null);
  if (wallet !== null) yield { wallet, rows: own };
}

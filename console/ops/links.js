import { hrefOf } from './address.js';
import { el } from './dom.js';
import { shortAddress } from './format.js';

let chains = new Map();

export function nameChains(list) {
  chains = new Map(list.map((chain) => [chain.chainId, chain]));
}

export const chainName = (chainId) => chains.get(chainId)?.name ?? String(chainId);

/** A link to the block explorer of a chain; nothing where none is known. */
export function explorerLink(chainId, path, what) {
  const base = chains.get(chainId)?.explorerUrl;
  if (!base?.startsWith('https://')) return null;
  const href = `${base}/${path.map(encodeURIComponent).join('/')}`;
  const label = `${what} on the block explorer`;
  return el('a', { class: 'outside', href, target: '_blank', rel: 'noopener noreferrer', 'aria-label': label }, '↗');
}

/** A link to this page with other filters. */
export function filterLink(filters, attributes, ...children) {
  return el('a', { ...attributes, href: hrefOf(filters), 'data-filters': true }, ...children);
}

/** A wallet: its positions on this page, and its address on the explorer. */
export function walletLink(chainId, wallet) {
  const inside = filterLink({ wallet }, { class: 'mono', title: wallet }, shortAddress(wallet));
  return el('span', { class: 'linked' }, inside, explorerLink(chainId, ['address', wallet], `Wallet ${wallet}`));
}

/** A position: itself on this page, and the contract that holds it on the explorer. */
export function positionLink({ chainId, wallet, market, proxy }, text) {
  return el(
    'span',
    { class: 'linked' },
    filterLink({ chain: chainId, wallet, market }, {}, text),
    proxy && explorerLink(chainId, ['address', proxy], `Contract of ${text}`),
  );
}

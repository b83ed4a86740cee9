import { createClient } from './client.ts';
import { PageError, shortened } from './copy/index.ts';
import { el } from './dom.ts';
import { failed } from './parts/state.ts';
import { createQuery } from './queries.ts';
import { positionView } from './views/position.ts';
import { positionsView } from './views/positions.ts';
import { signView } from './views/sign.ts';
import { strategiesView } from './views/strategies.ts';
import { strategyView } from './views/strategy.ts';
import { vaultView } from './views/vault.ts';
import type { View } from './views/view.ts';
import { createDevelopmentWallet } from './wallet.ts';
import { readWorld } from './world.ts';

/** The place in the app is the fragment of its address: `#/strategies/<id>?chainId=1`. */
const ROUTES: readonly (readonly [RegExp, string, View])[] = [
  [/^\/?(?:strategies)?$/, 'strategies', strategiesView],
  [/^\/strategies\/([^/]+)$/, 'strategies', strategyView],
  [/^\/positions$/, 'positions', positionsView],
  [/^\/positions\/(\d+)\/(\d+)$/, 'positions', positionView],
  [/^\/vaults\/(\d+)\/([^/]+)$/, 'positions', vaultView],
  [/^\/sign$/, 'sign', signView],
];
const TITLE = document.title;
const ACCOUNT = 'account';
/** A person is told of a longer wait. */
const MAX_WAIT_MS = 1_500;

const content = document.querySelector('main') as HTMLElement;
const accounts = document.querySelector('#account') as HTMLSelectElement;

async function start(): Promise<void> {
  const world = await readWorld();
  const wallet = createDevelopmentWallet(world);
  // Where a wallet puts itself; this app asks for it like any other.
  Object.assign(window, { ethereum: wallet });
  const baseUrl = new URL('..', location.href).href.replace(/\/$/, '');
  const client = createClient({ baseUrl, apiKey: world.apiKey, maxRetryWaitMs: MAX_WAIT_MS });
  const graphql = createQuery(baseUrl, world.apiKey);
  const chains = new Map(world.chains.map(({ chainId, name }) => [chainId, name]));

  accounts.append(...world.accounts.map((address) => el('option', { value: address }, shortened(address))));
  const stored = sessionStorage.getItem(ACCOUNT);
  if (stored !== null && world.accounts.includes(stored)) accounts.value = stored;

  let current = new AbortController();
  const show = async (): Promise<void> => {
    current.abort();
    current = new AbortController();
    const { signal } = current;
    const { path, query } = placeOf(location.hash);
    // A link to a plan names the wallet that signs it.
    const asked = world.accounts.find((one) => one.toLowerCase() === query.get('userAddress')?.toLowerCase());
    if (asked !== undefined) accounts.value = asked;
    wallet.choose(accounts.value);
    const [pattern, name, view] = ROUTES.find(([route]) => route.test(path)) ?? [];
    for (const link of document.querySelectorAll('nav a')) {
      if (link.getAttribute('data-view') === name) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    const place = (...nodes: readonly Node[]) => {
      if (!signal.aborted) content.replaceChildren(...nodes);
    };
    content.setAttribute('aria-busy', 'true');
    try {
      if (view === undefined) throw new PageError(`There is no page at ${path}.`);
      const parts = (pattern?.exec(path) ?? []).slice(1).map((part) => decodeURIComponent(part ?? ''));
      const account = accounts.value;
      await view({ client, graphql, world, chains, wallet, account, parts, query, signal, place });
    } catch (error) {
      place(
        el('h1', {}, 'This did not work'),
        failed(error, () => void show()),
        el('p', {}, el('a', { href: '#/' }, 'To the strategies')),
      );
    }
    if (signal.aborted) return;
    content.removeAttribute('aria-busy');
    document.title = [content.querySelector('h1')?.textContent, TITLE].join(' · ');
  };
  accounts.addEventListener('change', () => {
    sessionStorage.setItem(ACCOUNT, accounts.value);
    show();
  });
  addEventListener('hashchange', () => {
    scrollTo(0, 0);
    show().then(() => content.focus({ preventScroll: true }));
  });
  document.querySelector('#skip')?.addEventListener('click', (event) => {
    event.preventDefault();
    content.focus();
  });
  await show();
}

function placeOf(hash: string): { path: string; query: URLSearchParams } {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?', 2);
  return { path, query: new URLSearchParams(query) };
}

start().catch((error: unknown) =>
  content.replaceChildren(
    el('h1', {}, 'This did not work'),
    failed(error, () => location.reload()),
  ),
);

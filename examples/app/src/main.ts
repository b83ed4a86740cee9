import { createClient } from './client.ts';
import { alertOf, el } from './dom.ts';
import { shortened } from './format.ts';
import { positionsView } from './views/positions.ts';
import { signView } from './views/sign.ts';
import { strategiesView } from './views/strategies.ts';
import { strategyView } from './views/strategy.ts';
import type { View } from './views/view.ts';
import { createDevelopmentWallet } from './wallet.ts';
import { readWorld } from './world.ts';

/** The place in the app is the fragment of its address: `#/strategies/<id>?chainId=1`. */
const ROUTES: readonly (readonly [RegExp, string, View])[] = [
  [/^\/?$/, 'strategies', strategiesView],
  [/^\/strategies\/([^/]+)$/, 'strategies', strategyView],
  [/^\/positions$/, 'positions', positionsView],
  [/^\/sign$/, 'sign', signView],
];
const ACCOUNT = 'account';

const content = document.querySelector('main') as HTMLElement;
const accounts = document.querySelector('#account') as HTMLSelectElement;

async function start(): Promise<void> {
  const world = await readWorld();
  const wallet = createDevelopmentWallet(world);
  // Where a wallet puts itself; this app asks for it like any other.
  Object.assign(window, { ethereum: wallet });
  const client = createClient({ baseUrl: new URL('..', location.href).href.replace(/\/$/, ''), apiKey: world.apiKey });

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
      if (view === undefined) throw new Error(`There is no view at ${path}.`);
      const id = decodeURIComponent(pattern?.exec(path)?.[1] ?? '');
      await view({ client, world, wallet, account: accounts.value, id, query, signal, place });
    } catch (error) {
      place(
        el('h1', {}, 'This did not work'),
        alertOf(error),
        el('p', {}, el('a', { href: '#/' }, 'To the strategies')),
      );
    }
    if (!signal.aborted) content.removeAttribute('aria-busy');
  };
  accounts.addEventListener('change', () => {
    sessionStorage.setItem(ACCOUNT, accounts.value);
    show();
  });
  addEventListener('hashchange', () => {
    show().then(() => content.focus());
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

start().catch((error: unknown) => content.replaceChildren(el('h1', {}, 'This did not work'), alertOf(error)));

import { adviceOf } from '../advice.ts';
import type { Client, Position, RowAnswer } from '../client.ts';
import { alertOf, el, facts } from '../dom.ts';
import { amount, percent, usd } from '../format.ts';
import type { View } from './view.ts';

/** The positions of the wallet with their health. They are read again whenever the service reads them differently. */
export const positionsView: View = async ({ client, world, account, signal, place }) => {
  const state = el('p', { class: 'muted', role: 'status' }, 'Connecting to live positions …');
  const list = el('div', { id: 'positions' });
  // Options that were read on request stay while the list is read again.
  const advice = new Map<string, HTMLElement>();
  const adviceFor = (position: Position): HTMLElement => {
    const { positionId } = position;
    const node = advice.get(positionId) ?? adviceOf(client, position, account, signal);
    advice.set(positionId, node);
    return node;
  };
  const read = async () => {
    const answers = await Promise.all(
      world.chains.map(({ chainId }) =>
        client.walletPositions({ address: account, chainId: chainId as 1 | 4663 }, { signal }),
      ),
    );
    list.replaceChildren(...shownOf(answers, account, adviceFor));
  };
  await read();
  place(el('h1', {}, 'Positions'), state, list);
  void follow(client, account, signal, state, read);
};

function shownOf(
  answers: readonly RowAnswer<'walletPositions'>[],
  account: string,
  adviceFor: (position: Position) => HTMLElement,
): readonly Node[] {
  const open = answers.flatMap(({ positions }) => positions).filter(({ status }) => status === 'open');
  const vaults = answers.flatMap(({ equityPositions }) => equityPositions);
  if (open.length === 0 && vaults.length === 0) {
    return [el('p', {}, 'This wallet has no open position. ', el('a', { href: '#/' }, 'Choose a strategy'), '.')];
  }
  const cards = [
    ...open.map((position) => cardOf(position, account, adviceFor(position))),
    ...vaults.map((vault) => {
      const query = new URLSearchParams({
        chainId: String(vault.chainId),
        action: 'equity_exit',
        userAddress: account,
        strategyId: vault.strategyId,
      });
      return el(
        'li',
        { class: 'card' },
        el('h2', {}, `Vault of ${vault.stock.symbol}`),
        facts([
          ['Value', usd(vault.netValueUsd)],
          ['APY now', percent(vault.currentNetApyPct)],
        ]),
        el('a', { href: `#/sign?${query}` }, 'Exit'),
      );
    }),
  ];
  return [el('ul', { class: 'cards' }, ...cards)];
}

function cardOf(position: Position, account: string, advice: HTMLElement): HTMLElement {
  const { chainId, id, ltvPct, liquidationLtvPct, warnings = [] } = position;
  const query = new URLSearchParams({
    chainId: String(chainId),
    action: 'close',
    userAddress: account,
    id: String(id),
  });
  const isKnown = typeof ltvPct === 'string' && typeof liquidationLtvPct === 'string';
  return el(
    'li',
    { class: 'card', 'data-position': position.positionId },
    el('h2', {}, `${position.collateralSymbol ?? 'unknown'} / ${position.loanSymbol ?? 'unknown'}`),
    isKnown ? healthOf(ltvPct, liquidationLtvPct) : el('p', {}, 'Health unknown: its prices cannot be read.'),
    facts([
      ['Value', usd(position.netValueUsd)],
      ['APY now', percent(position.currentLeverageApyPct)],
      ['Leverage', position.currentLeverage === undefined ? undefined : `${position.currentLeverage}×`],
      ['Collateral', amount(position.amountLeveragedCollateral, position.collateralSymbol)],
      ['Debt', amount(position.amountLoan, position.loanSymbol)],
    ]),
    ...warnings.map(({ message }) => el('p', { class: 'issues' }, message)),
    advice,
    el('a', { href: `#/sign?${query}` }, 'Close'),
  );
}

/** How near to its liquidation a position is: as a bar, and in words. */
function healthOf(ltvPct: string, liquidationLtvPct: string): HTMLElement {
  const [ltv, limit] = [Number(ltvPct), Number(liquidationLtvPct)];
  const left = limit - ltv;
  const word = left > 5 ? 'safe' : left > 2 ? 'near its liquidation' : 'about to be liquidated';
  return el(
    'div',
    { class: 'health' },
    el('meter', {
      min: 0,
      max: limit,
      low: limit - 5,
      high: limit - 2,
      optimum: 0,
      value: ltv,
      'aria-label': `LTV ${ltvPct} % of ${liquidationLtvPct} %`,
    }),
    el('p', {}, `LTV ${ltvPct} %, liquidated at ${liquidationLtvPct} %: ${word}.`),
  );
}

async function follow(
  client: Client,
  account: string,
  signal: AbortSignal,
  state: HTMLElement,
  read: () => Promise<void>,
): Promise<void> {
  try {
    const changes = client.live.wallet(
      { address: account },
      {
        signal,
        onState: ({ kind }) => {
          state.textContent = kind === 'connected' ? 'Live.' : 'Connection lost. Connecting again …';
        },
      },
    );
    for await (const { missingChain } of changes) {
      if (missingChain) state.textContent = missingChain.message;
      await read().catch((error: unknown) => {
        if (!signal.aborted) state.replaceChildren(alertOf(error));
      });
    }
  } catch {
    if (!signal.aborted) state.textContent = 'Not live. Reload the page to read again.';
  }
}

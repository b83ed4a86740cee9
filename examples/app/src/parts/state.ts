import { age, failureOf } from '../copy/index.ts';
import { button, el } from '../dom.ts';

/** Grey lines in the place of what is being read. */
export function loading(what: string, lines = 3): HTMLElement {
  return el(
    'div',
    { class: 'loading' },
    el('p', { class: 'hidden', role: 'status' }, `Loading ${what} …`),
    ...Array.from({ length: lines }, () => el('div', { class: 'bone', 'aria-hidden': 'true' })),
  );
}

/** What failed and what to do next, with a button that does it. */
export function failed(error: unknown, retry?: () => void, chainId?: number): HTMLElement {
  const { what, next, canRetry } = failureOf(error, chainId);
  return el(
    'div',
    { class: 'note bad', role: 'alert' },
    el('p', {}, el('strong', {}, what), ' ', next),
    retry === undefined || !canRetry ? null : button('Try again', { class: 'plain' }, retry),
  );
}

export function empty(text: string, link?: { readonly href: string; readonly text: string }): HTMLElement {
  return el(
    'div',
    { class: 'empty' },
    el('p', {}, text),
    link === undefined ? null : el('a', { class: 'button', href: link.href }, link.text),
  );
}

/** A freshness as the service states it. */
export interface Freshness {
  readonly asOf: string;
  /** Seconds since the value is too old; absent = it is not. */
  readonly staleForSec?: number | null | undefined;
}

/** How old the oldest of some values is, if one of them is too old; `undefined` = all are fresh. */
export function staleAge(all: readonly (Freshness | null | undefined)[]): string | undefined {
  const times = all.flatMap((one) => (one && (one.staleForSec ?? 0) > 0 ? [Date.parse(one.asOf)] : []));
  if (times.length === 0) return undefined;
  const oldest = Math.min(...times);
  // The service has never read it.
  if (oldest <= 0) return 'never measured';
  return `${age((Date.now() - oldest) / 1_000)} old`;
}

/** A banner above numbers that are too old. */
export function staleNote(what: string, all: readonly (Freshness | null | undefined)[]): HTMLElement | null {
  const old = staleAge(all);
  if (old === undefined) return null;
  return el(
    'div',
    { class: 'note warn', 'data-stale': '' },
    el(
      'p',
      {},
      el('strong', {}, `${what} ${old === 'never measured' ? 'not measured yet' : old}.`),
      ' A source does not answer; the last good values are shown.',
    ),
  );
}

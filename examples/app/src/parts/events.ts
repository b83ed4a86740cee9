import type { RowAnswer } from '../client.ts';
import { amount, eventName, minute } from '../copy/index.ts';
import { el } from '../dom.ts';

type Event = RowAnswer<'positionHistory'>['events'][number];

/** What happened to a position, newest first. */
export function eventList(events: readonly Event[], collateral: string, loan: string): HTMLElement {
  const change = (value: string | null | undefined, text: string) =>
    value === null || value === undefined || Number(value) === 0
      ? []
      : [`${Number(value) > 0 ? '+' : ''}${amount(value, text)}`];
  return el(
    'ul',
    { class: 'events' },
    ...[...events]
      .reverse()
      .map(({ kind, at, collateralChange, debtChange }) =>
        el(
          'li',
          {},
          el('b', {}, eventName(kind)),
          el('span', {}, [...change(collateralChange, collateral), ...change(debtChange, `${loan} debt`)].join(', ')),
          el('span', { class: 'muted small' }, minute(Date.parse(at))),
        ),
      ),
  );
}

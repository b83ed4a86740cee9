import { type Amount, readAmount } from '../copy/index.ts';
import { button, el } from '../dom.ts';
import { rangeWith } from '../link.ts';

export interface Slider {
  readonly node: HTMLElement;
  value(): number;
  set(value: number): void;
}

export interface SliderOptions {
  readonly id: string;
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly initial: number;
  /** The value in words. */
  readonly text: (value: number) => string;
  /** Words at both ends; default: the values. */
  readonly ends?: readonly [string, string];
}

/** A number between two limits. */
export function slider({ id, name, initial, text, ends, ...usual }: SliderOptions): Slider {
  const { min, max, step } = rangeWith(initial, usual);
  const input = el('input', { id, type: 'range', min, max, step, value: initial });
  const shown = el('output', { for: id });
  const update = () => {
    shown.value = text(Number(input.value));
    input.setAttribute('aria-valuetext', shown.value);
    input.style.setProperty('--at', `${((Number(input.value) - min) / (max - min || 1)) * 100}%`);
  };
  input.addEventListener('input', update);
  update();
  const [left, right] = ends ?? [text(min), text(max)];
  return {
    node: el(
      'div',
      { class: 'field' },
      el('div', { class: 'head' }, el('label', { for: id }, name), shown),
      input,
      el('div', { class: 'ends', 'aria-hidden': 'true' }, el('span', {}, left), el('span', {}, right)),
    ),
    value: () => Number(input.value),
    set(value) {
      input.value = String(value);
      update();
    },
  };
}

export interface PaidToken {
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
}

export interface AmountField {
  readonly node: HTMLElement;
  read(): Amount;
  token(): PaidToken;
  /** Whether the amount was taken from `Max` and not changed since. */
  isMax(): boolean;
  /** Show what is at hand, and offer it as `Max`. `text` is how it is shown, `undefined` = unknown. */
  offer(name: string, most: string | undefined, text: string): void;
  /** Say that the amount cannot be used, beside what the field finds itself; '' = it can. */
  fault(message: string): void;
}

export interface AmountOptions {
  readonly name: string;
  readonly tokens: readonly PaidToken[];
  readonly token?: string | undefined;
  readonly initial?: string | undefined;
}

/** An amount of one of some tokens, as people write it. */
export function amountField({ name, tokens, token, initial = '' }: AmountOptions): AmountField {
  const [first] = tokens;
  if (first === undefined) throw new Error('An amount needs a token.');
  const input = el('input', {
    id: 'amount',
    value: initial,
    placeholder: '0',
    inputmode: 'decimal',
    autocomplete: 'off',
    'aria-describedby': 'amount-fault',
  });
  const select = el(
    'select',
    { id: 'pay', 'aria-label': 'Token' },
    ...tokens.map(({ address, symbol }) =>
      el('option', { value: address, selected: address.toLowerCase() === token?.toLowerCase() }, symbol),
    ),
  );
  const chosen = () => tokens.find(({ address }) => address === select.value) ?? first;
  const hand = el('span', { class: 'muted', id: 'amount-hand' });
  let most: string | undefined;
  let taken: string | undefined;
  const max = button('Max', { class: 'link', hidden: true }, () => {
    input.value = most ?? '';
    taken = input.value;
    input.dispatchEvent(new Event('input', { bubbles: true }));
    input.focus();
  });
  const fault = el('p', { class: 'fault', id: 'amount-fault', role: 'alert' });
  const read = () => readAmount(input.value, chosen().decimals, chosen().symbol);
  const say = (message: string) => {
    fault.textContent = message;
    if (message === '') input.removeAttribute('aria-invalid');
    else input.setAttribute('aria-invalid', 'true');
  };
  const check = () => {
    const found = read();
    say(found.kind === 'wrong' ? found.message : '');
  };
  input.addEventListener('input', check);
  select.addEventListener('input', check);
  check();
  return {
    node: el(
      'div',
      { class: 'field' },
      el('div', { class: 'head' }, el('label', { for: 'amount' }, name), el('span', { class: 'hand' }, hand, max)),
      el('div', { class: 'money' }, input, tokens.length === 1 ? el('span', { class: 'unit' }, first.symbol) : select),
      fault,
    ),
    read,
    token: chosen,
    isMax: () => taken !== undefined && taken === input.value && taken === most,
    offer(called, offered, text) {
      most = offered;
      hand.textContent = called === '' ? '' : `${called} ${text}`;
      max.hidden = offered === undefined;
    },
    fault: say,
  };
}

/** One of some choices, each with a line below. */
export function choices(
  name: string,
  all: readonly { readonly value: string; readonly text: string; readonly note: string; readonly isOff?: boolean }[],
  chosen: string | undefined,
): HTMLElement {
  return el(
    'fieldset',
    { class: 'choices' },
    el('legend', {}, name),
    ...all.map(({ value, text, note, isOff }) =>
      el(
        'label',
        { class: 'choice', 'data-option': value },
        el('input', { type: 'radio', name: 'choice', value, checked: value === chosen, disabled: isOff }),
        el('span', {}, el('b', {}, text), el('span', { class: 'muted' }, note)),
      ),
    ),
  );
}

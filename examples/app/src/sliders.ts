import { el } from './dom.ts';
import { rangeWith } from './link.ts';

export interface Field<Value> {
  readonly node: HTMLElement;
  value(): Value;
}

const MAX_AMOUNT = 10_000;

/** An amount as text, with a slider. */
export function amountField(name: string, initial: string): Field<string> {
  const text = el('input', { id: 'amount', value: initial, inputmode: 'decimal', autocomplete: 'off' });
  const slider = el('input', {
    type: 'range',
    min: 100,
    max: MAX_AMOUNT,
    step: 100,
    value: initial,
    'aria-label': `${name}, slider`,
  });
  slider.addEventListener('input', () => {
    text.value = slider.value;
  });
  text.addEventListener('input', () => {
    slider.value = text.value;
  });
  return { node: el('div', { class: 'field' }, el('label', {}, name, text), slider), value: () => text.value.trim() };
}

/** A number between two limits. */
export function numberField({ id, name, unit, ...usual }: NumberFieldOptions, initial: number): Field<number> {
  const { min, max, step } = rangeWith(initial, usual);
  const slider = el('input', { id, type: 'range', min, max, step, value: initial });
  const shown = el('output', { for: id });
  const write = () => {
    shown.value = `${slider.value} ${unit}`;
    slider.setAttribute('aria-valuetext', shown.value);
  };
  slider.addEventListener('input', write);
  write();
  return {
    node: el('div', { class: 'field' }, el('label', { for: id }, name, ' '), shown, slider),
    value: () => Number(slider.value),
  };
}

export interface NumberFieldOptions {
  readonly id: string;
  readonly name: string;
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

export function leverageField(max: number, initial: number): Field<number> {
  return numberField({ id: 'leverage', name: 'Leverage', unit: '×', min: 1.1, max, step: 0.1 }, initial);
}

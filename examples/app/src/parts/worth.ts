import type { UnpricedPayment } from '../client.ts';
import { amount as amountText, fromUnits, readAmount, shortened, tokenAt, toUnits } from '../copy/index.ts';
import { el } from '../dom.ts';

/**
 * Ask the user what a payment is worth, where no oracle on the chain prices it: the service must not be asked, because its plan
 * is judged by the answer. Each payment is asked for once.
 */
export function askForWorth(place: (question: HTMLElement) => void) {
  const answers = new Map<string, Promise<bigint>>();
  return (payment: UnpricedPayment): Promise<bigint> => {
    const key = `${payment.chainId} ${payment.token} ${payment.amount} ${payment.into}`;
    const answer = answers.get(key) ?? ask(payment, place);
    answers.set(key, answer);
    return answer;
  };
}

function ask({ chainId, token, amount, into }: UnpricedPayment, place: (question: HTMLElement) => void) {
  const nameOf = (address: string) => tokenAt(chainId, address) ?? { symbol: shortened(address), decimals: 18 };
  const [paid, wanted] = [nameOf(token), nameOf(into)];
  const input = el('input', {
    id: 'worth',
    inputmode: 'decimal',
    autocomplete: 'off',
    required: true,
    'aria-describedby': 'worth-fault',
  });
  const fault = el('p', { class: 'fault', id: 'worth-fault', role: 'alert' });
  const question = `Worth of ${amountText(fromUnits(BigInt(amount), paid.decimals), paid.symbol)} in ${wanted.symbol}, by a price that you trust`;
  const form = el(
    'form',
    { class: 'field', 'aria-label': 'Worth of the payment' },
    el('p', {}, `No oracle of the market prices ${paid.symbol}. The least outputs are judged by your answer.`),
    el('label', { for: 'worth' }, question),
    el('div', { class: 'money' }, input, el('span', { class: 'unit' }, wanted.symbol)),
    fault,
    el('button', { class: 'primary' }, 'Prove with this price'),
  );
  place(form);
  input.focus();
  return new Promise<bigint>((resolve) => {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const read = readAmount(input.value, wanted.decimals, wanted.symbol);
      if (read.kind === 'amount') return resolve(toUnits(read.text, wanted.decimals));
      fault.textContent = read.kind === 'wrong' ? read.message : 'Enter an amount above 0.';
    });
  });
}

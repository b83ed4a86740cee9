import { trustedChains, type UnpricedPayment } from './client.ts';
import { el } from './dom.ts';
import { shortened } from './format.ts';

/** Base units of a plain decimal number; `undefined` = it is none, or has too many decimals. */
function unitsOf(text: string, decimals: number): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,30})(?:\.(\d{1,30}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || fraction.length > decimals) return undefined;
  return BigInt(`${whole}${fraction.padEnd(decimals, '0')}`);
}

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
  const [paid, wanted] = [tokenOf(chainId, token), tokenOf(chainId, into)];
  const whole = Number(amount) / 10 ** paid.decimals;
  const input = el('input', { id: 'worth', inputmode: 'decimal', autocomplete: 'off', required: true });
  const fault = el('p', { class: 'error', role: 'alert' });
  const form = el(
    'form',
    { class: 'form', 'aria-label': 'Worth of the payment' },
    el('p', {}, `No oracle of the market prices ${paid.symbol}. The least outputs are judged by your answer.`),
    el('label', {}, `Worth of ${whole} ${paid.symbol} in ${wanted.symbol}, by a price that you trust`, input),
    el('button', { class: 'primary' }, 'Prove with this price'),
    fault,
  );
  place(form);
  input.focus();
  return new Promise<bigint>((resolve) => {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const units = unitsOf(input.value, wanted.decimals);
      if (units !== undefined && units > 0n) return resolve(units);
      fault.textContent = `Give a number with at most ${wanted.decimals} decimals, such as 1500.5.`;
    });
  });
}

function tokenOf(chainId: number, token: string): { readonly symbol: string; readonly decimals: number } {
  const chain = trustedChains.find((one) => one.chainId === chainId);
  if (BigInt(token) === 0n) return { symbol: chain?.nativeSymbol ?? 'ETH', decimals: 18 };
  const found = chain?.tokens.find(({ address }) => address.toLowerCase() === token.toLowerCase());
  return found ?? { symbol: shortened(token), decimals: 18 };
}

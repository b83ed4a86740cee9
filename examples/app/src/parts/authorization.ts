import { button, el } from '../dom.ts';
import type { DevelopmentWallet } from '../wallet.ts';
import { switchChain } from './balance.ts';
import { failed } from './state.ts';

/** A right that a failed batch has left, and a button that takes it back. */
export function leftRight(wallet: DevelopmentWallet, chainId: number, call: object): HTMLElement {
  const take = button('Take the right back', { class: 'plain' }, async () => {
    take.disabled = true;
    try {
      await switchChain(wallet, chainId);
      await wallet.request({ method: 'eth_sendTransaction', params: [call] });
      take.replaceWith(el('p', { role: 'status' }, 'The right is taken back.'));
    } catch (error) {
      take.replaceWith(failed(error, undefined, chainId));
    }
  });
  return el(
    'div',
    { class: 'note warn' },
    el(
      'p',
      {},
      el('strong', {}, 'The vault router may still act on your own lending position.'),
      ' A batch that failed has left this right.',
    ),
    take,
  );
}

import { button, el } from '../dom.ts';
import type { DevelopmentWallet } from '../wallet.ts';
import { switchChain } from './balance.ts';
import { failed } from './state.ts';

/**
 * A right that a failed batch has left, and a button that takes it back.
 * @param said the place of what came of it, where the note itself is read anew; the note when left out
 */
export function leftRight(wallet: DevelopmentWallet, chainId: number, call: object, said?: HTMLElement): HTMLElement {
  const take = button('Take the right back', { class: 'plain' }, async () => {
    take.disabled = true;
    const result = await taken(wallet, chainId, call);
    if (said === undefined) return take.replaceWith(result);
    note.remove();
    said.replaceChildren(result);
  });
  const note = el(
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
  return note;
}

async function taken(wallet: DevelopmentWallet, chainId: number, call: object): Promise<HTMLElement> {
  try {
    await switchChain(wallet, chainId);
    await wallet.request({ method: 'eth_sendTransaction', params: [call] });
    return el('p', { role: 'status' }, 'The right is taken back.');
  } catch (error) {
    return failed(error, undefined, chainId);
  }
}

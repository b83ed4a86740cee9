import { minute } from '../copy/index.ts';
import { write } from '../dom.ts';
import type { ViewContext } from './view.ts';

/** Read again whenever the holdings of the wallet read differently, and say how live the numbers are. */
export async function followWallet(
  { client, account, signal }: ViewContext,
  state: HTMLElement,
  read: () => Promise<void>,
): Promise<void> {
  const lost = () => `the numbers are of ${minute(Date.now())}`;
  try {
    const changes = client.live.wallet(
      { address: account },
      {
        signal,
        onState: ({ kind }) =>
          write(state, kind === 'connected' ? 'Live' : `Connection lost: ${lost()}. Connecting again …`),
      },
    );
    for await (const { missingChain } of changes) {
      if (missingChain) write(state, 'A chain does not answer now: the last values are shown.');
      await read().catch(() => {
        if (!signal.aborted) write(state, `Could not be read again: ${lost()}.`);
      });
    }
  } catch {
    if (!signal.aborted) write(state, `Not live: ${lost()}. Reload the page to read again.`);
  }
}

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

/** The past of a wallet follows its transactions by some seconds. */
const AFTER_MS = [0, 3_000, 9_000];

/** Read again after a transaction, until its traces can be there. */
export async function readSoon(read: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (const ms of AFTER_MS) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    if (signal.aborted) return;
    await read().catch(() => undefined);
  }
}

import type { Client } from '../client.ts';
import type { DevelopmentWallet } from '../wallet.ts';
import type { World } from '../world.ts';

export interface ViewContext {
  readonly client: Client;
  readonly world: World;
  readonly wallet: DevelopmentWallet;
  readonly account: string;
  /** The id in the address, or an empty text. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** Ends with the view. */
  readonly signal: AbortSignal;
  /** Replace the shown elements by these. */
  place(...nodes: readonly Node[]): void;
}

/** Fill the page. @throws Error, whose message the page shows */
export type View = (context: ViewContext) => Promise<void>;

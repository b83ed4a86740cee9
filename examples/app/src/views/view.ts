import type { Client } from '../client.ts';
import type { Query } from '../queries.ts';
import type { DevelopmentWallet } from '../wallet.ts';
import type { World } from '../world.ts';

export interface ViewContext {
  readonly client: Client;
  readonly graphql: Query;
  readonly world: World;
  /** Names of the chains. */
  readonly chains: ReadonlyMap<number, string>;
  readonly wallet: DevelopmentWallet;
  readonly account: string;
  /** The parts of the address that the route names, in order. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  /** Ends with the view. */
  readonly signal: AbortSignal;
  /** Replace the shown elements by these. */
  place(...nodes: readonly Node[]): void;
}

/** Fill the page. @throws Error, which the page shows in words */
export type View = (context: ViewContext) => Promise<void>;

export type ChainId = 1 | 4663;

import type { Catalog, Token } from '../../src/catalog/index.ts';
import type { Clock } from '../../src/shared/clock.ts';
import type { Decimal } from '../../src/shared/decimal.ts';
import type { CampaignBook } from './campaigns.ts';
import type { LocalChain } from './local-chain.ts';

export const PROVIDERS = [
  'pendle',
  'defillama-yields',
  'defillama-coins',
  'stablewatch',
  'royco',
  'merkl',
  'coingecko',
  'geckoterminal',
  'kyberswap',
  'openocean',
  'morpho',
] as const;
export type Provider = (typeof PROVIDERS)[number];

/** A request as its provider sees it. */
export interface SimRequest {
  readonly method: string;
  /** Below the provider's base URL; starts with `/`, or is empty. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON of the body; `undefined` when there was none or it did not parse. */
  readonly body: unknown;
}

export interface SimResponse {
  readonly status: number;
  /** Sent as JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Data of the providers. Requests do not change it. */
export interface World {
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** When the world began, ms: histories before it never change afterwards. */
  readonly startedMs: number;
  /** Campaigns that were changed since. */
  readonly campaigns: CampaignBook;
  /** The local chain of that id. @throws Error when the world runs without it. */
  chain(chainId: number): LocalChain;
  /** USD per whole token, as the swap venue on chain values it now; without a chain, or without a price there, as seeded. */
  pricesUsd(tokens: readonly Token[]): Promise<ReadonlyMap<Token, Decimal>>;
  /** Yearly yield in percent; `undefined` = it earns nothing. */
  apyPct(token: Token): Decimal | undefined;
}

export type ProviderHandler = (request: SimRequest, world: World) => SimResponse | Promise<SimResponse>;

/** Places of the values in a provider's bodies, for faults. */
export interface BodyShape {
  /** Names of the fields that clients read. */
  readonly values: readonly string[];
  /** Names of the fields with times; rows such as `[time, value]` need none. */
  readonly times?: readonly string[];
  /** Path of a record of items (`[]` = the body itself); absent: items are in arrays. */
  readonly record?: readonly string[];
  /** Bodies are one item, also with lists inside. */
  readonly single?: true;
}

export interface SimulatedProvider {
  /** Path of its base URL on the simulator, e.g. `/pendle/core`. */
  readonly base: string;
  readonly handle: ProviderHandler;
  readonly shape: BodyShape;
  /** Body of its refusals: rate limit, missing key, server error. */
  readonly refusal: (status: number, message: string) => unknown;
}

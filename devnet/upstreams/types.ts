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
}

/** What the providers know about. Nothing in it changes by being asked. */
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

/** Where the values stand in a provider's bodies, so that faults can falsify them. */
export interface BodyShape {
  /** Names of the fields that carry what clients read. */
  readonly values: readonly string[];
  /** Names of the fields that tell when something was observed; rows such as `[time, value]` are known without. */
  readonly times?: readonly string[];
  /** Path of a record of items (`[]` = the body itself); absent: items stand in arrays. */
  readonly record?: readonly string[];
  /** Bodies are one item, whatever lists it carries. */
  readonly single?: true;
}

export interface SimulatedProvider {
  /** Path of its base URL on the simulator, e.g. `/pendle/core`. */
  readonly base: string;
  readonly handle: ProviderHandler;
  readonly shape: BodyShape;
  /** Body with which it refuses: rate limit, missing key, server error. */
  readonly refusal: (status: number, message: string) => unknown;
}

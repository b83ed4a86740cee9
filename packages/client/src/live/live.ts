import type {
  FreshnessChangesSubscription,
  FreshnessChangesSubscriptionVariables,
  StrategyChangesSubscription,
  StrategyChangesSubscriptionVariables,
  WalletChangesSubscription,
  WalletChangesSubscriptionVariables,
} from '../generated/graphql.ts';
import { FreshnessChangesText, StrategyChangesText, WalletChangesText } from '../generated/texts.ts';
import type { Requests } from '../http/requests.ts';
import { isRecord } from '../json.ts';
import { follow, type LiveOptions } from './follow.ts';

export type StrategyChange = StrategyChangesSubscription['strategyChanged'];
export type FreshnessChange = FreshnessChangesSubscription['freshnessChanged'];
export type WalletChange = WalletChangesSubscription['walletChanged'];

/** Changes as they happen. Each stream survives broken connections; end it with `break` or the signal. */
export interface Live {
  /**
   * Strategies as they change, chain by chain: everything at first (`complete`), then differences. After a broken
   * connection only the changes since; everything again where the service no longer knows the last version.
   */
  strategies(input?: StrategyChangesSubscriptionVariables, options?: LiveOptions): AsyncGenerator<StrategyChange>;
  /** Freshness of each chain: at first, and whenever it changes. */
  freshness(input?: FreshnessChangesSubscriptionVariables, options?: LiveOptions): AsyncGenerator<FreshnessChange>;
  /** Holdings of a wallet: at first, and whenever they read differently. Needs a key. */
  wallet(input: WalletChangesSubscriptionVariables, options?: LiveOptions): AsyncGenerator<WalletChange>;
}

const isChange = ({ chain, version }: Readonly<Record<string, unknown>>): boolean =>
  isRecord(chain) && typeof chain.chainId === 'number' && typeof version === 'number';

export function createLive(requests: Requests): Live {
  async function* strategies(
    { chainIds, filter, since }: StrategyChangesSubscriptionVariables = {},
    options: LiveOptions = {},
  ): AsyncGenerator<StrategyChange> {
    const list = Array.isArray(since) || since === null || since === undefined ? (since ?? []) : [since];
    const versions = new Map(list.map(({ chainId, version }) => [chainId, version]));
    const variables = () => ({
      chainIds,
      filter,
      since: [...versions].map(([chainId, version]) => ({ chainId, version })),
    });
    const subscription = { query: StrategyChangesText, field: 'strategyChanged', variables, isChange };
    for await (const change of follow<StrategyChange>(requests, subscription, options)) {
      versions.set(change.chain.chainId, change.version);
      yield change;
    }
  }
  return {
    strategies,
    freshness: (input = {}, options = {}) =>
      follow(requests, { query: FreshnessChangesText, field: 'freshnessChanged', variables: () => input }, options),
    wallet: (input, options = {}) =>
      follow(requests, { query: WalletChangesText, field: 'walletChanged', variables: () => input }, options),
  };
}

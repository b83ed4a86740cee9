import type { RewardsReadPort } from '../resolvers/common/services.ts';
import { answeredInTime } from '../shared/calls/wait-timeout.ts';
import type { Clock } from '../shared/clock.ts';
import type { Address, ChainId } from '../shared/ids.ts';
import { createStaleIfError } from '../shared/stale-if-error.ts';
import type { Timers } from '../shared/timers.ts';
import type { EarnedReward, RewardsPort } from '../upstreams/types.ts';

export interface RewardsDeps {
  readonly upstream: RewardsPort;
  readonly clock: Clock;
  /** Timers of a reader's wait. */
  readonly timeouts: Timers;
}

/** The provider credits rewards every few hours. */
const FRESH_MS = 300_000;
const STALE_MS = 3_600_000;
const MAX_BYTES = 4 * 1024 * 1024;
const REWARD_BYTES = 300;
const ANSWER_BYTES = 200;

/** Create the reading of rewards of positions: one request per position in five minutes, and an older record while the provider fails. */
export function createRewards({ upstream, clock, timeouts }: RewardsDeps): RewardsReadPort {
  const records = createStaleIfError<readonly EarnedReward[]>({
    clock,
    freshMs: FRESH_MS,
    staleMs: STALE_MS,
    bounds: { maxBytes: MAX_BYTES, bytesOf: (rewards) => ANSWER_BYTES + rewards.length * REWARD_BYTES },
    load: (key) => {
      const [chainId, account] = JSON.parse(key) as [ChainId, Address];
      return answeredInTime('merkl', upstream.earned(chainId, account), timeouts);
    },
  });
  return {
    async of(chainId, proxy) {
      const { value, loadedAtMs } = await records.get(JSON.stringify([chainId, proxy]));
      return { rewards: value, asOfMs: loadedAtMs };
    },
  };
}

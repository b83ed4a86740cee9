import { settlesWithin } from '../../../shared/calls/wait-timeout.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/logger.ts';
import { systemTimers, type Timers } from '../../../shared/timers.ts';
import type { AlertOutbox, AttemptOutcome, ClaimedDelivery, ClaimLimits } from '../database/outbox.ts';
import { pauseAfterAttempt } from '../domain/retry.ts';
import { validEarlierSecrets } from '../domain/secrets.ts';
import type { SendWebhook, WebhookResult } from '../webhooks/send.ts';
import { signatureHeader, signingSecret, type VersionedSecret } from '../webhooks/sign.ts';

export interface AlertDeliveryDeps {
  readonly outbox: Pick<AlertOutbox, 'claim' | 'finish'>;
  /** Owners with a valid key: the events of others wait. */
  readonly activeOwners: () => Promise<readonly string[]>;
  readonly send: SendWebhook;
  readonly pepper: string | undefined;
  /** Events of a key whose delivery may begin within an hour. */
  readonly begunPerHour: number;
  readonly clock: Clock;
  readonly timers?: Timers | undefined;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  readonly onAttempt?:
    | ((attempt: {
        readonly outcome: Exclude<AttemptOutcome['status'], 'pending'> | 'retry';
        /** Why it failed; `null` = it did not. */
        readonly reason: string | null;
      }) => void)
    | undefined;
}

export interface AlertDeliveries {
  /** Deliver events that are due; returns the numbers of attempts and of failed ones. */
  run(signal: AbortSignal): Promise<{ readonly items: number; readonly failures: number }>;
}

/** Attempts at once, of this process; of one receiver and of one key fewer, in all processes together. */
const AT_ONCE = 16;
const PER_RECEIVER = 2;
const PER_OWNER = 4;
/** A run begins no attempt after this many, or after this time; the job comes again, with the owners of then. */
const MAX_ATTEMPTS_PER_RUN = 2_000;
const RUN_MS = 20_000;
/** How often due events are looked for while attempts are under way. */
const CLAIM_AGAIN_MS = 500;

/**
 * Create the delivery of events to their receivers: at least once, with the same id and body in each attempt. A receiver that
 * hangs delays the events of others by seconds at most.
 */
export function createAlertDeliveries(deps: AlertDeliveryDeps): AlertDeliveries {
  const { timers = systemTimers } = deps;
  return {
    async run(signal) {
      const owners = await deps.activeOwners();
      const limits = { owners, perReceiver: PER_RECEIVER, perOwner: PER_OWNER, begunPerHour: deps.begunPerHour };
      const underWay = new Set<Promise<void>>();
      let isOver = false;
      let broken: { readonly error: unknown } | undefined;
      let items = 0;
      let failures = 0;
      const begin = (claimed: ClaimedDelivery): void => {
        items += 1;
        const one = attempt(deps, claimed, signal)
          .then(
            (ok) => {
              if (!ok) failures += 1;
            },
            (error: unknown) => {
              broken ??= { error };
            },
          )
          .finally(() => underWay.delete(one));
        underWay.add(one);
      };
      const claimNext = async (): Promise<ClaimedDelivery | null> => {
        if (underWay.size >= AT_ONCE) return null;
        return deps.outbox.claim(limits satisfies ClaimLimits).catch((error: unknown) => {
          broken ??= { error };
          return null;
        });
      };
      const timer = timers.setTimeout(() => {
        isOver = true;
      }, RUN_MS);
      while (!signal.aborted && !isOver && !broken && items < MAX_ATTEMPTS_PER_RUN) {
        const claimed = await claimNext();
        if (claimed !== null) begin(claimed);
        else if (underWay.size === 0) break;
        // Events of other receivers may come while one hangs.
        else await settlesWithin(Promise.race(underWay), CLAIM_AGAIN_MS, timers);
      }
      timers.clearTimeout(timer);
      await Promise.all(underWay);
      if (broken) throw broken.error;
      return { items, failures };
    },
  };
}

async function attempt(deps: AlertDeliveryDeps, claimed: ClaimedDelivery, signal: AbortSignal): Promise<boolean> {
  const { clock, logger, outbox } = deps;
  const { id, alertId, type, attempts, body, url, receiver } = claimed;
  const startedMs = clock.now();
  const timestamp = Math.floor(startedMs / 1_000);
  const headers = {
    'user-agent': 'spiral-gateway-alerts',
    'x-spiral-event-id': id,
    'x-spiral-event-type': `alert.${type}`,
    'x-spiral-alert-id': alertId,
    'x-spiral-attempt': String(attempts),
    'x-spiral-signature': signatureHeader(secretsOf(claimed, startedMs, deps.pepper), timestamp, body),
  };
  const result = await deps.send({ url, body, headers }, signal);
  const outcome = outcomeOf(result, attempts, clock.now(), deps.random());
  await outbox.finish(claimed, outcome);
  const { failure, httpStatus } = outcome;
  deps.onAttempt?.({
    outcome: outcome.status === 'pending' ? 'retry' : outcome.status,
    reason: failure,
  });
  if (outcome.status === 'dead') {
    logger.warn({ alertId, eventId: id, receiver, failure, httpStatus, attempts }, 'webhook given up');
  }
  return result.ok;
}

/** The secrets that sign now: the newest, and those before it while their overlap lasts. */
function secretsOf(claimed: ClaimedDelivery, nowMs: number, pepper: string | undefined): readonly VersionedSecret[] {
  const { alertId, secret } = claimed;
  return [secret, ...validEarlierSecrets(claimed, nowMs)].map(({ version }) => ({
    version,
    secret: signingSecret(alertId, { salt: secret.salt, version }, pepper),
  }));
}

function outcomeOf(result: WebhookResult, attempts: number, nowMs: number, random: number): AttemptOutcome {
  const { ok, httpStatus, failure, retryAfterSec } = result;
  if (ok) return { status: 'delivered', httpStatus, failure: null };
  const pauseMs = pauseAfterAttempt(attempts, random, retryAfterSec);
  if (pauseMs === null) return { status: 'dead', httpStatus, failure };
  return { status: 'pending', httpStatus, failure, retryAtMs: nowMs + pauseMs };
}

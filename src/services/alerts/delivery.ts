import type { AlertOutbox, AttemptOutcome, ClaimedDelivery, ClaimLimits } from '../../database/alerts/outbox.ts';
import { pauseAfterAttempt } from '../../domain/alerts/retry.ts';
import { validEarlierSecrets } from '../../domain/alerts/secrets.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import type { SendWebhook, WebhookResult } from '../../webhooks/send.ts';
import { signatureHeader, signingSecret, type VersionedSecret } from '../../webhooks/sign.ts';

export interface AlertDeliveryDeps {
  readonly outbox: Pick<AlertOutbox, 'claim' | 'finish'>;
  /** Owners with a valid key: the events of others wait. */
  readonly activeOwners: () => Promise<readonly string[]>;
  readonly send: SendWebhook;
  readonly pepper: string | undefined;
  /** Events of a key whose delivery may begin within an hour. */
  readonly begunPerHour: number;
  readonly clock: Clock;
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
const WORKERS = 16;
const PER_RECEIVER = 2;
const PER_OWNER = 4;
/** Attempts of one run, after which the job comes again. */
const MAX_ATTEMPTS_PER_RUN = 2_000;

/** Create the delivery of events to their receivers: at least once, with the same id and body in each attempt. */
export function createAlertDeliveries(deps: AlertDeliveryDeps): AlertDeliveries {
  return {
    async run(signal) {
      const owners = await deps.activeOwners();
      const limits = { owners, perReceiver: PER_RECEIVER, perOwner: PER_OWNER, begunPerHour: deps.begunPerHour };
      let items = 0;
      let failures = 0;
      const work = async (): Promise<void> => {
        while (!signal.aborted && items < MAX_ATTEMPTS_PER_RUN) {
          const claimed = await deps.outbox.claim(limits satisfies ClaimLimits);
          if (claimed === null) return;
          items += 1;
          if (!(await attempt(deps, claimed, signal))) failures += 1;
        }
      };
      // One failure of the database ends its worker; the others end by themselves.
      const ended = await Promise.allSettled(Array.from({ length: WORKERS }, work));
      const broken = ended.find((one) => one.status === 'rejected');
      if (broken) throw broken.reason;
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

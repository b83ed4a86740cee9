import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../../../shared/clock.ts';
import { BadRequestError, ConflictError } from '../../../shared/errors.ts';
import { formatValue } from '../../../shared/ids.ts';
import type { AlertRepository } from '../database/alerts.ts';
import type { AlertEventRepository } from '../database/events.ts';
import { makeAlertEvent } from '../domain/event.ts';
import type { AlertRecord, EarlierRegistration, EarlierSecret, NewAlertRecord } from '../domain/records.ts';
import { subjectKey } from '../domain/rules.ts';
import { MAX_SECRETS, rotateSecrets, validEarlierSecrets } from '../domain/secrets.ts';
import type { AlertsPort } from '../resolvers/alert-services.ts';
import { signingSecret } from '../webhooks/sign.ts';
import { type AllowedTargets, parseTarget, receiverOf } from '../webhooks/target.ts';

export interface AlertRegistryDeps {
  readonly alerts: AlertRepository;
  readonly events: AlertEventRepository;
  readonly ownerOf: (keyId: string) => Promise<string>;
  readonly allowedTargets: AllowedTargets;
  /** Maximum number of alerts of one key. */
  readonly maxPerKey: number;
  readonly pepper: string | undefined;
  readonly clock: Clock;
  /** Called after an event was stored by this process. */
  readonly onEvents: () => void;
}

const SALT_BYTES = 16;
const NEWEST_FOR_MS = 1_000;
/** A repeated registration is answered with the secret for this time, so that a lost answer can be had again. */
const REPEATED_FOR_MS = 24 * 3_600_000;

export interface AlertRegistry extends AlertsPort {
  /** Read the newest event anew with the next question for it. */
  forgetNewest(): void;
}

/** Create the port over which partners manage their alerts. */
export function createAlertRegistry(deps: AlertRegistryDeps): AlertRegistry {
  const { alerts, events, ownerOf, clock, pepper } = deps;
  let newest: { readonly untilMs: number; readonly read: Promise<bigint> } | undefined;
  let newestRead: bigint | undefined;
  const newestByOwner = new Map<string, bigint>();
  /** Read the newest event, and which owners have events since the reading before. */
  const readNewest = async (): Promise<bigint> => {
    if (newestRead === undefined) {
      newestRead = await events.newest();
      return newestRead;
    }
    for (const [ownerId, seq] of await events.newestByOwner(newestRead)) {
      newestByOwner.set(ownerId, seq);
      if (seq > newestRead) newestRead = seq;
    }
    return newestRead;
  };
  const newestEvent = (asOf?: 'now'): Promise<bigint> => {
    if (asOf === 'now') return events.newest();
    const nowMs = clock.now();
    if (newest === undefined || nowMs >= newest.untilMs || nowMs < newest.untilMs - NEWEST_FOR_MS) {
      newest = { untilMs: nowMs + NEWEST_FOR_MS, read: readNewest() };
    }
    return newest.read;
  };
  return {
    create: async (keyId, { rule, url: text, label, idempotencyKey }) => {
      const url = parseTarget(text, deps.allowedTargets, 'input.webhookUrl');
      const id = randomUUID();
      const ownerId = await ownerOf(keyId);
      const secret = { salt: randomBytes(SALT_BYTES), version: 1 };
      const hash = registrationHash({ rule, label, url: url.href });
      const idempotency = idempotencyKey === undefined ? undefined : { key: idempotencyKey, hash };
      const added = { id, ownerId, rule, label, url: url.href, createdMs: clock.now(), secret, idempotency };
      const stored = await alerts.insert(added, deps.maxPerKey);
      if (stored === 'too_many') throw tooMany(deps.maxPerKey);
      if (stored !== 'stored') {
        const again = repeated(stored, added, clock.now());
        return { alert: again, secret: signingSecret(again.id, again.secret, pepper) };
      }
      const alert = await alerts.find(ownerId, id);
      if (alert === null) throw new Error('an alert is gone right after its registration');
      return { alert, secret: signingSecret(id, secret, pepper) };
    },
    rotateSecret: async (keyId, id, overlapSec) => {
      const ownerId = await ownerOf(keyId);
      const nowMs = clock.now();
      let refused: BadRequestError | undefined;
      const alert = await alerts.changeSecrets(ownerId, id, (before) => {
        const rotated = rotateSecrets(before, overlapSec, nowMs);
        if (rotated === null) refused = tooManySecrets(validEarlierSecrets(before, nowMs));
        return rotated;
      });
      if (refused) throw refused;
      return alert && { alert, secret: signingSecret(id, alert.secret, pepper) };
    },
    find: async (keyId, id) => alerts.find(await ownerOf(keyId), id),
    list: async (keyId, query) => alerts.list({ ...query, ownerId: await ownerOf(keyId) }),
    remove: async (keyId, id) => alerts.remove(await ownerOf(keyId), id),
    ping: async (keyId, alertId) => {
      const ownerId = await ownerOf(keyId);
      const alert = await alerts.find(ownerId, alertId);
      if (alert === null) return null;
      const receiver = receiverOf(new URL(alert.url));
      const event = { id: randomUUID(), type: 'ping', alert, state: alert.state, receiver } as const;
      await alerts.announce(makeAlertEvent({ ...event, occurredMs: clock.now() }));
      deps.onEvents();
      return events.find(ownerId, event.id);
    },
    deliveries: async (keyId, query) => events.list({ ...query, ownerId: await ownerOf(keyId) }),
    redeliver: async (keyId, id) => events.redeliver(await ownerOf(keyId), id),
    placeOf: async (keyId, event) => {
      const [found, ownerId] = await Promise.all([events.locate(event), ownerOf(keyId)]);
      return found && (found.ownerId === ownerId ? found.seq : 'other_key');
    },
    eventsAfter: async (keyId, seq, limit) => events.after(await ownerOf(keyId), seq, limit),
    newestEvent,
    newestEventOf: async (keyId) => {
      const ownerId = await ownerOf(keyId);
      await newestEvent();
      return newestByOwner.get(ownerId) ?? 0n;
    },
    forgetNewest() {
      newest = undefined;
    },
  };
}

function tooMany(max: number): BadRequestError {
  return new BadRequestError(
    `This key has ${max} alerts, which is the most it may have. Delete one that is not needed, or ask for a higher limit.`,
    { field: 'input', value: String(max), limit: { maxAlerts: max } },
  );
}

/** A hash that is the same for the same registration, however it was written. */
function registrationHash({ rule, label, url }: Pick<NewAlertRecord, 'rule' | 'label' | 'url'>): Buffer {
  const { subject, condition, threshold, rearmAt } = rule;
  const parts = [subjectKey(subject), condition, threshold?.toFixed() ?? null, rearmAt?.toFixed() ?? null, label, url];
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}

/** The alert of a registration that was sent before. @throws ConflictError where it cannot be answered like the first time */
function repeated(earlier: EarlierRegistration, added: NewAlertRecord, nowMs: number): AlertRecord {
  const { alert, hash, isDeleted } = earlier;
  const key = formatValue(added.idempotency?.key ?? '');
  const details = { field: 'input.idempotencyKey', value: key, resource: 'alert', id: alert.id } as const;
  if (!added.idempotency?.hash.equals(hash)) {
    throw new ConflictError(
      `The idempotency key "${key}" was sent with another registration, of alert ${alert.id}. Send a new key with a new registration.`,
      { ...details, reason: 'other_request' },
    );
  }
  if (isDeleted) {
    throw new ConflictError(
      `The alert ${alert.id}, which was registered with the idempotency key "${key}", is deleted. Send a new key to register it again.`,
      { ...details, reason: 'deleted' },
    );
  }
  if (alert.secret.version > 1 || nowMs - alert.createdMs >= REPEATED_FOR_MS) {
    throw new ConflictError(
      `The alert ${alert.id} was registered with the idempotency key "${key}" at ${new Date(alert.createdMs).toISOString()}. Its secret is shown for 24 hours and until it is rotated: rotate it for a new one.`,
      { ...details, reason: 'secret_shown' },
    );
  }
  return alert;
}

function tooManySecrets(earlier: readonly EarlierSecret[]): BadRequestError {
  const freeAt = new Date(Math.min(...earlier.map(({ untilMs }) => untilMs))).toISOString();
  return new BadRequestError(
    `${earlier.length + 1} secrets of this alert sign already, which is the most. Wait until ${freeAt}, or send overlapSec 0, which ends all of them.`,
    { field: 'overlapSec', value: String(earlier.length + 1), limit: { maxSecrets: MAX_SECRETS } },
  );
}

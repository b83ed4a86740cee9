import { randomBytes, randomUUID } from 'node:crypto';
import type { AlertRepository } from '../../database/alerts/alerts.ts';
import type { AlertEventRepository } from '../../database/alerts/events.ts';
import { makeAlertEvent } from '../../domain/alerts/event.ts';
import type { AlertsPort } from '../../resolvers/alert/alert-services.ts';
import type { Clock } from '../../shared/clock.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { signingSecret } from '../../webhooks/sign.ts';
import { type AllowedTargets, parseTarget, receiverOf } from '../../webhooks/target.ts';

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

export interface AlertRegistry extends AlertsPort {
  /** Read the newest event anew with the next question for it. */
  forgetNewest(): void;
}

/** Create the port over which partners manage their alerts. */
export function createAlertRegistry(deps: AlertRegistryDeps): AlertRegistry {
  const { alerts, events, ownerOf, clock, pepper } = deps;
  let newest: { readonly untilMs: number; readonly seq: Promise<bigint> } | undefined;
  return {
    create: async (keyId, { rule, url: text, label }) => {
      const url = parseTarget(text, deps.allowedTargets, 'input.webhookUrl');
      const id = randomUUID();
      const ownerId = await ownerOf(keyId);
      const secret = { salt: randomBytes(SALT_BYTES), version: 1 };
      const added = { id, ownerId, rule, label, url: url.href, createdMs: clock.now(), secret };
      if (!(await alerts.insert(added, deps.maxPerKey))) throw tooMany(deps.maxPerKey);
      const alert = await alerts.find(ownerId, id);
      if (alert === null) throw new Error('an alert is gone right after its registration');
      return { alert, secret: signingSecret(id, secret, pepper) };
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
    placeOf: async (keyId, id) => (await events.find(await ownerOf(keyId), id))?.seq ?? null,
    eventsAfter: async (keyId, seq, limit) => events.after(await ownerOf(keyId), seq, limit),
    newestEvent: () => {
      const nowMs = clock.now();
      if (newest === undefined || nowMs >= newest.untilMs || nowMs < newest.untilMs - NEWEST_FOR_MS) {
        newest = { untilMs: nowMs + NEWEST_FOR_MS, seq: events.newest() };
      }
      return newest.seq;
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

import { expect, test } from 'vitest';
import type { AppContext } from '../../../resolvers/common/context.ts';
import { createChanges } from '../../../services/changes.ts';
import type { AlertEventRepository } from '../database/events.ts';
import type { AlertDelivery } from '../domain/records.ts';
import { watchAlertEvents } from '../resolvers/alert-events.ts';
import { alertServices } from '../resolvers/alert-services.ts';
import { type AlertRegistryDeps, createAlertRegistry } from '../services/registry.ts';

const WAIT_MS = 5_000;

/** Events of all owners in memory, with the owners whose events were read. */
function eventsInMemory() {
  const stored: { readonly ownerId: string; readonly seq: bigint }[] = [];
  const readings: string[] = [];
  const repository: Partial<AlertEventRepository> = {
    newest: async () => BigInt(stored.length),
    newestByOwner: async (after) =>
      new Map(stored.filter(({ seq }) => seq > after).map((one) => [one.ownerId, one.seq])),
    after: async (ownerId, after, limit) => {
      readings.push(ownerId);
      const own = stored.filter((one) => one.ownerId === ownerId && one.seq > after).slice(0, limit);
      return own as unknown as AlertDelivery[];
    },
    locate: async () => null,
  };
  const store = (ownerId: string) => void stored.push({ ownerId, seq: BigInt(stored.length + 1) });
  return { repository: repository as AlertEventRepository, store, readings };
}

test('a stream reads events when its own key has some, and none of them is missed or sent twice', async () => {
  let nowMs = Date.UTC(2026, 5, 10, 12);
  const clock = { now: () => nowMs };
  const events = eventsInMemory();
  const deps = { events: events.repository, ownerOf: async (keyId: string) => `owner of ${keyId}`, clock };
  const alerts = createAlertRegistry({ ...deps, alerts: {}, onEvents: () => {} } as unknown as AlertRegistryDeps);
  const timers = { setTimeout: () => null, clearTimeout: () => {} };
  const changes = createChanges({ snapshot: { subscribe: () => () => {} }, clock, timers, maxOpen: 100 });
  const open = (keyId: string, lastEventId?: string) => {
    const caller = { kind: 'key', keyId, tier: 'partner', label: keyId };
    const services = { features: new Map([alertServices.with(alerts)]), changes, catalog: { chainIds: [1] } };
    return watchAlertEvents({ caller, lastEventId, services, live: () => services } as unknown as AppContext);
  };
  const wake = () => {
    nowMs += WAIT_MS;
    changes.wake('alertEvents');
  };
  events.store('owner of a');
  const [a, b] = [await open('a'), await open('b', 'alert-0')];
  const [nextOfA, nextOfB] = [a.next(), b.next()];
  wake();
  await new Promise(setImmediate);
  // Each stream reads once when it begins.
  expect(events.readings.sort()).toEqual(['owner of a', 'owner of b']);
  for (let n = 0; n < 300; n += 1) events.store('owner of a');
  wake();
  expect((await nextOfA).value.seq).toBe(2n);
  await new Promise(setImmediate);
  expect(events.readings.filter((owner) => owner === 'owner of b')).toHaveLength(1);
  for (let seq = 3n; seq <= 301n; seq += 1n) expect((await a.next()).value.seq).toBe(seq);
  events.store('owner of b');
  wake();
  expect((await nextOfB).value.seq).toBe(302n);
  changes.close();
});

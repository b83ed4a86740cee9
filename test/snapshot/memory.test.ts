import { silentLogger } from '../../src/shared/logger.ts';
import { createMemorySnapshot } from '../../src/snapshot/memory.ts';
import { describeStore } from './conformance.ts';

describeStore('memory', {
  persists: false,
  create: async () => createMemorySnapshot({ clock: { now: () => 50_000 }, logger: silentLogger }),
});

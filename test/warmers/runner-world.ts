import { createMemoryLease, type LeasePort } from '../../src/snapshot/lease.ts';
import { createWarmerRunner, type RunEvent } from '../../src/warmers/runner/runner.ts';
import type { RunMode, RunReport, Warmer } from '../../src/warmers/types.ts';
import { rememberingLogger } from '../snapshot/logs.ts';
import { type FakeTime, fakeTime } from './fake-time.ts';

export const GOOD: RunReport = { items: 1, failures: 0, retryable: 0 };
export const SECOND = 1_000;

export interface Scripted extends Warmer {
  readonly modes: RunMode[];
  signals: AbortSignal[];
  /** The outcomes of the next runs; later runs succeed. */
  readonly script: (() => Promise<RunReport>)[];
}

export function warmer(name: string, options: Partial<Pick<Warmer, 'everySec' | 'phase'>> = {}): Scripted {
  const self: Scripted = {
    name,
    groups: ['price'],
    everySec: 100,
    phase: 1,
    ...options,
    modes: [],
    signals: [],
    script: [],
    run: async (signal, mode) => {
      self.modes.push(mode);
      self.signals.push(signal);
      return (self.script.shift() ?? (async () => GOOD))();
    },
  };
  return self;
}

/** A run that waits until it is ended or aborted. */
export function held(target: Scripted): { readonly end: () => void } {
  let end = (): void => {};
  target.script.push(
    () =>
      new Promise((resolve, reject) => {
        end = () => resolve(GOOD);
        const signal = target.signals.at(-1);
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  );
  return { end: () => end() };
}

export function running(
  warmers: readonly Warmer[],
  lease: LeasePort = createMemoryLease(),
  time: FakeTime = fakeTime(),
) {
  const events: RunEvent[] = [];
  const logger = rememberingLogger();
  const runner = createWarmerRunner({
    warmers,
    clock: time.clock,
    timers: time.timers,
    logger,
    lease,
    random: () => 0,
    onRun: (event) => events.push(event),
  });
  return { runner, time, events, messages: () => logger.messages.filter((message) => message.startsWith('warmer')) };
}

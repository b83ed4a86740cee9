import { describe, expect, it } from 'vitest';
import { createBudget, type SharedTexts } from '../../src/upstreams/budgets.ts';

const BACKGROUND = { cost: 1, traffic: 'background' } as const;
const WAITING = { cost: 1, traffic: 'waiting' } as const;
const UNLISTED = { cost: 1, traffic: 'unlisted' } as const;

/** A clock that sleeping moves, as for one caller at a time. */
function fakeTime() {
  let nowMs = 1_795_176_000_000;
  const slept: number[] = [];
  return {
    clock: { now: () => nowMs },
    slept,
    sleep: async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      slept.push(ms);
      nowMs += ms;
    },
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

/** Texts that several budgets share, as by Redis. */
function sharedTexts(): SharedTexts & { text: string | null } {
  return {
    text: null,
    async update(_name, change) {
      this.text = change(this.text) ?? this.text;
    },
    async read() {
      return this.text;
    },
  };
}

const rules = { limits: { minute: 30 } };

describe('createBudget', () => {
  it('default: a refresh waits until it is permitted', async () => {
    const time = fakeTime();
    const budget = createBudget({ ...time, name: 'a', rules });
    for (let i = 0; i < 15; i += 1) expect(await budget.take(BACKGROUND)).toBeNull();
    expect(time.slept).toEqual([]);
    expect(await budget.take(BACKGROUND)).toBeNull();
    expect(time.slept).toEqual([4_000]);
  });

  it.each([
    [WAITING, 4_000],
    [UNLISTED, 4_000],
    [{ ...BACKGROUND, cost: 8 }, 32_000],
  ])('behavior: refuses %j at once without a charge when the wait would be too long', async (spending, forMs) => {
    const time = fakeTime();
    const budget = createBudget({ ...time, name: 'a', rules });
    for (let i = 0; i < 15; i += 1) await budget.take(BACKGROUND);
    expect(await budget.take(spending)).toEqual({ refusedForMs: forMs });
    expect(await budget.take(spending)).toEqual({ refusedForMs: forMs });
    expect(time.slept).toEqual([]);
  });

  it('behavior: a wait that is given up has spent nothing', async () => {
    const time = fakeTime();
    const budget = createBudget({ ...time, name: 'a', rules });
    for (let i = 0; i < 15; i += 1) await budget.take(BACKGROUND);
    const before = budget.seen();
    await expect(budget.take(BACKGROUND, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(budget.seen()).toEqual(before);
  });

  it('behavior: a clock that was set back by a day holds no request for longer than the limit itself', async () => {
    let nowMs = 10 * 86_400_000;
    const sleep = async (ms: number) => {
      nowMs += ms;
    };
    const budget = createBudget({ clock: { now: () => nowMs }, sleep, name: 'a', rules });
    await budget.take({ cost: 1, traffic: 'waiting' });
    await budget.told({ cost: 1, traffic: 'waiting' }, { refusedForMs: 2_000, windows: [] });
    nowMs -= 86_400_000;
    let refused = 0;
    while ((await budget.take({ cost: 1, traffic: 'waiting' })) !== null && refused < 100) {
      refused += 1;
      nowMs += 10_000;
    }
    // A refusal of a provider holds for 300 s at most.
    expect(refused).toBeLessThanOrEqual(32);
  });

  it('behavior: a clock that stands still ends the wait', async () => {
    const budget = createBudget({ clock: { now: () => 1 }, sleep: async () => {}, name: 'a', rules });
    for (let i = 0; i < 15; i += 1) await budget.take(BACKGROUND);
    expect(await budget.take(BACKGROUND)).toMatchObject({ refusedForMs: expect.any(Number) });
  });

  it('behavior: processes that share their texts share the budget and what headers have said', async () => {
    const [time, texts] = [fakeTime(), sharedTexts()];
    const [one, two] = [1, 2].map(() => createBudget({ ...time, name: 'a', rules, texts })) as [
      ReturnType<typeof createBudget>,
      ReturnType<typeof createBudget>,
    ];
    for (let i = 0; i < 15; i += 1) expect(await (i % 2 === 0 ? one : two).take(WAITING)).toBeNull();
    expect(await one.take(WAITING)).not.toBeNull();
    expect((await two.use()).spentInDay).toBe(15);
    await one.told(WAITING, { windows: [{ window: 'minute', limit: 600 }] });
    expect(await two.take(WAITING)).toBeNull();
    expect((await two.use()).windows).toEqual([{ window: 'minute', limit: 600, isStated: true }]);
  });

  it.each(['', 'null', '[]', '{"fullAtMs":{"minute":"x"}}', '{"spentByHour":{"1":null}}', 'no JSON'])(
    'behavior: a stored text %j that is no state counts as none',
    async (text) => {
      const texts = sharedTexts();
      texts.text = text;
      const budget = createBudget({ ...fakeTime(), name: 'a', rules, texts });
      expect(await budget.take(WAITING)).toBeNull();
      expect((await budget.use()).spentInDay).toBe(1);
    },
  );
});

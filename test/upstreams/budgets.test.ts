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
function sharedTexts(aheadMs = 0): SharedTexts & { text: string | null; isAway: boolean } {
  let own: string | null = null;
  return {
    text: null,
    isAway: false,
    async update(_name, change) {
      if (this.isAway) {
        own = change(own ?? this.text, false) ?? own;
        return false;
      }
      this.text = change(this.text, true) ?? this.text;
      own = this.text;
      return true;
    },
    async read() {
      return this.isAway ? own : this.text;
    },
    aheadMs: () => aheadMs,
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
    for (const of of [one, two]) await of.told(WAITING, { windows: [{ window: 'minute', limit: 600 }] });
    expect(await two.take(WAITING)).toBeNull();
    expect((await two.use()).windows).toEqual([{ window: 'minute', limit: 600, isStated: true }]);
  });

  it('behavior: units that were spent while the texts were away are charged once when they are back', async () => {
    const [time, texts] = [fakeTime(), sharedTexts()];
    const own = { text: null as string | null, isAway: false };
    // Two processes, of which one loses the server.
    const lost: SharedTexts = {
      update: async (name, change) => {
        if (!own.isAway) return texts.update(name, change);
        own.text = change(own.text ?? texts.text, false) ?? own.text;
        return false;
      },
      read: (name) => texts.read(name),
      aheadMs: () => 0,
    };
    const one = createBudget({ ...time, name: 'a', rules, texts: lost });
    const other = createBudget({ ...time, name: 'a', rules, texts });
    for (const budget of [one, other, one]) expect(await budget.take(WAITING)).toBeNull();
    own.isAway = true;
    for (let i = 0; i < 5; i += 1) expect(await one.take(WAITING)).toBeNull();
    expect(await other.take(WAITING)).toBeNull();
    expect((await other.use()).spentInDay).toBe(4);
    own.isAway = false;
    expect(await one.take(WAITING)).toBeNull();
    expect((await other.use()).spentInDay).toBe(10);
    await one.take(WAITING);
    expect((await other.use()).spentInDay).toBe(11);
  });

  it('behavior: they are not charged twice when the shared text is lost with its server', async () => {
    const [time, texts] = [fakeTime(), sharedTexts()];
    const budget = createBudget({ ...time, name: 'a', rules, texts });
    await budget.take(WAITING);
    texts.isAway = true;
    for (let i = 0; i < 5; i += 1) await budget.take(WAITING);
    texts.isAway = false;
    texts.text = null;
    await budget.take(WAITING);
    expect((await budget.use()).spentInDay).toBe(7);
  });

  it('behavior: what was spent alone is charged even when the next request has to wait', async () => {
    const [time, texts] = [fakeTime(), sharedTexts()];
    const budget = createBudget({ ...time, name: 'a', rules, texts });
    await budget.take(WAITING);
    const before = texts.text;
    texts.isAway = true;
    for (let i = 0; i < 14; i += 1) await budget.take(WAITING);
    texts.isAway = false;
    expect(texts.text).toBe(before);
    expect(await budget.take(UNLISTED)).not.toBeNull();
    expect((await budget.use()).spentInDay).toBe(15);
  });

  it.each([12_000, -12_000, 3_600_000])(
    'behavior: a clock that is %d ms apart from the shared one takes nothing from the others',
    async (apartMs) => {
      const time = fakeTime();
      const texts = sharedTexts();
      const right = createBudget({ ...time, name: 'a', rules: { limits: { '10s': 30 } }, texts });
      const wrong = createBudget({
        ...time,
        clock: { now: () => time.clock.now() + apartMs },
        name: 'a',
        rules: { limits: { '10s': 30 } },
        texts: Object.assign(Object.create(texts), { aheadMs: () => -apartMs }) as SharedTexts,
      });
      let [ofRight, ofWrong] = [0, 0];
      for (let i = 0; i < 100; i += 1) {
        if ((await right.take(UNLISTED)) === null) ofRight += 1;
        if ((await wrong.take(UNLISTED)) === null) ofWrong += 1;
        time.advance(500);
      }
      expect(ofRight + ofWrong).toBeGreaterThan(80);
      expect(Math.abs(ofRight - ofWrong)).toBeLessThan(ofRight / 2);
    },
  );

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

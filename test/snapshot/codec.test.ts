import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emptyGroup, type FactGroup, type GroupState } from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import {
  asGroup,
  CODEC_VERSION,
  CodecError,
  CodecVersionError,
  decode,
  decodeGroup,
  encode,
  encodeGroup,
} from '../../src/snapshot/codec.ts';
import { mergeGroup } from '../../src/snapshot/merge.ts';
import { price, publication } from './facts.ts';

const decimal = fc
  .tuple(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.integer({ min: 0, max: 40 }))
  .map(([digits, places]) => new Decimal(digits.toString()).shiftedBy(-places));
const name = fc.string({ maxLength: 8 }).filter((text) => !text.startsWith('$') && text !== '__proto__');
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.string(),
    fc.bigInt(),
    decimal,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 4 }).map((pairs) => new Map(pairs)),
  ),
}));

/** A price, with fields that this version does not know. */
const anyPrice = fc.record({
  usd: fc.maxSafeInteger().map((units) => new Decimal(units).shiftedBy(-6)),
  note: value,
});

const textOf = (group: FactGroup, state: GroupState<unknown>) => [...encodeGroup(group, state)].join('');
const read = (group: FactGroup, text: string) => decodeGroup(group, text);

describe('encodeGroup', () => {
  test('behavior: the pieces form one text with an item per line, which is decoded by line and as a whole', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.string(), anyPrice), { maxLength: 4 }), async (pairs) => {
        const items = pairs.map(([key, item]) => [key, { value: item, asOfMs: 10, source: 'test' }] as const);
        const failures = pairs.map(
          ([key]) => [key, { reason: 'timeout' as const, source: 'test', sinceMs: 5 }] as const,
        );
        const state = { ...emptyGroup(), items: new Map(items), failures: new Map(failures), lastAttemptMs: 10 };
        const text = textOf('price', state);
        expect(text.split('\n')).toHaveLength(3 + state.items.size + state.failures.size);
        expect(decode(text)).toEqual({ v: CODEC_VERSION, group: 'price', ...state });
        expect(await read('price', text)).toEqual(state);
        expect(await read('price', text.replaceAll('\n', ''))).toEqual(state);
      }),
    );
  });
});

/** The exact text of version 6: a change of it needs another version. */
const VERSION_6 = `{"v":6,"group":"price","items":{"$map":[
["a",{"value":{"usd":{"$decimal":"1.25"}},"asOfMs":5,"source":"coingecko"}],
["b",{"value":{"usd":{"$decimal":"2"}},"asOfMs":6,"source":"coingecko"}]
]},"failures":{"$map":[
["c",{"reason":"timeout","source":"coingecko","sinceMs":7}]
]},"lastAttemptMs":7,"lastSuccessMs":null}`;

describe('version 6', () => {
  const state = mergeGroup(
    'price',
    emptyGroup(),
    publication(7, { a: price('1.25', 5), b: price('2', 6) }, { c: 'timeout' }),
    7,
  );

  test('behavior: is written and read', async () => {
    expect(textOf('price', state)).toBe(VERSION_6);
    expect(await read('price', VERSION_6)).toEqual(state);
  });

  test('behavior: several pages of items are read', async () => {
    for (const count of [49, 50, 51, 101]) {
      const items = Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, price('1', i)]));
      const many = mergeGroup('price', emptyGroup(), publication(7, items), 7);
      expect(await read('price', textOf('price', many))).toEqual(many);
    }
  });

  const compact = VERSION_6.replaceAll('\n', '');
  test.each([
    ['the group', '"group":"price"', '"group":"oracle"'],
    ['the items', '"items":{"$map":[', '"items":{"$map":[7,'],
    ['the key of an item', '["a",', '[5,'],
    ['the second item alone', '["b",{"value"', '["b",{"worth"'],
    ['the failures', '"failures":{"$map":[', '"failures":["c",'],
    ['the key of a failure', '["c",', '[5,'],
    ['the reason of a failure', '"timeout"', '7'],
    ['the time of the attempt', '"lastAttemptMs":7', '"lastAttemptMs":"7"'],
    ['the time of the success', '"lastSuccessMs":null', '"lastSuccessMs":"7"'],
  ])('error: CodecError where %s is damaged, line by line and in one piece', async (_, text, damage) => {
    for (const whole of [VERSION_6, compact]) {
      await expect(read('price', whole.replace(text, damage))).rejects.toBeInstanceOf(CodecError);
    }
  });

  test('error: another version is named, as far as it is a number', async () => {
    const versionOf = async (v: string) =>
      read('price', VERSION_6.replace('"v":6', `"v":${v}`)).catch((error: unknown) => error);
    for (const [v, version, message] of [
      ['4', 4, 'The persisted "price" facts are of version 4, not 6.'],
      ['"old"', null, 'The persisted "price" facts are of version unknown, not 6.'],
    ] as const) {
      const error = await versionOf(v);
      expect(error).toBeInstanceOf(CodecVersionError);
      expect(error).toMatchObject({ version, message });
    }
  });

  test.each([
    ['no object', 5],
    ['nothing', null],
    ['a list', []],
  ])('error: CodecError for a frame that is %s', (_, frame) => {
    expect(() => asGroup('price', frame)).toThrow('The persisted "price" facts are incomplete.');
  });
});

describe('decode', () => {
  test.each([
    ['{"$bigint":"12"}', 12n],
    ['{"$bigint":"-12"}', -12n],
    ['{"$decimal":"-0.5"}', new Decimal('-0.5')],
    [`{"$decimal":"${'1'.repeat(10_000)}"}`, new Decimal('1'.repeat(10_000))],
    ['{"$map":[]}', new Map()],
    ['{"a":{}}', { a: {} }],
  ])('default: %s', (text, expected) => {
    expect(decode(text)).toEqual(expected);
  });

  test.each([
    '{"$bigint":12}',
    '{"$bigint":"1e2"}',
    `{"$bigint":"${'1'.repeat(101)}"}`,
    '{"$decimal":1}',
    '{"$decimal":"1e2"}',
    `{"$decimal":"${'1'.repeat(10_001)}"}`,
    '{"$map":{}}',
    '{"$map":[7]}',
    '{"$map":[["a"]]}',
    '{"$map":[["a",1,2]]}',
    '{"$set":[]}',
    'no JSON',
  ])('error: CodecError for %s', (text) => {
    expect(() => decode(text)).toThrow(CodecError);
  });
});

describe('encode', () => {
  test('behavior: decode restores values with their types', () => {
    fc.assert(
      fc.property(value, (original) => {
        expect(decode(encode(original))).toEqual(original);
      }),
    );
  });

  test('behavior: an undefined field is absent', () => {
    expect(encode({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  test.each([
    ['a number that is not finite', Number.NaN],
    ['a decimal that is not finite', new Decimal(Number.NaN)],
    ['a reserved key', { $map: 1 }],
    ['a function', () => 1],
  ])('error: CodecError for %s', (_what, wrong) => {
    expect(() => encode(wrong)).toThrow(CodecError);
  });
});

describe('decodeGroup', () => {
  const state = mergeGroup('price', emptyGroup(), publication(7, { a: price('1.25', 5) }, { b: 'timeout' }), 7);

  test('default', async () => {
    expect(await read('price', textOf('price', state))).toEqual(state);
  });

  test.each([
    ['cut text', textOf('price', state).slice(0, -9)],
    ['another group', textOf('oracle', state)],
    ['another version', textOf('price', state).replace(/"v":\d+/, '"v":999')],
    ['an unknown tag', textOf('price', state).replace('$decimal', '$float')],
    ['a decimal that is none', textOf('price', state).replace('1.25', 'much')],
    ['a failure without a reason', textOf('price', state).replace('"reason":"timeout"', '"reason":7')],
    ['an item that is none', textOf('price', state).replace('"asOfMs"', '"asOf"')],
    ['a line that is no entry', textOf('price', state).replace('[\n["a"', '[\n[["a"]')],
    ['no items', `{"v":${CODEC_VERSION},"group":"price"}`],
    ['not an object', '7'],
  ])('error: CodecError for %s', async (_what, text) => {
    await expect(read('price', text)).rejects.toBeInstanceOf(CodecError);
  });

  test.each([
    ['collateralApy', { apyPct: new Decimal(1), history: [{ atMs: 1, ratePct: new Decimal('2.5') }] }],
    ['borrowHistory', { points: [{ atMs: 1, ratePct: new Decimal('2.5') }] }],
  ] as const)('error: CodecError for a damaged history of %s', async (group, fact) => {
    const known = { ...emptyGroup<unknown>(), items: new Map([['a', { value: fact, asOfMs: 5, source: 'test' }]]) };
    const text = textOf(group, known);
    expect(await read(group, text)).toEqual(known);
    const point = '{"atMs":1,"ratePct":{"$decimal":"2.5"}}';
    expect(text).toContain(point);
    for (const damage of ['1', '{"atMs":1}', '{"atMs":"1","ratePct":{"$decimal":"2.5"}}', '{"atMs":1,"ratePct":2.5}']) {
      await expect(read(group, text.replace(point, damage))).rejects.toBeInstanceOf(CodecError);
    }
    await expect(read(group, text.replace(`[${point}]`, point))).rejects.toBeInstanceOf(CodecError);
  });
});

describe('a text of a later version', () => {
  const stateWith = (value: unknown): GroupState<unknown> => ({
    ...emptyGroup(),
    items: new Map([['a', { value, asOfMs: 5, source: 'provider-of-tomorrow' }]]),
  });
  const readValue = async (group: FactGroup, value: unknown) =>
    (await read(group, textOf(group, stateWith(value)))).items.get('a')?.value;
  const record = { id: '1', side: 'borrow', symbol: 'X', startsAtMs: 1, endsAtMs: 2, steps: [] };

  test('behavior: a further field of a group, fact, value or failure changes nothing', async () => {
    const known = mergeGroup('price', emptyGroup(), publication(7, { a: price('1.25', 5) }, { b: 'timeout' }), 7);
    const text = textOf('price', known);
    for (const [place, added] of [
      ['"asOfMs":5', '"confidence":{"$decimal":"0.5"},"asOfMs":5'],
      ['"usd":', '"eur":{"$decimal":"1.1"},"usd":'],
      ['"reason":', '"retryAtMs":9,"reason":'],
      ['"lastAttemptMs":', '"notes":{"$map":[["a","b"]]},"lastAttemptMs":'],
      ['"lastAttemptMs":', '"notes":{"$map":[\n["a",{"text":"b"}]\n]},"lastAttemptMs":'],
    ] as const) {
      const later = text.replace(place, added);
      expect(later).not.toBe(text);
      for (const given of [later, later.replaceAll('\n', '')]) {
        expect(await read('price', given)).toMatchObject({ lastAttemptMs: 7, lastSuccessMs: known.lastSuccessMs });
        expect((await read('price', given)).items.get('a')).toMatchObject({ ...price('1.25', 5) });
        expect((await read('price', given)).failures.get('b')).toMatchObject({ reason: 'timeout', sinceMs: 7 });
      }
    }
  });

  test('behavior: a failure for another reason is a failure, and the values beside it stay', async () => {
    const known = mergeGroup('price', emptyGroup(), publication(7, { a: price('1.25', 5) }, { b: 'timeout' }), 7);
    const later = textOf('price', known).replace('"timeout"', '"sunspots"');
    for (const given of [later, later.replaceAll('\n', '')]) {
      const { items, failures } = await read('price', given);
      expect([items.get('a'), failures.get('b')]).toEqual([
        price('1.25', 5),
        { reason: 'server_error', source: 'coingecko', sinceMs: 7 },
      ]);
    }
  });

  test('behavior: a campaign of another side and an exit of another size are left out', async () => {
    const campaigns = [record, { ...record, id: '2', side: 'supply' }];
    expect(await readValue('incentiveHistory', { campaigns })).toEqual({ campaigns: [record] });
    const slippagePct = { '100000': new Decimal('0.1'), '500000': null, '1000000': null, '5000000': null };
    const later = { ...slippagePct, '10000000': new Decimal('9') };
    expect(await readValue('exitLiquidity', { slippagePct: later })).toEqual({ slippagePct });
  });

  test('error: CodecError for a side or size that is missing or is no name', async () => {
    for (const campaigns of [[{ ...record, side: 7 }], [{ ...record, side: undefined }], [7]]) {
      await expect(readValue('incentiveHistory', { campaigns })).rejects.toBeInstanceOf(CodecError);
    }
    await expect(readValue('exitLiquidity', { slippagePct: { '100000': null } })).rejects.toBeInstanceOf(CodecError);
    await expect(readValue('exitLiquidity', { slippagePct: { '10000000': 'x' } })).rejects.toBeInstanceOf(CodecError);
  });
});

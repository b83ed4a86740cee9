import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ConnectionError,
  ExpiredError,
  InsufficientBalanceError,
  type Plan,
  type PlanProof,
  ReceiptTimeoutError,
  RejectedError,
  serviceError,
} from '../../../examples/app/src/client.ts';
import {
  age,
  amount,
  balance,
  change,
  eventName,
  failureOf,
  fromUnits,
  leverage,
  ltv,
  PageError,
  percent,
  readAmount,
  readable,
  reviewOf,
  signedPercent,
  signedUsd,
  stepsOf,
  toUnits,
  usd,
  usualAmount,
  whole,
} from '../../../examples/app/src/copy/index.ts';
import { placeOf } from '../../../examples/app/src/parts/ltv-bar.ts';

const PYUSD = '0x6c3ea9036406852006290770BEdFcAbA0e23A0e8';
/** Blanks that keep a number and its unit together are compared as blanks. */
const plain = (text: string) => text.replaceAll('\u00a0', ' ');

describe('readAmount', () => {
  const read = (typed: string, decimals = 6) => readAmount(typed, decimals, 'PYUSD');

  test.each([
    ['1000', '1000'],
    ['1,000', '1000'],
    ['1,234,567.89', '1234567.89'],
    ['1 000.5', '1000.5'],
    ['1\u00a0000', '1000'],
    ['1\u202f000', '1000'],
    ["1'000", '1000'],
    [' 12.50 ', '12.50'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['007', '7'],
    ['0.000001', '0.000001'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
  ])('default: %j is %s', (typed, text) => {
    expect(read(typed)).toEqual({ kind: 'amount', text });
  });

  test.each(['', '  ', '0', '0.00', '00', '0.'])('default: %j is no amount yet, and no error', (typed) => {
    expect(read(typed)).toEqual({ kind: 'empty' });
  });

  test.each([
    ['1,5', 'It is not clear what 1,5 means: write 1.5 or 15.'],
    ['1,50', 'It is not clear what 1,50 means: write 1.50 or 150.'],
    ['0,500', 'It is not clear what 0,500 means: write 0.500 or 500.'],
    [',5', 'It is not clear what ,5 means: write 0.5 or 5.'],
    ['1.000,50', 'It is not clear what 1.000,50 means: write 1000.50 or 100050.'],
    ['1,00,000', 'It is not clear what 1,00,000 means: write 100.000 or 100000.'],
    ['1,0000', 'It is not clear what 1,0000 means: write 1.0000 or 10000.'],
    ['1.2.3', '1.2.3 has more than one decimal point. Write one number, such as 1,250.50.'],
    ['1.1234567', 'PYUSD has 6 decimals: write at most 6 digits after the point.'],
    ['-5', 'Enter an amount above 0.'],
    ['\u22125', 'Enter an amount above 0.'],
    ['1e3', 'Enter the amount in digits, such as 1,250.50.'],
    ['0x10', 'Enter the amount in digits, such as 1,250.50.'],
    ['.', 'Enter the amount in digits, such as 1,250.50.'],
    ['١٢', 'Enter the amount in digits, such as 1,250.50.'],
    ['1234567890123456789012345678901', 'This is more than there is of any token.'],
  ])('error: %j is not guessed at', (typed, message) => {
    expect(read(typed)).toEqual({ kind: 'wrong', message });
  });

  test('default: a form begins with a round amount, worth about 1,000 dollars', () => {
    expect(['0.9985', '2450', '91000', undefined, '0'].map(usualAmount)).toEqual(['1,000', '0.4', '0.01', '', '']);
  });

  test('behavior: what is read are units that the service takes', () => {
    expect(toUnits('1000.5', 6)).toBe(1_000_500_000n);
    expect(fromUnits(1_000_500_000n, 6)).toBe('1000.5');
    expect(fromUnits(1n, 18)).toBe('0.000000000000000001');
    expect(fromUnits(7n, 0)).toBe('7');
  });
});

describe('numbers', () => {
  test.each([
    ['24.87', '24.9 %'],
    ['6.84', '6.84 %'],
    ['9.995', '10.0 %'],
    ['0.05', '0.05 %'],
    ['-4.08', '−4.08 %'],
    ['120.4', '120 %'],
    ['0', '0.00 %'],
    [null, 'unknown'],
    [undefined, 'unknown'],
  ])('percent of %j has three digits: %s', (value, text) => {
    expect(plain(percent(value))).toBe(text);
  });

  test.each([
    ['2440.065898909292652012', '2,440.07 sUSDe'],
    ['199939.475116849600266084', '199,939 sUSDe'],
    ['10032696.927677', '10.03M sUSDe'],
    ['0.0698401', '0.0698401 sUSDe'],
    ['0.000000000000000001', '<0.000001 sUSDe'],
    ['0', '0 sUSDe'],
    ['0.00', '0 sUSDe'],
    ['1000', '1,000 sUSDe'],
    ['-3.5', '−3.5 sUSDe'],
    ['999999.4', '999,999 sUSDe'],
    ['999999.7', '1M sUSDe'],
    ['1234567890', '1.235B sUSDe'],
    [undefined, 'unknown'],
  ])('amount of %j has at most six digits: %s', (value, text) => {
    expect(plain(amount(value, 'sUSDe'))).toBe(text);
  });

  test('behavior: a balance is never shown as more than it is', () => {
    expect(balance('0.9999999')).toBe('0.999999');
    expect(balance('10039999')).toBe('10.03M');
    expect(balance('999999.7')).toBe('999,999');
  });

  test('default: dollars, LTVs, leverage and ages', () => {
    expect([usd('65285.93'), usd('999.4'), usd('1233377.4'), usd('0.004'), usd(null)]).toEqual([
      '$65,286',
      '$999.40',
      '$1.23M',
      '$0.00',
      'unknown',
    ]);
    expect([signedUsd('68.3'), signedUsd('-265'), signedUsd('0')].map(plain)).toEqual(['+$68.30', '−$265.00', '$0.00']);
    expect([signedPercent('0.14'), ltv('90.5'), ltv('66.666')].map(plain)).toEqual(['+0.14 %', '90.50 %', '66.67 %']);
    // What is rounded to zero has no sign.
    expect([signedUsd('0.001'), signedUsd('-0.001'), usd('-0.001'), percent('-0.001')].map(plain)).toEqual([
      '$0.00',
      '$0.00',
      '$0.00',
      '0.00 %',
    ]);
    expect([change('-10.00'), change('2.50'), whole(2497.4)].map(plain)).toEqual(['−10 %', '+2.5 %', '2,497']);
    expect([leverage('10.5'), leverage(3), leverage('11.55')]).toEqual(['10.5x', '3.0x', '11.55x']);
    expect([age(5), age(60), age(725), age(7_200), age(200_000)]).toEqual([
      '5 seconds',
      '1 minute',
      '12 minutes',
      '2 hours',
      '2 days',
    ]);
  });
});

describe('words', () => {
  test('default: a sentence has names in place of addresses, and short numbers', () => {
    const owner = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
    const text = `Allows 0x3D131d654e0C413E1cB2ab1071aad78A9470ef9d to take exactly 1000.123456789 of ${PYUSD}, to ${owner}, until 2026-11-27.`;
    expect(readable(text, 1, owner)).toBe(
      'Allows the leverage router to take exactly 1,000.12 of PYUSD, to your wallet, until 2026-11-27.',
    );
    expect(readable('of 0x1234567890123456789012345678901234567890, 10.5x, PT-sUSDe-5NOV2026')).toBe(
      'of 0x1234…7890, 10.5x, PT-sUSDe-5NOV2026',
    );
  });

  test('behavior: a code without a name is made readable', () => {
    expect([eventName('partly_closed'), eventName('some_new_kind')]).toEqual(['Part closed', 'Some new kind']);
  });
});

describe('the review', () => {
  const owner = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
  const router = '0x3D131d654e0C413E1cB2ab1071aad78A9470ef9d';
  const paid = { token: PYUSD, amount: 1_000_000_000n, text: '1000 PYUSD' };
  const proof = {
    chainId: 1,
    owner,
    sentences: [
      `Opens a position of ${owner} with 1000 PYUSD: it borrows 1987.216014 PYUSD.`,
      `Allows ${router} to take exactly 1000 PYUSD, which call 2 does.`,
      'It spends at most 1000 PYUSD.',
    ],
    spendsAtMost: [paid],
    receivesAtLeast: [],
    position: { ltvAtMostPct: '66.88' },
    authorizes: [{ kind: 'allowance', spender: router, amount: paid, until: { callIndex: 1 } }],
  } as unknown as PlanProof;

  test('default: effects, bounds and permissions in words, with the proof beside', () => {
    const { effects, facts, permissions, proof: sentences } = reviewOf(proof);
    expect(effects.map(plain)).toEqual(['Opens a position with 1,000 PYUSD: it borrows 1,987.22 PYUSD.']);
    expect(facts.map(([name, value]) => [name, plain(value)])).toEqual([
      ['Your wallet pays at most', '1,000 PYUSD'],
      ['LTV at most', '66.88 %'],
    ]);
    expect(permissions.map(plain)).toEqual(['The leverage router may take 1,000 PYUSD: it ends with step 2.']);
    expect(sentences).toHaveLength(3);
  });

  test('behavior: an allowance that stays is said, and so is that there is none', () => {
    const [allowance] = proof.authorizes;
    const lasting = { ...proof, authorizes: [{ ...allowance, until: undefined }] } as unknown as PlanProof;
    expect(plain(reviewOf(lasting).permissions[0] ?? '')).toBe(
      'The leverage router may take 1,000 PYUSD: the rest stays allowed.',
    );
    expect(reviewOf({ ...proof, authorizes: [] }).permissions).toEqual(['None: nobody may take anything of yours.']);
  });

  test('default: each call is a step with a name', () => {
    const word = (value: bigint) => value.toString(16).padStart(64, '0');
    const approval = (units: bigint) => ({
      to: PYUSD,
      data: `0x095ea7b3${word(BigInt(router))}${word(units)}`,
      value: '0',
    });
    const right = (is: bigint) => ({ to: router, data: `0xeecea000${word(1n)}${word(is)}`, value: '0' });
    const plan = (body: object) => ({ chainId: 1, meta: {}, ...body }) as unknown as Plan;
    const single = plan({ action: 'close', approvals: [approval(1_000_000_000n), approval(0n)], tx: right(7n) });
    expect(stepsOf({ ...single, tx: { to: router, data: '0x12345678', value: '0' } } as Plan).map(plain)).toEqual([
      'Allow exactly 1,000 PYUSD',
      'Take back the allowance of PYUSD',
      'Sell and repay',
    ]);
    const batch = plan({ action: 'equity_exit', calls: [right(1n), { to: router, data: '0x1234' }, right(0n)] });
    expect(stepsOf(batch)).toEqual(['Let the router act once', 'Sell and repay', 'Take the right of the router back']);
  });
});

test('behavior: the limits of an LTV bar are apart, and an LTV is between its limits', () => {
  const limits = { safe: '90.50', max: '91.25', liquidation: '91.50' };
  const places = [0, 45.25, 90.5, 90.9, 91.25, 91.4, 91.5, 100, 140].map((value) => placeOf(value, limits));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect([places[0], places[1], places[2], places[4], places[6], places[7], places[8]]).toEqual([
    0, 35, 70, 82, 94, 100, 100,
  ]);
  // Of a vault the safe LTV is the highest.
  expect(placeOf(55, { safe: '55.00', max: '55.00', liquidation: '62.50' })).toBe(82);
  expect(placeOf(50, {})).toBeGreaterThan(0);
});

describe('failureOf', () => {
  const refused = (code: string, details?: object) =>
    serviceError({ code, message: `raw ${PYUSD} body.amount`, status: 400, requestId: undefined, details });

  test('default: a sentence and a next step, and no raw words', () => {
    const all = [
      new RejectedError(undefined),
      new ExpiredError('2026-11-27T00:00:00Z'),
      new ConnectionError('fetch failed'),
      refused('no_route'),
      refused('stale_data'),
      refused('rate_limited'),
      refused('a_code_of_a_later_version'),
      new TypeError('x is not a function'),
      'text',
    ];
    for (const error of all) {
      const { what, next } = failureOf(error);
      expect(what).toMatch(/^[A-Z].*\.$/);
      expect(next).toMatch(/^[A-Z].*\.$/);
      expect(`${what} ${next}`).not.toMatch(/0x|body\.|raw|fetch|function|_/);
    }
  });

  test('behavior: a limit is named, with its numbers', () => {
    expect(plain(failureOf(refused('bad_request', { limit: { maxAmount: '25636.489904' } })).what)).toBe(
      'At most 25,636.5 is possible now.',
    );
    expect(plain(failureOf(refused('bad_request', { limit: { maxLeverage: '10.5', maxLtvPct: '90.50' } })).what)).toBe(
      'At most 10.5x is safe here, an LTV of 90.50 %.',
    );
    const lent = refused('insufficient_liquidity', { available: '812.7', symbol: 'WETH', maxAmount: '407.983567' });
    expect(plain(`${failureOf(lent).what} ${failureOf(lent).next}`)).toBe(
      'The market can lend only 812.7 WETH now. Enter at most 407.983, or choose a lower leverage.',
    );
    const short = new InsufficientBalanceError(PYUSD, 1_000_000_000n, 5_000_000n);
    expect(plain(failureOf(short, 1).what)).toBe('Your wallet has 5 PYUSD, and this needs 1,000 PYUSD.');
  });

  test('behavior: what was sent is not offered again, and a request that has to change is not repeated', () => {
    const late = Object.assign(new ReceiptTimeoutError('0x1', 5), { sent: ['0x1'] });
    expect(failureOf(late)).toMatchObject({ isSent: true, next: expect.stringContaining('Look at your positions') });
    const second = Object.assign(new RejectedError(undefined), { sent: ['0x1'] });
    expect(failureOf(second)).toMatchObject({ isSent: true, next: expect.stringContaining('stay done') });
    expect(failureOf(refused('bad_request')).canRetry).toBe(false);
    expect(failureOf(new PageError('There is no such vault.')).canRetry).toBe(false);
    expect(failureOf(refused('upstream_unavailable')).canRetry).toBe(true);
  });
});

test('behavior: numbers are formatted in one place', () => {
  const root = 'examples/app/src';
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.startsWith('copy'),
  );
  expect(files.length).toBeGreaterThan(20);
  const found = files.filter((name) => /Intl\.|toLocale|\} %|toISOString/.test(readFileSync(join(root, name), 'utf8')));
  expect(found).toEqual([]);
});

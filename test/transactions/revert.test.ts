import { readFileSync } from 'node:fs';
import { encodeErrorResult, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { publicAllocatorAbi } from '../../src/abi/public-allocator.ts';
import { decodeRevert, REVERT_REASONS } from '../../src/transactions/simulate/revert.ts';

describe('decodeRevert', () => {
  it('default: names the error and its arguments', () => {
    const data = encodeErrorResult({
      abi: flashLeverageAbi,
      errorName: 'FlashLeverage__ExceedsMaxLTV',
      args: [7n, 5n],
    });
    expect(decodeRevert(data)).toMatchObject({
      reason: 'FlashLeverage__ExceedsMaxLTV',
      curable: true,
      cause: expect.stringContaining('highest LTV'),
      nextStep: expect.stringContaining('Build again'),
      args: [
        { name: 'effectiveLtv', value: '7' },
        { name: 'maxLtv', value: '5' },
      ],
    });
  });

  it('behavior: shortens and cleans texts of foreign contracts', () => {
    const data = encodeErrorResult({
      abi: parseAbi(['error Error(string message)']),
      errorName: 'Error',
      args: [`\u202e${'x'.repeat(500)}`],
    });
    const [message] = decodeRevert(data).args;
    expect(message?.value).toMatch(/^[ -~]{120}$/);
  });

  it('behavior: an undecodable error keeps only its selector', () => {
    expect(decodeRevert('0x')).toEqual({ reason: 'unknown', args: [], curable: false });
    expect(decodeRevert('0xdeadbeef00')).toEqual({
      reason: 'unknown',
      args: [{ name: 'selector', value: '0xdeadbeef' }],
      curable: false,
    });
  });
});

describe('REVERT_REASONS', () => {
  const root = new URL('../../', import.meta.url);
  const deployed = JSON.parse(readFileSync(new URL('contracts/deployed-abi.json', root), 'utf8')) as {
    contracts: Record<string, { errors: string[] }>;
  };
  const known = new Set(REVERT_REASONS.map(({ reason }) => reason));
  const plain = (message: string) =>
    encodeErrorResult({ abi: parseAbi(['error Error(string message)']), errorName: 'Error', args: [message] });

  it('default: has every error of the deployed contracts and of the allocator', () => {
    const names = Object.values(deployed.contracts).flatMap(({ errors }) => errors.map((line) => line.split('(')[0]));
    const allocator = publicAllocatorAbi.flatMap((item) => (item.type === 'error' ? item.name : []));
    expect([...names, ...allocator].filter((name) => !known.has(name ?? ''))).toEqual([]);
    expect(known.size).toBe(REVERT_REASONS.length);
  });

  it("default: has every string of Morpho that an account's own call can meet, and of the proxies", () => {
    const source = (path: string) => readFileSync(new URL(path, root), 'utf8');
    const morpho = [
      ...source('node_modules/@morpho-org/morpho-blue/src/libraries/ErrorsLib.sol').matchAll(/= "(.+)";/g),
    ];
    const proxy = [...source('contracts/product/UserProxy.sol').matchAll(/"(UserProxy: .+?)"/g)];
    const output = [...morpho, ...proxy].map(([, text = '']) => text);
    expect(output.filter((text) => !known.has(text))).toEqual([
      'not owner',
      'max LLTV exceeded',
      'max fee exceeded',
      'IRM not enabled',
      'LLTV not enabled',
      'market already created',
      'no code',
      'invalid signature',
      'signature expired',
      'invalid nonce',
    ]);
  });

  it('behavior: finds plain strings exactly or by prefix', () => {
    expect(decodeRevert(plain('Return amount is not enough'))).toMatchObject({ reason: 'Error', curable: true });
    expect(decodeRevert(plain('Slippage: INSUFFICIENT_PT_OUT'))).toMatchObject({ reason: 'Error', curable: true });
    expect(decodeRevert(plain('UserProxy: Call Failed'))).toMatchObject({ curable: false });
    expect(decodeRevert(plain('never heard of'))).toEqual({
      reason: 'Error',
      args: [{ name: 'message', value: 'never heard of' }],
      curable: false,
    });
  });

  it('default: docs/errors.md has the same table', () => {
    const rows = REVERT_REASONS.map(
      ({ reason, from, cause, curable, nextStep }) =>
        `| \`${reason}\` | ${from} | ${cause} | ${curable ? '503' : '400'} | ${nextStep} |`,
    );
    const docs = readFileSync(new URL('docs/errors.md', root), 'utf8').split('\n');
    const start = docs.indexOf('|---|---|---|---|---|');
    expect(docs.slice(start + 1, start + 1 + rows.length + 1)).toEqual([...rows, '']);
  });
});

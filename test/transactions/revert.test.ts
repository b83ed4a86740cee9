import { encodeErrorResult, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { decodeRevert, isCurable } from '../../src/transactions/simulation/revert.ts';

describe('decodeRevert', () => {
  it('default: names the error and its arguments', () => {
    const data = encodeErrorResult({
      abi: flashLeverageAbi,
      errorName: 'FlashLeverage__ExceedsMaxLTV',
      args: [7n, 5n],
    });
    expect(decodeRevert(data)).toEqual({
      reason: 'FlashLeverage__ExceedsMaxLTV',
      args: [
        { name: 'effectiveLtv', value: '7' },
        { name: 'maxLtv', value: '5' },
      ],
    });
  });

  it('behavior: texts of foreign contracts are cut and stripped', () => {
    const data = encodeErrorResult({
      abi: parseAbi(['error Error(string message)']),
      errorName: 'Error',
      args: [`\u202e${'x'.repeat(500)}`],
    });
    const [message] = decodeRevert(data).args;
    expect(message?.value).toMatch(/^[ -~]{120}$/);
  });

  it('behavior: what nothing decodes keeps its selector only', () => {
    expect(decodeRevert('0x')).toEqual({ reason: 'unknown', args: [] });
    expect(decodeRevert('0xdeadbeef00')).toEqual({
      reason: 'unknown',
      args: [{ name: 'selector', value: '0xdeadbeef' }],
    });
  });
});

describe('isCurable', () => {
  it('default: prices and fills may be better with a fresh quote, everything else will not', () => {
    expect(isCurable({ reason: 'FlashLeverage__MinTokenOutNotMet', args: [] })).toBe(true);
    expect(isCurable({ reason: 'EnforcedPause', args: [] })).toBe(false);
  });
});

import { encodeErrorResult, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { decodeRevert, isCurable } from '../../src/transactions/simulation/revert.ts';

const token = '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497';

describe('decodeRevert', () => {
  it('default: names the error and its arguments', () => {
    const data = encodeErrorResult({ abi: flashLeverageAbi, errorName: 'InsufficientOutput', args: [token, 5n, 7n] });
    expect(decodeRevert(data)).toEqual({
      reason: 'InsufficientOutput',
      args: [
        { name: 'token', value: token },
        { name: 'received', value: '5' },
        { name: 'minimum', value: '7' },
      ],
    });
  });

  it('behavior: the reason of a failed swap is unfolded', () => {
    const venueAbi = parseAbi(['error OutputBelowMinimum(uint256 amountOut, uint256 minOut)']);
    const inner = encodeErrorResult({ abi: venueAbi, errorName: 'OutputBelowMinimum', args: [1n, 2n] });
    const data = encodeErrorResult({ abi: flashLeverageAbi, errorName: 'SwapFailed', args: [token, inner] });
    expect(decodeRevert(data).args[1]).toEqual({ name: 'reason', value: 'OutputBelowMinimum(1, 2)' });
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
    expect(isCurable({ reason: 'InsufficientOutput', args: [] })).toBe(true);
    expect(isCurable({ reason: 'ContractPaused', args: [] })).toBe(false);
  });
});

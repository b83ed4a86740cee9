import { describe, expect, test } from 'vitest';
import { blockSeen } from '../../src/chain/seen-block.ts';

const TIME = 1_790_000_000n;
const header = (number: unknown, timestamp: unknown = '0x6ab13b80') => ({ number, timestamp });

describe('the number of the block of a reading', () => {
  test('is that of the newest block where both are of one time', () => {
    expect(blockSeen(TIME, header('0x1a4', `0x${TIME.toString(16)}`))).toEqual({ timestamp: TIME, number: 420n });
  });

  test.each([
    ['a block came in between', header('0x1a5', `0x${(TIME + 1n).toString(16)}`)],
    ['the node is behind', header('0x1a3', `0x${(TIME - 12n).toString(16)}`)],
    ['the node does not answer', undefined],
    ['there is no such block', null],
    ['the block is pending', header(null, `0x${TIME.toString(16)}`)],
    ['the number is no quantity', header('420', `0x${TIME.toString(16)}`)],
    ['the number is a JSON number', header(420, `0x${TIME.toString(16)}`)],
    ['the number is absurd', header(`0x${'f'.repeat(64)}`, `0x${TIME.toString(16)}`)],
    ['the time is missing', { number: '0x1a4' }],
  ])('is not told where %s', (_, newest) => {
    expect(blockSeen(TIME, newest)).toEqual({ timestamp: TIME });
  });
});

import * as viem from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeFunctionData, encodeFunctionData } from '../../src/abi/calldata.ts';
import { erc20Abi } from '../../src/abi/erc20.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { multicall3Abi } from '../../src/abi/multicall3.ts';

const ADDRESS = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
/** Functions of one name and another number or kind of arguments, and one function twice. */
const overloaded = viem.parseAbi([
  'function set(uint256 a)',
  'function set(address a)',
  'function set(uint256 a, uint256 b)',
  'function get() view returns (uint256)',
  'function get() view returns (int256 other)',
]);

function errorOf(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return (error as Error).name;
  }
}

describe('encodeFunctionData', () => {
  test('default: gives the calldata of viem, the first time and later', () => {
    const calls = [
      { abi: erc20Abi, functionName: 'balanceOf', args: [ADDRESS] },
      { abi: erc20Abi, functionName: 'approve', args: [ADDRESS, 5n] },
      { abi: erc20Abi, functionName: 'decimals' },
      {
        abi: multicall3Abi,
        functionName: 'aggregate3',
        args: [[{ target: ADDRESS, allowFailure: true, callData: '0x12' }]],
      },
      { abi: overloaded, functionName: 'set', args: [5n] },
      { abi: overloaded, functionName: 'set', args: [ADDRESS] },
      { abi: overloaded, functionName: 'set', args: [5n, 6n] },
      { abi: viem.parseAbi(['function only(uint256 a)']), args: [1n] },
    ] as unknown as Parameters<typeof encodeFunctionData>[0][];
    for (const call of [...calls, ...calls]) expect(encodeFunctionData(call)).toBe(viem.encodeFunctionData(call));
  });

  test.each([
    ['the name', { abi: erc20Abi, functionName: 'nothing', args: [] }],
    ['the number of arguments', { abi: erc20Abi, functionName: 'balanceOf', args: [] }],
    ['a value', { abi: erc20Abi, functionName: 'approve', args: [ADDRESS, -1n] }],
  ])('error: %s is refused as in viem', (_name, call) => {
    const encode = (by: typeof encodeFunctionData) => () => by(call as never);
    expect(errorOf(encode(encodeFunctionData))).toBe(errorOf(encode(viem.encodeFunctionData)));
    expect(errorOf(encode(encodeFunctionData))).toMatch(/Error$/);
  });
});

describe('decodeFunctionData', () => {
  test('default: gives the function and the arguments of viem', () => {
    const transfer = viem.encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [ADDRESS, 7n] });
    const paused = viem.encodeFunctionData({ abi: flashLeverageAbi, functionName: 'paused' });
    const get = viem.encodeFunctionData({ abi: overloaded, functionName: 'get' });
    const abi = [...overloaded, ...erc20Abi, ...flashLeverageAbi];
    for (const data of [transfer, paused, get, transfer]) {
      expect(decodeFunctionData({ abi, data })).toEqual(viem.decodeFunctionData({ abi, data }));
    }
  });

  test.each([
    ['a function of another contract', '0x12345678'],
    ['no arguments', '0x70a08231'],
    ['arguments that are cut', '0x70a0823100'],
    ['less than a selector', '0x70'],
  ] as const)('error: %s is refused as in viem', (_name, data) => {
    const decode = (by: typeof decodeFunctionData) => () => by({ abi: erc20Abi, data });
    expect(errorOf(decode(decodeFunctionData))).toBe(errorOf(decode(viem.decodeFunctionData)));
    expect(errorOf(decode(decodeFunctionData))).toMatch(/Error$/);
  });
});

import { type AbiEvent, decodeEventLog, encodeAbiParameters, encodeEventTopics, type Hex, pad } from 'viem';
import { describe, expect, test } from 'vitest';
import { erc20Abi } from '../../src/abi/erc20.ts';
import { type EventLog, eventDecoder } from '../../src/abi/events.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { morphoBlueAbi, morphoCreationAbi, morphoLiquidationAbi } from '../../src/abi/morpho-blue.ts';

const ABI = [...morphoBlueAbi, ...morphoLiquidationAbi, ...morphoCreationAbi, ...flashLeverageAbi, ...erc20Abi];
const EVENTS: readonly AbiEvent[] = ABI.filter((item) => item.type === 'event');

/** A value of a type, of which there are few. */
function sampleOf({ type, components }: AbiEvent['inputs'][number] & { readonly components?: unknown }): unknown {
  if (type === 'tuple')
    return Object.fromEntries(
      (components as AbiEvent['inputs']).map((input) => [input.name, sampleOf(input as AbiEvent['inputs'][number])]),
    );
  if (type === 'address') return '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
  if (type === 'bool') return true;
  if (type === 'bytes32') return pad('0xabc');
  return 7n;
}

function logOf(event: AbiEvent): EventLog {
  const others = event.inputs.filter(({ indexed }) => !indexed);
  const args = Object.fromEntries(event.inputs.map((input) => [input.name, sampleOf(input)]));
  return {
    topics: encodeEventTopics({ abi: [event], args } as never) as Hex[],
    data: encodeAbiParameters(others, others.map(sampleOf)),
  };
}

const decode = eventDecoder(ABI);

describe('eventDecoder', () => {
  test.each(EVENTS.map((event) => [event.name, event] as const))('default: %s as viem decodes it', (_name, event) => {
    const log = logOf(event);
    expect(decode(log)).toEqual(decodeEventLog({ abi: [event], ...log } as never));
  });

  const [transfer] = EVENTS.filter(({ name }) => name === 'Transfer').map(logOf) as [EventLog];
  test.each<[string, EventLog]>([
    ['without topics', { ...transfer, topics: [] }],
    ['of another event', { ...transfer, topics: [pad('0x1')] }],
    ['without an indexed argument', { ...transfer, topics: transfer.topics.slice(0, 2) }],
    ['without data', { ...transfer, data: '0x' }],
    ['with less data', { ...transfer, data: '0x1234' }],
    ['with other digits', { ...transfer, data: `0x${'zz'.repeat(32)}` }],
  ])('error: a log %s is none', (_what, log) => {
    expect(decode(log)).toBeUndefined();
  });
});

import {
  type Abi,
  type AbiEvent,
  type ContractEventName,
  type DecodeEventLogReturnType,
  decodeAbiParameters,
  type Hex,
  toEventSelector,
} from 'viem';

/** The part of a log that names and describes its event. */
export interface EventLog {
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

/** An event with its arguments by their names, as viem decodes it. */
type Decoded<A extends Abi> = DecodeEventLogReturnType<A, ContractEventName<A>, Hex[], Hex, true>;

/**
 * Prepare to decode the events of an ABI, whose arguments have names and fixed lengths where they are indexed. viem hashes the
 * signatures of all events for each log, which takes several times as long as the rest; here each event is hashed once.
 * @returns a function that decodes a log; `undefined` = it is no event of this ABI, or is not as its event says
 */
export function eventDecoder<const A extends Abi>(abi: A): (log: EventLog) => Decoded<A> | undefined {
  const events = abi.filter((item): item is AbiEvent => item.type === 'event');
  const known = new Map(events.map((event) => [toEventSelector(event), event]));
  return ({ topics: [topic, ...topics], data }) => {
    const event = topic === undefined ? undefined : known.get(topic);
    if (!event) return undefined;
    try {
      return { eventName: event.name, args: argsOf(event, topics, data) } as unknown as Decoded<A>;
    } catch {
      return undefined;
    }
  };
}

function argsOf({ inputs }: AbiEvent, topics: readonly Hex[], data: Hex): Readonly<Record<string, unknown>> {
  const indexed = inputs.filter((input) => input.indexed);
  const others = inputs.filter((input) => !input.indexed);
  const values = [
    ...indexed.map((input, i) => decodeAbiParameters([input], topics[i] ?? '0x')[0]),
    ...(others.length === 0 ? [] : decodeAbiParameters(others, data)),
  ];
  return Object.fromEntries([...indexed, ...others].map(({ name }, i) => [name, values[i]]));
}

import { type AbiFunction, formatUnits, getAddress, type Hex, parseAbiItem, toFunctionSelector } from 'viem';
import type { PlannedCall, TrustedChain } from '../../packages/client/src/verify/index.ts';
import { decodeFunctionData } from '../../src/abi/calldata.ts';
import type { Json } from '../support/service.ts';

/** A descriptor, its file parsed. */
export type Descriptor = Json;

/** The display of a call in a wallet. */
export interface Rendered {
  readonly intent: string;
  readonly sentence: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** The function of a signature as descriptors write it. */
export const functionOf = (signature: string): AbiFunction => parseAbiItem(`function ${signature}`) as AbiFunction;

/**
 * Render a call as a wallet does that follows the specification: the descriptor is found by chain, address and selector, and
 * its sentence is filled with the fields. `undefined` = no descriptor binds to the call.
 */
export function render(
  descriptors: readonly Descriptor[],
  call: PlannedCall,
  chain: TrustedChain,
): Rendered | undefined {
  for (const descriptor of descriptors) {
    const { deployments } = descriptor.context.contract;
    const isBound = deployments.some(
      ({ chainId, address }: Json) => chainId === chain.chainId && address.toLowerCase() === call.to.toLowerCase(),
    );
    if (!isBound) continue;
    for (const [signature, shown] of Object.entries<Json>(descriptor.display.formats)) {
      const item = functionOf(signature);
      if (toFunctionSelector(item) === call.data.slice(0, 10)) return rendered(descriptor, item, shown, call, chain);
    }
  }
  return undefined;
}

function rendered(
  descriptor: Descriptor,
  item: AbiFunction,
  shown: Json,
  call: PlannedCall,
  chain: TrustedChain,
): Rendered {
  const { args = [] } = decodeFunctionData({ abi: [item], data: call.data as Hex });
  const values = Object.fromEntries((args as readonly unknown[]).map((value, i) => [item.inputs[i]?.name, value]));
  const at = (path: string): unknown =>
    path
      .replace(/^#\./, '')
      .split('.')
      .reduce<Json>((value, key) => value[key], values);
  const resolve = (path: string): Json =>
    path
      .replace(/^\$\./, '')
      .split('.')
      .reduce<Json>((value, key) => value[key], descriptor);
  const texts = new Map<string, string>();
  const fields: Record<string, string> = {};
  for (const { path, label, format, params } of shown.fields) {
    const text = textOf(at(path), format, params);
    texts.set(path, text);
    fields[label] = text;
  }
  const sentence = shown.interpolatedIntent.replaceAll(/\{([\w.]+)\}/g, (_: string, path: string) => {
    const text = texts.get(path);
    if (text === undefined) throw new Error(`the sentence names ${path}, which is no field`);
    return text;
  });
  return { intent: shown.intent, sentence, fields };

  function textOf(value: unknown, format: string, params: Json): string {
    if (format === 'enum') return resolve(params.$ref)[String(value)] ?? String(value);
    if (format === 'addressName') return getAddress(value as Hex);
    if (format !== 'tokenAmount') return String(value);
    const token = params.tokenPath ? at(params.tokenPath) : tokenOfMap(params.token);
    const known = chain.tokens.find(({ address }) => address.toLowerCase() === String(token).toLowerCase());
    if (!known) throw new Error(`unknown token ${token}`);
    return `${formatUnits(value as bigint, known.decimals)} ${known.symbol}`;
  }

  function tokenOfMap({ map, keyPath }: Json): string {
    return resolve(map).values[String(at(keyPath))];
  }
}

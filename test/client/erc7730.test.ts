import { readdirSync, readFileSync } from 'node:fs';
import { validateDescriptor } from '@erc7730/sdk';
import type { Format } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { toFunctionSelector } from 'viem';
import { describe, expect, it } from 'vitest';
import { DESCRIPTORS, renderDescriptor } from '../../scripts/client-erc7730.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import type { Json } from '../support/service.ts';
import { type Descriptor, functionOf } from './erc7730-render.ts';
import { ERC7730_SCHEMA } from './erc7730-schema.ts';

const FOLDER = 'packages/client/erc7730';
const files = readdirSync(FOLDER).sort();
const read = (file: string): Descriptor => JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8'));

const formats: Record<string, Format> = {
  eip155: true,
  eip55: true,
  'uri-reference': true,
  uri: (text: string) => URL.canParse(text),
  'date-time': (text: string) => !Number.isNaN(Date.parse(text)),
};
const standard = new Ajv2020({ strict: false, formats }).compile(ERC7730_SCHEMA);

const string = { type: 'string' } as const;
const address = { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' } as const;
const closed = (properties: object, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const mapOf = (values: object) => ({ type: 'object', additionalProperties: values });

/** Rules for the parts that the schema of the standard leaves open: keys of deployments, metadata and maps. */
const closedParts = new Ajv2020({ strict: false }).compile(
  closed({
    $schema: { const: 'https://eips.ethereum.org/assets/eip-7730/erc7730-v2.schema.json' },
    context: closed({
      $id: string,
      contract: closed({
        deployments: { type: 'array', minItems: 1, items: closed({ chainId: { type: 'integer' }, address }) },
      }),
    }),
    metadata: closed(
      {
        owner: string,
        contractName: string,
        enums: mapOf(mapOf(string)),
        maps: mapOf(closed({ $keyType: string, values: mapOf(address) })),
      },
      ['owner', 'contractName', 'enums'],
    ),
    display: mapOf(mapOf({ type: 'object', required: ['intent', 'interpolatedIntent', 'fields'] })),
  }),
);

const identifier = '[A-Za-z_][A-Za-z0-9_]*';
const type = '(\\(([^()]|\\([^()]*\\))*\\)|[A-Za-z0-9_]+)(\\[\\d*\\])*';
const parameter = `${type} ${identifier}`;
/** Keys that the copy of the schema in the registry of descriptors takes: a struct in a struct, and no struct in that. */
const registryKey = new RegExp(`^${identifier}\\((${parameter}(,${parameter})*)?\\)$`);

type Change = (descriptor: Descriptor) => unknown;
const formatOf = (descriptor: Descriptor): Json => Object.values(descriptor.display.formats)[0];

describe('ERC-7730 descriptors', () => {
  it('default: are generated from the ABI and the catalog', () => {
    const { chains } = createCatalog(curatedChains);
    expect(files).toEqual(DESCRIPTORS.map(({ file }) => `${file}.json`).sort());
    for (const descriptor of DESCRIPTORS) {
      const text = readFileSync(`${FOLDER}/${descriptor.file}.json`, 'utf8');
      expect(text, descriptor.file).toBe(renderDescriptor(descriptor, chains));
    }
  });

  it.each(files)('default: %s is valid by the schema of the standard, and by the SDK', (file) => {
    const descriptor = read(file);
    expect(standard(descriptor), JSON.stringify(standard.errors)).toBe(true);
    expect(closedParts(descriptor), JSON.stringify(closedParts.errors)).toBe(true);
    const keys = Object.keys(descriptor.display.formats);
    expect(keys.every((key) => registryKey.test(key))).toBe(!file.includes('.nested.'));
    expect(validateDescriptor(descriptor)).toEqual({ valid: true, errors: [] });
  });

  it.each<[string, Change]>([
    ['an unknown section', (descriptor) => Object.assign(descriptor, { more: 1 })],
    ['no binding', (descriptor) => Object.assign(descriptor, { context: {} })],
    [
      'a selector as key',
      ({ display }) => Object.assign(display.formats, { '0xa9059cbb': formatOf(read('morpho-blue.json')) }),
    ],
    ['a blank intent', (descriptor) => Object.assign(formatOf(descriptor), { intent: ' ' })],
    ['an unknown format', (descriptor) => Object.assign(formatOf(descriptor).fields[0], { format: 'percent' })],
    ['a path and a value', (descriptor) => Object.assign(formatOf(descriptor).fields[0], { value: 'x' })],
    [
      'an unknown parameter',
      (descriptor) => Object.assign(formatOf(descriptor).fields[0], { format: 'date', params: { zone: 'UTC' } }),
    ],
  ])('error: %s is not valid by the schema of the standard', (_, change) => {
    const descriptor = read('morpho-blue.json');
    change(descriptor);
    expect(standard(descriptor)).toBe(false);
  });

  it('error: a deployment with an unknown key, and a descriptor without formats, are refused', () => {
    const descriptor = read('morpho-blue.json');
    for (const deployment of descriptor.context.contract.deployments) Object.assign(deployment, { name: 'x' });
    expect(closedParts(descriptor)).toBe(false);
    expect(validateDescriptor({ ...read('morpho-blue.json'), display: {} }).valid).toBe(false);
  });

  it('default: bind to each contract on every chain that has it, by the selectors of its ABI', () => {
    const { chains } = createCatalog(curatedChains);
    for (const { file, contract, abi, functions } of DESCRIPTORS) {
      const { context, display } = read(`${file}.json`);
      const expected = chains.flatMap(({ chainId, contracts }) => {
        const at = contracts[contract];
        return at ? [{ chainId, address: at }] : [];
      });
      expect(context.contract.deployments).toEqual(expected);
      const selectors = Object.keys(display.formats).map((signature) => toFunctionSelector(functionOf(signature)));
      const known = abi.flatMap((item) =>
        item.type === 'function' && item.name in functions ? [toFunctionSelector(item)] : [],
      );
      expect(selectors.sort()).toEqual(known.sort());
    }
  });
});

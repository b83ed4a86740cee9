import { readdirSync, readFileSync } from 'node:fs';
import { validateDescriptor } from '@erc7730/sdk';
import { Ajv } from 'ajv';
import { toFunctionSelector } from 'viem';
import { describe, expect, it } from 'vitest';
import { DESCRIPTORS, renderDescriptor } from '../../scripts/client-erc7730.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { type Descriptor, functionOf } from './erc7730-render.ts';

const FOLDER = 'packages/client/erc7730';
const files = readdirSync(FOLDER).sort();
const read = (file: string): Descriptor => JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8'));

const identifier = '[A-Za-z_][A-Za-z0-9_]*';
const type = '(\\(([^()]|\\([^()]*\\))*\\)|[A-Za-z0-9_]+)(\\[\\d*\\])*';
const parameter = `${type} ${identifier}`;
const string = { type: 'string' } as const;
const address = { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' } as const;
const closed = (properties: object, required = Object.keys(properties)) => ({
  ...{ type: 'object', properties, required, additionalProperties: false },
});
const mapOf = (values: object) => ({ type: 'object', additionalProperties: values });
const field = (format: string, params?: object) =>
  closed({ path: string, label: string, format: { const: format }, ...(params ? { params } : NOTHING) });
const NOTHING = {};

/** The rules of the published schema (version 2) for the parts that the descriptors use, in our own words. */
const rules = (signature: object) =>
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
        ...{ owner: string, contractName: string, enums: mapOf(mapOf(string)) },
        maps: mapOf(closed({ $keyType: string, values: mapOf(address) })),
      },
      ['owner', 'contractName', 'enums'],
    ),
    display: closed({
      formats: {
        ...mapOf(
          closed({
            ...{ intent: string, interpolatedIntent: string },
            fields: {
              type: 'array',
              items: {
                oneOf: [
                  field('raw'),
                  field('addressName', closed({ types: { type: 'array', items: { enum: ['wallet', 'contract'] } } })),
                  field('tokenAmount', closed({ token: closed({ map: string, keyPath: string }) })),
                  field('tokenAmount', closed({ tokenPath: string, nativeCurrencyAddress: address })),
                  field('enum', closed({ $ref: string })),
                ],
              },
            },
          }),
        ),
        propertyNames: signature,
      },
    }),
  });

const published = new Ajv().compile(rules({ pattern: '^\\s*[A-Za-z_][A-Za-z0-9_:]*\\s*\\(.*\\)$' }));
/** The copy of the schema in the registry of descriptors, whose pattern matches a struct in a struct, and no struct in that. */
const inRegistry = new Ajv().compile(rules({ pattern: `^${identifier}\\((${parameter}(,${parameter})*)?\\)$` }));

describe('ERC-7730 descriptors', () => {
  it('default: are generated from the ABI and the catalog', () => {
    const { chains } = createCatalog(curatedChains);
    expect(files).toEqual(DESCRIPTORS.map(({ file }) => `${file}.json`).sort());
    for (const descriptor of DESCRIPTORS) {
      const text = readFileSync(`${FOLDER}/${descriptor.file}.json`, 'utf8');
      expect(text, descriptor.file).toBe(renderDescriptor(descriptor, chains));
    }
  });

  it.each(files)('default: %s follows the published rules', (file) => {
    const descriptor = read(file);
    expect(published(descriptor), JSON.stringify(published.errors)).toBe(true);
    expect(inRegistry(descriptor), JSON.stringify(inRegistry.errors)).toBe(!file.includes('.nested.'));
    expect(validateDescriptor(descriptor)).toEqual({ valid: true, errors: [] });
  });

  it('behavior: the rules refuse the same documents as the published schema', () => {
    const [file = ''] = files;
    for (const change of [
      (descriptor: Descriptor) => delete descriptor.context.contract.deployments,
      (descriptor: Descriptor) => Object.assign(descriptor, { more: 1 }),
      (descriptor: Descriptor) => Object.assign(descriptor.display.formats, { '0xa9059cbb': {} }),
    ]) {
      const descriptor = read(file);
      change(descriptor);
      expect(published(descriptor)).toBe(false);
      expect(inRegistry(descriptor)).toBe(false);
    }
    expect(validateDescriptor({ ...read(file), display: {} }).valid).toBe(false);
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

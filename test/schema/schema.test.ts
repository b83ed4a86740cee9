import { readFileSync } from 'node:fs';
import { isEnumType, isInputObjectType, isInterfaceType, isObjectType, printSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { generate } from '../../codegen.ts';
import { buildSchema } from '../../src/schema/index.ts';

const schema = buildSchema();
const committed = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('buildSchema', () => {
  it('behavior: the committed SDL is the schema (npm run schema writes it)', () => {
    expect(committed('schema.graphql')).toBe(`${printSchema(schema)}\n`);
  });

  it('behavior: every type, field, argument and value is described', () => {
    const missing: string[] = [];
    const check = (name: string, described: { description?: string | null | undefined }) => {
      if (!described.description) missing.push(name);
    };
    for (const type of Object.values(schema.getTypeMap())) {
      if (type.name.startsWith('__')) continue;
      check(type.name, type);
      if (isEnumType(type)) for (const value of type.getValues()) check(`${type.name}.${value.name}`, value);
      if (isInputObjectType(type)) {
        for (const field of Object.values(type.getFields())) check(`${type.name}.${field.name}`, field);
      }
      if (!isObjectType(type) && !isInterfaceType(type)) continue;
      for (const field of Object.values(type.getFields())) {
        check(`${type.name}.${field.name}`, field);
        for (const arg of field.args) check(`${type.name}.${field.name}(${arg.name})`, arg);
      }
    }
    expect(missing).toEqual([]);
  });
});

describe('generate', () => {
  it('behavior: the committed operations and manifest equal the output of npm run codegen', async () => {
    const { manifest, features, clientDocuments, clientTexts, clientTypes } = await generate();
    expect(committed('src/rest/generated/manifest.json')).toBe(manifest);
    for (const [name, text] of Object.entries(features)) {
      expect(committed(`src/features/${name}/generated/manifest.json`)).toBe(text);
    }
    expect(committed('packages/client/src/generated/graphql.ts')).toBe(clientDocuments);
    expect(committed('packages/client/src/generated/texts.ts')).toBe(clientTexts);
    expect(committed('packages/client/src/generated/cache-types.ts')).toBe(clientTypes);
  });
});

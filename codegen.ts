import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import {
  buildSchema,
  type DocumentNode,
  type FragmentDefinitionNode,
  isEnumType,
  Kind,
  parse,
  print,
  visit,
} from 'graphql';
import { buildSchema as buildServiceSchema } from './src/schema/index.ts';

const root = fileURLToPath(new URL('.', import.meta.url));
const operationsDir = join(root, 'src/rest/operations');
const generatedDir = join(root, 'src/rest/generated');

/** What the scalars are in a result and in variables: what JSON carries. */
const SCALARS = {
  Address: 'string',
  BigInteger: 'string',
  ChainId: 'number',
  DateTime: 'string',
  Decimal: 'string',
  HexData: 'string',
  JSONObject: 'Readonly<Record<string, unknown>>',
  MarketId: 'string',
  StrategyId: 'string',
};

export interface Generated {
  /** Typed documents and the types of their variables and results. */
  readonly operations: string;
  /** By operation name: the text that runs, with its fragments, and its sha-256. */
  readonly manifest: string;
}

/** Generate the typed documents and the manifest of the persisted operations from the committed SDL. */
export async function generate(): Promise<Generated> {
  const sdl = parse(readFileSync(join(root, 'schema.graphql'), 'utf8'));
  const files = readdirSync(operationsDir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.graphql'))
    .sort()
    .map((name) => ({ location: name, document: parse(readFileSync(join(operationsDir, name), 'utf8')) }));
  const operations = await codegen({
    schema: sdl,
    schemaAst: buildSchema(print(sdl)),
    documents: files,
    filename: 'operations.ts',
    pluginMap: { typescriptOperations, typedDocumentNode },
    plugins: [{ typescriptOperations: {} }, { typedDocumentNode: {} }],
    config: {
      scalars: SCALARS,
      strictScalars: true,
      enumsAsTypes: true,
      enumValues: enumValues(),
      useTypeImports: true,
      immutableTypes: true,
      avoidOptionals: { field: true },
      onlyOperationTypes: true,
      skipTypename: true,
      dedupeFragments: true,
    },
  });
  return { operations, manifest: `${JSON.stringify(manifestOf(files.map(({ document }) => document)), null, 2)}\n` };
}

/** What enums are in the rows: the values behind their names (`src/graphql/enum-values.ts`). */
function enumValues(): Record<string, Record<string, unknown>> {
  const enums = Object.values(buildServiceSchema().getTypeMap()).filter(isEnumType);
  return Object.fromEntries(
    enums.map((type) => [type.name, Object.fromEntries(type.getValues().map(({ name, value }) => [name, value]))]),
  );
}

function manifestOf(documents: readonly DocumentNode[]): Record<string, { sha256: string; document: string }> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const { definitions } of documents) {
    for (const node of definitions) if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  }
  const entries: [string, { sha256: string; document: string }][] = [];
  for (const { definitions } of documents) {
    for (const operation of definitions) {
      if (operation.kind !== Kind.OPERATION_DEFINITION || !operation.name) continue;
      const used = new Set<FragmentDefinitionNode>();
      collectFragments(operation, fragments, used);
      const document = print({ kind: Kind.DOCUMENT, definitions: [operation, ...used] });
      entries.push([operation.name.value, { sha256: createHash('sha256').update(document).digest('hex'), document }]);
    }
  }
  return Object.fromEntries(entries);
}

function collectFragments(
  node: DocumentNode['definitions'][number],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  used: Set<FragmentDefinitionNode>,
): void {
  visit(node, {
    FragmentSpread({ name }) {
      const fragment = fragments.get(name.value);
      if (!fragment || used.has(fragment)) return;
      used.add(fragment);
      collectFragments(fragment, fragments, used);
    },
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { operations, manifest } = await generate();
  mkdirSync(generatedDir, { recursive: true });
  writeFileSync(join(generatedDir, 'operations.ts'), operations);
  writeFileSync(join(generatedDir, 'manifest.json'), manifest);
}

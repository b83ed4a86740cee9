import {
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type ValueNode,
  visit,
} from 'graphql';
import { BadRequestError, ERROR_CODES } from '../shared/errors.ts';
import { CHECKSUM_ADVICE, hasWrongChecksum } from '../shared/ids.ts';

/**
 * Refuse an address with a wrong checksum in an operation that builds transactions: the scalar accepts any case, as reads do. None
 * when all are right, or nothing is built.
 */
export function checksumErrors({ document, operationName, variableValues }: ExecutionArgs): readonly GraphQLError[] {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== 'mutation' || !operation.selectionSet.selections.some(isBuild)) return [];
  const wrong = [...stringsIn(variableValues ?? {}, ''), ...literalsIn(document, operation)].find(({ text }) =>
    hasWrongChecksum(text),
  );
  if (!wrong) return [];
  const { field, text } = wrong;
  const originalError = new BadRequestError(`${field} ${text} ${CHECKSUM_ADVICE}.`, { field, value: text });
  const { status } = ERROR_CODES.bad_request;
  return [new GraphQLError(originalError.message, { originalError, extensions: { http: { spec: true, status } } })];
}

type Selection = OperationDefinitionNode['selectionSet']['selections'][number];

/** A fragment may hold any field. */
const isBuild = (selection: Selection) => selection.kind !== Kind.FIELD || selection.name.value.endsWith('Plan');

interface Given {
  /** Path of a variable, or the name of an argument. */
  readonly field: string;
  readonly text: string;
}

function stringsIn(value: unknown, field: string): readonly Given[] {
  if (typeof value === 'string') return [{ field, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => stringsIn(inner, field === '' ? name : `${field}.${name}`));
}

/** Of the operation with the defaults of its variables, and of the fragments. */
function literalsIn(document: DocumentNode, operation: OperationDefinitionNode): readonly Given[] {
  const found: Given[] = [];
  const note = (name: string, value: ValueNode | undefined) => {
    if (value?.kind === Kind.STRING) found.push({ field: name, text: value.value });
  };
  for (const definition of document.definitions) {
    if (definition !== operation && definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    visit(definition, {
      Argument: ({ name, value }) => note(name.value, value),
      ObjectField: ({ name, value }) => note(name.value, value),
      VariableDefinition: ({ variable, defaultValue }) => note(variable.name.value, defaultValue),
    });
  }
  return found;
}

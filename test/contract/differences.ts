import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Json } from '../support/service.ts';
import { ENDPOINTS, type Endpoint, SHAPES, type Shape } from './interface.ts';

/** What an OpenAPI document lacks of the interface document; empty = it serves all of it. */
export function contractDifferences(document: Json): string[] {
  const found: string[] = [];
  const ajv = new Ajv2020({ strict: false, validateFormats: false, inlineRefs: false, code: { optimize: false } });
  ajv.addSchema(document, 'openapi');
  const validate = (schema: Json) => ajv.compile(absolute(schema)) as ValidateFunction;

  /** The schemas that a value may have: references followed, choices opened. */
  function formsOf(schema: Json): Json[] {
    if (schema.$ref) return formsOf(resolve(document, schema.$ref));
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return choices.flatMap(formsOf);
    if (!schema.allOf) return [schema];
    const parts: Json[] = schema.allOf.flatMap(formsOf);
    return [
      {
        type: 'object',
        properties: Object.assign({}, ...parts.map((part) => part.properties)),
        required: parts.flatMap((part) => part.required ?? []),
      },
    ];
  }

  function checkType(type: string, schema: Json | undefined, where: string): void {
    if (schema === undefined) return void found.push(`${where}: missing`);
    if (type.endsWith('[]') && !type.includes('|')) {
      for (const form of formsOf(schema)) {
        if (form.type === 'array') checkType(type.slice(0, -2), form.items, `${where}[]`);
        else found.push(`${where}: ${typeNames(form)} instead of a list`);
      }
      return;
    }
    const choices = type.split(' | ');
    const values = choices.filter((choice) => choice.startsWith("'")).map((choice) => choice.slice(1, -1));
    const forms = formsOf(schema);
    const served = new Set<Json>(forms.flatMap(({ enum: all, const: one }) => all ?? [one]));
    for (const value of values) if (!served.has(value)) found.push(`${where}: no value ${value}`);
    if (values.length > 0) return;
    for (const form of forms) {
      if (!choices.some((choice) => isOf(choice, form))) found.push(`${where}: ${typeNames(form)} instead of ${type}`);
    }
    const shape = SHAPES[choices.find((choice) => choice in SHAPES) ?? ''];
    const objects = forms.filter((form) => form.type === 'object');
    if (shape && objects.length > 0) checkShape(shape, merged(objects), where);
  }

  function checkShape(shape: Shape, schema: Json, where: string): void {
    for (const [field, type] of Object.entries(shape)) {
      const name = field.replace('?', '');
      if (field === name && !schema.required?.includes(name)) found.push(`${where}.${name}: may be absent`);
      checkType(type, schema.properties?.[name], `${where}.${name}`);
    }
  }

  for (const endpoint of ENDPOINTS) {
    const [method = '', path = ''] = endpoint.operation.split(' ');
    const operation = document.paths[path]?.[method];
    if (operation === undefined) found.push(`${endpoint.operation}: missing`);
    else checkEndpoint(endpoint, operation);
  }

  function checkEndpoint(endpoint: Endpoint, operation: Json): void {
    const where = endpoint.operation;
    if (operation.security.length > 0 !== endpoint.needsKey) found.push(`${where}: security`);
    const bodyOf = (status: number) => operation.responses[status]?.content['application/json'].schema;
    checkType(endpoint.answer, bodyOf(200), where);
    for (const status of endpoint.errors) checkType('Error', bodyOf(status), `${where} ${status}`);
    checkParameters(endpoint, operation.parameters ?? []);
    if (endpoint.bodies) checkBodies(endpoint, operation.requestBody.content['application/json'].schema);
  }

  function checkParameters({ operation, parameters = {} }: Endpoint, served: readonly Json[]): void {
    for (const [name, { accepts, required = false, default: value }] of Object.entries(parameters)) {
      const parameter = served.find((each) => each.name === name);
      if (parameter === undefined) {
        found.push(`${operation} ${name}: missing`);
        continue;
      }
      const isValid = validate(parameter.schema);
      for (const each of accepts) if (!isValid(each)) found.push(`${operation} ${name}: ${each} is refused`);
      if (parameter.required && !required) found.push(`${operation} ${name}: required`);
      if (value !== undefined && parameter.schema.default !== value) found.push(`${operation} ${name}: default`);
    }
    for (const { name, required } of served) {
      if (required && !(name in parameters)) found.push(`${operation} ${name}: new and required`);
    }
  }

  function checkBodies({ operation, bodies = [], requires = [] }: Endpoint, schema: Json): void {
    const isValid = validate(schema);
    for (const body of bodies) {
      if (!isValid(body)) found.push(`${operation}: ${JSON.stringify(body)} is refused`);
      for (const name of requires) {
        const { [name]: _, ...rest } = body;
        if (isValid(rest)) found.push(`${operation}: ${name} is not required`);
      }
    }
  }
  return found;
}

/** What all forms of an object have together: a field that one of them lacks may be absent. */
function merged(forms: readonly Json[]): Json {
  const [first, ...others] = forms;
  return {
    properties: Object.assign({}, ...forms.map(({ properties }) => properties)),
    required: (first?.required ?? []).filter((name: string) =>
      others.every(({ required }) => required?.includes(name)),
    ),
  };
}

const resolve = (document: Json, ref: string): Json =>
  ref
    .slice(2)
    .split('/')
    .reduce((node: Json, part) => node[part.replaceAll('~1', '/')], document);

/** References from inside the document, for a schema that is compiled apart from it. */
const absolute = (schema: Json): Json => JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"openapi#'));

const typeNames = ({ type, format }: Json): string => [type, format].filter(Boolean).join(' ');

/** A schema allows no more than the type. */
function isOf(type: string, schema: Json): boolean {
  if (type in SHAPES) return schema.type === 'object';
  if (type === 'decimal') return schema.type === 'string' && /\\d/.test(schema.pattern ?? '');
  if (type === 'date-time') return schema.type === 'string' && schema.format === 'date-time';
  if (type === 'number') return schema.type === 'number' || schema.type === 'integer';
  if (type === 'string') return schema.type === 'string' || typeof schema.const === 'string';
  return schema.type === type;
}

/**
 * The constraints of the JSON schema of ERC-7730, version 2.1.0, as published in the repository of the standard
 * (https://github.com/ethereum/ERCs, assets/erc-7730/erc7730-v2.1.0.schema.json), without its titles and descriptions.
 * No npm package contains that file. Formats that JSON Schema does not define (eip155, eip55) are checked by the tests of
 * chains and addresses.
 */

const string = { type: 'string' };
const integer = { type: 'integer' };
const scalar = { type: ['string', 'integer', 'number', 'boolean', 'null'] };
const listed = { type: 'array', items: { type: ['string', 'number', 'boolean', 'null'] }, minItems: 1 };
const ref = (name: string) => ({ $ref: `#/$defs/${name}` });
const both = (...names: string[]) => ({ not: { required: names } });
const open = (properties: object, required: string[] = []) => ({ type: 'object', properties, required });
const closed = (properties: object, required: string[] = []) => ({
  ...open(properties, required),
  additionalProperties: false,
});
const mapOf = (values: object) => ({ type: 'object', additionalProperties: values });
const orMap = (value: { type: string }) => ({ type: [value.type, 'object'], anyOf: [value, ref('mapReference')] });
const oneOrMany = { oneOf: [string, { type: 'array', items: string }] };

const names = closed({
  types: { type: 'array', items: { enum: ['wallet', 'eoa', 'contract', 'token', 'collection'] } },
  sources: { type: 'array', items: string },
  senderAddress: oneOrMany,
});

/** The parameters of each format that has some. */
const parameters = {
  addressName: names,
  interoperableAddressName: names,
  calldata: {
    ...closed({
      callee: orMap(string),
      calleePath: string,
      selector: orMap(string),
      selectorPath: string,
      amount: orMap(integer),
      amountPath: string,
      spender: orMap(string),
      spenderPath: string,
    }),
    anyOf: [{ required: ['callee'] }, { required: ['calleePath'] }],
    allOf: [
      both('callee', 'calleePath'),
      both('selector', 'selectorPath'),
      both('amount', 'amountPath'),
      both('spender', 'spenderPath'),
    ],
  },
  amount: closed({ threshold: string, message: string }),
  tokenAmount: {
    ...closed({
      token: orMap(string),
      tokenPath: string,
      nativeCurrencyAddress: oneOrMany,
      threshold: string,
      message: string,
      chainId: orMap(integer),
      chainIdPath: string,
    }),
    allOf: [both('token', 'tokenPath'), both('chainId', 'chainIdPath')],
  },
  tokenTicker: { ...closed({ chainId: orMap(integer), chainIdPath: string }), ...both('chainId', 'chainIdPath') },
  nftName: {
    ...closed({ collection: orMap(string), collectionPath: string }),
    anyOf: [{ required: ['collection'] }, { required: ['collectionPath'] }],
    ...both('collection', 'collectionPath'),
  },
  date: closed({ encoding: { enum: ['blockheight', 'timestamp'] } }, ['encoding']),
  unit: closed({ base: string, decimals: integer, prefix: { type: 'boolean' } }, ['base']),
  enum: closed({ $ref: string }, ['$ref']),
};

const visible = {
  oneOf: [
    { enum: ['always', 'never', 'optional'] },
    { ...closed({ ifNotIn: listed, mustMatch: listed }), ...both('ifNotIn', 'mustMatch') },
  ],
};
const encryption = closed({ scheme: string, plaintextType: string, fallbackLabel: string }, ['scheme']);
const place = { path: string, value: { type: ['string', 'integer', 'number', 'boolean'] } };

const field = {
  ...open({
    $id: string,
    ...place,
    visible,
    label: string,
    separator: string,
    encryption,
    format: { enum: ['raw', 'duration', 'chainId', ...Object.keys(parameters)] },
  }),
  allOf: [
    both('path', 'value'),
    ...Object.entries(parameters).map(([format, params]) => ({
      if: { properties: { format: { const: format } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { params } },
    })),
  ],
  unevaluatedProperties: false,
};
const reference = {
  properties: { ...place, label: string, $ref: string, params: mapOf(string), separator: string, visible, encryption },
  required: ['$ref'],
  ...both('path', 'value'),
  additionalProperties: false,
};
const group = closed(
  { $id: string, path: string, label: string, iteration: { enum: ['sequential', 'bundled'] }, fields: ref('fields') },
  ['fields'],
);

const word = { type: 'string', pattern: '\\S' };
const intent = {
  oneOf: [word, { ...mapOf(word), minProperties: 1, propertyNames: { pattern: '\\S' } }],
};
const format = closed({ $id: string, intent, interpolatedIntent: string, fields: ref('fields') }, ['intent']);

const deployments = {
  type: 'array',
  items: { properties: { chainId: { ...integer, format: 'eip155' }, address: { ...string, format: 'eip55' } } },
};
const contract = closed({
  abi: {},
  deployments,
  factory: closed({ deployments, deployEvent: string }, ['deployments', 'deployEvent']),
});
const eip712 = closed({
  schemas: {},
  domain: open({ name: string, version: string, chainId: integer, verifyingContract: string }),
  domainSeparator: string,
  deployments,
});

export const ERC7730_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...closed({
    $schema: { ...string, format: 'uri-reference' },
    $comment: string,
    includes: { ...string, format: 'uri-reference' },
    context: {
      ...open({ $id: string }),
      oneOf: [open({ contract }, ['contract']), open({ eip712 }, ['eip712'])],
      unevaluatedProperties: false,
    },
    metadata: open({
      owner: string,
      contractName: string,
      constants: mapOf(scalar),
      enums: mapOf(mapOf(string)),
      info: closed({ deploymentDate: { ...string, format: 'date-time' }, url: { ...string, format: 'uri' } }, ['url']),
      token: closed({ name: string, ticker: string, decimals: integer }, ['name', 'ticker', 'decimals']),
    }),
    display: closed(
      {
        definitions: mapOf(ref('field')),
        formats: {
          ...mapOf(format),
          propertyNames: { pattern: '^\\s*[A-Za-z_][A-Za-z0-9_:]*\\s*\\(.*\\)$' },
        },
      },
      ['formats'],
    ),
  }),
  $defs: {
    fields: {
      type: 'array',
      items: { oneOf: [ref('field'), ref('group'), ref('reference')] },
      unevaluatedProperties: false,
    },
    field,
    group,
    reference,
    mapReference: open({ map: string, keyPath: string }),
  },
};

import type { Conversions } from '../derive/conversion.ts';
import type { JsonSchema } from '../openapi/json-schema.ts';

type Body = Readonly<Record<string, unknown>>;
const nodesOf = (page: unknown) => (page as { readonly nodes: readonly Body[] }).nodes;
const isVault = (item: Body) => 'yieldLoops' in item;
const isOpen = ({ status }: Body) => status === 'open';

/** Kinds of the disagreements that loops and vaults may have. */
const kindSchema = (of: JsonSchema): JsonSchema => {
  const { kind = {} } = (of as { readonly properties: Readonly<Record<string, JsonSchema>> }).properties;
  return { ...kind, description: 'Disagreement between register and chain; null = none.' };
};

/** Portfolios of operators in the form of the contract. */
export const portfolioConversions = {
  /** The loops and vaults of a wallet by their state. */
  byState: {
    schema: (of, refer) => {
      const { nodes } = (of as { readonly properties: { readonly nodes: JsonSchema } }).properties;
      const [loop = {}, vault = {}] = (nodes.items as { readonly anyOf: readonly JsonSchema[] }).anyOf;
      const ended = (name: string, kind: string, schema: JsonSchema): JsonSchema =>
        refer(name, () => {
          const {
            properties = {},
            required = [],
            ...rest
          } = refer.definition(schema) as {
            readonly properties?: Readonly<Record<string, JsonSchema>>;
            readonly required?: readonly string[];
          };
          const marked = { kind: { type: 'string', const: kind, description: 'Kind of the entry.' }, ...properties };
          return { ...rest, required: ['kind', ...required], properties: marked };
        });
      return {
        type: 'object',
        required: ['positions', 'equityPositions', 'closed'],
        properties: {
          positions: { type: 'array', items: loop, description: 'Open plain loops, newest first.' },
          equityPositions: { type: 'array', items: vault, description: 'Open equity vaults.' },
          closed: {
            type: 'array',
            items: { anyOf: [ended('ClosedPosition', 'position', loop), ended('ClosedVault', 'equity', vault)] },
            description: 'Closed or liquidated positions, newest first; a closed vault is one entry.',
          },
        },
      };
    },
    convert: (page) => {
      const items = nodesOf(page);
      return {
        positions: items.filter((item) => !isVault(item) && isOpen(item)),
        equityPositions: items.filter((item) => isVault(item) && isOpen(item)),
        closed: items
          .filter((item) => !isOpen(item))
          .map((item) => ({ kind: isVault(item) ? 'equity' : 'position', ...item })),
      };
    },
  },
  /** The kind of a disagreement between register and chain. */
  driftKind: { schema: kindSchema, convert: (drift) => (drift as { readonly kind: string }).kind },
  /** That of the first loop of a vault that has one; null when none has. */
  firstDriftKind: {
    schema: (of) => {
      const nodes = (of as { readonly properties: { readonly nodes: JsonSchema } }).properties.nodes;
      const { drift = {} } = (nodes.items as { readonly properties: Readonly<Record<string, JsonSchema>> }).properties;
      const { description, ...kind } = kindSchema(drift);
      return { description, anyOf: [kind, { type: 'null' }] };
    },
    convert: (page) =>
      (nodesOf(page) as readonly { readonly drift?: { readonly kind: string } }[]).find(({ drift }) => drift)?.drift
        ?.kind ?? null,
  },
  /** Whether there is something. */
  isThere: { schema: () => ({ type: 'boolean' }), takesNull: true, convert: (value) => value !== null },
  /** Wallets in the form of the row of one wallet, rendered as documents; one that could not be read has a failure alone. */
  portfolioDocuments: {
    schema: (_of, refer) => ({
      type: 'array',
      items: {
        anyOf: [
          // That of the row of one wallet.
          refer('OpsPortfolio'),
          refer('PortfolioFailure', () => FAILURE),
        ],
      },
    }),
    convert: (documents) => documents,
  },
} as const satisfies Conversions;

const text = (description: string): JsonSchema => ({ type: 'string', description });
const FAILURE: JsonSchema = {
  type: 'object',
  description: 'A wallet that could not be read.',
  required: ['address', 'chainId', 'failure'],
  properties: {
    address: text('The wallet, checksummed.'),
    chainId: { type: 'integer', minimum: 1, format: 'int32', description: 'Id of the chain.' },
    failure: {
      type: 'object',
      description: 'Why it could not be read.',
      required: ['reason', 'message'],
      properties: { reason: text('Why.'), message: text('The problem and the next step, in a sentence.') },
    },
  },
};

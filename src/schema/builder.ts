import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import ErrorsPlugin from '@pothos/plugin-errors';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import ValidationPlugin from '@pothos/plugin-validation';
import type { AppContext } from '../resolvers/common/context.ts';
import { MAX_PAGE_SIZE } from '../resolvers/common/page.ts';
import type { MissingChain, MissingFacts } from '../resolvers/market/chains.ts';
import type { Decimal } from '../shared/decimal.ts';
import { UnauthorizedError } from '../shared/errors.ts';
import type { Address, ChainId, Hex, MarketId, StrategyId } from '../shared/ids.ts';
import { GLOBAL_ID } from './common/global-id.ts';
import { validationError } from './common/input-errors.ts';

/** The type parameters of the schema. Outputs are the values that resolvers may return, inputs those that they receive. */
export interface SchemaShape {
  Context: AppContext;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  AuthScopes: {
    /** Any valid key. */
    partner: boolean;
    /** A key on the `ops` tier. */
    ops: boolean;
  };
  /** The fields of every connection beside its page. */
  Connection: {
    totalCount: number;
    /** Absent: unknown. */
    asOfMs?: number | null;
    missingChains?: readonly MissingChain[];
    missingFacts?: readonly MissingFacts[];
  };
  Scalars: {
    Address: { Input: Address; Output: string };
    BigInteger: { Input: bigint; Output: bigint };
    ChainId: { Input: ChainId; Output: ChainId };
    DateTime: { Input: Date; Output: Date | number | string };
    Decimal: { Input: Decimal; Output: Decimal | string | number };
    HexData: { Input: Hex; Output: string };
    ID: { Input: string; Output: string | number };
    /** Output only. */
    JSONObject: { Input: never; Output: Readonly<Record<string, unknown>> };
    MarketId: { Input: MarketId; Output: string };
    NonNegativeInt: { Input: number; Output: number };
    /** Output only. */
    PortfolioDocument: { Input: never; Output: Readonly<Record<string, unknown>> };
    StrategyId: { Input: StrategyId; Output: string };
    URL: { Input: never; Output: string };
    UUID: { Input: never; Output: string };
  };
}

export const builder = new SchemaBuilder<SchemaShape>({
  defaultFieldNullability: false,
  plugins: [
    // Order matters: authorization wraps everything after it, errors turn exceptions from below into data.
    ScopeAuthPlugin,
    ErrorsPlugin,
    ComplexityPlugin,
    RelayPlugin,
    ValidationPlugin,
  ],
  scopeAuth: {
    authScopes: ({ caller }) => ({
      partner: caller.kind === 'key',
      ops: caller.kind === 'key' && caller.tier === 'ops',
    }),
    unauthorizedError: () => new UnauthorizedError(),
    // Before anything is watched, and not only before each event is shown.
    authorizeOnSubscribe: true,
  },
  errors: { defaultTypes: [] },
  complexity: { defaultComplexity: 1, defaultListMultiplier: 10 },
  relay: {
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    nodeTypeOptions: {
      description: 'An object with an identity: caches of clients keep it by `id`, and `node` returns it by `id`.',
      resolveType: (value, ctx) => ctx.loadedTypes.get(value as object) ?? null,
    },
    idFieldOptions: { description: GLOBAL_ID },
    cursorType: 'String',
    // The connection field multiplies by its page size already: the two lists below it must not multiply again.
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      complexity: { field: 1, multiplier: 1 },
      description: `The entries of this page, with their cursors; at most ${MAX_PAGE_SIZE}.`,
    },
    nodesOnConnection: {
      complexity: { field: 1, multiplier: 1 },
      description: `The entries of this page, without cursors; at most ${MAX_PAGE_SIZE}.`,
    },
    pageInfoTypeOptions: { description: 'Place of a page in the whole list.' },
    hasNextPageFieldOptions: { description: 'Whether entries follow this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether entries precede this page.' },
    startCursorFieldOptions: { description: 'Cursor of the first entry; `null` when the page is empty.' },
    endCursorFieldOptions: { description: 'Cursor of the last entry; `null` when the page is empty.' },
    cursorFieldOptions: {
      description:
        'Opaque place of the entry in this order; valid as `after` and `before` while the order stays the same.',
    },
    nodeFieldOptions: { nullable: false, description: 'The entry itself.' },
    pageInfoFieldOptions: { description: 'Place of this page in the whole list.' },
  },
  validation: { validationError },
});

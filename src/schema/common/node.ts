import type { AppContext } from '../../resolvers/common/context.ts';
import { type KeyPart, type NodeKey, parseNodeKey } from '../../resolvers/common/global-id.ts';
import { MAX_NODES } from '../../resolvers/common/page.ts';
import { BadRequestError, NotFoundError, UnauthorizedError } from '../../shared/errors.ts';
import { decodeGlobalId, encodeGlobalId, formatValue, invalidGlobalId } from '../../shared/ids.ts';
import { builder, type SchemaShape } from '../builder.ts';
import { GLOBAL_ID } from './global-id.ts';

interface NodeOptions<T, Names extends readonly KeyPart[]> {
  /** The parts of an object's identity within its type; no part contains a colon. */
  readonly key: Names;
  readonly keyOf: (object: T) => NodeKey<Names>;
  /** Find the object of a key as the fields do that serve the type, with their errors; `null` = there is none. */
  readonly load: (key: NodeKey<Names>, ctx: AppContext) => T | null | Promise<T | null>;
  /** Which key the fields demand that serve the type; absent: none. */
  readonly scope?: 'partner' | 'ops';
}

interface NodeType {
  readonly scope: 'partner' | 'ops' | undefined;
  /** Find the object of the key of an id, with the key that it has itself; `null` = there is none. */
  readonly load: (
    key: string,
    requested: { readonly id: string; readonly field: string },
    ctx: AppContext,
  ) => Promise<{ readonly object: object; readonly key: string } | null>;
}

type ObjectRefOf<T> = PothosSchemaTypes.ImplementableObjectRef<PothosSchemaTypes.ExtendDefaultTypes<SchemaShape>, T, T>;

const nodeTypes = new Map<string, NodeType>();

/** The interface of everything that has an identity. */
export const NodeRef = builder.nodeInterfaceRef();

/**
 * Make an object type a node: it implements `Node` with an opaque global `id`, and `node` and `nodes` find it by that id.
 * Call it before the type is implemented. The name of the type is part of the id.
 */
export function defineNode<T extends object, const Names extends readonly KeyPart[]>(
  ref: ObjectRefOf<T>,
  { key: names, keyOf, load, scope }: NodeOptions<T, Names>,
): void {
  const { name } = ref;
  const textOf = (object: T): string => (keyOf(object) as readonly unknown[]).join(':');
  ref.addInterfaces([NodeRef as never]);
  builder.objectField(ref, 'id', (t) =>
    t.id({
      description: GLOBAL_ID,
      resolve: (object) => encodeGlobalId(name, textOf(object as T)),
    }),
  );
  ref.updateConfig((config) => ({ ...config, extensions: { ...config.extensions, node: { scope } } }));
  nodeTypes.set(name, {
    scope,
    async load(key, requested, ctx) {
      const object = await load(parseNodeKey(names, key, requested), ctx);
      return object && { object, key: textOf(object) };
    },
  });
}

/**
 * Find the object of a global id. @throws BadRequestError, UnauthorizedError, NotFoundError, and the errors of the type's own field
 */
async function findNode(id: string, field: string, ctx: AppContext): Promise<object> {
  const { typename, key } = decodeGlobalId(id, field);
  const type = nodeTypes.get(typename);
  if (type === undefined) throw invalidGlobalId(id, field);
  if (!isOpen(type.scope, ctx)) throw new UnauthorizedError();
  const found = await type.load(key, { id, field }, ctx);
  if (found === null) throw notFound(typename, id);
  // Caches take the object of an id for one with that id: another spelling of its key is no id of it.
  if (encodeGlobalId(typename, found.key) !== id) throw invalidGlobalId(id, field);
  ctx.loadedTypes.set(found.object, typename);
  return found.object;
}

function notFound(typename: string, id: string): NotFoundError {
  return new NotFoundError(`There is no ${typename} with this id. Find it by its domain id, or ask for its list.`, {
    resource: typename,
    id: formatValue(id),
  });
}

function isOpen(scope: NodeType['scope'], { caller }: AppContext): boolean {
  if (scope === undefined) return true;
  return caller.kind === 'key' && (scope === 'partner' || caller.tier === 'ops');
}

/** Errors of items that the lists of one operation have beside them. */
const MAX_LISTED_ERRORS = 20;

builder.queryFields((t) => ({
  node: t.field({
    type: NodeRef,
    nullable: true,
    description:
      'One object by its global id. An id of nothing that exists is answered with the error `not_found`; objects behind a key demand the same key here.',
    args: { id: t.arg.id({ required: true, description: 'The `id` of an object, as an answer gave it.' }) },
    resolve: async (_root, { id }, ctx) => (await findNode(id, 'id', ctx)) as never,
  }),
  nodes: t.field({
    type: [NodeRef],
    nullable: { list: true, items: true },
    complexity: ({ ids }) => ({ field: 1, multiplier: ids.length }),
    description: `Several objects by their global ids, in the order of \`ids\`; \`null\` where an object cannot be given, with the error beside, for the first ${MAX_LISTED_ERRORS} of an operation. At most ${MAX_NODES}.`,
    args: {
      ids: t.arg.idList({ required: true, description: `Global ids as answers gave them, at most ${MAX_NODES}.` }),
    },
    resolve: async (_root, { ids }, ctx) => {
      if (ids.length > MAX_NODES) throw tooMany(ids.length);
      const found = await Promise.allSettled(ids.map((id, i) => findNode(id, `ids.${i}`, ctx)));
      return found.map((one) => (one.status === 'fulfilled' ? one.value : listedError(one.reason, ctx))) as never;
    },
  }),
}));

const listed = new WeakMap<AppContext, number>();

/** An error in a list has the path of its item; `null` once the operation has enough of them. */
function listedError(reason: unknown, ctx: AppContext): Error | null {
  const count = (listed.get(ctx) ?? 0) + 1;
  listed.set(ctx, count);
  if (count > MAX_LISTED_ERRORS) return null;
  return reason instanceof Error ? reason : new Error(String(reason));
}

function tooMany(count: number): BadRequestError {
  return new BadRequestError(`ids has ${count} entries. Send at most ${MAX_NODES}.`, {
    field: 'ids',
    value: String(count),
    limit: { max: MAX_NODES },
  });
}

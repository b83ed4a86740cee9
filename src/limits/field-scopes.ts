import type { GraphQLField, GraphQLNamedType } from 'graphql';

/** Tier that a field requires, by its declaration in the schema. */
export type FieldScope = 'public' | 'partner' | 'ops';

interface Declared {
  readonly pothosOptions?: { readonly authScopes?: Readonly<Record<string, unknown>> | undefined } | undefined;
}

/** Return the declared scope of a field. */
export function scopeOf(field: Pick<GraphQLField<unknown, unknown>, 'extensions'>): FieldScope {
  const scopes = (field.extensions as Declared).pothosOptions?.authScopes;
  if (scopes?.ops === true) return 'ops';
  return scopes?.partner === true ? 'partner' : 'public';
}

export function needsKey(field: Pick<GraphQLField<unknown, unknown>, 'extensions'>): boolean {
  return scopeOf(field) !== 'public';
}

interface DeclaredNode {
  readonly node?: { readonly scope?: 'partner' | 'ops' | undefined };
}

/**
 * Return the scope that finding an object of this type by its global id requires; `undefined` for a type without global ids.
 */
export function nodeScopeOf(type: Pick<GraphQLNamedType, 'extensions'> | undefined): FieldScope | undefined {
  const { node } = (type?.extensions ?? {}) as DeclaredNode;
  return node && (node.scope ?? 'public');
}

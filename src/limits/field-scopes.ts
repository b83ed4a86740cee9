import type { GraphQLField } from 'graphql';

/** What a field asks of its caller, as the schema declares it. */
export type FieldScope = 'public' | 'partner' | 'ops';

interface Declared {
  readonly pothosOptions?: { readonly authScopes?: Readonly<Record<string, unknown>> };
}

/** Read the scope that a field declares for itself. */
export function scopeOf(field: Pick<GraphQLField<unknown, unknown>, 'extensions'>): FieldScope {
  const scopes = (field.extensions as Declared).pothosOptions?.authScopes;
  if (scopes?.ops === true) return 'ops';
  return scopes?.partner === true ? 'partner' : 'public';
}

export function needsKey(field: Pick<GraphQLField<unknown, unknown>, 'extensions'>): boolean {
  return scopeOf(field) !== 'public';
}

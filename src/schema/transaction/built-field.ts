import { REFUSALS } from '../common/refusals.ts';

type RefusalClass = (typeof REFUSALS)[number];

/**
 * Options that every field of the builders shares: a key is needed, and the answer is either what was built or the refusal
 * that says why nothing was.
 */
export function builtField<Further = never>({
  complexity,
  union,
  further = [],
}: {
  readonly complexity: number;
  /** The union of the result and the refusals. */
  readonly union: { readonly name: string; readonly description: string };
  /** Refusals that only this field has. */
  readonly further?: readonly Further[];
}) {
  const types: (RefusalClass | Further)[] = [...REFUSALS, ...further];
  return {
    nullable: true as const,
    authScopes: { partner: true },
    complexity,
    errors: { types, directResult: true as const, union },
  };
}

/**
 * Options that every field of the builders shares: a key is needed, and the answer is either the built plan or the refusal
 * that says why nothing was.
 * @param types of the refusals that can occur, and no others
 */
export function builtField<Refusal>({
  complexity,
  union,
  refusals,
}: {
  readonly complexity: number;
  /** The union of the result and the refusals. */
  readonly union: { readonly name: string; readonly description: string };
  readonly refusals: readonly Refusal[];
}) {
  return {
    nullable: true as const,
    authScopes: { partner: true },
    complexity,
    errors: { types: [...refusals], directResult: true as const, union },
  };
}

import type { Gap } from '../../domain/freshness/types.ts';

const WINDOW = /\.(avg\d+d)$/;

/**
 * Rename the fields of gaps from the words of the domain, which are those of the frozen /v1 contract, into those of the schema.
 * A name holds for everything below the field. Of gaps that fall together one stays.
 */
export function renamedGaps(gaps: readonly Gap[], names: Readonly<Record<string, string>>): readonly Gap[] {
  const named = new Set<string>();
  return gaps.flatMap((gap) => {
    const field = renamed(gap.field, names);
    if (field === gap.field) return [gap];
    if (named.has(field)) return [];
    named.add(field);
    return [{ ...gap, field }];
  });
}

function renamed(field: string, names: Readonly<Record<string, string>>): string {
  for (let end = field.length; end > 0; end = field.lastIndexOf('.', end - 1)) {
    const name = names[field.slice(0, end)];
    if (name !== undefined) return `${name}${field.slice(end).replace(WINDOW, '.$1Pct')}`;
  }
  return field;
}

/** A longer header is not one of a reader that asks for another form. */
const MAX_CHARS = 1_000;

/**
 * Whether an `Accept` header asks for another form of an answer: it names the media type, with at least the weight of the usual
 * one. Wildcards ask for the usual one, as browsers mean them.
 */
export function acceptsInstead(accept: string | undefined, type: string, usual: string): boolean {
  if (accept === undefined || accept.length > MAX_CHARS) return false;
  const weights = new Map(accept.toLowerCase().split(',').map(weighted));
  const weight = weights.get(type) ?? 0;
  return weight > 0 && weight >= (weights.get(usual) ?? 0);
}

function weighted(entry: string): readonly [type: string, weight: number] {
  const [type = '', ...parameters] = entry.split(';').map((part) => part.trim());
  const q = parameters.find((parameter) => parameter.startsWith('q='));
  const weight = q === undefined ? 1 : Number(q.slice(2));
  return [type, Number.isFinite(weight) ? weight : 0];
}

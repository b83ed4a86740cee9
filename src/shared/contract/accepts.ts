/** A longer header is not one of a reader that asks for another form. */
const MAX_CHARS = 1_000;

/**
 * Whether an `Accept` header asks for another form of an answer: it names the media type, with at least the weight of the usual
 * one. Wildcards ask for the usual one, as browsers mean them.
 */
export function acceptsInstead(accept: string | undefined, type: string, usual: string): boolean {
  if (accept === undefined || accept.length > MAX_CHARS) return false;
  const weights = weightsOf(accept);
  const weight = weights.get(type) ?? 0;
  return weight > 0 && weight >= (weights.get(usual) ?? 0);
}

/** Whether an `Accept` header takes a media type, by its name or by a wildcard. Without a header, any is taken. */
export function acceptsType(accept: string | undefined, type: string): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  if (accept.length > MAX_CHARS) return false;
  const weights = weightsOf(accept);
  const [group = ''] = type.split('/');
  return (weights.get(type) ?? weights.get(`${group}/*`) ?? weights.get('*/*') ?? 0) > 0;
}

function weightsOf(accept: string): ReadonlyMap<string, number> {
  return new Map(accept.toLowerCase().split(',').map(weighted));
}

function weighted(entry: string): readonly [type: string, weight: number] {
  const [type = '', ...parameters] = entry.split(';').map((part) => part.trim());
  const q = parameters.find((parameter) => parameter.startsWith('q='));
  const weight = q === undefined ? 1 : Number(q.slice(2));
  return [type, Number.isFinite(weight) ? weight : 0];
}

const RESPONSE_TYPE = 'application/graphql-response+json';
const JSON_TYPE = 'application/json';
const MAX_CHARS = 200;

/**
 * Choose the media type of an answer without errors like Yoga: the first JSON type in an `Accept` header, regardless of
 * weights. `undefined` = there is none, or the header is longer than those of common clients.
 */
export function jsonTypeFor(accept: string | undefined): string | undefined {
  if (accept !== undefined && accept.length > MAX_CHARS) return undefined;
  for (const entry of (accept || '*/*').replace(/\s/g, '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = entry.split(';');
    const charset = parameters.find((parameter) => parameter.includes('charset='));
    if (charset !== undefined && charset !== 'charset=utf-8') continue;
    if (matches(type, JSON_TYPE)) return `${JSON_TYPE}; charset=utf-8`;
    if (matches(type, RESPONSE_TYPE)) return `${RESPONSE_TYPE}; charset=utf-8`;
  }
  return undefined;
}

function matches(accepted: string, offered: string): boolean {
  const [acceptedType, acceptedSubtype] = accepted.split('/');
  const [type, subtype] = offered.split('/');
  return (acceptedType === '*' || acceptedType === type) && (acceptedSubtype === '*' || acceptedSubtype === subtype);
}

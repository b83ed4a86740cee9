import { BadRequestError } from '../shared/errors.ts';
import { formatValue } from '../shared/ids.ts';

/** Deepest nesting of objects and lists in JSON that callers send. The deepest input of the schema is 4. */
export const MAX_JSON_DEPTH = 32;

/** A key with its colon, a string that is none, a bracket, or a comma: all that matters of a text for its structure. */
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")\s*(:)?|[{}[\],]/g;

interface Level {
  /** Keys of an object so far; `null` for a list. */
  readonly keys: Set<string> | null;
  /** Where in it the text is: the latest key, or the index. */
  at: string | number;
}

/**
 * Check the structure of a JSON text before anything walks its value: nesting deeper than `MAX_JSON_DEPTH` is refused, and
 * so is a key that one object has twice. Parsers keep the last one and say nothing, so that of two amounts one would be
 * guessed.
 * @param text valid JSON
 * @param place what the text is, for the message: `body`, `query.variables`
 * @throws BadRequestError naming the place
 */
export function checkStructure(text: string, place: string): void {
  const open: Level[] = [];
  for (const [token, quoted, colon] of text.matchAll(TOKEN)) {
    const level = open.at(-1);
    if (colon !== undefined && quoted !== undefined && level?.keys) noteKey(level, quoted, open, place);
    else if (token === '{' || token === '[') {
      if (open.length === MAX_JSON_DEPTH) throw tooDeep(open, place);
      open.push(token === '{' ? { keys: new Set(), at: '' } : { keys: null, at: 0 });
    } else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && typeof level?.at === 'number') level.at += 1;
  }
}

function noteKey(level: Level, quoted: string, open: readonly Level[], place: string): void {
  const key: string = quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1);
  level.at = key;
  if (level.keys?.has(key)) {
    const field = fieldOf(open, place);
    throw new BadRequestError(`${field} is given twice. Give it once.`, { field });
  }
  level.keys?.add(key);
}

function tooDeep(open: readonly Level[], place: string): BadRequestError {
  const field = fieldOf(open, place);
  return new BadRequestError(
    `${field} is nested deeper than ${MAX_JSON_DEPTH} levels of objects and lists. Send it flatter.`,
    { field, limit: { max: MAX_JSON_DEPTH } },
  );
}

function fieldOf(open: readonly Level[], place: string): string {
  return formatValue([place, ...open.map(({ at }) => at)].join('.'));
}

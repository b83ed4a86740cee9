import { BadRequestError } from '../shared/errors.ts';
import { formatValue } from '../shared/ids.ts';
import { createInputCount, type IsKnownName } from '../shared/input/input-count.ts';

/** Maximum nesting of objects and lists in JSON of callers. The deepest input of the schema has 4. */
export const MAX_JSON_DEPTH = 32;

/** A key with its colon, another string, a bracket, or a comma: the structure of a JSON text. A quote alone ends nowhere. */
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")\s*(:)?|["{}[\],]/g;

interface Level {
  /** Keys of an object so far; `null` for a list. */
  readonly keys: Set<string> | null;
  /** Current position: the latest key, or the index. */
  at: string | number;
}

/**
 * Check the structure of a JSON text before it is parsed: nesting deeper than `MAX_JSON_DEPTH`, repeated keys, and more
 * names and entries than an input may have are refused. Parsers silently keep the last of two keys, so one of two amounts
 * would be ignored. A text that is not JSON is left to the parser.
 * @param place name of the text in the message: `body`, `query.variables`
 * @throws BadRequestError naming the place
 */
export function checkStructure(text: string, place: string, isKnown: IsKnownName): void {
  const open: Level[] = [];
  const count = createInputCount(place, isKnown);
  for (const [token, quoted, colon] of text.matchAll(TOKEN)) {
    const level = open.at(-1);
    if (colon !== undefined && quoted !== undefined && level?.keys) {
      count.name(noteKey(level, quoted, open, place));
    } else if (token === '{' || token === '[') {
      if (open.length === MAX_JSON_DEPTH) throw tooDeep(open, place);
      open.push(token === '{' ? { keys: new Set(), at: '' } : { keys: null, at: 0 });
    } else if (token === '}' || token === ']') open.pop();
    else if (token === '"') return;
    else if (token === ',' && typeof level?.at === 'number') {
      level.at += 1;
      count.entry();
    }
  }
}

function noteKey(level: Level, quoted: string, open: readonly Level[], place: string): string {
  const key = unescaped(quoted);
  level.at = key;
  if (level.keys?.has(key)) {
    const field = fieldOf(open, place);
    throw new BadRequestError(`${field} is repeated. Send it once.`, { field });
  }
  level.keys?.add(key);
  return key;
}

function unescaped(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    // Not JSON, which the parser refuses.
    return quoted;
  }
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

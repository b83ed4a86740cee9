import { BadRequestError } from '../errors.ts';
import { formatValue } from '../ids.ts';

/** An input is refused at this number of names that its request does not take. */
const UNKNOWN_NAMES_LIMIT = 100;
/** Maximum number of values of an input: names of objects and entries of lists. The longest list that a request takes has 100. */
const MAX_INPUT_VALUES = 2_000;

/** Whether a request takes a name anywhere in its input. */
export type IsKnownName = (name: string) => boolean;

/** Counts the parts of one input before they are used. */
export interface InputCount {
  /**
   * Count a name, of an object or of a parameter.
   * @throws BadRequestError at the first one above a limit
   */
  name(name: string): void;
  /**
   * Count an entry of a list.
   * @throws BadRequestError at the first one above the limit
   */
  entry(): void;
}

/**
 * Create the count of one input. All surfaces count here, before schemas, GraphQL and tools look at names and values: these
 * make an error, a copy or a comparison for each of them, so that a body within its limit of bytes could take them long.
 * @param place name of the input in the message: `body`, `query`
 */
export function createInputCount(place: string, isKnown: IsKnownName): InputCount {
  let unknown = 0;
  let values = 0;
  const countValue = (): void => {
    values += 1;
    if (values > MAX_INPUT_VALUES) throw tooManyValues(place);
  };
  return {
    name(name) {
      countValue();
      if (isKnown(name)) return;
      unknown += 1;
      if (unknown === UNKNOWN_NAMES_LIMIT) throw tooManyNames(place, name);
    },
    entry: countValue,
  };
}

function tooManyNames(place: string, last: string): BadRequestError {
  const max = UNKNOWN_NAMES_LIMIT - 1;
  return new BadRequestError(
    `${place} has more than ${max} names that this request does not take, "${formatValue(last)}" among them. Leave them out.`,
    { field: place, value: formatValue(last), limit: { maxUnknownNames: max } },
  );
}

function tooManyValues(place: string): BadRequestError {
  return new BadRequestError(
    `${place} has more than ${MAX_INPUT_VALUES} names and list entries. Split it into several requests.`,
    { field: place, limit: { maxValues: MAX_INPUT_VALUES } },
  );
}

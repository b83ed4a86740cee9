const QUOTE = 0x22;
const BACKSLASH = '\\';
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BLANKS: readonly number[] = [0x20, 0x0a, 0x0d, 0x09];

export interface JsonElements {
  /** Take the next piece of text and give the elements that it completes. @throws SyntaxError when it is no list of objects */
  push(text: string): readonly string[];
  /** Say that nothing follows. @throws SyntaxError when something is missing */
  end(): void;
}

/**
 * Cut a JSON array of objects, or a single object, into its elements while it arrives, so that megabytes are never parsed in
 * one piece. Inside an element only quotes and brackets are looked at; whoever parses its text finds what else is wrong.
 */
export function createJsonElements(): JsonElements {
  /** Pieces of the element that is being read. */
  let pieces: string[] = [];
  let isList: boolean | undefined;
  /** Brackets open within the element; 0 = between elements. */
  let depth = 0;
  let inString = false;
  let escaped = false;
  let ended = false;

  /** Skip what belongs to a string: to behind its end, behind a backslash, or to the end of the text. */
  const skipString = (text: string, from: number): number => {
    if (escaped) {
      escaped = false;
      return from + 1;
    }
    const quote = text.indexOf('"', from);
    const end = quote === -1 ? text.length : quote;
    // Return data has no escapes: what stands before the quote is looked at twice and no more.
    const backslash = text.slice(from, end).indexOf(BACKSLASH);
    if (backslash !== -1) {
      escaped = true;
      return from + backslash + 1;
    }
    inString = quote === -1;
    return quote === -1 ? end : end + 1;
  };

  /** Read what stands between elements. Tells whether an element begins. */
  const between = (char: number): boolean => {
    if (BLANKS.includes(char)) return false;
    if (ended) throw new SyntaxError('something follows the end');
    if (char === OPEN_OBJECT) {
      isList ??= false;
      return true;
    }
    if (char === OPEN_ARRAY && isList === undefined) isList = true;
    else if (char === CLOSE_ARRAY && isList) ended = true;
    else if (char !== COMMA || !isList) throw new SyntaxError('neither an object nor a list of objects');
    return false;
  };

  return {
    push(text) {
      const complete: string[] = [];
      let begin = 0;
      let at = 0;
      while (at < text.length) {
        if (inString) {
          at = skipString(text, at);
          continue;
        }
        const char = text.charCodeAt(at);
        if (depth === 0) {
          if (between(char)) {
            begin = at;
            depth = 1;
          }
        } else if (char === QUOTE) inString = true;
        else if (char === OPEN_OBJECT || char === OPEN_ARRAY) depth += 1;
        else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
          depth -= 1;
          if (depth === 0) {
            pieces.push(text.slice(begin, at + 1));
            complete.push(pieces.join(''));
            pieces = [];
            ended = isList === false;
          }
        }
        at += 1;
      }
      if (depth > 0) pieces.push(text.slice(begin));
      return complete;
    },
    end() {
      if (!ended) throw new SyntaxError('it ends too early');
    },
  };
}

/** What a person has typed into a field of an amount. */
export type Amount =
  | { readonly kind: 'empty' }
  /** `text` is a plain decimal, as the service takes it. */
  | { readonly kind: 'amount'; readonly text: string }
  | { readonly kind: 'wrong'; readonly message: string };

const USUAL_USD = 1_000;

/** A round amount of a token worth about 1,000 dollars, to begin with; '' = its price is not known. */
export function usualAmount(priceUsd: string | undefined): string {
  const size = USUAL_USD / Number(priceUsd ?? 0);
  if (!Number.isFinite(size) || size <= 0) return '';
  return new Intl.NumberFormat('en', { maximumSignificantDigits: 1 }).format(size);
}

const EMPTY = { kind: 'empty' } as const;
const wrong = (message: string): Amount => ({ kind: 'wrong', message });

const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d*)?$/;
const PLAIN = /^\d*\.?\d*$/;
/** More digits are a mistake, and no token has as many. */
const MOST_DIGITS = 30;

/**
 * Read an amount as people write it: `1,000`, `1 000.5`, `.5`. A comma that may be meant as a decimal point is not guessed at.
 */
export function readAmount(typed: string, decimals: number, symbol: string): Amount {
  // Blanks of all kinds and apostrophes group digits in some countries, and never are decimal points.
  const text = typed.replace(/[\s'’_]/g, '');
  if (text === '') return EMPTY;
  if (/^[-\u2212]/.test(text)) return wrong('Enter an amount above 0.');
  if (!/^[\d.,]+$/.test(text) || !/\d/.test(text)) return wrong('Enter the amount in digits, such as 1,250.50.');
  if (text.includes(',') && (!GROUPED.test(text) || /^0/.test(text))) return wrong(unclear(text));
  const plain = text.replaceAll(',', '');
  if (!PLAIN.test(plain))
    return wrong(`${typed.trim()} has more than one decimal point. Write one number, such as 1,250.50.`);
  const [whole = '', fraction = ''] = plain.split('.');
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  if (digits.length > MOST_DIGITS) return wrong('This is more than there is of any token.');
  if (fraction.length > decimals) {
    return wrong(`${symbol} has ${decimals} decimals: write at most ${decimals} digits after the point.`);
  }
  const read = fraction === '' ? digits : `${digits}.${fraction}`;
  return Number(read) === 0 ? EMPTY : { kind: 'amount', text: read };
}

/** Both readings of an unclear comma, to choose from. */
function unclear(text: string): string {
  const [whole = '', ...rest] = text.split(',');
  const isOne = rest.length === 1 && !text.includes('.');
  const point = isOne
    ? `${whole || '0'}.${rest[0]}`
    : text
        .replace(/\./g, '')
        .replace(/,(?=[^,]*$)/, '.')
        .replaceAll(',', '');
  const none = text
    .replaceAll(',', '')
    .replaceAll('.', '')
    .replace(/^0+(?=\d)/, '');
  return `It is not clear what ${text} means: write ${point} or ${none}.`;
}

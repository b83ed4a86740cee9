/** A table as CSV by RFC 4180: rows end with CRLF, cells with a separator, a quote or a line break are quoted. */
export function toCsv(rows: readonly (readonly (string | null)[])[]): string {
  return rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
}

const NUMBER = /^-?\d+(\.\d+)?$/;
/** A spreadsheet takes a text with such a beginning for a formula, and runs it. */
const FORMULA = /^[=+\-@\t\r\n]/;

function cellOf(value: string | null): string {
  if (value === null) return '';
  const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

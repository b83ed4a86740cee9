/** Tables as files: exact values, unknown ones empty. A column is `[key of JSON, heading of CSV with its unit, value of a row]`. */

const NUMBER = /^-?\d+(\.\d+)?$/;
const BEGINS_FORMULA = ['=', '+', '-', '@', '\uff1d', '\uff0b', '\uff0d', '\uff20'];

/** Spreadsheets run text that begins like a formula, and anyone can name a token: such a text gets an apostrophe in front. */
function cellOf(value) {
  if (value === null || value === undefined) return '';
  const text = String(value);
  const isFormula = /^[\t\r\n]/.test(text) || BEGINS_FORMULA.includes(text.trimStart().charAt(0));
  const safe = isFormula && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n\t;']/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** RFC 4180, with the mark by which spreadsheets know UTF-8. */
export function csvOf(columns, rows) {
  const lines = [
    columns.map(([, heading]) => cellOf(heading)),
    ...rows.map((row) => columns.map(([, , value]) => cellOf(value(row)))),
  ];
  return `\ufeff${lines.map((cells) => `${cells.join(',')}\r\n`).join('')}`;
}

/** The same with the subject of the rows. Unknown values are `null`. */
export function jsonOf(columns, rows, about) {
  const entries = rows.map((row) => Object.fromEntries(columns.map(([key, , value]) => [key, value(row) ?? null])));
  const headings = Object.fromEntries(columns.map(([key, heading]) => [key, heading]));
  return `${JSON.stringify({ ...about, columns: headings, rows: entries }, null, 2)}\n`;
}

/** `positions-chain-4663-20261122T170500Z.csv` */
export function fileName({ table, chain, at, type }) {
  const time = new Date(at).toISOString().replace(/\.\d+|[-:]/g, '');
  return `${table}-${chain === '' ? 'all-chains' : `chain-${chain}`}-${time}.${type}`;
}

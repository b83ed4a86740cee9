import { createHash } from 'node:crypto';
import { acceptsInstead } from '../shared/contract/accepts.ts';
import type { AnyRoute, CsvFile, RestRequest, RestResponse } from './types.ts';

/** The answer of a row as a file; `undefined` = the row has none, or the request asks for JSON. */
export function csvOf(
  request: Pick<RestRequest, 'headers'>,
  { csv }: Pick<AnyRoute, 'csv'>,
  body: unknown,
  input: { readonly params: unknown },
): RestResponse | undefined {
  if (!csv || !acceptsInstead(request.headers.accept, 'text/csv', 'application/json')) return undefined;
  return csvResponse(csv(body, input), request);
}

/**
 * Answer with a file, or with 304 to the tag of the same one. It belongs to one caller, so it is kept by no shared cache. The tag
 * is weak, because the answer may be compressed on its way.
 */
function csvResponse({ name, text }: CsvFile, { headers }: Pick<RestRequest, 'headers'>): RestResponse {
  const etag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
  const common = { etag, 'cache-control': 'private, no-cache', vary: 'accept, authorization' };
  if (isKnown(headers['if-none-match'], etag)) return { status: 304, headers: common, body: '' };
  return {
    status: 200,
    headers: {
      ...common,
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': `attachment; filename="${name}.csv"`,
    },
    body: text,
  };
}

function isKnown(header: string | undefined, etag: string): boolean {
  const opaque = etag.slice(2);
  return (header ?? '').split(',').some((part) => ['*', etag, opaque].includes(part.trim()));
}

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

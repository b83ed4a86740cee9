import type { IssuedKey, KeyInfo } from './admin.ts';

const COLUMNS = ['PREFIX', 'TIER', 'STATUS', 'LABEL', 'CREATED', 'EXPIRES', 'LAST USED'];

/** Render a newly issued key. Its text is shown only here. */
export function renderIssued(issued: IssuedKey, old?: KeyInfo): string {
  const lines = [issued.text, '', 'The key is shown only once: pass it on or store it now.'];
  if (old !== undefined)
    lines.push(
      `It replaces ${old.prefix}, which ${old.revokedAtMs === null ? `expires ${time(old.expiresAtMs)}` : 'has expired'}.`,
    );
  return `${lines.join('\n')}\n\n${renderList([issued.key])}`;
}

export function renderKey(key: KeyInfo): string {
  return renderList([key]);
}

export function renderList(keys: readonly KeyInfo[]): string {
  if (keys.length === 0) return 'There are no keys yet.\n';
  const rows = keys.map((key) => [
    key.prefix,
    key.tier,
    key.status,
    printable(key.label),
    time(key.createdAtMs),
    time(key.expiresAtMs),
    time(key.lastUsedAtMs),
  ]);
  const table = [COLUMNS, ...rows];
  const widths = COLUMNS.map((_, column) => Math.max(...table.map((row) => (row[column] ?? '').length)));
  return table
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Render as JSON: a list of keys, one key, or an issued key with its text. */
export function toJson(value: readonly KeyInfo[] | KeyInfo | IssuedKey, old?: KeyInfo): string {
  const columns =
    'text' in value
      ? { key: value.text, ...plain(value.key), replaces: old === undefined ? undefined : plain(old) }
      : 'prefix' in value
        ? plain(value)
        : value.map(plain);
  return `${JSON.stringify(columns, null, 2)}\n`;
}

function plain(key: KeyInfo) {
  return {
    id: key.id,
    prefix: key.prefix,
    tier: key.tier,
    status: key.status,
    label: key.label,
    createdAt: iso(key.createdAtMs),
    expiresAt: iso(key.expiresAtMs),
    revokedAt: iso(key.revokedAtMs),
    rotatedFrom: key.rotatedFrom,
    lastUsedAt: iso(key.lastUsedAtMs),
  };
}

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function time(ms: number | null): string {
  return ms === null ? '-' : new Date(ms).toISOString().replace('T', ' ').slice(0, 16);
}

/** Remove control characters: a label may contain any text. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}

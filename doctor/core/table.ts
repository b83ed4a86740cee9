import type { Report } from './report.ts';

type Row = Report['lines'][number];

const MARKS = { ok: 'ok', not_applicable: '-', warning: 'WARN', failure: 'FAIL' } as const;

/** Render the report as a table: a row per subject, and below it the failures with the next step. */
export function renderTable({ lines, counts, durationMs, status }: Report): string {
  const text: string[] = [];
  let area = '';
  for (const rows of bySubject(lines)) {
    const [first] = rows;
    if (!first) continue;
    if (first.area !== area) {
      area = first.area;
      text.push('', area.toUpperCase());
    }
    text.push(...renderSubject(first.subject, rows));
  }
  const secs = (durationMs / 1_000).toFixed(1);
  text.push(
    '',
    `${counts.failure} failed, ${counts.warning} with a warning, ${counts.ok} in order, ${counts.not_applicable} not applicable; ${secs} s.`,
    status === 'ok'
      ? 'Everything is in order.'
      : `The next step is below each ${status === 'failure' ? 'FAIL and WARN' : 'WARN'}.`,
  );
  return `${text.join('\n').trimStart()}\n`;
}

/** Passing checks share one row. */
function renderSubject(subject: string, rows: readonly Row[]): string[] {
  const [calm, loud] = [rows.filter(isCalm), rows.filter((row) => !isCalm(row))];
  const text: string[] = [];
  const mark = MARKS[calm.some(({ status }) => status === 'ok') ? 'ok' : 'not_applicable'];
  if (calm.length > 0) text.push(`  ${mark.padEnd(4)}  ${subject}: ${calm.map(({ found }) => found).join('; ')}`);
  for (const { status, check, found, todo } of loud) {
    text.push(`  ${MARKS[status].padEnd(4)}  ${subject} [${check}]: ${found}`, `        do: ${todo}`);
  }
  return text;
}

function isCalm({ status }: Row): boolean {
  return status === 'ok' || status === 'not_applicable';
}

/** Group the rows of one subject of an area, in the order of their first row. */
function bySubject(lines: readonly Row[]): readonly (readonly Row[])[] {
  const groups = new Map<string, Row[]>();
  for (const line of lines) {
    const key = `${line.area}\n${line.subject}`;
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups.values()];
}

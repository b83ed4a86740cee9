const LEVELS: Readonly<Record<number, string>> = { 20: 'Debug', 30: 'Info', 40: 'Warning', 50: 'Error' };

/** Turn a line of the log into a sentence, for a terminal. A line that is no JSON stays as it is. */
export function sentenceOf(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  const { level, time: _, msg, ...rest } = entry;
  const parts = Object.entries(rest).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const details = parts.length === 0 ? '' : ` (${parts.join(', ')})`;
  return `${LEVELS[Number(level)] ?? 'Log'}: ${String(msg ?? '')}${details}.\n`;
}

import { formatValue } from '../shared/ids.ts';
import { KeyInputError } from './errors.ts';

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const PATTERN = /^(\d{1,6})([mhd])$/;

/**
 * Parse a duration such as `30m`, `24h` or `90d` to milliseconds.
 * @throws KeyInputError naming `field`
 */
export function parseDuration(text: string, field: string): number {
  if (text === '0') return 0;
  const match = PATTERN.exec(text);
  const unit = match?.[2] as keyof typeof UNIT_MS | undefined;
  if (match === null || unit === undefined) {
    throw new KeyInputError(`"${formatValue(text)}" is not a duration. Use minutes, hours or days: 30m, 24h, 90d.`, {
      field,
      value: formatValue(text),
      limit: { pattern: PATTERN.source },
    });
  }
  return Number(match[1]) * UNIT_MS[unit];
}

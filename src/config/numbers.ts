import { z } from 'zod';

/** Forms of numbers, addresses and switches in settings. */
export const seconds = z.coerce.number({ error: 'expected seconds' }).int().min(1).max(31_536_000);
export const count = z.coerce.number({ error: 'expected a whole number' }).int().min(0).max(1_000_000_000);
export const url = z.url({ protocol: /^https?$/, error: 'expected an http(s) URL' });
export const flag = z.enum(['true', 'false']).transform((value) => value === 'true');

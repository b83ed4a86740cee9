import { z } from 'zod';

const RESOLUTIONS = ['raw', 'hour', 'day', 'week'] as const;

/** Range and buckets of a series. */
export const windowParams = {
  from: z.iso.datetime().optional().describe('Begin, included; 90 days before `to` when left out.'),
  to: z.iso.datetime().optional().describe('End, excluded, at most 400 days after `from`; now when left out.'),
  resolution: z
    .enum(RESOLUTIONS)
    .default('day')
    .describe('Width of the buckets in UTC; `raw` is as recorded. Default day.'),
};

interface Window {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly resolution: (typeof RESOLUTIONS)[number];
}

/** The same as variables of an operation. */
export function windowVariables({ from, to, resolution }: Window) {
  return { fromAt: from, toAt: to, resolution: resolution.toUpperCase() };
}

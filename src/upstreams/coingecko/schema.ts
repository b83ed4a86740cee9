import { z } from 'zod';
import { raw } from '../raw.ts';

/** `GET /simple/price?vs_currencies=usd&include_last_updated_at=true`: prices in USD, their times in seconds. */
export const simplePriceSchema = z.record(
  z.string(),
  z.object({ usd: raw, last_updated_at: raw }).catch({ usd: Number.NaN }),
);
export type SimplePrice = z.infer<typeof simplePriceSchema>;

/** A refusal of what was asked for; refusals of a key or a plan have a code instead. */
export const chartRefusalSchema = z.object({ error: raw });

const points = z.array(z.unknown());

/** `GET /coins/{id}/market_chart`: rows of `[ms, value]`. */
export const marketChartSchema = z.object({ prices: points, market_caps: points, total_volumes: points });
export type MarketChart = z.infer<typeof marketChartSchema>;

import { z } from 'zod';
import { raw } from '../raw.ts';
import { MAX_CHART_AMOUNT, MAX_CHART_PRICE } from '../readings.ts';

const related = z.object({ data: z.object({ id: z.string() }) });

/** `GET /networks/{network}/tokens/{address}/pools`. */
export const dexPoolsSchema = z.object({ data: z.array(z.unknown()) });

/** A refusal, in the form of JSON:API. */
export const refusalSchema = z.object({ errors: z.array(z.object({ status: z.literal(['404', 404]) })).min(1) });

export const dexPoolSchema = z.object({
  attributes: z.object({ address: z.string(), name: z.string(), reserve_in_usd: raw }),
  relationships: z.object({ base_token: related, quote_token: related, dex: related }),
});

/** `GET /networks/{network}/pools/{pool}/ohlcv/{timeframe}`: rows of `[t s, o, h, l, c, v]`, newest first. */
export const ohlcvSchema = z.object({
  data: z.object({ attributes: z.object({ ohlcv_list: z.array(z.unknown()) }) }),
});

const price = z.number().positive().max(MAX_CHART_PRICE);
/** One row; high and low must enclose open and close. */
export const candleRowSchema = z
  .tuple([z.unknown(), price, price, price, price, z.number().nonnegative().max(MAX_CHART_AMOUNT)])
  .rest(z.unknown())
  .refine(([, open, high, low, close]) => low <= Math.min(open, close) && high >= Math.max(open, close));

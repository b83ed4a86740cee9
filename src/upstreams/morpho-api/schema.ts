import { z } from 'zod';
import { raw } from '../raw.ts';

/** A GraphQL answer whose root fields are aliases `m0`, `m1`, …: one per market. */
export const answerSchema = z.object({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z
    .array(
      z.object({
        path: z
          .array(z.union([z.string(), z.number()]))
          .nullish()
          .catch(undefined),
        message: raw,
        extensions: z.object({ code: raw }).nullish().catch(undefined),
      }),
    )
    .nullish(),
});
export type IndexerAnswer = z.infer<typeof answerSchema>;
export type IndexerError = NonNullable<IndexerAnswer['errors']>[number];

const sourceSchema = z.object({
  assets: raw,
  vault: z
    .object({
      address: raw,
      name: z.string().nullish().catch(undefined),
      publicAllocatorConfig: z.object({ fee: raw }).nullish(),
    })
    .nullish(),
  withdrawMarket: z.object({ marketId: raw }).nullish(),
});
export type Source = z.infer<typeof sourceSchema>;

export const sharedLiquiditySchema = z.object({ publicAllocatorSharedLiquidity: z.array(sourceSchema).nullish() });

export const borrowHistorySchema = z.object({
  historicalState: z
    .object({
      borrowApy: z.array(z.object({ x: raw, y: raw }).catch({})).nullish(),
    })
    .nullish(),
});

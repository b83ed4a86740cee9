import { z } from 'zod';

/** `GET /{chain}/api/v1/routes`. The summary goes back to the provider exactly as it came. */
export const routesSchema = z.object({
  code: z.number().optional(),
  data: z
    .object({
      routeSummary: z.looseObject({
        tokenIn: z.unknown(),
        tokenOut: z.unknown(),
        amountIn: z.unknown(),
        amountOut: z.unknown(),
        amountOutUsd: z.unknown(),
      }),
      routerAddress: z.unknown(),
    })
    .nullish(),
});
export type Routes = z.infer<typeof routesSchema>;
export type RouteSummary = NonNullable<Routes['data']>['routeSummary'];

/** `POST /{chain}/api/v1/route/build`. */
export const buildSchema = z.object({
  data: z.object({
    routerAddress: z.unknown(),
    data: z.unknown(),
    amountIn: z.unknown(),
    amountOut: z.unknown(),
    transactionValue: z.unknown(),
  }),
});
export type Build = z.infer<typeof buildSchema>;

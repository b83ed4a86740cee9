import { z } from 'zod';
import { raw } from '../raw.ts';

/** `GET /{chain}/api/v1/routes`. The summary is sent back to the provider unchanged. */
export const routesSchema = z.object({
  data: z.object({
    routeSummary: z.looseObject({
      tokenIn: raw,
      tokenOut: raw,
      amountIn: raw,
      amountOut: raw,
      amountOutUsd: raw,
      timestamp: raw,
    }),
    routerAddress: raw,
  }),
});
export type Routes = z.infer<typeof routesSchema>;
export type RouteSummary = Routes['data']['routeSummary'];

/** `POST /{chain}/api/v1/route/build`. */
export const builtRouteSchema = z.object({
  data: z.object({
    routerAddress: raw,
    data: raw,
    amountIn: raw,
    amountOut: raw,
    transactionValue: raw,
  }),
});
export type Build = z.infer<typeof builtRouteSchema>;

import { z } from 'zod';
import { dropAbsent } from '../absence.ts';
import type { AppMarketsQuery } from '../generated/operations.ts';
import { appMarketSchema, appMarketsEnvelope } from '../schemas/app-market.ts';
import { chainIdChoice } from '../schemas/common.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import { assumedIn, noneIn, PUBLIC_ERRORS, type RouteOptions } from './shared.ts';

type AppMarket = AppMarketsQuery['markets']['nodes'][number];

/**
 * Tag the exact numbers of a market by the response schema: a field that the schema makes `{$bn}` or `{$bigint}` gets its tag,
 * at any depth.
 */
export function tagNumbers(schema: z.ZodType, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return tagNumbers(schema.unwrap() as z.ZodType, value);
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => tagNumbers(schema.element as z.ZodType, item));
  }
  if (schema instanceof z.ZodRecord && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, tagNumbers(schema.valueType as z.ZodType, item)]),
    );
  }
  if (!(schema instanceof z.ZodObject)) return value;
  const shape = schema.shape as Record<string, z.ZodType>;
  if ('$bn' in shape) return { $bn: String(value) };
  if ('$bigint' in shape) return { $bigint: String(value) };
  const fields = Object.entries(value as Record<string, unknown>);
  return Object.fromEntries(fields.map(([name, item]) => [name, shape[name] ? tagNumbers(shape[name], item) : item]));
}

/** Project one market for the app: exact numbers tagged, unmeasured fields left out. */
export function projectAppMarket(market: AppMarket): unknown {
  const { gaps, exitSlippage, ...rest } = market;
  const body = {
    ...rest,
    collateral: appToken(market.collateral),
    loan: appToken(market.loan),
    gaps: assumedIn(gaps),
    deployment: market.deployment?.freshness ? market.deployment : null,
    exitSlippage: exitSlippage && Object.fromEntries(exitSlippage.map((row) => [row.sizeUsd, row.slippagePct])),
  };
  return dropAbsent(appMarketSchema, tagNumbers(appMarketSchema, body), noneIn(gaps));
}

/** This row has always spelled a category with an underscore: `stable_PT`. */
function appToken({ category, ...token }: AppMarket['collateral']): unknown {
  return { ...token, category: category.replace('-', '_') };
}

export function appMarketRoutes({ chainIds }: RouteOptions): AnyRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/app/markets',
      surface: 'Public',
      summary: 'All markets at full precision',
      description:
        'The composed markets of all chains, or of one chain, listed or not. leftOut names the chains without any measurement; 503 if that is all chains. missing names unmeasured facts of the other chains. Big numbers are tagged: {"$bn": decimal string} and {"$bigint": integer string}.',
      operation: 'AppMarkets',
      params: z.object({
        chainId: chainIdChoice(chainIds)
          .optional()
          .describe('Limits the list to this chain; all chains when left out.'),
      }),
      variables: ({ params }) => (params.chainId === undefined ? {} : { chainIds: [params.chainId] }),
      project: ({ markets }: AppMarketsQuery) => ({
        asOf: markets.asOf,
        count: markets.nodes.length,
        markets: markets.nodes.map(projectAppMarket),
        leftOut: markets.leftOut.length === 0 ? undefined : markets.leftOut,
        missing: markets.missing.length === 0 ? undefined : markets.missing,
      }),
      response: appMarketsEnvelope,
      errors: [...PUBLIC_ERRORS, 'not_ready'],
      examples: [{ summary: 'All markets' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
    }),
  ];
}

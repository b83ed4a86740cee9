import { z } from 'zod';
import { withoutUndefined } from '../../../shared/without-undefined.ts';
import { addressParam } from '../../schemas/common.ts';
import { positionPathChainId, positionPathId } from '../../schemas/position/position-param.ts';
import type { AnyRoute } from '../../types.ts';
import { PARTNER_ERRORS, type RouteOptions } from '../shared.ts';
import { foundAt, placeInPath } from './place.ts';

const PCT_PATTERN = /^\d{1,2}(\.\d{1,16})?$/;

const pctParam = (name: string, description: string) =>
  z
    .string()
    .regex(PCT_PATTERN, `expected a plain decimal number of percent from 0 to below 100, at most 16 decimals, e.g. 80`)
    .optional()
    .meta({ description, examples: [name === 'maxSwapLossPct' ? '2' : '75'] });

/** The row of the ways to a lower LTV. */
export function deleverageRoute({ chainIds, derive }: RouteOptions): AnyRoute {
  return derive({
    method: 'GET',
    path: '/v1/partner/positions/{address}/{id}/deleverage-options',
    surface: 'Partner',
    summary: 'Options for a position above an LTV',
    description:
      'The ways to bring a position down to a target LTV: repay, add collateral, or sell a part of the collateral and repay with the proceeds. Each with its amounts, costs and result, previewed live and not built; the cheapest first. Build a step with /v1/partner/manage/build.',
    operation: 'DeleverageOptions',
    tool: { name: 'list_deleverage_options' },
    params: z.object({
      address: addressParam,
      id: positionPathId,
      chainId: positionPathChainId(chainIds),
      targetLtvPct: pctParam(
        'targetLtvPct',
        'LTV to come down to, percent: above 0, at most the max LTV of the market. The safe LTV of the market when left out.',
      ),
      targetHeadroomPct: pctParam(
        'targetHeadroomPct',
        'The same as points of LTV below the liquidation LTV, in place of targetLtvPct.',
      ),
      maxSwapLossPct: pctParam(
        'maxSwapLossPct',
        'Limit of the loss of a sale, percent of the equity, up to 100. Replaces the usual limits.',
      ),
    }),
    variables: ({ params }) => {
      const { address, chainId: _chainId, id: _id, ...target } = params;
      return withoutUndefined({ address, ...placeInPath(params, chainIds), ...target });
    },
    check: (position, { params }) => foundAt(position, params, chainIds),
    errors: [...PARTNER_ERRORS, 'not_found', 'not_ready', 'upstream_unavailable'],
    examples: [
      {
        summary: 'To an LTV of 75 %',
        params: { address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906', id: '0' },
        query: { targetLtvPct: '75' },
      },
      {
        summary: 'To 15 points below liquidation, with a limit of the loss',
        params: { address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906', id: '0' },
        query: { targetHeadroomPct: '15', maxSwapLossPct: '2' },
      },
    ],
  });
}

import { z } from 'zod';
import { withoutUndefined } from '../../../shared/without-undefined.ts';
import { absenceOf } from '../../absence.ts';
import type { DeleverageOptionsQuery, DeleverageOptionsQueryVariables } from '../../generated/operations.ts';
import { isRefusal, refusalError } from '../../refusal.ts';
import { addressParam } from '../../schemas/common.ts';
import { deleverageOption, deleverageOptionsBody, deleveragePreview } from '../../schemas/position/deleverage.ts';
import { positionPathChainId, positionPathId } from '../../schemas/position/position-param.ts';
import { type AnyRoute, defineRoute } from '../../types.ts';
import { contractIssues, slippageRatio } from '../builds.ts';
import { isNoneOf, positionPreviewOf } from '../leverage.ts';
import { answered, noneIn, PARTNER_ERRORS, type RouteOptions } from '../shared.ts';
import { foundAt, placeInPath } from './place.ts';

const PCT_PATTERN = /^\d{1,2}(\.\d{1,16})?$/;

const inBody = absenceOf(deleverageOptionsBody);
const inOption = absenceOf(deleverageOption);
const inPreview = absenceOf(deleveragePreview);

const pctParam = (name: string, description: string) =>
  z
    .string()
    .regex(PCT_PATTERN, `expected a plain decimal number of percent from 0 to below 100, at most 16 decimals, e.g. 80`)
    .optional()
    .meta({ description, examples: [name === 'maxSwapLossPct' ? '2' : '75'] });

/** The row of the ways to a lower LTV. */
export function deleverageRoute({ chainIds }: RouteOptions): AnyRoute {
  return defineRoute({
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
    variables: ({ params }): DeleverageOptionsQueryVariables => {
      const { address, chainId: _chainId, id: _id, ...target } = params;
      return withoutUndefined({ address, ...placeInPath(params, chainIds), ...target });
    },
    project: ({ position }: DeleverageOptionsQuery, { params }) => {
      const { deleverageOptions, ...identity } = foundAt(position, params, chainIds);
      const found = answered(deleverageOptions);
      if (isRefusal(found)) throw refusalError(found);
      // Both have another type than a field of a refusal, which the same selection names.
      const { options, gaps, contractMaxLtvPct: maxLtvPct, isNeeded: needed, ...facts } = found;
      const body = { ...identity, ...facts, needed, maxLtvPct, options: [] };
      return { ...(inBody(body, noneIn(gaps)) as object), options: options.map(projectOption) };
    },
    response: deleverageOptionsBody,
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

type Found = Extract<
  NonNullable<NonNullable<DeleverageOptionsQuery['position']>['deleverageOptions']>,
  { readonly __typename: 'DeleverageOptions' }
>;
type Option = Found['options'][number];

function projectOption({ steps, preview, gaps, ...option }: Option): unknown {
  const body = { ...option, steps: steps.map(({ token, ...step }) => ({ ...step, ...token })), preview: null };
  return { ...(inOption(body, noneIn(gaps)) as object), preview: preview && projectPreview(preview) };
}

function projectPreview(preview: NonNullable<Option['preview']>): unknown {
  const { position, borrowApy, note, issues } = preview;
  const body = {
    borrowApy,
    note,
    issues: contractIssues(issues),
    slippage: slippageRatio(preview),
    positionPreview: positionPreviewOf(preview, position),
  };
  return inPreview(body, isNoneOf(preview));
}

import { z } from 'zod';
import { foundAt, placeInPath } from '../../../rest/routes/position/place.ts';
import { PARTNER_ERRORS, type RouteOptions } from '../../../rest/routes/shared.ts';
import { addressParam, chainIdParam, integerParam, vaultIdParam } from '../../../rest/schemas/common.ts';
import { positionPathChainId, positionPathId } from '../../../rest/schemas/position/position-param.ts';
import type { AnyRoute } from '../../../rest/types.ts';
import { NotFoundError } from '../../../shared/errors.ts';
import { EQUITY_PREFIX } from '../../../shared/ids.ts';
import { withoutUndefined } from '../../../shared/without-undefined.ts';

const MAX_EVENTS = 500;
const MAX_POINTS = 500;

/** The first position of a wallet of the local world. */
const OPEN_POSITION = '1-0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5-0';

const pages = {
  limit: integerParam({ min: 1, max: MAX_EVENTS })
    .default(100)
    .describe(`Maximum number of events, 1 to ${MAX_EVENTS}. Default 100.`),
  after: z.string().optional().describe('"next" of an answer: only events that follow it.'),
  points: integerParam({ min: 1, max: MAX_POINTS })
    .default(100)
    .describe(`Maximum number of points of the equity, 1 to ${MAX_POINTS}. Default 100.`),
};

/** The rows of the history of a position and of the statement of a wallet. */
export function positionHistoryRoutes({ chainIds, derive }: RouteOptions): AnyRoute[] {
  const [defaultChainId = 1] = chainIds;
  const chainId = chainIdParam({ chainIds, defaultChainId });
  return [
    derive({
      method: 'GET',
      path: '/v1/partner/positions/{address}/{id}/history',
      surface: 'Partner',
      summary: 'History of a position',
      description:
        'Every recorded event of a position (opened, supplied, withdrawn, repaid, borrowed, increased, partly closed, closed, liquidated), its equity over time, and its profit and loss by parts. completeFrom is the time from which no event is missing; complete tells whether the events add up to the holdings of the position on chain.',
      operation: 'PositionHistory',
      tool: { name: 'get_position_history', defaults: { limit: 20, points: 30 } },
      params: z.object({
        address: addressParam,
        id: positionPathId,
        chainId: positionPathChainId(chainIds),
        ...pages,
      }),
      variables: ({ params }) => {
        const { address, limit, after, points } = params;
        return withoutUndefined({ address, ...placeInPath(params, chainIds), first: limit, after, points });
      },
      check: (position, { params }) => foundAt(position, params, chainIds),
      errors: [...PARTNER_ERRORS, 'not_found', 'not_ready', 'upstream_unavailable'],
      examples: [
        {
          summary: 'The first position of a wallet',
          params: { address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906', id: OPEN_POSITION },
        },
      ],
    }),
    stockLegRoute(derive),
    derive({
      method: 'GET',
      path: '/v1/partner/positions/{address}/statement',
      surface: 'Partner',
      summary: 'Statement of a wallet as CSV',
      description:
        'Every recorded event of the positions of a wallet on one chain as CSV, oldest first: loops of vaults, and the stock legs of vaults, held or left, included. A wallet with more than 10,000 events is refused: its positions have histories in pages. Send `Accept: text/csv` for the file itself, with an ETag; otherwise it is a string in JSON. Amounts are whole tokens of the columns "collateral" and "loan". The column "complete" tells whether the events of the position are all from its opening until now.',
      operation: 'WalletStatement',
      params: z.object({ address: addressParam, chainId }),
      variables: ({ params }) => params,
      csv: (body, { params }) => {
        const { address, csv } = body as { readonly address: string; readonly csv: string };
        return { name: `statement-chain-${params.chainId}-${address}`, text: csv };
      },
      errors: [...PARTNER_ERRORS, 'not_ready', 'upstream_unavailable'],
      examples: [
        {
          summary: 'Ethereum, the default',
          params: { address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' },
        },
      ],
    }),
  ];
}

const VAULT = `${EQUITY_PREFIX}0x50bc39b5722fb5634c436d74c6787f3c125b879e7b73cf9e9ecc01bbb57b8e55`;

function stockLegRoute(derive: RouteOptions['derive']): AnyRoute {
  return derive({
    method: 'GET',
    path: '/v1/partner/positions/{address}/vaults/{id}/history',
    surface: 'Partner',
    summary: 'History of the stock leg of a vault',
    description:
      "Every recorded event of the stock leg of an equity vault, the wallet's own collateral and debt on the stock market: deposits, exits, repayments and liquidations, also after the wallet has left the vault; its equity over time, and its profit and loss by parts. The loops of the vault have histories of their own.",
    operation: 'StockLegHistory',
    tool: { name: 'get_vault_history', defaults: { limit: 20, points: 30 } },
    params: z.object({
      address: addressParam,
      id: vaultIdParam.describe('Id of the vault, as listed with the equity positions.'),
      ...pages,
    }),
    variables: ({ params: { address, id, limit, after, points } }) =>
      withoutUndefined({ address, strategyId: id, first: limit, after, points }),
    check: (stockLeg, { params: { address, id } }) => {
      if (stockLeg !== null) return;
      throw new NotFoundError(
        `${address} has no events in the vault ${id}. Send the id of a vault that the wallet is or was in.`,
        { resource: 'position', id },
      );
    },
    errors: [...PARTNER_ERRORS, 'not_found', 'not_ready', 'upstream_unavailable'],
    examples: [
      {
        summary: 'A vault of a wallet',
        params: { address: '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc', id: VAULT },
      },
    ],
  });
}

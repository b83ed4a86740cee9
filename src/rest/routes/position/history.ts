import { z } from 'zod';
import { NotFoundError } from '../../../shared/errors.ts';
import { EQUITY_PREFIX } from '../../../shared/ids.ts';
import { withoutUndefined } from '../../../shared/without-undefined.ts';
import { absenceOf } from '../../absence.ts';
import type {
  PositionHistoryQuery,
  PositionHistoryQueryVariables,
  StockLegHistoryQuery,
  StockLegHistoryQueryVariables,
  WalletStatementQuery,
} from '../../generated/operations.ts';
import { addressParam, chainIdParam, integerParam } from '../../schemas/common.ts';
import { vaultIdParam } from '../../schemas/drift-history.ts';
import { positionHistoryBody, stockLegHistoryBody, walletStatement } from '../../schemas/history/position-history.ts';
import { positionPathChainId, positionPathId } from '../../schemas/position/position-param.ts';
import { type AnyRoute, defineRoute } from '../../types.ts';
import { answered, PARTNER_ERRORS, type RouteOptions } from '../shared.ts';
import { foundAt, placeInPath } from './place.ts';
import { statementCsv } from './statement.ts';

const MAX_EVENTS = 500;
const MAX_POINTS = 500;

const inHistory = absenceOf(positionHistoryBody);
const inStockLeg = absenceOf(stockLegHistoryBody);
const isNone = () => false;
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

type Past = NonNullable<PositionHistoryQuery['position']>['history'];

/** The recorded past as rows have it. */
function pastOf(history: Past | undefined) {
  const page = history?.events;
  return {
    ...history,
    completeFrom: history?.completeFrom?.blockTime ?? null,
    completeFromBlock: history?.completeFrom ? Number(history.completeFrom.blockNumber) : null,
    readTo: history?.readTo && { ...history.readTo, blockNumber: Number(history.readTo.blockNumber) },
    complete: history?.complete ?? false,
    count: page?.totalCount ?? 0,
    next: page?.pageInfo.hasNextPage ? page.pageInfo.endCursor : null,
    events: page?.nodes.map((event) => ({ ...event, blockNumber: Number(event.blockNumber) })) ?? [],
    equity: history?.equityCurve ?? [],
    gaps: history?.gaps.map((found) => (found.field === 'equityCurve' ? { ...found, field: 'equity' } : found)) ?? [],
  };
}

/** The rows of the history of a position and of the statement of a wallet. */
export function positionHistoryRoutes({ chainIds }: RouteOptions): AnyRoute[] {
  const [defaultChainId = 1] = chainIds;
  const chainId = chainIdParam({ chainIds, defaultChainId });
  return [
    defineRoute({
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
      variables: ({ params }): PositionHistoryQueryVariables => {
        const { address, limit, after, points } = params;
        return withoutUndefined({ address, ...placeInPath(params, chainIds), first: limit, after, points });
      },
      project: ({ position }: PositionHistoryQuery, { params }) => {
        const { history, pnlSplit, pnlDifference, ...identity } = foundAt(position, params, chainIds);
        return inHistory({ ...identity, ...pastOf(history), pnlSplit, pnlDifference }, isNone);
      },
      response: positionHistoryBody,
      errors: [...PARTNER_ERRORS, 'not_found', 'not_ready', 'upstream_unavailable'],
      examples: [
        {
          summary: 'The first position of a wallet',
          params: { address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906', id: OPEN_POSITION },
        },
      ],
    }),
    stockLegRoute(),
    defineRoute({
      method: 'GET',
      path: '/v1/partner/positions/{address}/statement',
      surface: 'Partner',
      summary: 'Statement of a wallet as CSV',
      description:
        'Every recorded event of the positions of a wallet on one chain as CSV, oldest first: loops of vaults, and the stock legs of vaults, held or left, included. A wallet with more than 10,000 events is refused: its positions have histories in pages. Send `Accept: text/csv` for the file itself, with an ETag; otherwise it is a string in JSON. Amounts are whole tokens of the columns "collateral" and "loan". The column "complete" tells whether the events of the position are all from its opening until now.',
      operation: 'WalletStatement',
      params: z.object({ address: addressParam, chainId }),
      variables: ({ params }) => params,
      project: ({ wallet }: WalletStatementQuery) => {
        const { address, statement } = answered(wallet);
        return { address, csv: statementCsv(answered(statement).nodes) };
      },
      csv: (body, { params }) => {
        const { address, csv } = body as z.infer<typeof walletStatement>;
        return { name: `statement-chain-${params.chainId}-${address}`, text: csv };
      },
      response: walletStatement,
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

function stockLegRoute(): AnyRoute {
  return defineRoute({
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
    variables: ({ params: { address, id, limit, after, points } }): StockLegHistoryQueryVariables =>
      withoutUndefined({ address, strategyId: id, first: limit, after, points }),
    project: ({ chains }: StockLegHistoryQuery, { params: { address, id } }) => {
      const [stockLeg] = answered(chains).flatMap((chain) => chain.stockLeg ?? []);
      if (!stockLeg) {
        throw new NotFoundError(
          `${address} has no events in the vault ${id}. Send the id of a vault that the wallet is or was in.`,
          { resource: 'position', id },
        );
      }
      const { history, pnlSplit, stockToken, depositToken, ...identity } = stockLeg;
      const names = { stockSymbol: stockToken.symbol, depositSymbol: depositToken.symbol };
      return inStockLeg({ ...identity, ...names, ...pastOf(history), pnlSplit }, isNone);
    },
    response: stockLegHistoryBody,
    errors: [...PARTNER_ERRORS, 'not_found', 'not_ready', 'upstream_unavailable'],
    examples: [
      {
        summary: 'A vault of a wallet',
        params: { address: '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc', id: VAULT },
      },
    ],
  });
}

import { chainOf, dataOf, type Row } from '../../../../test/e2e/rows/reads.ts';
import type { Json } from '../../../../test/support/service.ts';

/** The index of the position that an example names, by itself or within its positionId. */
export const indexOf = ({ params }: { readonly params?: Readonly<Record<string, string>> | undefined }) =>
  Number(params?.id?.split('-').at(-1));

/** The rows of the history of a position and of the statement of a wallet. */

const EVENT_AMOUNTS = '{ collateralAmount loanAmount }';
const SPLIT_NAMES =
  'yield borrowCost price incentives fees slippage liquidation paidByOthers yieldAndPrice paid paidDirectly received netValue result total';
const SPLIT = SPLIT_NAMES.split(' ')
  .map((name) => `${name} { amount usd }`)
  .join(' ');
const PAST = `history { completeFrom { blockNumber blockAt } readTo { blockNumber blockAt } isComplete gaps { field reason message }
        events(first: 100) { totalCount nodes { kind at blockNumber txHash logIndex collateralChange debtChange collateralAfter debtAfter oraclePrice paidBy paid ${EVENT_AMOUNTS} received ${EVENT_AMOUNTS} fee ${EVENT_AMOUNTS} } }
        equityCurve(points: 100) { at equityAmount equityUsd collateralAmount debtAmount } }
      pnlSplit { ${SPLIT} gaps { field reason message } }`;
const PAST_NAMES: Row['names'] = [
  [/^complete$/, 'history.isComplete'],
  [/^completeFrom$/, 'history.completeFrom.blockAt'],
  [/^completeFromBlock$/, 'history.completeFrom.blockNumber'],
  [/^readTo\.blockTime$/, 'history.readTo.blockAt'],
  [/^readTo\./, 'history.readTo.'],
  [/^count$/, 'history.events.totalCount'],
  [/^events\.(\d+)\.(paid|received|fee)\.(collateral|loan)$/, 'history.events.nodes.$1.$2.$3Amount'],
  [/^events\./, 'history.events.nodes.'],
  [/^equity\.(\d+)\.(equity|collateral|debt)$/, 'history.equityCurve.$1.$2Amount'],
  [/^equity\./, 'history.equityCurve.'],
  [/^gaps\./, 'history.gaps.'],
];
export const positionHistory: Row = {
  ask: async (service, { params, query = {} }) => {
    const document = `query ($wallet: Address!, $id: PositionId!) { position(wallet: $wallet, id: $id) { chainId wallet positionIndex positionId status ${PAST} pnlDifference { paidDirectlyUsd recordUsd incentivesUsd gaps { field reason message } } } }`;
    const { position } = await dataOf(service, document, {
      wallet: params?.address,
      id: `${chainOf({ query })}-${indexOf({ params })}`,
    });
    return position;
  },
  names: [[/^address$/, 'wallet'], [/^id$/, 'positionIndex'], ...PAST_NAMES],
};
export const stockLegHistory: Row = {
  ask: async (service, { params }) => {
    const document = `query ($wallet: Address!) { wallet(address: $wallet) { stockLegs { chainId wallet strategyId isOpen stockToken { symbol } depositToken { symbol } ${PAST} } } }`;
    const { wallet } = await dataOf(service, document, { wallet: params?.address });
    return wallet.stockLegs.find(({ strategyId }: Json) => strategyId === params?.id);
  },
  names: [[/^address$/, 'wallet'], [/^open$/, 'isOpen'], [/^(stock|deposit)Symbol$/, '$1Token.symbol'], ...PAST_NAMES],
};
const STATEMENT_COLUMNS =
  'time,chainId,positionId,event,block,transaction,collateral,loan,collateralChange,debtChange,paidCollateral,paidLoan,receivedCollateral,receivedLoan,feeCollateral,feeLoan,oraclePrice,complete,paidBy';
export const statement: Row = {
  ask: async (service, { params, query = {} }) => {
    const document = `query ($address: Address!, $chainId: ChainId!) { wallet(address: $address, chainIds: [$chainId]) { address statement(first: 200) { nodes {
      chainId positionId collateralSymbol loanSymbol isComplete event { at kind blockNumber txHash collateralChange debtChange paid ${EVENT_AMOUNTS} received ${EVENT_AMOUNTS} fee ${EVENT_AMOUNTS} oraclePrice paidBy } } } } }`;
    const { wallet } = await dataOf(service, document, { address: params?.address, chainId: chainOf({ query }) });
    const both = (amounts: Json) => [amounts?.collateralAmount, amounts?.loanAmount];
    const rows = wallet.statement.nodes.map(({ event, ...row }: Json) =>
      [
        ...[event.at, row.chainId, row.positionId, event.kind.toLowerCase(), event.blockNumber, event.txHash],
        ...[row.collateralSymbol, row.loanSymbol, event.collateralChange, event.debtChange],
        ...[...both(event.paid), ...both(event.received), ...both(event.fee)],
        ...[event.oraclePrice, row.isComplete ? 'yes' : 'no', event.paidBy?.toLowerCase()],
      ].join(','),
    );
    return { address: wallet.address, csv: [STATEMENT_COLUMNS, ...rows, ''].join('\r\n') };
  },
};

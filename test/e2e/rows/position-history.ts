import { chainOf, dataOf, type Row } from './reads.ts';

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
    const document = `query ($wallet: Address!, $strategyId: StrategyId!) { stockLeg(wallet: $wallet, strategyId: $strategyId) { chainId wallet strategyId isOpen stockToken { symbol } depositToken { symbol } ${PAST} } }`;
    return (await dataOf(service, document, { wallet: params?.address, strategyId: params?.id })).stockLeg;
  },
  names: [[/^address$/, 'wallet'], [/^open$/, 'isOpen'], [/^(stock|deposit)Symbol$/, '$1Token.symbol'], ...PAST_NAMES],
};
export const statement: Row = {
  ask: async (service, { params, query = {} }) => {
    const document =
      'query ($address: Address!, $chainId: ChainId!) { wallet(address: $address, chainIds: [$chainId]) { address statementCsv } }';
    return (await dataOf(service, document, { address: params?.address, chainId: chainOf({ query }) })).wallet;
  },
  names: [[/^csv$/, 'statementCsv']],
};
const JOB = '{ status ranAt failureReason failingSince }';
export const alertJobs: Row = {
  ask: async (service) =>
    (
      await dataOf(
        service,
        `{ ops { alertJobs { evaluation ${JOB} delivery ${JOB} undeliveredCount oldestUndeliveredAt dueSince deadLetterCount } } }`,
        {},
      )
    ).ops.alertJobs,
  names: [
    [/lastRun$/, 'ranAt'],
    [/failure$/, 'failureReason'],
    [/^undelivered$/, 'undeliveredCount'],
    [/^oldestUndelivered$/, 'oldestUndeliveredAt'],
    [/^deadLetters$/, 'deadLetterCount'],
  ],
};
export const indexers: Row = {
  ask: async (service, { query = {} }) => {
    const document = `query ($chainIds: [ChainId!]) { ops { indexers(chainIds: $chainIds) { chainId status statusReason completeFrom { blockNumber blockAt } readTo { blockNumber blockAt } headBlock blocksBehind isWhole foundCount expectedCount ranAt failureReason failingSince } } }`;
    const chainIds = query.chainId === undefined ? null : [Number(query.chainId)];
    return (await dataOf(service, document, { chainIds })).ops.indexers;
  },
  names: [
    [/^chains\.(\d+)\.(completeFrom|readTo)\.blockTime$/, '$1.$2.blockAt'],
    [/^chains\.(\d+)\.whole$/, '$1.isWhole'],
    [/^chains\.(\d+)\.(found|expected)$/, '$1.$2Count'],
    [/^chains\.(\d+)\.lastRun$/, '$1.ranAt'],
    [/^chains\.(\d+)\.failure$/, '$1.failureReason'],
    [/^chains\./, ''],
  ],
};

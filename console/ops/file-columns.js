import { DRIFT_WORDS, words } from './format.js';
import { chainName } from './links.js';
import { groupName, marketName } from './sections.js';

/** Columns of the tables as files: the shown columns with exact values, and the ids behind the shown names. */

const of = (path) => (row) => path.split('.').reduce((value, name) => value?.[name], row);
const lowered = (path) => (row) => {
  const value = of(path)(row);
  return value === null || value === undefined ? null : words(value);
};
const kindOf = (path) => (row) => DRIFT_WORDS[of(path)(row)] ?? of(path)(row);
const onChain = [
  ['chain', 'Chain', ({ chainId }) => chainName(chainId)],
  ['chainId', 'Chain id', of('chainId')],
];
const holder = [
  ...onChain,
  ['wallet', 'Wallet', of('wallet')],
  ['positionIndex', 'Position index', of('positionIndex')],
];
const sums = [
  ['deposited', 'Deposited'],
  ['netValue', 'Net value'],
  ['incentives', 'Incentives'],
  ['total', 'P&L'],
].flatMap(([key, heading]) => [
  // A sum of nothing known is unknown.
  [
    `${key}Usd`,
    `${heading}, USD`,
    ({ totals }) => (totals[key].unknownCount === totals.count ? null : totals[key].sumUsd),
  ],
  [`${key}UnknownCount`, `${heading}: unknown positions, excluded`, of(`totals.${key}.unknownCount`)],
]);

export const FILE_COLUMNS = {
  positions: [
    ['position', 'Position', of('name')],
    // Its amounts are contained in those of the vault.
    ['partOf', 'Part of the vault', of('partOf')],
    ['ltvHeadroomPct', 'Headroom, points of LTV', of('headroom')],
    ['ltvPct', 'LTV, %', of('ltvPct')],
    ['netValueUsd', 'Net value, USD', of('pnl.netValueUsd')],
    ['totalUsd', 'P&L, USD', of('pnl.totalUsd')],
    ['returnOnEquityPct', 'Return, %', of('pnl.returnOnEquityPct')],
    ['status', 'Status', lowered('status')],
    ...holder,
    ['marketId', 'Market id', ({ market }) => market?.split(' ')[0]],
    ['openedAt', 'Opened, UTC', of('openedAt')],
    ['drift', 'Drift', kindOf('drift.kind')],
    ['driftSeverity', 'Severity of the drift', lowered('drift.severity')],
  ],
  drift: [
    ['severity', 'Severity', lowered('severity')],
    ['kind', 'Drift', kindOf('kind')],
    ...holder,
    ['marketId', 'Market id', of('marketId')],
    ['message', 'Message', of('message')],
    ['firstSeenAt', 'First seen, UTC', of('firstSeenAt')],
    ['lastSeenAt', 'Last seen, UTC', of('lastSeenAt')],
    ['earlierCount', 'Times before', ({ earlier }) => earlier.length],
    ['onChainStatus', 'Chain: status', lowered('onChain.status')],
    ['onChainNetValueUsd', 'Chain: net value, USD', of('onChain.netValueUsd')],
    ['onChainCollateralAmount', 'Chain: collateral, whole tokens', of('onChain.collateralAmount')],
    ['onChainDebtAmount', 'Chain: debt, whole loan tokens', of('onChain.debtAmount')],
    ['onChainBlock', 'Chain: block', of('onChain.readAt.blockNumber')],
    ['registerStatus', 'Register: status', ({ inRegister }) => inRegister && (inRegister.isOpen ? 'open' : 'closed')],
    ['registerDepositedUsd', 'Register: deposited, USD', of('inRegister.depositedUsd')],
    ['registerReturnedUsd', 'Register: returned, USD', of('inRegister.returnedUsd')],
    ['registerUpdatedAt', 'Register: updated, UTC', of('inRegister.updatedAt')],
    ['registerClosedAt', 'Register: closed, UTC', of('inRegister.closedAt')],
    ['suggestedSql', 'Suggested repair, SQL', of('suggestedSql')],
  ],
  'drift-gone': [
    ['kind', 'Drift', kindOf('kind')],
    ['severity', 'Severity', lowered('severity')],
    ...holder,
    ['marketId', 'Market id', of('marketId')],
    ['firstSeenAt', 'First seen, UTC', of('firstSeenAt')],
    ['lastSeenAt', 'Last seen, UTC', of('lastSeenAt')],
    ['goneAt', 'Gone, UTC', of('goneAt')],
  ],
  markets: [
    ['market', 'Market', marketName],
    ...onChain,
    ['marketId', 'Market id', of('marketId')],
    ['count', 'Positions', of('totals.count')],
    ...sums,
  ],
  past: [
    ['position', 'Position', of('name')],
    ...holder,
    ['eventCount', 'Events', of('eventCount')],
    ['isComplete', 'Complete', of('isComplete')],
    ['completeFrom', 'Complete from, UTC', of('completeFrom.blockAt')],
    ['loan', 'Loan token', of('loan')],
    ...[
      ['paid', 'Paid'],
      ['received', 'Received'],
      ['netValue', 'Net value'],
      ['yieldAndPrice', 'Yield and price'],
      ['borrowCost', 'Interest'],
      ['fees', 'Fees'],
      ['slippage', 'Swaps'],
      ['liquidation', 'Liquidation'],
      ['paidByOthers', 'Paid by others'],
      ['result', 'Result'],
      ['incentives', 'Incentives'],
      ['total', 'Total'],
    ].map(([key, heading]) => [key, `${heading}, loan tokens`, of(`split.${key}.amount`)]),
  ],
  events: [
    ['at', 'Time, UTC', of('event.at')],
    ['kind', 'Event', lowered('event.kind')],
    ['position', 'Position', of('name')],
    ...holder,
    ['block', 'Block', of('event.blockNumber')],
    ['txHash', 'Transaction', of('event.txHash')],
    ['collateralChange', 'Change of the collateral, whole tokens', of('event.collateralChange')],
    ['collateral', 'Collateral', of('collateral')],
    ['debtChange', 'Change of the debt, whole tokens', of('event.debtChange')],
    ['loan', 'Loan token', of('loan')],
    ...['paid', 'received', 'fee'].flatMap((name) => [
      [`${name}Collateral`, `${name}: collateral, whole tokens`, of(`event.${name}.collateralAmount`)],
      [`${name}Loan`, `${name}: loan, whole tokens`, of(`event.${name}.loanAmount`)],
    ]),
    ['oraclePrice', 'Oracle price, loan tokens', of('event.oraclePrice')],
  ],
  indexers: [
    ...onChain,
    ['state', 'State', of('status')],
    ['readTo', 'Read to, block', of('readTo.blockNumber')],
    ['headBlock', 'Head, block', of('headBlock')],
    ['blocksBehind', 'Behind, blocks', of('blocksBehind')],
    ['completeFrom', 'Complete from, block', of('completeFrom.blockNumber')],
    ['whole', 'Whole', of('whole')],
    ['found', 'Found', of('found')],
    ['expected', 'Expected', of('expected')],
    ['lastRun', 'Latest run, UTC', of('lastRun')],
    ['failure', 'Failure', of('failure')],
    ['failingSince', 'Failing since, UTC', of('failingSince')],
  ],
  'alert-jobs': [
    ['name', 'Job', of('name')],
    ['state', 'State', of('status')],
    ['lastRun', 'Latest run, UTC', of('lastRun')],
    ['failure', 'Failure', of('failure')],
    ['failingSince', 'Failing since, UTC', of('failingSince')],
  ],
  freshness: [
    ['chain', 'Chain', of('chain.name')],
    ['chainId', 'Chain id', of('chain.chainId')],
    ['group', 'Group', groupName],
    ['state', 'State', lowered('freshness.status')],
    ['ageSec', 'Age, s', of('freshness.ageSec')],
    ['staleAfterSec', 'Budget, s', of('freshness.staleAfterSec')],
    ['itemCount', 'Items', of('itemCount')],
    ['lastGoodCount', 'Last good items', of('lastGoodCount')],
  ],
};

import { positionHistory, statement, stockLegHistory } from '../../../src/features/position-history/test/rows.ts';
import type { Json, TestService } from '../../support/service.ts';
import type { Name, OneSided } from './compare.ts';
import { deleverageRow } from './deleverage.ts';
import { chainOf, dataOf, type Row, STRESS } from './reads.ts';

/** The rows of partners and of operations: previews, plans, positions and portfolios. */

const ESTIMATE =
  'chainId strategyId action effectiveSlippageBps totalSwapCostOfEquityPct oraclePriceAsOf costs { kind tokenAddress symbol amount valueUsd shareOfEquityPct } worstCase { equity paidOut ltvPct yieldLtvPct } readAt { blockNumber blockAt } issues { kind message tokenAddress required available askedSlippageBps effectiveSlippageBps }';
const LIQUIDATION = 'liquidation { liquidationPrice priceDropPct }';
const PREVIEW = `position { leverage requestedLtvPct ltvPct collateralAmount debtAmount equity depositBasis leverageApyPct priceImpactPct swapSource ${LIQUIDATION} }`;
const CALL = '{ to data value }';
const PLAN = 'expiresAt signingUrl instructions sendCalls simulatedGas received { token { address symbol } amount }';
const LEVERAGE_PLAN = `... on LeveragePlan { ${ESTIMATE} ${PLAN} path calls { to data value isApproval } ${PREVIEW} borrowApy { beforePct afterPct } ltvBeforePct liquidationBefore { liquidationPrice priceDropPct } depositBasisBefore amountFlashLoan minTokenOut quotesExpireAt } ... on Refusal { code message }`;
const DEPOSIT = `deposit { depositToken { address symbol decimals } depositAmount netApyPct ${LIQUIDATION} fees { stockLegBps yieldLegBps estimatedUsd }
  stock { token { address symbol } priceUsd minReceived expectedReceived requestedLtvPct ltvPct maxLtvPct liquidationLtvPct liquidationPriceUsd priceDropToLiquidationPct borrowAmount borrowApyPct borrowApyBeforePct swapSource priceImpactPct combined { collateralAmount debtAmount ltvPct liquidationPriceUsd priceDropToLiquidationPct } }
  yieldLeg { strategyId collateralToken { displaySymbol } collateralIn minCollateralIn leverage ltvPct liquidationLtvPct amountFlashLoan depositBasis leverageApyPct leverageApyBeforePct swapSource priceImpactPct oraclePriceAsOf } }`;
const AGES = 'freshness { borrow { asOf staleAfterSec staleForSec } oracle { asOf staleAfterSec staleForSec }';
const POSITION = `positionIndex positionId chainId strategyId status open liquidated collateralToken { displaySymbol address decimals } loanToken { symbol address decimals }
  collateralAmount netCollateralAmount debtAmount ltvPct liquidationLtvPct ltvHeadroomPct healthFactor leverage netValueUsd leverageApyPct depositBasis liquidationPrice priceDropToLiquidationPct
  closeNow { yieldFee paysOut pnlBeforeFee pnlAfterFee yieldFeeUsd paysOutUsd pnlBeforeFeeUsd pnlAfterFeeUsd } manualMode
  exitLiquidity { tier cleanExitSizeUsd unwindSizeUsd exceedsCleanExitSize noSwapRoute } readAt { blockNumber blockAt } oraclePriceAsOf warnings { code field value message }`;
const RESULT =
  'depositedUsd returnedUsd netValueUsd badDebtUsd divergentUsd baseResultUsd incentivesUsd totalUsd yieldFeeUsd baseResultAfterFeeUsd totalAfterFeeUsd returnOnEquityPct';
const LIVE_POSITION = `${POSITION} openedAt explorerLinks { walletUrl proxyUrl blockUrl } pnl { ${RESULT} } manualModeCalls ${CALL} ${AGES} collateralApy { asOf staleAfterSec staleForSec } }`;
const VAULT = `strategyId chainId curator stockToken { displaySymbol address decimals } depositToken { address decimals } yieldLoopMatch yieldPositionIds netValueUsd netApyPct readAt { blockNumber blockAt } oraclePriceAsOf warnings { code field value message }
  stock { collateralAmount collateralUsd priceUsd debtAmount ltvPct liquidationLtvPct ltvHeadroomPct healthFactor liquidationPriceUsd priceDropToLiquidationPct borrowApyPct }`;
const LIVE_VAULT = `${VAULT} pnl { ${RESULT} } ${AGES} } yieldLoops { ${LIVE_POSITION} }`;

/** Names of estimated fields, anywhere in an answer. */
const ESTIMATED: readonly Name[] = [
  [/^meta\.(preview\.)?/, '$1'],
  [/^(note|instructions)$/, '$1', 'textOfRest'],
  [/(costs\.\d+\.)token$/, '$1tokenAddress'],
  [/(costs\.\d+\.)usd$/, '$1valueUsd'],
  [/(costs\.\d+\.)pctOfEquity$/, '$1shareOfEquityPct'],
  [/totalSwapCostPctOfEquity$/, 'totalSwapCostOfEquityPct'],
  [/worstCase\.ltv$/, 'worstCase.ltvPct'],
  [/worstCase\.yieldLtv$/, 'worstCase.yieldLtvPct'],
  [/readAt\.blockTime$/, 'readAt.blockAt'],
  [/slippage$/, 'effectiveSlippageBps', 'ratioOfBps'],
  [/(liquidation|liquidationBefore)\.price$/, '$1.liquidationPrice'],
  [/(liquidation|liquidationBefore)\.dropPct$/, '$1.priceDropPct'],
  [/(issues\.\d+\.)kind$/, '$1kind', 'lowerCase'],
  [/(issues\.\d+\.)token$/, '$1tokenAddress'],
  [/(issues\.\d+\.)requestedSlippage$/, '$1askedSlippageBps', 'ratioOfBps'],
  [/(issues\.\d+\.)effectiveSlippage$/, '$1effectiveSlippageBps', 'ratioOfBps'],
  [/(issues\.\d+\.message)$/, '$1', 'textOfRest'],
  [/received\.(\d+)\.token$/, 'received.$1.token.address'],
  [/received\.(\d+)\.symbol$/, 'received.$1.token.symbol'],
];
/** Of an open or managed position. */
const LEVERAGED: readonly Name[] = [
  ...ESTIMATED,
  [/^positionPreview\.(costs|worstCase|readAt)\./, '$1.'],
  [/^positionPreview\.(totalSwapCostOfEquityPct|oraclePriceAsOf)$/, '$1'],
  [/^positionPreview\./, 'position.'],
  [/\.requestedLtv$/, '.requestedLtvPct'],
  [/\.effectiveLtv$/, '.ltvPct'],
  [/\.amountLeveragedCollateral$/, '.collateralAmount'],
  [/\.amountLoan$/, '.debtAmount'],
  [/\.expectedLeverageApy$/, '.leverageApyPct'],
  [/^expiresAt$/, 'quotesExpireAt'],
];
const DEPOSITED: readonly Name[] = [
  ...ESTIMATED,
  [/^preview\./, ''],
  [/^(depositToken|depositAmount|stock|yieldLeg|fees|liquidation|netApyPct)(\.|$)/, 'deposit.$1$2'],
  [/(stock\.)(address|symbol)$/, '$1token.$2'],
  [/borrowUsdg$/, 'borrowAmount'],
  [/combined\.collateral$/, 'combined.collateralAmount'],
  [/combined\.debtUsdg$/, 'combined.debtAmount'],
  [/collateralSymbol$/, 'collateralToken.displaySymbol'],
  [/estimatedFeeUsd$/, 'estimatedUsd'],
];
const POSITIONS: readonly Name[] = [
  [/collateralSymbol$/, 'collateralToken.displaySymbol'],
  [/(collateral|loan)Address$/, '$1Token.address'],
  [/(collateral|loan)Decimals$/, '$1Token.decimals'],
  [/stock\.debtTokenAddress$/, 'depositToken.address'],
  [/stock\.debtTokenDecimals$/, 'depositToken.decimals'],
  [/stock\.(address|decimals)$/, 'stockToken.$1'],
  [/loanSymbol$/, 'loanToken.symbol'],
  [/amountLeveragedCollateral$/, 'collateralAmount'],
  [/netCollateral$/, 'netCollateralAmount'],
  [/amountLoan$/, 'debtAmount'],
  [/currentLeverageApyPct$/, 'leverageApyPct'],
  [/currentLeverage$/, 'leverage'],
  [/currentNetApyPct$/, 'netApyPct'],
  [/amountDepositedInLoanToken$/, 'depositBasis'],
  [/amountReturnedInLoanToken$/, 'returnedAmount'],
  [/(explorerLinks\.\w+)$/, '$1Url'],
  [/readAt\.blockTime$/, 'readAt.blockAt'],
  [/((positions|yieldLoops|closed)\.\d+\.)id$/, '$1positionIndex'],
  [/stock\.symbol$/, 'stockToken.displaySymbol'],
  [/stockSymbol$/, 'stockToken.displaySymbol'],
  [/stock\.collateral$/, 'stock.collateralAmount'],
  [/stock\.debtUsdg$/, 'stock.debtAmount'],
  [/ambiguousYieldLoopIds/, 'yieldPositionIds'],
  [/warnings\.(\d+)\.field$/, 'warnings.$1.field', 'fieldOfWarning'],
];
const NO_VALUE: OneSided = [[/\.value = 0$/, 'a call that sends nothing has no value in /v1']];
const NOT_IN_BATCH: OneSided = [...NO_VALUE, [/^sendCalls\./, '/v1 has it on request']];
const NOT_IN_BUNDLE: OneSided = [
  ...NOT_IN_BATCH,
  [/^expiresAt /, 'the expiry of the plan; /v1 has that of its quotes'],
  [/^strategyId /, 'the caller names the market or the position'],
];

/** Run an operation of one input for a wallet. */
const plan =
  (root: string, input: string, fields: string) => async (service: TestService, wallet: string, value: Json) =>
    (
      await dataOf(
        service,
        `mutation ($wallet: Address!, $input: ${input}!) { ${root}(wallet: $wallet, input: $input) { ${fields} } }`,
        { wallet, input: value },
      )
    )[root];
/** The calls as a bundle has them: approvals apart from the transaction. */
const bundle =
  (...of: Parameters<typeof plan>) =>
  async (...given: Parameters<ReturnType<typeof plan>>) => {
    const { calls, ...answer } = await plan(...of)(...given);
    const parts = (isApproval: boolean) =>
      calls.filter((call: Json) => call.isApproval === isApproval).map(({ isApproval: _is, ...call }: Json) => call);
    return { ...answer, approvals: parts(true), tx: parts(false)[0] };
  };
const openPlan = bundle('openLeveragePlan', 'OpenLeverageInput', LEVERAGE_PLAN);
const managePlan = bundle('manageLeveragePlan', 'ManageLeverageInput', LEVERAGE_PLAN);
const depositPlan = plan(
  'equityDepositPlan',
  'EquityDepositInput',
  `... on EquityDepositPlan { ${ESTIMATE} ${PLAN} atomic calls ${CALL} ${DEPOSIT} } ... on Refusal { code message }`,
);
const exitPlan = plan(
  'equityExitPlan',
  'EquityExitInput',
  `... on EquityExitPlan { ${ESTIMATE} ${PLAN} atomic calls ${CALL} position { ${LIVE_VAULT} } } ... on Refusal { code message }`,
);
/** The action as the schema has it: one field of one input. */
function actionOf({ action, full, leverage, desiredLtv, chainId: _chainId, ...given }: Json): Json {
  if (action === 'increase_leverage') return { increaseLeverage: targetOf({ leverage, desiredLtv }) };
  if (full) return { repayAll: given };
  return { [action.replace(/_(\w)/, (_all: string, letter: string) => letter.toUpperCase())]: given };
}
const targetOf = ({ leverage, desiredLtv }: Json) =>
  leverage === undefined ? { ltvPct: desiredLtv } : { leverage: String(leverage) };

const leveragePreview: Row = {
  ask: async (service, { body: { strategyId, payToken, amount, ...target } }) => {
    const query = `query ($input: OpenLeverageInput!) { preview(input: { openLeverage: $input }) { ... on LeveragePreview { ${ESTIMATE} path isDirect isReallocate ${PREVIEW} borrowApy { beforePct afterPct } amountFlashLoan minTokenOut reallocationFeeWei note } } }`;
    const input = { strategyId, payToken, amount, target: targetOf(target) };
    return (await dataOf(service, query, { input })).preview;
  },
  names: LEVERAGED,
  typedOnly: [[/^(chainId|strategyId|action) /, 'the caller asked for it']],
};
const equityPreview: Row = {
  ask: async (service, { body: { slippage, chainId, ...rest } }) => {
    const query = `query ($chainId: ChainId, $input: EquityDepositInput!) { preview(chainId: $chainId, input: { equityDeposit: $input }) { ... on EquityDepositPreview { ${ESTIMATE} ${DEPOSIT} note } } }`;
    const input = { ...rest, maxSlippageBps: slippage === undefined ? undefined : String(slippage * 10_000) };
    return (await dataOf(service, query, { chainId, input })).preview;
  },
  names: DEPOSITED,
};
const SIDE = `{ collateralAmount debtAmount equity ltvPct healthFactor apyPct ${LIQUIDATION} }`;
const SIDES: readonly Name[] = [
  ...ESTIMATED,
  [/^((before|after)\.liquidation)\.price$/, '$1.liquidationPrice'],
  [/^((before|after)\.liquidation)\.dropPct$/, '$1.priceDropPct'],
  [/^(before|after)\.ltv$/, '$1.ltvPct'],
  [/^amounts\.token$/, 'amounts.tokenAddress'],
  [/\.requestedLtv$/, '.requestedLtvPct'],
];
const managePreview: Row = {
  ask: async (service, { body: { userAddress, positionId, ...action } }) => {
    const [chainId, , positionIndex] = positionId.split('-').map(Number);
    const query = `query ($wallet: Address, $input: ManageLeverageInput!) { preview(wallet: $wallet, input: { manageLeverage: $input }) { ... on ManageLeveragePreview { ${ESTIMATE} before ${SIDE} after ${SIDE} amounts { tokenAddress symbol smallest largest } path position { requestedLtvPct depositBasis priceImpactPct swapSource } borrowApy { beforePct afterPct } depositBasisBefore amountFlashLoan minTokenOut quotesAsOf note } } }`;
    const input = { position: `${chainId}-${positionIndex}`, action: actionOf(action) };
    return (await dataOf(service, query, { wallet: userAddress, input })).preview;
  },
  names: SIDES,
};
const exitPreview: Row = {
  ask: async (service, { body: { userAddress: wallet, ...input } }) => {
    const query = `query ($wallet: Address, $input: EquityExitInput!) { preview(wallet: $wallet, input: { equityExit: $input }) { ... on EquityExitPreview { ${ESTIMATE} before ${SIDE} yieldPositionIds position { ${LIVE_VAULT} } quotesAsOf note } } }`;
    return (await dataOf(service, query, { wallet, input })).preview;
  },
  names: [...SIDES, ...POSITIONS],
};
const walletStress: Row = {
  ask: async (service, example) => {
    const query = `query ($address: Address!, $chainId: ChainId!) { wallet(address: $address, chainIds: [$chainId]) { address onChains { chainId readAt { blockNumber blockAt } } ${STRESS} positions(first: 20, statuses: [OPEN]) { nodes { positionIndex positionId strategyId ${STRESS} } } equityPositions { strategyId ${STRESS} } } }`;
    const { wallet } = await dataOf(service, query, { address: example.params?.address, chainId: chainOf(example) });
    const { onChains, positions, ...rest } = wallet;
    return { ...rest, ...onChains[0], positions: positions.nodes };
  },
  names: [
    [/^userAddress$/, 'address'],
    [/^readAt\.blockTime$/, 'readAt.blockAt'],
    [/^(positions\.\d+\.)id$/, '$1positionIndex'],
  ],
};

const positions: Row = {
  ask: async (service, example) => {
    const query = `query ($address: Address!, $chainIds: [ChainId!]) { wallet(address: $address, chainIds: $chainIds) { address onChains { chainId leftAuthorizations { authorized call ${CALL} } } positions(first: 20) { nodes { ${LIVE_POSITION} } } equityPositions { ${LIVE_VAULT} } } }`;
    const { wallet } = await dataOf(service, query, { address: example.params?.address, chainIds: [chainOf(example)] });
    const { address: userAddress, positions, equityPositions, onChains } = wallet;
    return { userAddress, positions: positions.nodes, equityPositions, ...onChains[0] };
  },
  names: POSITIONS,
  typedOnly: NO_VALUE,
};

const PNL =
  'pnl { badDebtUsd baseResultAfterFeeUsd baseResultUsd depositedUsd divergentUsd incentivesUsd netValueUsd returnOnEquityPct returnedUsd totalAfterFeeUsd totalUsd yieldFeeUsd }';
const REGISTERED =
  'isOpen depositedUsd addedUsd removedUsd returnedUsd openCollateralApyPct openBorrowApyPct openLeverageApyPct desiredLtvPct entryPrice exitPrice equityVaultId createdAt updatedAt closedAt';
const LOOP = `position { ${POSITION} proxy collateralUsd debtUsd returnedAmount } ${PNL} registration { ${REGISTERED} }
  drift { kind severity message firstSeenAt lastSeenAt earlier { firstSeenAt lastSeenAt goneAt } suggestedSql onChain { status proxy collateralAmount debtAmount netValueUsd readAt { blockNumber blockAt } } inRegister { isOpen depositedUsd returnedUsd createdAt updatedAt closedAt } }`;
const PORTFOLIO = `wallet chainId header { openCount totalDepositedUsd } ${PNL}
  items(first: 20) { pageInfo { hasNextPage } nodes { __typename ... on PortfolioLoop { ${LOOP} } ... on PortfolioVault { chainId vaultId vaultStatus: status stockToken { displaySymbol } vaultPnl: pnl ${PNL.slice(4)} equityPosition { ${VAULT} } loops(first: 10) { nodes { ${LOOP} } } } } }
  unresolvedRows(first: 20) { nodes { reason message registration { marketId positionIndex ${REGISTERED} } } }`;

/** A loop or a vault as one object: the register and the result stand beside the position. */
function loopOf({ position, pnl, registration, drift }: Json): Json {
  return { ...position, pnl, registered: registration, dbDrift: drift?.kind, drift };
}
function itemOf(item: Json): Json {
  if (item.__typename === 'PortfolioLoop') return { kind: 'position', ...loopOf(item) };
  const { equityPosition, vaultId: strategyId, chainId, stockToken, vaultStatus: status, vaultPnl: pnl, loops } = item;
  const yieldLoops = loops.nodes.map(loopOf);
  const dbDrift = yieldLoops.find((loop: Json) => loop.dbDrift)?.dbDrift;
  const own = { strategyId, chainId, stockToken: { ...equityPosition?.stockToken, ...stockToken } };
  return { kind: 'equity', ...equityPosition, ...own, status, pnl, yieldLoops, dbDrift };
}
/** A portfolio with its items grouped by kind, as in /v1. */
async function portfolioOf(service: TestService, { wallet, items, unresolvedRows, ...rest }: Json): Promise<Json> {
  if (items.pageInfo.hasNextPage) throw new Error('a page has every item');
  const all: Json[] = items.nodes.map(itemOf);
  const open = (kind: string) =>
    all.filter((item) => item.kind === kind && item.status === 'OPEN').map(({ kind: _kind, ...item }) => item);
  const query =
    'query ($wallet: Address!, $chainIds: [ChainId!]) { wallet(address: $wallet, chainIds: $chainIds) { onChains { leftAuthorizations { authorized } } } }';
  const { onChains } = (await dataOf(service, query, { wallet, chainIds: [rest.chainId] })).wallet;
  return {
    ...rest,
    address: wallet,
    leftAuthorizations: onChains[0].leftAuthorizations?.map(({ authorized }: Json) => authorized),
    positions: open('position'),
    equityPositions: open('equity'),
    closed: all.filter(({ status }) => status !== 'OPEN'),
    unresolved: unresolvedRows.nodes.map(({ registration, ...row }: Json) => {
      const { marketId, positionIndex, ...registered } = registration;
      return { ...row, marketId, positionIndex, registered };
    }),
  };
}
const PORTFOLIOS: readonly Name[] = [
  [/(drift\.(?:earlier\.\d+\.)?)(first|last)Seen$/, '$1$2SeenAt'],
  [/drift\.chain\.(blockNumber|blockTime)$/, 'drift.onChain.readAt.$1'],
  [/drift\.chain\.(collateral|debt)$/, 'drift.onChain.$1Amount'],
  [/drift\.chain\./, 'drift.onChain.'],
  [/drift\.database\./, 'drift.inRegister.'],
  [/collateralApyPctAtOpen$/, 'openCollateralApyPct'],
  [/borrowApyPctAtOpen$/, 'openBorrowApyPct'],
  [/leverageApyPctAtOpen$/, 'openLeverageApyPct'],
  ...POSITIONS,
];
const portfolio: Row = {
  ask: async (service, example) => {
    const query = `query ($address: Address!, $chainId: ChainId!) { ops { portfolio(address: $address, chainId: $chainId) { ${PORTFOLIO} } } }`;
    const { ops } = await dataOf(service, query, { address: example.params?.address, chainId: chainOf(example) });
    return portfolioOf(service, ops.portfolio);
  },
  names: PORTFOLIOS,
};
const portfolios: Row = {
  ask: async (service, example) => {
    const chainId = chainOf(example);
    const query = `query ($chainId: ChainId!) { ops { reports(chainIds: [$chainId]) { items { chainId readAt { blockAt } freshness { asOf status } counts { walletCount openLoopCount openVaultCount endedCount unresolvedCount driftCount failedCount } failure { since } } }
      portfolios(chainIds: [$chainId], first: 200) { nodes { wallet } } } }`;
    const {
      reports: {
        items: [report],
      },
      portfolios,
    } = (await dataOf(service, query, { chainId })).ops;
    const wallets = portfolios.nodes.map(({ wallet }: Json) => wallet);
    wallets.sort((a: string, b: string) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
    const users: Json[] = [];
    for (const address of wallets) {
      users.push(await portfolio.ask(service, { params: { address }, query: { chainId: String(chainId) } }));
    }
    return { ...report, degraded: report.failure !== null, users };
  },
  names: [
    [/^asOf$/, 'readAt.blockAt'],
    [/^computedAt$/, 'freshness.asOf'],
    [/^stale$/, 'freshness.status', 'isStale'],
    [/^counts\.users$/, 'counts.walletCount'],
    [/^counts\.open$/, 'counts.openLoopCount'],
    [/^counts\.equity$/, 'counts.openVaultCount'],
    [/^counts\.closed$/, 'counts.endedCount'],
    [/^counts\.(unresolved|drift|failed)$/, 'counts.$1Count'],
    ...PORTFOLIOS,
  ],
};

const driftHistory: Row = {
  ask: async (service, { query = {} }) => {
    const { chainId, isGone, limit: first = '50' } = query;
    const document =
      'query ($chainIds: [ChainId!], $isGone: Boolean, $first: Int!) { ops { driftHistory(chainIds: $chainIds, isGone: $isGone, first: $first) { totalCount nodes { kind severity chainId wallet positionIndex positionId marketId vaultId firstSeenAt lastSeenAt goneAt } } } }';
    const { ops } = await dataOf(service, document, {
      chainIds: chainId === undefined ? null : [Number(chainId)],
      isGone: isGone && isGone === 'true',
      first: Number(first),
    });
    return ops.driftHistory;
  },
  names: [
    [/^count$/, 'totalCount'],
    [/^records\./, 'nodes.'],
    [/address$/, 'wallet'],
    [/(first|last)Seen$/, '$1SeenAt'],
  ],
};

/** The rows of keys by their paths. */
export const HOLDING_ROWS: Readonly<Record<string, Row>> = {
  '/v1/partner/leverage/simulate': leveragePreview,
  '/v1/partner/leverage/build': {
    ask: (service, { body: { userAddress, strategyId, payToken, amount, include: _include, ...target } }) =>
      openPlan(service, userAddress, { strategyId, payToken, amount, target: targetOf(target) }),
    names: LEVERAGED,
    typedOnly: NOT_IN_BUNDLE,
  },
  '/v1/partner/manage/simulate': managePreview,
  '/v1/partner/equity/exit/simulate': exitPreview,
  '/v1/partner/manage/build': {
    ask: (
      service,
      { body: { userAddress, id, positionId = `1-any-${id}`, slippage, include: _include, ...action } },
    ) => {
      const [chainId, , positionIndex] = positionId.split('-').map(Number);
      const bounds = slippage === undefined ? {} : { maxSlippageBps: String(slippage * 10_000) };
      return managePlan(service, userAddress, {
        position: `${chainId}-${positionIndex}`,
        action: actionOf(action),
        ...bounds,
      });
    },
    names: LEVERAGED,
    typedOnly: NOT_IN_BUNDLE,
  },
  '/v1/partner/equity/simulate': equityPreview,
  '/v1/partner/equity/deposit/build': {
    ask: (service, { body: { userAddress, include: _include, ...input } }) => depositPlan(service, userAddress, input),
    names: DEPOSITED,
    typedOnly: NOT_IN_BATCH,
  },
  '/v1/partner/equity/exit/build': {
    ask: (service, { body: { userAddress, include: _include, ...input } }) => exitPlan(service, userAddress, input),
    names: [...ESTIMATED, ...POSITIONS],
    typedOnly: NOT_IN_BATCH,
  },
  '/v1/partner/positions/{address}': positions,
  '/v1/partner/positions/{address}/stress': walletStress,
  '/v1/partner/positions/{address}/{id}/deleverage-options': deleverageRow({
    estimate: ESTIMATE,
    preview: PREVIEW,
    names: LEVERAGED,
  }),
  '/v1/partner/positions/{address}/{id}/history': positionHistory,
  '/v1/partner/positions/{address}/statement': statement,
  '/v1/partner/positions/{address}/vaults/{id}/history': stockLegHistory,
  '/v1/ops/portfolios': portfolios,
  '/v1/ops/portfolio/{address}': portfolio,
  '/v1/ops/drift-history': driftHistory,
};

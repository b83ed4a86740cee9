import type { ExampleQuery } from '../common/examples.ts';

const SUSDE_PYUSD = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const SUSDE = '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497';
const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const SPY_VAULT = 'equity-0x50bc39b5722fb5634c436d74c6787f3c125b879e7b73cf9e9ecc01bbb57b8e55';
/** Wallets of the local world: one that holds nothing, one with positions. Anywhere else send your own. */
const NEWCOMER = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
const HOLDER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

/** Examples for partners, beside the public ones: they need a key in GraphiQL's headers. */
export const PARTNER_EXAMPLE_QUERIES: readonly ExampleQuery[] = [
  {
    title: 'Partner: preview an open',
    screen: 'preview',
    query: `# Needs a key: see Headers. A position of five times sUSDe, paid with USDT: its costs, and the cost of leaving again.
query PreviewOpen($input: OpenLeverageInput!) {
  preview(input: { openLeverage: $input }) {
    __typename
    ... on LeveragePreview {
      path
      amountFlashLoan
      minTokenOut
      note
      borrowApy { beforePct afterPct }
      costs { kind symbol amount valueUsd }
      position {
        leverage
        ltvPct
        worstCaseLtvPct
        leverageApyPct
        liquidation { liquidationPrice priceDropPct }
        exitNow { lossUsd breakEvenDays gaps { field reason message } }
      }
      gaps { field reason message }
    }
    ... on Refusal { code message retryable retryAfterSec }
    ... on LimitExceededRefusal { field value limits { name value } }
  }
}`,
    variables: { input: { strategyId: SUSDE_PYUSD, payToken: USDT, amount: '1000', target: { leverage: '5' } } },
    tier: 'partner',
  },
  {
    title: 'Partner: preview an action',
    query: `# Needs a key. The position before and after; maxQuoteAgeSec lets a slider use the quotes of the last seconds again.
query PreviewAction($wallet: Address!, $input: ManageLeverageInput!) {
  preview(wallet: $wallet, input: { manageLeverage: $input }, maxQuoteAgeSec: 5) {
    __typename
    ... on Preview {
      before { collateralAmount debtAmount ltvPct healthFactor apyPct liquidation { liquidationPrice priceDropPct } }
      after { collateralAmount debtAmount ltvPct healthFactor apyPct liquidation { liquidationPrice priceDropPct } }
      amounts { symbol smallest largest }
      quotesAsOf
      costs { kind symbol amount valueUsd }
      worstCase { equity paidOut ltvPct }
      note
      gaps { field reason message }
    }
    ... on Refusal { code message retryable retryAfterSec }
    ... on LimitExceededRefusal { field value limits { name value } }
  }
}`,
    variables: { wallet: HOLDER, input: { position: '1-0', action: { borrow: { amount: '10' } } } },
    tier: 'partner',
  },
  {
    title: 'Partner: plan an open',
    screen: 'plan',
    query: `# Needs a key. Unsigned calls, simulated on the newest state, each decoded; nothing is signed or sent.
mutation PlanOpen($wallet: Address!, $input: OpenLeverageInput!) {
  openLeveragePlan(wallet: $wallet, input: $input) {
    __typename
    ... on LeveragePlan {
      path
      expiresAt
      instructions
      issues { kind message required available }
      calls { to data value isApproval intent { functionName spender minOutputUnits recipient arguments { name value } } }
      sendCalls
    }
    ... on Refusal { code message retryable retryAfterSec }
  }
}`,
    variables: {
      wallet: NEWCOMER,
      input: {
        strategyId: SUSDE_PYUSD,
        payToken: SUSDE,
        amount: '500',
        target: { ltvPct: '80' },
        maxSlippageBps: '50',
      },
    },
    tier: 'partner',
  },
  {
    title: 'Partner: a wallet',
    screen: 'portfolio',
    query: `# Needs a key. Holdings of a wallet over all chains, with the tokens of each position.
query WalletHoldings($address: Address!) {
  wallet(address: $address) {
    id
    onChains { chainId readAt { blockNumber blockAt } }
    missingChains { chainId reason message }
    positions(first: 20) {
      totalCount
      pageInfo { hasNextPage endCursor }
      nodes {
        id
        positionIndex
        chainId
        status
        collateralToken { id symbol }
        loanToken { id symbol }
        ltvPct
        ltvHeadroomPct
        leverage
        netValueUsd
        leverageApyPct
        liquidationPrice
        closeNow { paysOut paysOutUsd pnlAfterFeeUsd }
        exitLiquidity { tier exceedsCleanExitSize }
        warnings { code message }
        freshness { borrow { status ageSec } }
        gaps(reasons: [NOT_MEASURED, SOURCE_FAILED]) { field message }
      }
    }
    equityPositions {
      id
      strategyId
      netValueUsd
      netApyPct
      stockToken { symbol }
      stock { collateralAmount ltvPct ltvHeadroomPct liquidationPriceUsd }
      yieldLoops { id positionIndex netValueUsd }
      yieldLoopMatch
      gaps(reasons: [NOT_MEASURED, SOURCE_FAILED]) { field message }
    }
  }
}`,
    variables: { address: HOLDER },
    tier: 'partner',
  },
  {
    title: 'Partner: lower an LTV',
    query: `# Needs a key. The ways to bring a position down to an LTV, the cheapest first: each previewed, none built.
query LowerLtv($wallet: Address!, $targetLtvPct: Decimal) {
  position(wallet: $wallet, id: "1-0") {
    positionIndex
    deleverageOptions(targetLtvPct: $targetLtvPct) {
      __typename
      ... on DeleverageOptions {
        isNeeded
        ltvPct
        targetLtvPct
        safeLtvPct
        liquidationLtvPct
        cheapestAction
        cheapestAffordableAction
        options {
          action
          steps { action amount token { symbol } fromProceeds }
          affordability
          walletBalance
          costUsd
          preview { position { ltvPct worstCaseLtvPct equity leverageApyPct liquidation { priceDropPct } } note }
          unavailable { code message }
        }
      }
      ... on Refusal { code message }
    }
  }
}`,
    variables: { wallet: HOLDER, targetLtvPct: '75' },
    tier: 'partner',
  },
  {
    title: 'Partner: preview a vault',
    query: `# Needs a key. A deposit into a stock-plus-yield vault: both legs, and the net APY at current rates and after the deposit.
query PreviewVault($input: EquityDepositInput!) {
  preview(input: { equityDeposit: $input }) {
    __typename
    ... on EquityDepositPreview {
      note
      costs { kind symbol amount valueUsd }
      deposit {
        depositToken { id symbol }
        stock { token { id symbol } minReceived ltvPct maxLtvPct liquidationPriceUsd priceDropToLiquidationPct borrowAmount }
        yieldLeg { collateralToken { id displaySymbol } leverage leverageApyPct leverageApyBeforePct }
        netApyPct
        netApyBeforePct
        fees { estimatedUsd }
      }
    }
    ... on Refusal { code message retryable retryAfterSec }
  }
}`,
    variables: { input: { strategyId: SPY_VAULT, amount: '5000' } },
    tier: 'partner',
  },
];

import type { ExampleQuery } from './examples.ts';

const SUSDE_PYUSD = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
/** A wallet of the local world with positions. */
const HOLDER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

/** The tabs that GraphiQL opens with: one short query of each kind. A test runs every one. */
export const STARTER_QUERIES: readonly ExampleQuery[] = [
  {
    title: 'The best strategies',
    query: `# Five strategies, the best APY first.
# Public reads need no key.
query Best {
  strategies(first: 5) {
    nodes {
      collateral { symbol }
      loan { symbol }
      chain { name }
      apyPct
      liquidityUsd
      strategyId
    }
  }
}`,
  },
  {
    title: 'One strategy',
    query: `# Its rates, its limits, its warnings.
query OneStrategy($id: StrategyId!) {
  strategy(id: $id) {
    apyPct
    borrowApyPct
    defaultLeverage { leverage ltvPct leverageApyPct }
    ltvLimits { safePct maxPct liquidationPct }
    warnings { code message }
  }
}`,
    variables: { id: SUSDE_PYUSD },
  },
  {
    title: 'How fresh is it?',
    query: `# The age of every source, by chain.
query Ages {
  freshness {
    chain { name }
    ready
    groups {
      group
      freshness { status ageSec }
    }
  }
}`,
  },
  {
    title: 'Partner: preview an open',
    query: `# Needs a key: see Headers.
# 1,000 USDT at five times, and its cost.
query Preview($input: OpenLeverageInput!) {
  leveragePreview(input: $input) {
    ... on LeveragePreview {
      position {
        leverageApyPct
        ltvPct
        liquidation { priceDropPct }
      }
      costs { kind valueUsd }
    }
    ... on Refusal { code message }
  }
}`,
    variables: { input: { strategyId: SUSDE_PYUSD, payToken: USDT, amount: '1000', target: { leverage: '5' } } },
    tier: 'partner',
  },
  {
    title: 'Partner: a wallet',
    query: `# Needs a key.
# The positions of a wallet on every chain.
query Wallet($address: Address!) {
  wallet(address: $address) {
    positions(first: 10) {
      nodes {
        collateralToken { symbol }
        loanToken { symbol }
        leverage
        ltvHeadroomPct
        netValueUsd
      }
    }
  }
}`,
    variables: { address: HOLDER },
    tier: 'partner',
  },
  {
    title: 'Ops: who is close to liquidation',
    query: `# Needs an ops key.
# The least headroom of all wallets.
query LeastHeadroom {
  ops {
    items(
      orderBy: { field: HEADROOM, direction: ASC }
      first: 5
    ) {
      nodes {
        ... on PortfolioLoop {
          position { wallet ltvHeadroomPct netValueUsd }
        }
        ... on PortfolioVault {
          wallet
          stockToken { symbol }
        }
      }
    }
  }
}`,
    tier: 'ops',
  },
];

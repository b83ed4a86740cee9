import { keccak256, stringToHex } from 'viem';
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts';
import { accounts } from './accounts.ts';

/** A position that the seeding opens, and how it ends. Amounts are whole tokens; `ltvPct` is the LTV it opens at. */
export interface SeededPosition {
  readonly kind: 'loop';
  readonly chainId: number;
  /** Key of `devnet/seed/markets.ts`. */
  readonly market: string;
  readonly amountCollateral: string;
  readonly ltvPct: string;
  readonly status: 'open' | 'closed' | 'liquidated';
}

/** An entry into an equity vault: it adds to the stock leg and opens one loop in the vault's yield market. */
export interface SeededDeposit {
  readonly kind: 'equity';
  readonly chainId: number;
  readonly stock: string;
  readonly amountUsdg: string;
  /** LTV of the stock leg in percent. */
  readonly stockLtvPct: string;
  readonly yieldLtvPct: string;
}

/** Expected result of the basis rule for a vault. */
export interface SeededVault {
  readonly chainId: number;
  readonly stock: string;
  readonly match: 'basis' | 'ambiguous';
  /** Position ids of FlashLeverage: the vault's loops, or the candidates when they are ambiguous. */
  readonly yieldLoopIds: readonly number[];
}

export interface SeededWallet {
  readonly name: string;
  readonly account: LocalAccount;
  /** In this order: the n-th loop or deposit of a chain is the wallet's position id n (from 0) there. */
  readonly entries: readonly (SeededPosition | SeededDeposit)[];
  readonly vaults: readonly SeededVault[];
}

type End = SeededPosition['status'];

const loop =
  (chainId: number) =>
  (market: string, amountCollateral: string, ltvPct: string, status: End = 'open'): SeededPosition => ({
    kind: 'loop',
    chainId,
    market,
    amountCollateral,
    ltvPct,
    status,
  });
const onEthereum = loop(1);
const onRobinhood = loop(4663);
const equity = (stock: string, amountUsdg: string, stockLtvPct = '50', yieldLtvPct = '90.5'): SeededDeposit => ({
  kind: 'equity',
  chainId: 4663,
  stock,
  amountUsdg,
  stockLtvPct,
  yieldLtvPct,
});

/** Wallets with positions, on the well-known accounts 3 to 6 and two with separate keys. */
export const seededWallets: readonly SeededWallet[] = [
  {
    name: 'looper',
    account: developmentAccount(3),
    entries: [
      onEthereum('sUSDe/PYUSD 91.5', '40000', '80'),
      onEthereum('syrupUSDC/PYUSD 91.5', '25000', '88', 'closed'),
      onEthereum('weETH/WETH 94.5', '12', '87.5'),
      onEthereum('sUSDS/USDT 96.5', '60000', '90'),
      onRobinhood('syrupUSDG/USDG 91.5', '50000', '75'),
    ],
    vaults: [],
  },
  {
    name: 'speculator',
    account: developmentAccount(4),
    entries: [
      onEthereum('cbBTC/USDC 86', '0.4', '84.5', 'liquidated'),
      // Above the safe LTV: there is something to do about it at once.
      onEthereum('WBTC/USDC 86', '0.9', '85.2'),
      onEthereum('PT-sUSDe/USDC 91.5', '80000', '85'),
      onRobinhood('wsNET/USDG 62.5 Longbow', '900', '60', 'liquidated'),
      onRobinhood('USDe/USDG 91.5', '15000', '70', 'closed'),
      onRobinhood('PONS/USDG 38.5 Longbow', '200000', '30'),
    ],
    vaults: [],
  },
  {
    name: 'shareholder',
    account: developmentAccount(5),
    entries: [equity('SPY', '20000')],
    vaults: [{ chainId: 4663, stock: 'SPY', match: 'basis', yieldLoopIds: [0] }],
  },
  {
    name: 'stacker',
    account: developmentAccount(6),
    entries: [equity('NVDA', '12000'), equity('NVDA', '9000', '45'), onRobinhood('USDe/USDG 91.5', '1000', '60')],
    vaults: [{ chainId: 4663, stock: 'NVDA', match: 'basis', yieldLoopIds: [0, 1] }],
  },
  {
    name: 'ambiguous',
    account: labelAccount('ambiguous'),
    // The plain loop is worth as much as the debt on the stock: either loop alone explains the debt.
    entries: [equity('TSLA', '10000'), onRobinhood('syrupUSDG/USDG 91.5', '4820', '80')],
    vaults: [{ chainId: 4663, stock: 'TSLA', match: 'ambiguous', yieldLoopIds: [0, 1] }],
  },
  {
    name: 'retired',
    account: labelAccount('retired'),
    entries: [
      onEthereum('wstETH/WETH 94.5', '3', '85', 'closed'),
      onRobinhood('syrupUSDG/USDG 91.5', '8000', '80', 'closed'),
    ],
    vaults: [],
  },
];

/** Liquidates the positions above with that end. */
export const liquidator: LocalAccount = labelAccount('liquidator');

/** Find a seeded wallet. @throws Error when there is none of that name. */
export function seededWallet(name: string): SeededWallet {
  const wallet = seededWallets.find((candidate) => candidate.name === name);
  if (wallet === undefined) throw new Error(`No seeded wallet ${name}: see devnet/seed/wallets.ts`);
  return wallet;
}

function developmentAccount(index: number): LocalAccount {
  const account = accounts[index];
  if (account === undefined) throw new Error(`There are ${accounts.length} development accounts, not ${index + 1}`);
  return account;
}

/** An account able to sign, with a key made from a label, the same everywhere and public. */
function labelAccount(label: string): LocalAccount {
  return privateKeyToAccount(keccak256(stringToHex(`spiral-gateway local world key: ${label}`)));
}

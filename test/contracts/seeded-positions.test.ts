import { parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { seededOraclePrice } from '../../devnet/chain/prices.ts';
import { holdingsOf } from '../../devnet/chain/seed-plans.ts';
import { untouchedAccounts } from '../../devnet/seed/accounts.ts';
import { marketKey } from '../../devnet/seed/markets.ts';
import { type SeededVault, type SeededWallet, seededWallets } from '../../devnet/seed/wallets.ts';
import { useWorld, type World } from './world.ts';

const morphoAbi = parseAbi(['function isAuthorized(address authorizer, address authorized) view returns (bool)']);

describe.each([[1], [4663]])('chain %i', (chainId) => {
  const world = useWorld(chainId);
  const here = seededWallets
    .map((wallet) => ({ ...wallet, entries: wallet.entries.filter((entry) => entry.chainId === chainId) }))
    .filter(({ entries }) => entries.length > 0);

  test.each(here)('$name holds the positions of the table, in order', async (wallet) => {
    const { address } = wallet.account;
    const positions = await world().positions(address);
    expect(positions).toHaveLength(wallet.entries.length);
    for (const [id, entry] of wallet.entries.entries()) {
      const { open, collateral, debt, marketId, amountDepositedInLoanToken } = await world().position(address, id);
      const market = world().chain.market(marketId);
      const state = open ? (collateral === 0n ? 'liquidated' : 'open') : 'closed';
      expect(state).toBe(entry.kind === 'loop' ? entry.status : 'open');
      if (entry.kind === 'loop') expect(marketKey(market)).toBe(entry.market);
      expect(amountDepositedInLoanToken).toBeGreaterThan(0n);
      if (state === 'open') expect(debt).toBeGreaterThan(0n);
      else expect({ collateral, debt }).toEqual({ collateral: 0n, debt: 0n });
    }
  });

  test('every oracle is back at its seeded price', async () => {
    for (const market of world().row.markets) {
      expect(await world().chain.oraclePrice(market), marketKey(market)).toBe(seededOraclePrice(market));
    }
  });

  test('the reserved accounts are unused', async () => {
    for (const { address } of untouchedAccounts) {
      expect(await world().positions(address)).toEqual([]);
      expect(await world().client.getTransactionCount({ address })).toBe(0);
    }
  });

  test.each(vaultsOf(here, chainId))(
    '$name: the $vault.stock vault explains its debt by $vault.match',
    async ({ address, vault }) => {
      const { debt, collateral } = await stockLeg(world(), address, vault);
      expect(collateral).toBeGreaterThan(0n);
      const positions = await world().positions(address);
      const fitting = subsets(
        positions.map(({ amountDepositedInLoanToken }, id) => ({ id, basis: amountDepositedInLoanToken })),
      )
        .filter((subset) =>
          withinBasisRule(
            subset.reduce((sum, { basis }) => sum + basis, 0n),
            debt,
          ),
        )
        .map((subset) => subset.map(({ id }) => id));
      if (vault.match === 'basis') expect(fitting).toEqual([vault.yieldLoopIds]);
      else expect(fitting).toEqual(vault.yieldLoopIds.map((id) => [id]));
      expect(await isAuthorized(world(), address)).toBe(false);
    },
  );
});

function vaultsOf(wallets: readonly SeededWallet[], chainId: number) {
  return wallets.flatMap(({ name, account, vaults }) =>
    vaults.filter((vault) => vault.chainId === chainId).map((vault) => ({ name, address: account.address, vault })),
  );
}

async function stockLeg(world: World, user: `0x${string}`, { stock }: SeededVault) {
  const vault = world.row.equityVaults.find((candidate) => candidate.stock.symbol === stock);
  if (vault === undefined) throw new Error(`No ${stock} vault`);
  return holdingsOf({ chain: world.row, client: world.client }, vault.stockMarket, user);
}

function isAuthorized({ client, row, equityRouter }: World, user: `0x${string}`): Promise<boolean> {
  const address = row.contracts.morphoBlue;
  return client.readContract({ address, abi: morphoAbi, functionName: 'isAuthorized', args: [user, equityRouter] });
}

/** The sum of the loops' basis lies within (0.85, 1.02] of the stock debt. */
function withinBasisRule(basis: bigint, debt: bigint): boolean {
  return basis * 100n > debt * 85n && basis * 100n <= debt * 102n;
}

function subsets<T>(items: readonly T[]): T[][] {
  return Array.from({ length: 2 ** items.length }, (_, mask) => items.filter((_, index) => mask & (1 << index)));
}

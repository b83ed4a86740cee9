import { expect, test } from 'vitest';
import { marketParams, tokenContract } from '../../../devnet/chain/deploy.ts';
import { untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import type { Address } from '../../../src/shared/ids.ts';
import { CHAIN_ID } from '../../support/equity.ts';
import { type Json, PARTNER } from '../../support/service.ts';
import { user, useVaults } from '../../support/vaults.ts';

const vaults = useVaults();
const STRANGER: Address = untouchedAccounts[0]?.address ?? '0x';
const QUERY = `query($a: Address!) { wallet(address: $a, chainIds: [${CHAIN_ID}]) { equityPositions { strategyId } } }`;

/** Supply stock to the stock market on behalf of the user, as anybody can at the lending protocol. */
async function supplyForUser(symbol: string, amount: bigint): Promise<void> {
  const { stockMarket } = vaults.verbs.vault(symbol);
  const { local } = vaults.verbs;
  const { morphoBlue } = local.chain.contracts;
  const token = tokenContract(local.chain, stockMarket.collateral);
  await local.mint(stockMarket.collateral, STRANGER, amount);
  await local.call(STRANGER, stockMarket.collateral.address, token, 'approve', [morphoBlue, amount]);
  await local.call(STRANGER, morphoBlue, 'Morpho', 'supplyCollateral', [marketParams(stockMarket), amount, user, '0x']);
}

/** Vaults of the user, as both surfaces list them. */
async function listed(): Promise<readonly string[]> {
  const overRest = (await vaults.verbs.positions(user)).equityPositions.map(
    ({ strategyId }: { strategyId: string }) => strategyId,
  );
  const { body } = await vaults.service.graphql(QUERY, { a: user }, PARTNER);
  expect(body.errors).toBeUndefined();
  const overGraphql = body.data.wallet.equityPositions.map(({ strategyId }: { strategyId: string }) => strategyId);
  expect(overGraphql).toEqual(overRest);
  return overRest;
}

test('behavior: collateral of a stranger lists a vault once it is worth something, and not before', async () => {
  const vault = vaults.verbs.vault('SPY');
  expect(await listed()).toEqual([]);
  await supplyForUser('SPY', 1n);
  expect(await vaults.verbs.stockLeg(vault, user)).toEqual({ borrowShares: 0n, collateral: 1n });
  expect(await listed()).toEqual([]);
  const refused = await vaults.verbs.post('/v1/partner/equity/exit/build', { strategyId: vault.id, userAddress: user });
  expect(refused.body.error).toMatchObject({ code: 'bad_request', details: { reason: 'nothing_to_do' } });

  // A stock that was given away belongs to the wallet, which can take it out.
  await supplyForUser('SPY', 10n ** BigInt(vault.stock.decimals));
  expect(await listed()).toEqual([vault.id]);
});

test('behavior: collateral of a stranger changes nothing about an own vault', async () => {
  const vault = vaults.verbs.vault('SPY');
  await vaults.deposit(vault, '1000');
  const before = await vaults.positionIn(vault);
  const stressed = async () =>
    (await vaults.service.get(`/v1/partner/positions/${user}/stress?chainId=${CHAIN_ID}`, PARTNER)).body.stress;
  const { positionCount, rows } = await stressed();
  await supplyForUser('SPY', 1n);
  await supplyForUser('NVDA', 1n);
  const after = await stressed();
  expect(after.positionCount).toBe(positionCount);
  expect(after.rows.map(({ headroomPct, endsBy }: Json) => [headroomPct === null, endsBy])).toEqual(
    rows.map(({ headroomPct, endsBy }: Json) => [headroomPct === null, endsBy]),
  );
  expect(await listed()).toEqual([vault.id]);
  expect(await vaults.positionIn(vault)).toMatchObject({
    yieldLoopMatch: before.yieldLoopMatch,
    yieldLoops: [{ id: before.yieldLoops[0].id }],
  });
});

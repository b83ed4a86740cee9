import { seededWallet, seededWallets } from '../../../devnet/seed/wallets.ts';
import { createCatalog, curatedChains } from '../../../src/catalog/index.ts';
import type { RouteExample } from '../../../src/rest/types.ts';
import { SUSDE } from '../known.ts';

const { chains, chainIds } = createCatalog(curatedChains);
const OWNER = seededWallet('looper').account.address;
const manage = { userAddress: OWNER, id: 0, chainId: 1 };
const wbtc = chains[0]?.markets.find(({ collateral }) => collateral.symbol === 'WBTC')?.id ?? '';
const vaultId = chains.flatMap(({ equityVaults }) => equityVaults)[0]?.id ?? '';
/** Examples by path beyond those of the document: other actions, wallets and markets. */
export const MORE_EXAMPLES: Readonly<Record<string, readonly RouteExample[]>> = {
  '/v1/strategies/{id}/leveraged-apy-history': [
    { summary: 'a vault at its target', params: { id: vaultId } },
    { summary: 'a vault without a debt', params: { id: vaultId }, query: { leverage: '1' } },
    { summary: 'not listed', params: { id: wbtc } },
  ],
  '/v1/strategies/{id}/stress': [
    { summary: 'a vault at its target', params: { id: vaultId } },
    { summary: 'more than the market lends', params: { id: wbtc }, query: { equityUsd: '900000000' } },
    { summary: 'without a debt', params: { id: wbtc }, query: { leverage: '1' } },
  ],
  '/v1/strategies/{id}': [{ summary: 'not listed', params: { id: wbtc } }],
  '/v1/collateral/{id}/apy-history': [{ summary: 'without a history', params: { id: wbtc } }],
  '/v1/partner/manage/build': [
    { action: 'close', amount: '10', slippage: 0.003 },
    { action: 'add_collateral', amount: '10', payToken: SUSDE },
    { action: 'remove_collateral', amount: '1', include: ['sendCalls'] },
    { action: 'repay', full: true },
    { action: 'borrow', amount: '1' },
    { action: 'increase_leverage', desiredLtv: '85' },
  ].map((body) => ({ summary: JSON.stringify(body), body: { ...manage, ...body } })),
  '/v1/partner/equity/deposit/build': [
    {
      summary: 'with sendCalls',
      body: { strategyId: vaultId, amount: '900', userAddress: OWNER, include: ['sendCalls'] },
    },
  ],
  '/v1/partner/positions/{address}': seededWallets.flatMap(({ account: { address } }) =>
    chainIds.map((chainId) => ({
      summary: `${address} on ${chainId}`,
      params: { address },
      query: { chainId: String(chainId) },
    })),
  ),
};

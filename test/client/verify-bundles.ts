import type { Hex } from 'viem';
import { OWNER } from '../../devnet/seed/accounts.ts';
import { vaultSeeds } from '../../devnet/seed/vaults.ts';
import { seededWallet } from '../../devnet/seed/wallets.ts';
import type { Intent, TrustedChain, VerifiablePlan } from '../../packages/client/src/verify/index.ts';
import { trustedChain } from '../../scripts/client-chains.ts';
import { decodeFunctionData } from '../../src/abi/calldata.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { flashLeverageRouterAbi } from '../../src/abi/flash-leverage-router.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import type { EquityVault, Market, Token } from '../../src/catalog/index.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address } from '../../src/shared/ids.ts';
import { drain, localCatalog, marketOf, partnerOn, tokenOf, units } from '../e2e/leverage/support.ts';
import { equityVerbs } from '../support/equity.ts';
import { type Json, PARTNER, type TestService } from '../support/service.ts';
import { account, user } from '../support/vaults.ts';

/** A plan and its request. */
export interface Bundle {
  readonly kind: string;
  /** As the service built it. */
  readonly built: VerifiablePlan & { readonly meta?: Json };
  /** Without `sendCalls`: a change of one call is judged by itself, and not as a difference from them. */
  readonly plan: VerifiablePlan & { readonly meta?: Json };
  readonly intent: Intent;
}

/** The chains of the local world, with its own principal token. */
export const localChains: readonly TrustedChain[] = localCatalog.chains.map(trustedChain);

const SHARES = ['0.2', '0.45', '0.7', '1'];

/** Build plans of every kind with the running service. The world is arranged first: positions, liquidity, a manual position. */
export async function buildBundles(service: TestService): Promise<readonly Bundle[]> {
  const bundles: Bundle[] = [];
  const local = (chainId: number) => service.world.chains.on(chainId);
  const verbs = equityVerbs(service);
  const usd = new Map<string, Decimal>();
  const priceOf = (market: Market) => local(market.chainId).oraclePrice(market);
  const vaults = vaultSeeds.map(({ address }) => address);

  const post = async (path: string, body: Json): Promise<Json> => {
    const answer = await service.post(`/v1/partner/${path}`, { ...body, include: ['sendCalls'] }, PARTNER);
    if (answer.status !== 200) throw new Error(`${path} ${JSON.stringify(body)}: ${answer.text}`);
    return answer.body;
  };
  const add = (kind: string, built: Json, intent: Intent) =>
    bundles.push({ kind, built, plan: { ...built, meta: { ...built.meta, sendCalls: undefined } }, intent });

  /** Worth of an amount in another token, by the prices that the service shows. */
  const worthIn = (amount: bigint, from: Token, to: Token): bigint => {
    const price = (token: Token) => usd.get(`${token.chainId}:${token.address}`) as Decimal;
    const value = new Decimal(amount.toString()).shiftedBy(-from.decimals).times(price(from)).div(price(to));
    return BigInt(value.shiftedBy(to.decimals).integerValue(Decimal.ROUND_DOWN).toFixed(0));
  };
  const worthOf = async (amount: bigint, from: Token, market: Market): Promise<bigint> =>
    (worthIn(amount, from, market.loan) * 10n ** 36n) / (await priceOf(market));

  async function open(market: Market, pay: Token, whole: string, leverage: number): Promise<void> {
    const { chainId } = market;
    const amount = units(whole, pay);
    const isDirect = pay.address === market.collateral.address;
    const plan = await post('leverage/build', {
      chainId,
      strategyId: market.id,
      payToken: pay.address,
      amount: whole,
      leverage,
      userAddress: user,
    });
    add(methodOf(plan.tx.data), plan, {
      action: 'open_leverage',
      chainId,
      owner: user,
      marketId: market.id,
      leverage,
      pay: { token: pay.address, amount, worth: isDirect ? undefined : await worthOf(amount, pay, market) },
      state: { price: await priceOf(market) },
      reallocation: { vaults, maxFee: 2n * 10n ** 15n },
    });
  }

  const reading = async (market: Market, id: number, owner = account) => {
    const held = await partnerOn(service, market.chainId, owner).position(market, id);
    return { collateral: held.collateral, debt: held.debt, basis: held.basis, price: await priceOf(market) };
  };

  async function manage(market: Market, id: number, pay: Token): Promise<void> {
    const { chainId, loan, collateral } = market;
    const state = await reading(market, id);
    const of = { chainId, owner: user, marketId: market.id, positionId: id };
    const build = (action: string, more: Json) =>
      post('manage/build', { chainId, userAddress: user, id, action, ...more });
    const share = (whole: string, part: string) =>
      new Decimal(whole).times(part).toFixed(6).replace(/0+$/, '').replace(/\.$/, '');
    for (const part of SHARES) {
      const leverage = Number(new Decimal(4).plus(part).toFixed(2));
      add('increaseLeverage', await build('increase_leverage', { leverage }), {
        ...of,
        action: 'increase_leverage',
        leverage,
        state,
      });
      const [out, lent] = [share('100', part), share('50', part)];
      add('withdrawCollateral', await build('remove_collateral', { amount: out }), {
        ...of,
        action: 'remove_collateral',
        amount: units(out, collateral),
      });
      add('borrow', await build('borrow', { amount: lent }), { ...of, action: 'borrow', amount: units(lent, loan) });
      const added = units(out, collateral);
      add('supplyCollateral', await build('add_collateral', { amount: out, payToken: collateral.address }), {
        ...of,
        action: 'add_collateral',
        pay: { token: collateral.address, amount: added },
      });
      add('repay', await build('repay', { amount: lent, payToken: loan.address }), {
        ...of,
        action: 'repay',
        pay: { token: loan.address, amount: units(lent, loan) },
      });
      const paid = share(pay.isNative ? '0.05' : '90', part);
      const amount = units(paid, pay);
      add('swapAndSupplyCollateral', await build('add_collateral', { amount: paid, payToken: pay.address }), {
        ...of,
        action: 'add_collateral',
        pay: { token: pay.address, amount, worth: await worthOf(amount, pay, market) },
      });
      add('swapAndRepay', await build('repay', { amount: paid, payToken: pay.address }), {
        ...of,
        action: 'repay',
        pay: { token: pay.address, amount, worth: worthIn(amount, pay, loan) },
      });
      const sold = share('1200', part);
      add('deleverage a part', await build('close', { amount: sold }), {
        ...of,
        action: 'close',
        amount: units(sold, collateral),
        state,
      });
    }
    const most = (state.debt * 102n) / 100n;
    add('repay all', await build('repay', { full: true, payToken: loan.address }), {
      ...of,
      action: 'repay',
      full: true,
      pay: { token: loan.address, amount: most },
    });
    const mostPaid = (worthIn(state.debt, loan, pay) * 103n) / 100n;
    add('swapAndRepay all', await build('repay', { full: true, payToken: pay.address }), {
      ...of,
      action: 'repay',
      full: true,
      pay: { token: pay.address, amount: mostPaid, worth: worthIn(mostPaid, pay, loan) },
    });
    add('deleverage', await build('close', {}), { ...of, action: 'close', state });
  }

  async function deposit(vault: EquityVault, amount: string, stockLtv: string): Promise<void> {
    const { id: vaultId, chainId, depositToken, stockMarket, yieldMarket } = vault;
    const plan = await post('equity/deposit/build', {
      strategyId: vaultId,
      amount,
      stockLtvPct: stockLtv,
      userAddress: user,
    });
    add('equityEntry', plan, {
      action: 'equity_deposit',
      chainId,
      owner: user,
      vaultId,
      amount: units(amount, depositToken),
      stockLtv,
      state: { stock: { price: await priceOf(stockMarket) }, yield: { price: await priceOf(yieldMarket) } },
    });
  }

  async function exit(
    name: 'shareholder' | 'stacker',
    vault: EquityVault,
    positionIds: readonly number[],
  ): Promise<void> {
    const { id: vaultId, chainId, stockMarket, yieldMarket } = vault;
    const wallet = seededWallet(name).account;
    const plan = await post('equity/exit/build', { strategyId: vaultId, userAddress: wallet.address });
    const { morphoBlue } = local(chainId).chain.contracts;
    const [, shares, collateral] = await local(chainId).client.readContract({
      address: morphoBlue,
      abi: morphoBlueAbi,
      functionName: 'position',
      args: [stockMarket.id, wallet.address],
    });
    const [, , borrowed, borrowedShares] = await verbs.totals(stockMarket);
    const debt = (shares * (borrowed + 1n)) / (borrowedShares + 1_000_000n) + 1n;
    const loops = await Promise.all(
      positionIds.map(async (id) => [id, await reading(yieldMarket, id, wallet as never)] as const),
    );
    add('equityExit', plan, {
      action: 'equity_exit',
      chainId,
      owner: wallet.address,
      vaultId,
      positionIds,
      state: { stock: { price: await priceOf(stockMarket), collateral, debt }, loops: Object.fromEntries(loops) },
    });
  }

  async function manualExit(market: Market, id: number): Promise<void> {
    const { chainId } = market;
    const { flashLeverage } = local(chainId).chain.contracts;
    const { userProxy } = await local(chainId).client.readContract({
      address: flashLeverage,
      abi: flashLeverageAbi,
      functionName: 'getUserLeveragePosition',
      args: [user, BigInt(id)],
    });
    const { debt } = await reading(market, id);
    const [, borrowShares, collateral] = await local(chainId).client.readContract({
      address: local(chainId).chain.contracts.morphoBlue,
      abi: morphoBlueAbi,
      functionName: 'position',
      args: [market.id, userProxy],
    });
    await local(chainId).call(OWNER, flashLeverage, 'FlashLeverage', 'enableManualMode', [userProxy]);
    const { body } = await service.get(`/v1/partner/positions/${user}?chainId=${chainId}`, PARTNER);
    const { manualModeCalls } = body.positions.find((position: Json) => position.id === id);
    add(
      'manual exit',
      { chainId, calls: manualModeCalls },
      {
        action: 'manual_exit',
        chainId,
        owner: user,
        marketId: market.id,
        proxy: userProxy,
        state: { collateral, borrowShares, debt },
      },
    );
  }

  async function leftAuthorization(): Promise<void> {
    const holder: Address = seededWallet('looper').account.address;
    await verbs.authorize(holder, true);
    const { leftAuthorizations } = await verbs.positions(holder);
    const [{ authorized, call }] = leftAuthorizations;
    add(
      'revoke',
      { chainId: 4663, calls: [call] },
      { action: 'revoke_authorization', chainId: 4663, owner: holder, authorized },
    );
  }

  for (const chainId of [1, 4663]) {
    const { body } = await service.get(`/v1/prices?chainId=${chainId}`);
    for (const [address, price] of Object.entries(body.prices))
      usd.set(`${chainId}:${address}`, new Decimal(String(price)));
  }
  const susde = marketOf(1, 'sUSDe/PYUSD 91.5');
  const wbtc = marketOf(1, 'WBTC/USDC 86');
  const dry = marketOf(1, 'wsrUSD/USDC 94.5');
  const usdg = marketOf(4663, 'syrupUSDG/USDG 91.5');
  const principal = marketOf(1, 'PT-sUSDe/USDC 91.5');
  const held = new Map<Market, number>();
  for (const market of [susde, usdg]) {
    const partner = partnerOn(service, market.chainId, account);
    for (const amount of market === susde ? ['2000', '300'] : ['2000']) {
      if (!held.has(market)) held.set(market, await partner.nextId());
      const body = { strategyId: market.id, payToken: market.collateral.address, amount, leverage: 4 };
      await partner.send(await partner.build('/v1/partner/leverage/build', { ...body, userAddress: user }));
    }
  }
  await drain(service, dry, '9000');
  await service.refresh('lending-state:1');
  for (const [i, leverage] of [1.5, 3, 8].entries()) {
    await open(susde, susde.collateral, String(500 + i), leverage);
    await open(susde, tokenOf(1, 'USDC'), String(700 + i), leverage);
    await open(susde, tokenOf(1, 'ETH'), `0.${25 + i}`, leverage);
    await open(usdg, usdg.collateral, String(400 + i), leverage);
    await open(usdg, tokenOf(4663, 'USDe'), String(300 + i), leverage);
  }
  for (const leverage of [1.5, 2, 3, 4]) await open(wbtc, wbtc.collateral, '0.02', leverage);
  await open(principal, principal.collateral, '1000', 3);
  await open(dry, dry.collateral, '10000', 2);
  await open(dry, tokenOf(1, 'USDT'), '10000', 2);
  await open(dry, tokenOf(1, 'ETH'), '4', 2);
  await manage(susde, held.get(susde) as number, tokenOf(1, 'ETH'));
  await manage(usdg, held.get(usdg) as number, tokenOf(4663, 'USDe'));
  const [spy, nvda] = [verbs.vault('SPY'), verbs.vault('NVDA')];
  for (const ltv of ['20', '45']) {
    await deposit(spy, '3000', ltv);
    await deposit(nvda, '1500', ltv);
  }
  await exit('shareholder', spy, [0]);
  await exit('stacker', nvda, [0, 1]);
  await leftAuthorization();
  await manualExit(susde, (held.get(susde) as number) + 1);
  return bundles;
}

/** The name of the function that opens a position. */
function methodOf(data: Hex): string {
  return decodeFunctionData({ abi: [...flashLeverageAbi, ...flashLeverageRouterAbi], data }).functionName;
}

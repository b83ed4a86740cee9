import { type Address, decodeFunctionData, encodeFunctionData, erc20Abi, type Hex, parseUnits } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { swapVenueAbi } from '../../devnet/abi/swap-venue.ts';
import { type LocalChain, type LocalChains, startChains } from '../../devnet/chain/index.ts';
import { createOverlay } from '../../devnet/overlay.ts';
import { labelAddress } from '../../devnet/seed/accounts.ts';
import { createCatalog, curatedChains, type Market, type Token } from '../../src/catalog/index.ts';
import {
  allocatorAbi,
  type LiquiditySource,
  morphoAbi,
  must,
  NOW,
  type Quote,
  SHARED_LIQUIDITY,
  startTestUpstreams,
  type TestUpstreams,
} from './upstreams-support.ts';

const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE';
const FEE_RECEIVER = labelAddress('fee receiver of a test');

let chains: LocalChains;
let up: TestUpstreams;

beforeAll(async () => {
  const catalog = createCatalog(curatedChains, createOverlay(NOW));
  chains = await startChains({ chains: catalog.chains, mining: 'auto', clock: { now: () => NOW } });
  up = await startTestUpstreams({ catalog, rpcUrls: chains.rpcUrls });
});
afterAll(async () => {
  await up?.stop();
  await chains?.stop();
});

const shown = (token: Token): string => (token.isNative ? NATIVE : token.address);
const slug = (chainId: number): string => up.chain(chainId).providers.kyberswap ?? '';
const trader = (label: string): Address => labelAddress(`trader ${label}`);

async function kyberRoute(tokenIn: Token, tokenOut: Token, amountIn: bigint, fee = '') {
  const query = `tokenIn=${shown(tokenIn)}&tokenOut=${shown(tokenOut)}&amountIn=${amountIn}${fee}`;
  return up.ask('kyberswap', `/${slug(tokenIn.chainId)}/api/v1/routes?${query}`);
}

async function kyberBuild(chainId: number, route: unknown, who: Address, slippageBps = 50) {
  const { routeSummary } = (route as { data: { routeSummary: object } }).data;
  const body = { routeSummary, sender: who, recipient: who, slippageTolerance: slippageBps };
  return up.ask('kyberswap', `/${slug(chainId)}/api/v1/route/build`, body);
}

async function kyber(tokenIn: Token, tokenOut: Token, amountIn: bigint, who: Address, fee = ''): Promise<Quote> {
  const route = await kyberRoute(tokenIn, tokenOut, amountIn, fee);
  const { body } = await kyberBuild(tokenIn.chainId, route.body, who);
  const { data } = body as { data: Record<'routerAddress' | 'data' | 'amountOut' | 'transactionValue', string> };
  const summary = (route.body as { data: { routeSummary: { amountOut: string } } }).data.routeSummary;
  expect(data.amountOut).toBe(summary.amountOut);
  return {
    to: data.routerAddress as Address,
    data: data.data as Hex,
    amountOut: BigInt(data.amountOut),
    value: BigInt(data.transactionValue),
  };
}

async function openocean(tokenIn: Token, tokenOut: Token, amountIn: bigint, who: Address, fee = ''): Promise<Quote> {
  const query = `inTokenAddress=${shown(tokenIn)}&outTokenAddress=${shown(tokenOut)}&amountDecimals=${amountIn}`;
  const rest = `&gasPriceDecimals=1000000000&slippage=0.5&account=${who}${fee}`;
  const { body } = await up.ask('openocean', `/v4/eth/swap?${query}${rest}`);
  const { data } = body as { data: Record<'to' | 'data' | 'outAmount' | 'value', string> };
  return {
    to: data.to as Address,
    data: data.data as Hex,
    amountOut: BigInt(data.outAmount),
    value: BigInt(data.value),
  };
}

async function pendle(tokenIn: Token, tokenOut: Token, amountIn: bigint, who: Address, fee = {}): Promise<Quote> {
  const { body } = await up.ask('pendle', '/v3/sdk/1/convert', {
    receiver: who,
    slippage: 0.005,
    enableAggregator: true,
    inputs: [{ token: tokenIn.address, amount: amountIn.toString() }],
    outputs: [tokenOut.address],
    ...fee,
  });
  const { routes } = body as {
    routes: { tx: Record<'to' | 'data' | 'value', string>; outputs: { amount: string }[] }[];
  };
  const { tx, outputs } = must(routes[0], 'route');
  return {
    to: tx.to as Address,
    data: tx.data as Hex,
    amountOut: BigInt(outputs[0]?.amount ?? '0'),
    value: BigInt(tx.value),
  };
}

async function balance(local: LocalChain, token: Token, of: Address): Promise<bigint> {
  if (token.isNative) return local.client.getBalance({ address: of });
  return local.client.readContract({ address: token.address, abi: erc20Abi, functionName: 'balanceOf', args: [of] });
}

const venueOf = (quote: Quote) => decodeFunctionData({ abi: swapVenueAbi, data: quote.data });

/** Execute a quote on chain as `who`, after a transfer of the input. @returns the output amount */
async function execute(
  local: LocalChain,
  quote: Quote,
  tokenIn: Token,
  tokenOut: Token,
  amountIn: bigint,
  who: Address,
) {
  await local.mint(local.chain.native, who, parseUnits('10', 18));
  if (!tokenIn.isNative) {
    await local.mint(tokenIn, who, amountIn);
    await local.call(who, tokenIn.address, 'TestToken', 'approve', [quote.to, amountIn]);
  }
  const before = await balance(local, tokenOut, who);
  const receipt = await local.send({ from: who, to: quote.to, data: quote.data, value: quote.value });
  const gas = tokenOut.isNative ? receipt.gasUsed * receipt.effectiveGasPrice : 0n;
  return (await balance(local, tokenOut, who)) - before + gas;
}

describe('swap quotes execute on the chain', () => {
  const cases: [string, 'kyber' | 'openocean' | 'pendle', number, string, string, string][] = [
    ['loan to collateral', 'kyber', 1, 'USDC', 'siUSD', '250000'],
    ['collateral to loan', 'kyber', 1, 'wstETH', 'WETH', '40'],
    ['native in', 'kyber', 1, 'ETH', 'sUSDe', '3'],
    ['native out', 'kyber', 1, 'USDT', 'ETH', '5000'],
    ['stock', 'kyber', 4663, 'USDG', 'SPY', '30000'],
    ['second aggregator', 'openocean', 1, 'PYUSD', 'sUSDe', '120000'],
    ['second aggregator, native in', 'openocean', 1, 'ETH', 'USDC', '2'],
    ['into a principal token', 'pendle', 1, 'USDC', 'PT-sUSDe', '100000'],
    ['out of a principal token', 'pendle', 1, 'PT-sUSDe', 'USDC', '90000'],
  ];
  test.each(cases)('default: %s', async (label, venue, chainId, from, to, amount) => {
    const [tokenIn, tokenOut] = [up.token(from, chainId), up.token(to, chainId)];
    const amountIn = parseUnits(amount, tokenIn.decimals);
    const quote = await { kyber, openocean, pendle }[venue](tokenIn, tokenOut, amountIn, trader(label));
    expect(Object.values(up.chain(chainId).swapRouters).flat()).toContain(quote.to);
    expect(quote.amountOut).toBeGreaterThan(0n);
    // Half a percent of slippage, rounded down.
    expect(venueOf(quote).args?.[3]).toBe((quote.amountOut * 995n) / 1000n);
    const received = await execute(chains.on(chainId), quote, tokenIn, tokenOut, amountIn, trader(label));
    expect(received).toBe(quote.amountOut);
  });

  test('behavior: all three pay the referral fee from the input', async () => {
    const [usdc, sUsde, pt] = [up.token('USDC'), up.token('sUSDe'), up.token('PT-sUSDe')];
    const amountIn = parseUnits('10000', 6);
    const who = trader('with a fee');
    const viaAggregator = {
      aggregators: ['kyberswap'],
      kyberSwapParams: {
        routes: { chargeFeeBy: 'currency_in', feeAmount: '25', feeReceiver: FEE_RECEIVER, isInBps: true },
      },
    };
    const quotes: [Quote, Token][] = [
      [
        await kyber(
          usdc,
          sUsde,
          amountIn,
          who,
          `&isInBps=true&chargeFeeBy=currency_in&feeReceiver=${FEE_RECEIVER}&feeAmount=25`,
        ),
        sUsde,
      ],
      [await openocean(usdc, sUsde, amountIn, who, `&referrer=${FEE_RECEIVER}&referrerFee=0.25`), sUsde],
      [await pendle(usdc, pt, amountIn, who, viaAggregator), pt],
    ];
    for (const [quote, tokenOut] of quotes) {
      const before = await balance(chains.on(1), usdc, FEE_RECEIVER);
      expect(await execute(chains.on(1), quote, usdc, tokenOut, amountIn, who)).toBe(quote.amountOut);
      expect((await balance(chains.on(1), usdc, FEE_RECEIVER)) - before).toBe(parseUnits('25', 6));
    }
  });

  test('behavior: a price that moved past the slippage refuses the build and reverts the old calldata', async () => {
    const local = chains.on(1);
    const snapshot = await local.snapshot();
    const [usdc, siUsd] = [up.token('USDC'), up.token('siUSD')];
    const amountIn = parseUnits('1000', 6);
    const who = trader('too late');
    const route = await kyberRoute(usdc, siUsd, amountIn);
    const quote = await kyber(usdc, siUsd, amountIn, who);
    await local.moveOracle(market('siUSD', 'USDC').id, '2');
    const { status, body } = await kyberBuild(1, route.body, who);
    expect([status, (body as { code: number }).code]).toEqual([422, 4222]);
    await expect(execute(local, quote, usdc, siUsd, amountIn, who)).rejects.toThrow();
    await local.revert(snapshot);
  });
});

describe('no route', () => {
  test('default: 400 in the form of each provider', async () => {
    const [usdc, sNusd] = [up.token('USDC'), up.token('sNUSD')];
    expect(await kyberRoute(sNusd, usdc, 10n ** 18n)).toMatchObject({ status: 400, body: { code: 4008 } });
    const who = trader('nowhere');
    const query = `inTokenAddress=${sNusd.address}&outTokenAddress=${usdc.address}&amountDecimals=1000`;
    const answer = await up.ask('openocean', `/v4/eth/swap?${query}&gasPriceDecimals=1&slippage=1&account=${who}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 400, error: 'not find route' } });
    const inputs = [{ token: sNusd.address, amount: '1000' }];
    const convert = {
      receiver: who,
      slippage: 0.01,
      enableAggregator: true,
      inputs,
      outputs: [up.token('PT-sUSDe').address],
    };
    expect(await up.ask('pendle', '/v3/sdk/1/convert', convert)).toMatchObject({
      status: 400,
      body: { statusCode: 400 },
    });
  });

  test('behavior: unknown tokens and chains', async () => {
    const usdc = up.token('USDC');
    const unknown = { ...usdc, address: trader('token') };
    expect(await kyberRoute(unknown, usdc, 1n)).toMatchObject({ status: 400, body: { code: 4011 } });
    expect((await up.ask('kyberswap', '/solana/api/v1/routes')).status).toBe(404);
    expect((await up.ask('openocean', '/v4/robinhood/swap')).status).toBe(404);
    expect((await up.ask('pendle', '/v3/sdk/4663/convert', {})).status).toBe(400);
  });

  test('behavior: a thin token has no route at five million', async () => {
    const usdc = up.token('USDC');
    const sells = async (symbol: string, usd: string) =>
      (await kyberRoute(up.token(symbol), usdc, parseUnits(usd, 18))).status;
    expect([await sells('sDOLA', '100000'), await sells('sDOLA', '5000000')]).toEqual([200, 400]);
    expect([await sells('sUSDe', '100000'), await sells('sUSDe', '5000000')]).toEqual([200, 200]);
  });

  test('error: refuses a changed route summary and malformed parameters', async () => {
    const [usdc, sUsde] = [up.token('USDC'), up.token('sUSDe')];
    const { body } = await kyberRoute(usdc, sUsde, 10n ** 6n);
    const { data } = body as { data: { routeSummary: object } };
    const changed = { data: { routeSummary: { ...data.routeSummary, amountOut: '1' } } };
    expect(await kyberBuild(1, changed, trader('x'))).toMatchObject({ status: 400, body: { code: 4002 } });
    expect((await kyberRoute(usdc, sUsde, 0n)).status).toBe(400);
    expect((await kyberRoute(usdc, sUsde, 1n, '&feeAmount=5')).status).toBe(400);
  });
});

const market = (collateral: string, loan: string): Market =>
  must(
    up.chain(1).markets.find((m) => m.collateral.displaySymbol === collateral && m.loan.symbol === loan),
    `${collateral}/${loan}`,
  );

describe('morpho', () => {
  async function ask<T>(of: Market, selection: string): Promise<T> {
    const query = `{ m0: marketById(marketId: "${of.id}", chainId: ${of.chainId}) { ${selection} } }`;
    return ((await up.ask('morpho', '', { query })).body as { data: { m0: T } }).data.m0;
  }
  const params = ({ loan, collateral, oracle, irm, lltv }: Market) => ({
    loanToken: loan.address,
    collateralToken: collateral.address,
    oracle,
    irm,
    lltv,
  });

  test.each([
    ['sUSDS', 'USDT'],
    ['WBTC', 'USDC'],
    ['siUSD', 'USDC'],
    ['weETH', 'WETH'],
  ])('default: all shared liquidity of %s/%s can be moved', async (collateral, loan) => {
    const local = chains.on(1);
    const snapshot = await local.snapshot();
    const target = market(collateral, loan);
    const { publicAllocatorSharedLiquidity: sources } = await ask<{
      publicAllocatorSharedLiquidity: LiquiditySource[];
    }>(target, SHARED_LIQUIDITY);
    const total = sources.reduce((sum, { assets }) => sum + BigInt(assets), 0n);
    expect(total).toBeGreaterThan(0n);
    const supplied = async () => {
      const { morphoBlue } = local.chain.contracts;
      const args = [target.id] as const;
      return (
        await local.client.readContract({ address: morphoBlue, abi: morphoAbi, functionName: 'market', args })
      )[0];
    };
    await local.accrue(target.id);
    const before = await supplied();
    await local.mint(local.chain.native, trader('allocator'), parseUnits('10', 18));

    for (const vault of new Set(sources.map((source) => source.vault.address))) {
      const mine = sources
        .filter((source) => source.vault.address === vault)
        .sort((a, b) => (a.withdrawMarket.marketId < b.withdrawMarket.marketId ? -1 : 1));
      const withdrawals = mine.map(({ assets, withdrawMarket }) => ({
        marketParams: params(local.market(withdrawMarket.marketId)),
        amount: BigInt(assets),
      }));
      await local.send({
        from: trader('allocator'),
        to: must(local.chain.contracts.publicAllocator, 'public allocator'),
        value: BigInt(mine[0]?.vault.publicAllocatorConfig.fee ?? 0),
        data: encodeFunctionData({
          abi: allocatorAbi,
          functionName: 'reallocateTo',
          args: [vault, withdrawals, params(target)],
        }),
      });
    }
    expect((await supplied()) - before).toBeGreaterThanOrEqual(total);
    await local.revert(snapshot);
  });

  test('behavior: a chain without an allocator has no shared liquidity', async () => {
    const of = must(up.chain(4663).markets[0], 'market');
    expect(await ask(of, SHARED_LIQUIDITY)).toEqual({ publicAllocatorSharedLiquidity: [] });
  });

  test('default: the borrow history ends with the rate of the chain', async () => {
    const of = market('sUSDe', 'PYUSD');
    const { historicalState, state } = await ask<{
      historicalState: { borrowApy: { x: number; y: number }[] };
      state: { borrowApy: number; utilization: number };
    }>(of, 'historicalState { borrowApy { x y } } state { borrowApy utilization }');
    const points = historicalState.borrowApy;
    expect(points.length).toBeGreaterThan(120);
    expect(points.at(-1)).toEqual({ x: NOW / 1000, y: expect.closeTo(state.borrowApy, 6) });
    expect(points.map(({ x }) => x)).toEqual(points.map(({ x }) => x).sort((a, b) => a - b));
    expect(points.every(({ y }) => y > 0 && y < 1)).toBe(true);
    expect(state.utilization).toBeCloseTo(0.908, 2);
  });
});

describe('prices', () => {
  test('behavior: follow the oracles of the chain', async () => {
    const local = chains.on(1);
    const snapshot = await local.snapshot();
    const price = async () =>
      (
        (await up.ask('coingecko', '/simple/price?vs_currencies=usd&ids=infinifi-staked-iusd')).body as Record<
          string,
          { usd: number }
        >
      )['infinifi-staked-iusd']?.usd;
    expect(await price()).toBe(1.0871);
    await local.moveOracle(market('siUSD', 'USDC').id, '-10');
    expect(await price()).toBeCloseTo(1.0871 * 0.9, 6);
    await local.revert(snapshot);
  });
});

import { type Address, erc20Abi, maxUint256, numberToHex, zeroAddress } from 'viem';
import { expect } from 'vitest';
import { compileContracts } from '../../devnet/chain/compile.ts';
import { sendMined } from '../../devnet/chain/receipt.ts';
import { OWNER } from '../../devnet/seed/accounts.ts';
import { seededWallet } from '../../devnet/seed/wallets.ts';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import type { Market, Token } from '../../src/catalog/index.ts';
import { Decimal, fromUnits, ZERO } from '../../src/shared/decimal.ts';
import { referenceFor } from '../../src/transactions/quote/reference.ts';
import { drain, localCatalog, marketOf, type Partner, partnerOn, tokenOf, units } from '../e2e/leverage/support.ts';
import type { AdversarialVenues, Pair } from './adversarial-venues.ts';
import { type EquityVerbs, equityVerbs, REFUSED, type SentCall } from './equity.ts';
import { manageVariables, openVariables, vaultVariables } from './partner-inputs.ts';
import { type Json, PARTNER, type TestService } from './service.ts';
import { account, user } from './vaults.ts';

/** One swap of a path: its identification by a venue, and the value of an input at prices that no venue influences. */
export interface FlowSwap extends Pair {
  reference(amountIn: bigint): bigint;
}

/** A path with swaps: its request, and how its build is signed, sent and compared with its worst case. */
export interface Flow {
  readonly name: string;
  readonly chainId: number;
  readonly swaps: readonly FlowSwap[];
  /** @param extra further fields of the request */
  ask(extra?: object): Promise<Json>;
  /** Send it on a chain that is reverted afterwards; `false` = it reverted without a loss. */
  execute(answer: Json): Promise<boolean>;
}

export interface VenueFlows {
  /** Every path with swaps, of chain 1 (two venues) and chain 4663 (one). */
  readonly ethereum: readonly Flow[];
  /** On chain 1, at the only venue of principal tokens. */
  readonly principal: readonly Flow[];
  readonly robinhood: readonly Flow[];
  readonly markets: readonly Market[];
  /** Refresh the prices behind the references. */
  readReferences(): Promise<void>;
}

const PLAN = 'calls { to data value } minTokenOut worstCase { equity paidOut ltvPct }';
const SHAPES = {
  openLeveragePlan: ['OpenLeverageInput', 'LeveragePlan', PLAN, openVariables],
  manageLeveragePlan: ['ManageLeverageInput', 'LeveragePlan', PLAN, manageVariables],
  equityDepositPlan: [
    'EquityDepositInput',
    'EquityDepositPlan',
    'calls { to data value } deposit { stock { minReceived borrowAmount } } worstCase { equity yieldLtvPct }',
    vaultVariables,
  ],
  equityExitPlan: ['EquityExitInput', 'EquityExitPlan', 'calls { to data value } worstCase { equity }', vaultVariables],
} as const;

/** Fixed, not estimated: reverting calls have to be sent too. */
const GAS = numberToHex(6_000_000n);
/** LTVs are shown with two places. */
const SHOWN_POINTS = 0.0052;

/** Open the managed positions, fund and approve the payments, and list every path. The chains stay unchanged afterwards. */
export async function createVenueFlows(service: TestService, venues: AdversarialVenues): Promise<VenueFlows> {
  const vaults: EquityVerbs = equityVerbs(service);
  const spy = vaults.vault('SPY');
  const shareholder = seededWallet('shareholder').account.address;
  const susde = marketOf(1, 'sUSDe/PYUSD 91.5');
  /** Lends less than its opens borrow. */
  const dry = marketOf(1, 'wsrUSD/USDC 94.5');
  const fixed = marketOf(1, 'PT-sUSDe/USDC 91.5');
  const usdg = marketOf(4663, 'syrupUSDG/USDG 91.5');
  const markets = [susde, dry, fixed, usdg, spy.stockMarket];
  const local = (chainId: number) => service.world.chains.on(chainId);
  const partners = new Map([1, 4663].map((chainId) => [chainId, partnerOn(service, chainId, account)]));
  const partner = (chainId: number) => partners.get(chainId) as Partner;
  const executor = (await compileContracts()).BatchExecutor;
  if (!executor) throw new Error('contracts/product/testing/BatchExecutor.sol was not compiled');
  const { abi, deployedBytecode: bytecode } = executor;
  const managed = new Map<number, number>();
  const nextIds = new Map<number, number>();
  const oracles = new Map<string, bigint>();
  const usd = new Map<string, Decimal>();

  async function prepare(): Promise<void> {
    await drain(service, dry, '9000');
    await service.refresh('lending-state:1');
    for (const market of [susde, usdg]) {
      const on = partner(market.chainId);
      managed.set(market.chainId, await on.nextId());
      const body = { strategyId: market.id, payToken: market.collateral.address, amount: '2000', leverage: 4 };
      await on.send(await on.build('/v1/partner/leverage/build', { ...body, userAddress: user }));
      nextIds.set(market.chainId, await on.nextId());
    }
    const paid = [susde, dry, fixed, usdg].map(({ chainId, collateral }) => [chainId, collateral] as const);
    const others = [tokenOf(1, 'USDC'), tokenOf(1, 'USDT'), tokenOf(4663, 'USDe')];
    for (const [chainId, token] of [...paid, ...others.map((other) => [other.chainId, other] as const)]) {
      const { flashLeverage, flashLeverageRouter } = local(chainId).chain.contracts;
      for (const spender of [flashLeverage, flashLeverageRouter]) {
        const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, maxUint256] });
        await local(chainId).send({ from: user, to: token.address, data });
      }
    }
    await vaults.fund(user, spy, units('3000', spy.depositToken));
    for (const chainId of [1, 4663]) {
      for (const address of [user, OWNER]) await local(chainId).impersonate(address);
    }
    venues.remember(true);
  }

  async function readReferences(): Promise<void> {
    for (const market of markets) oracles.set(market.oracle, await local(market.chainId).oraclePrice(market));
    for (const chainId of [1, 4663]) {
      const { body } = await service.get(`/v1/prices?chainId=${chainId}`);
      for (const [address, price] of Object.entries(body.prices)) {
        usd.set(`${chainId}:${address}`, new Decimal(String(price)));
      }
    }
  }

  const oracleOf = ({ oracle }: Market) => oracles.get(oracle) as bigint;
  const swapOf = (market: Market, tokenIn: Token, tokenOut: Token, recipient?: Address): FlowSwap => ({
    tokenIn: tokenIn.address,
    tokenOut: tokenOut.address,
    recipient,
    reference(amountIn) {
      const usdOf = (token: Address) => usd.get(`${market.chainId}:${token}`);
      const found = referenceFor({ market, price: oracleOf(market), tokenIn, tokenOut, amountIn, usdOf });
      if (!found) throw new Error(`nothing prices ${tokenIn.symbol} in ${tokenOut.symbol}`);
      return found.amountOut;
    },
  });

  async function ask(verb: keyof typeof SHAPES, input: object): Promise<Json> {
    const [type, plan, fields, variablesOf] = SHAPES[verb];
    const query = `mutation($wallet: Address!, $input: ${type}!) { plan: ${verb}(wallet: $wallet, input: $input) { __typename ... on ${plan} { ${fields} } ${REFUSED} } }`;
    const { body } = await service.graphql(query, { ...variablesOf(input) }, PARTNER);
    const [error] = body.errors ?? [];
    return error ? { __typename: 'Error', code: error.extensions.code, message: error.message } : body.data.plan;
  }

  /** Send calls one after the other; returns whether the last one succeeded. */
  async function send(chainId: number, from: Address, calls: readonly SentCall[]): Promise<boolean> {
    const { client } = local(chainId);
    let succeeded = true;
    for (const { to, data, value } of calls) {
      const receipt = await sendMined(client, { from, to, data, value: numberToHex(BigInt(value ?? 0)), gas: GAS });
      succeeded = receipt.status === 'success';
    }
    return succeeded;
  }

  async function sendBatch(wallet: Address, calls: readonly SentCall[]): Promise<boolean> {
    const { client } = local(4663);
    await client.setCode({ address: wallet, bytecode });
    const batch = calls.map(({ to, data, value }) => ({ to, value: BigInt(value ?? 0), data }));
    const data = encodeFunctionData({ abi, functionName: 'execute', args: [batch] });
    return send(4663, OWNER, [{ to: wallet, data }]);
  }

  /** Run on a chain that is reverted afterwards. */
  async function apart<T>(chainId: number, run: () => Promise<T>): Promise<T> {
    const snapshot = await local(chainId).snapshot();
    try {
      return await run();
    } finally {
      await local(chainId).revert(snapshot);
    }
  }

  const equityOf = async (market: Market, id: number) => {
    const { open, collateral, debt, ltvPct } = await partner(market.chainId).position(market, id);
    expect(open).toBe(true);
    const value = (collateral * oracleOf(market)) / 10n ** 36n;
    return { ltvPct, debt, equity: fromUnits(value - debt, market.loan.decimals) };
  };
  const expectAtLeast = (actual: Decimal, least: string) =>
    expect(actual.gte(least), `${actual} is less than ${least}`).toBe(true);

  async function expectWithinWorst(market: Market, id: number, { worstCase }: Json, received = ZERO): Promise<void> {
    const { equity, ltvPct } = await equityOf(market, id);
    expectAtLeast(equity.plus(received), worstCase.equity);
    expect(ltvPct.lte(Number(worstCase.ltvPct) + SHOWN_POINTS), `${ltvPct} above ${worstCase.ltvPct}`).toBe(true);
  }

  function openFlow(name: string, market: Market, pay: Token, amount: string): Flow {
    const isDirect = pay.address === market.collateral.address;
    const { chainId } = market;
    return {
      name,
      chainId,
      swaps: [
        ...(isDirect ? [] : [swapOf(market, pay, market.collateral)]),
        swapOf(market, market.loan, market.collateral),
      ],
      ask: (extra) =>
        ask('openLeveragePlan', {
          chainId,
          strategyId: market.id,
          payToken: pay.address,
          amount,
          leverage: '2',
          userAddress: user,
          ...extra,
        }),
      execute: (plan) =>
        apart(chainId, async () => {
          const succeeded = await send(chainId, user, plan.calls);
          if (succeeded) await expectWithinWorst(market, nextIds.get(chainId) as number, plan);
          return succeeded;
        }),
    };
  }

  function manageFlow(name: string, market: Market, swap: FlowSwap, input: object): Flow {
    const { chainId, loan } = market;
    return {
      name,
      chainId,
      swaps: [swap],
      ask: (extra) =>
        ask('manageLeveragePlan', { chainId, id: managed.get(chainId), userAddress: user, ...input, ...extra }),
      execute: (plan) =>
        apart(chainId, async () => {
          const on = partner(chainId);
          const id = managed.get(chainId) as number;
          const balance = await on.balance(loan);
          const succeeded = await send(chainId, user, plan.calls);
          if (!succeeded) return false;
          const isSale = name.includes('close');
          const received = isSale ? fromUnits((await on.balance(loan)) - balance, loan.decimals) : ZERO;
          if (plan.worstCase.ltvPct !== null) await expectWithinWorst(market, id, plan, received);
          else expectAtLeast(received, plan.worstCase.equity);
          if (isSale) expectAtLeast(received, plan.worstCase.paidOut);
          return true;
        }),
    };
  }

  function manageFlows(market: Market, pay: Token, amount: string): Flow[] {
    const { loan, collateral } = market;
    const paid = { amount, payToken: pay.address };
    return [
      manageFlow('increase', market, swapOf(market, loan, collateral), { action: 'increase_leverage', leverage: '5' }),
      manageFlow('close', market, swapOf(market, collateral, loan), { action: 'close' }),
      manageFlow('close a part', market, swapOf(market, collateral, loan), { action: 'close', amount: '1500' }),
      manageFlow('repay', market, swapOf(market, pay, loan), { action: 'repay', ...paid }),
      manageFlow('add', market, swapOf(market, pay, collateral), { action: 'add_collateral', ...paid }),
    ];
  }

  const { stock, depositToken, stockMarket, yieldMarket } = spy;
  const loop = yieldMarket.collateral;
  const { flashLeverage } = local(4663).chain.contracts;
  const deposit: Flow = {
    name: 'vault deposit',
    chainId: 4663,
    swaps: [
      swapOf(stockMarket, depositToken, stock),
      swapOf(yieldMarket, depositToken, loop, vaults.router),
      swapOf(yieldMarket, depositToken, loop, flashLeverage),
    ],
    ask: (extra) =>
      ask('equityDepositPlan', { strategyId: spy.id, amount: '3000', stockLtvPct: '20', userAddress: user, ...extra }),
    execute: ({ calls, deposit, worstCase }) =>
      apart(4663, async () => {
        if (!(await sendBatch(user, calls))) return false;
        const { collateral } = await vaults.stockLeg(spy, user);
        expect(fromUnits(collateral, stock.decimals).gte(deposit.stock.minReceived)).toBe(true);
        const held = await equityOf(yieldMarket, nextIds.get(4663) as number);
        const { yieldLtvPct: yieldLtv, equity } = worstCase;
        expect(held.ltvPct.lte(Number(yieldLtv) + SHOWN_POINTS), `${held.ltvPct} above ${yieldLtv}`).toBe(true);
        const value = (collateral * oracleOf(stockMarket)) / 10n ** 36n;
        const net = fromUnits(value, depositToken.decimals).minus(deposit.stock.borrowAmount).plus(held.equity);
        expectAtLeast(net, equity);
        return true;
      }),
  };
  const exit: Flow = {
    name: 'vault exit',
    chainId: 4663,
    swaps: [swapOf(stockMarket, stock, depositToken), swapOf(yieldMarket, loop, depositToken)],
    ask: (extra) => ask('equityExitPlan', { strategyId: spy.id, userAddress: shareholder, ...extra }),
    execute: ({ calls, worstCase }) =>
      apart(4663, async () => {
        const before = await vaults.balance(depositToken.address, shareholder);
        if (!(await sendBatch(shareholder, calls))) return false;
        const received = (await vaults.balance(depositToken.address, shareholder)) - before;
        expectAtLeast(fromUnits(received, depositToken.decimals), worstCase.equity);
        expect((await vaults.stockLeg(spy, shareholder)).collateral).toBe(0n);
        return true;
      }),
  };

  await prepare();
  await readReferences();
  return {
    ethereum: [
      openFlow('open', susde, susde.collateral, '1000'),
      openFlow('open with another token', susde, tokenOf(1, 'USDC'), '1000'),
      ...manageFlows(susde, tokenOf(1, 'ETH'), '0.01'),
      openFlow('open with liquidity brought in', dry, dry.collateral, '10000'),
      openFlow('open with another token and liquidity brought in', dry, tokenOf(1, 'USDT'), '10000'),
    ],
    principal: [openFlow('open on a principal token', fixed, fixed.collateral, '1000')],
    robinhood: [
      openFlow('open', usdg, usdg.collateral, '1000'),
      openFlow('open with another token', usdg, tokenOf(4663, 'USDe'), '1000'),
      openFlow('open with ETH', usdg, tokenOf(4663, 'ETH'), '0.2'),
      ...manageFlows(usdg, tokenOf(4663, 'USDe'), '20'),
      deposit,
      exit,
    ],
    markets,
    readReferences,
  };
}

/** Whether something was built. */
export const isBuilt = ({ __typename }: Json): boolean => /Plan$/.test(__typename);

/** Calldata of all calls to sign, lower case. */
export const dataOf = (answer: Json): string => answer.calls.map(({ data }: Json) => String(data).toLowerCase()).join();

/** A venue's router in the form of calldata. */
export const routerIn = (source: 'AggregatorOne' | 'AggregatorTwo'): string =>
  (localCatalog.chain(1)?.swapRouters[source]?.[0] ?? zeroAddress).slice(2).toLowerCase();

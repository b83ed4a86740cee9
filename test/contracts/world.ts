import {
  type Abi,
  type Address,
  BaseError,
  type ContractFunctionArgs,
  type ContractFunctionName,
  decodeErrorResult,
  type EncodeFunctionDataParameters,
  erc20Abi,
  type Hex,
  parseAbi,
  parseEventLogs,
  parseUnits,
  type TransactionReceipt,
} from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { swapVenueAbi } from '../../devnet/abi/swap-venue.ts';
import type { LocalChain } from '../../devnet/chain/index.ts';
import { holdingsOf, marketByKey, planLeverage } from '../../devnet/chain/seed-plans.ts';
import { planSwap } from '../../devnet/chain/swaps.ts';
import { createOverlay } from '../../devnet/overlay.ts';
import { accounts, OWNER } from '../../devnet/seed/accounts.ts';
import type { DeploymentSettings } from '../../devnet/seed/deployment.ts';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { equityRouterAbi } from '../../src/abi/equity-router.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { flashLeverageRouterAbi } from '../../src/abi/flash-leverage-router.ts';
import { createCatalog, curatedChains, type Market } from '../../src/catalog/index.ts';
import { startPooledChains } from '../support/chain-pool.ts';

const DEPLOYED_AT = Date.UTC(2026, 8, 1);

/** Two wallets that the seeding leaves alone. */
export const [alice, mallory] = [accountAddress(1), accountAddress(2)];
export { OWNER };

/** Errors of our own equity router: those of the deployed one are not known. */
const equityRouterErrors = parseAbi([
  'error EquityRouter__DepositTokenMismatch()',
  'error EquityRouter__CollateralAmountNotZero()',
  'error EquityRouter__NothingToExit()',
  'error EquityRouter__UnsupportedSwapRouter()',
  'error EquityRouter__SwapRouterCallFailed()',
  'error EquityRouter__MinTokenOutNotMet()',
  'error EquityRouter__UntrustedLender()',
]);

export const productErrors: Abi = [
  ...flashLeverageAbi,
  ...flashLeverageRouterAbi,
  ...equityRouterErrors,
  ...swapVenueAbi,
  ...parseAbi(['error InsufficientAllowance(address spender, uint256 allowance, uint256 needed)']),
].filter(({ type }) => type === 'error');

export type World = ReturnType<typeof createWorld>;

/** Run one local chain for a test file; every test begins with the state of the seeding. */
export function useWorld(chainId: number, deployment: Partial<DeploymentSettings> = {}): () => World {
  let world: World | undefined;
  let stop = async (): Promise<void> => {};
  let snapshot: Hex = '0x';
  beforeAll(async () => {
    const catalog = createCatalog(curatedChains, createOverlay(DEPLOYED_AT));
    const chains = catalog.chains.filter((chain) => chain.chainId === chainId);
    const running = await startPooledChains({ chains, mining: 'auto', deployment, clock: { now: () => DEPLOYED_AT } });
    stop = running.stop;
    world = createWorld(running.on(chainId));
  });
  beforeEach(async () => {
    snapshot = await current().chain.snapshot();
  });
  afterEach(() => current().chain.revert(snapshot));
  afterAll(() => stop());
  function current(): World {
    if (world === undefined) throw new Error('The world has not started');
    return world;
  }
  return current;
}

export interface Call {
  readonly from: Address;
  readonly to: Address;
  readonly data: Hex;
  readonly value?: bigint;
}

function createWorld(local: LocalChain) {
  const { client, chain: row } = local;
  const { flashLeverage, flashLeverageRouter, equityRouter = '0x' } = row.contracts;
  const ctx = { chain: row, client };

  const send = (call: Call): Promise<TransactionReceipt> => local.send(call);
  const market = (key: string): Market => marketByKey(row, key);
  const units = (symbol: string, amount: string): bigint => parseUnits(amount, local.token(symbol).decimals);
  const swap = (tokenIn: string, tokenOut: string, amountIn: bigint, recipient: Address) =>
    planSwap(row, client, local.token(tokenIn).address, local.token(tokenOut).address, amountIn, recipient);

  const positions = (user: Address) =>
    client.readContract({
      address: flashLeverage,
      abi: flashLeverageAbi,
      functionName: 'getUserLeveragePositions',
      args: [user],
    });
  const position = async (user: Address, id = 0) => {
    const found = (await positions(user))[id];
    if (found === undefined) throw new Error(`${user} has no position ${id}`);
    const held = await holdingsOf(ctx, local.market(found.marketId), found.userProxy);
    return { ...found, ...held };
  };
  const balance = (symbol: string, of: Address): Promise<bigint> => {
    const { address, isNative } = local.token(symbol);
    if (isNative) return client.getBalance({ address: of });
    return client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [of] });
  };
  const approve = (symbol: string, from: Address, spender: Address, amount: bigint) =>
    send({
      from,
      to: local.token(symbol).address,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] }),
    });

  return {
    chain: local,
    client,
    row,
    flashLeverage,
    router: flashLeverageRouter,
    equityRouter: equityRouter as Address,
    market,
    units,
    swap,
    positions,
    position,
    balance,
    approve,
    send,
    /** The custom error that a call is refused with, or undefined when it passes. */
    refusal: ({ from, to, data, value }: Call) => refusal(client.call({ account: from, to, data, value })),
    /** Parameters that open a market's position at an LTV. */
    leverageParams: (key: string, amount: bigint, ltvPct: string, amountCollateral = amount) =>
      planLeverage(ctx, market(key), amount, amountCollateral, ltvPct),
    /** Open a position for a wallet, straight at FlashLeverage. */
    open: async (user: Address, key: string, amount: bigint, ltvPct: string): Promise<TransactionReceipt> => {
      const { collateral } = market(key);
      await approve(collateral.symbol, user, flashLeverage, amount);
      const params = await planLeverage(ctx, market(key), amount, amount, ltvPct);
      return send({ from: user, to: flashLeverage, data: leverageCall('leverage', [user, params]) });
    },
  };
}

/** Debt over collateral value, as a fraction of 1e18, at the market's oracle. */
export async function ltvOf(world: World, user: Address, id = 0): Promise<bigint> {
  const { debt, collateral, marketId } = await world.position(user, id);
  const value = (collateral * (await world.chain.oraclePrice(marketId))) / 10n ** 36n;
  return (debt * 10n ** 18n) / value;
}

/** Names of the product's events in a receipt, with their arguments. */
export function eventsOf(receipt: TransactionReceipt) {
  return parseEventLogs({ abi: flashLeverageAbi, logs: receipt.logs }).map(({ eventName, args }) => ({
    eventName,
    args,
  }));
}

export const leverageCall = callBuilder(flashLeverageAbi);
export const routerCall = callBuilder(flashLeverageRouterAbi);
export const equityCall = callBuilder(equityRouterAbi);
export const venueCall = callBuilder(swapVenueAbi);

export function callBuilder<const TAbi extends Abi>(abi: TAbi) {
  return <TName extends ContractFunctionName<TAbi>>(
    functionName: TName,
    args: ContractFunctionArgs<TAbi, 'pure' | 'view' | 'nonpayable' | 'payable', TName>,
  ): Hex => encodeFunctionData({ abi, functionName, args } as unknown as EncodeFunctionDataParameters);
}

/** Name the contract error that a call ends in; `undefined` when it succeeds. */
export async function refusal(call: Promise<unknown>) {
  try {
    await call;
    return undefined;
  } catch (error) {
    const data = revertData(error);
    if (data === undefined) throw error;
    return decodeRefusal(data);
  }
}

/** Decode revert data; a plain string is named `Error`, an index out of bounds `Panic`. */
function decodeRefusal(data: Hex): { name: string; args: readonly unknown[] } {
  const { errorName, args = [] } = decodeErrorResult({ abi: productErrors, data });
  return { name: errorName, args };
}

function revertData(error: unknown): Hex | undefined {
  if (!(error instanceof BaseError)) return undefined;
  const holder = error.walk((cause) => typeof (cause as { data?: unknown }).data === 'string');
  return (holder as { data?: Hex } | null)?.data;
}

function accountAddress(index: number): Address {
  const account = accounts[index];
  if (account === undefined) throw new Error(`No development account ${index}`);
  return account.address;
}

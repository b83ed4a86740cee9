import { createPublicClient, createWalletClient, type PublicClient, type TransactionReceipt } from 'viem';
import type { LocalAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { localTransport } from '../../../devnet/chain/transport.ts';
import { TRANSACTION_GAS } from '../../../devnet/chain/verbs.ts';
import { createOverlay } from '../../../devnet/overlay.ts';
import { BORROWER } from '../../../devnet/seed/accounts.ts';
import { marketKey } from '../../../devnet/seed/markets.ts';
import { erc20Abi } from '../../../src/abi/erc20.ts';
import { flashLeverageAbi } from '../../../src/abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../../src/abi/morpho-blue.ts';
import { oracleAbi } from '../../../src/abi/oracle.ts';
import { createCatalog, curatedChains, type Market, type Token } from '../../../src/catalog/index.ts';
import { Decimal, toUnits } from '../../../src/shared/decimal.ts';
import { type Json, PARTNER, type TestService } from '../../support/service.ts';
import { WORLD_START_MS } from '../../support/test-clock.ts';

/** The catalog of the local world, overlay included. */
export const localCatalog = createCatalog(curatedChains, createOverlay(WORLD_START_MS));

export function marketOf(chainId: number, key: string): Market {
  const found = localCatalog.chain(chainId)?.markets.find((market) => marketKey(market) === key);
  if (!found) throw new Error(`no market ${key} on chain ${chainId}`);
  return found;
}

export function tokenOf(chainId: number, symbol: string): Token {
  const found = localCatalog.chain(chainId)?.tokens.find((token) => token.symbol === symbol);
  if (!found) throw new Error(`no token ${symbol} on chain ${chainId}`);
  return found;
}

/** State of a position on chain. */
export interface OnChain {
  readonly open: boolean;
  readonly collateral: bigint;
  readonly debt: bigint;
  readonly ltvPct: Decimal;
  /** Deposit basis of the contract, loan base units. */
  readonly basis: bigint;
}

/** A partner with a wallet: calls the service, signs with its own key, reads the chain itself. */
export interface Partner {
  readonly client: PublicClient;
  build(path: string, body: Json): Promise<Json>;
  /** Sign and send approvals and transaction, as a partner does. Every receipt must succeed. */
  send(bundle: Json): Promise<TransactionReceipt[]>;
  position(market: Market, id: number): Promise<OnChain>;
  nextId(): Promise<number>;
  balance(token: Token): Promise<bigint>;
}

export function partnerOn(service: TestService, chainId: number, account: LocalAccount): Partner {
  const { rpcUrl } = service.world.chains.on(chainId);
  const transport = localTransport(rpcUrl);
  const client = createPublicClient({ transport, pollingInterval: 20 });
  const wallet = createWalletClient({ account, transport });
  const chain = localCatalog.chain(chainId);
  if (!chain) throw new Error(`no chain ${chainId}`);
  const { flashLeverage, morphoBlue } = chain.contracts;
  return {
    client,
    async build(path, body) {
      const answer = await service.post(path, { chainId, ...body }, PARTNER);
      expect(answer.body, JSON.stringify(answer.body)).not.toHaveProperty('error');
      expect(answer.status).toBe(200);
      return answer.body;
    },
    async send(bundle) {
      const receipts: TransactionReceipt[] = [];
      for (const { to, data, value } of bundle.calls ?? [...bundle.approvals, bundle.tx]) {
        const call = { to, data, value: BigInt(value ?? 0) };
        // The call runs first, so that a revert has its reason. An estimate would run it some ten times.
        await client.call({ account, ...call, gas: TRANSACTION_GAS });
        const receipt = await wallet.sendTransactionSync({ chain: null, ...call, gas: TRANSACTION_GAS });
        expect(receipt.status).toBe('success');
        receipts.push(receipt);
      }
      return receipts;
    },
    async position(market, id) {
      const read = { address: flashLeverage, abi: flashLeverageAbi } as const;
      const params = {
        loanToken: market.loan.address,
        collateralToken: market.collateral.address,
        oracle: market.oracle,
        irm: market.irm,
        lltv: market.lltv,
      };
      const {
        open,
        userProxy,
        amountDepositedInLoanToken: basis,
      } = await client.readContract({
        ...read,
        functionName: 'getUserLeveragePosition',
        args: [account.address, BigInt(id)],
      });
      const [, borrowShares, collateral] = await client.readContract({
        address: morphoBlue,
        abi: morphoBlueAbi,
        functionName: 'position',
        args: [market.id, userProxy],
      });
      const debt = await client.readContract({
        ...read,
        functionName: 'getSharesValueInLoanToken',
        args: [params, borrowShares],
      });
      const price = await client.readContract({ address: market.oracle, abi: oracleAbi, functionName: 'price' });
      const value = (collateral * price) / 10n ** 36n;
      const ltvPct = value === 0n ? new Decimal(0) : new Decimal(debt.toString()).times(100).div(value.toString());
      return { open, collateral, debt, ltvPct, basis };
    },
    async nextId() {
      const positions = await client.readContract({
        address: flashLeverage,
        abi: flashLeverageAbi,
        functionName: 'getUserLeveragePositions',
        args: [account.address],
      });
      return positions.length;
    },
    balance: (token) =>
      token.isNative
        ? client.getBalance({ address: account.address })
        : client.readContract({
            address: token.address,
            abi: erc20Abi,
            functionName: 'balanceOf',
            args: [account.address],
          }),
  };
}

/** Whole tokens as base units. */
export function units(amount: string, token: Token): bigint {
  return toUnits(new Decimal(amount), token.decimals);
}

/** Within one basis point of the preview. */
export function expectPreviewed(actual: OnChain, preview: Json, market: Market): void {
  const near = (value: Decimal, expected: Decimal, what: string) => {
    const off = value.minus(expected).abs();
    expect(off.lte(expected.abs().times('0.0001')), `${what}: ${value.toFixed(8)} is not ${expected.toFixed(8)}`).toBe(
      true,
    );
  };
  const collateral = new Decimal(actual.collateral.toString()).shiftedBy(-market.collateral.decimals);
  near(collateral, new Decimal(preview.amountLeveragedCollateral), 'collateral');
  expect(
    actual.ltvPct.minus(preview.effectiveLtv).abs().lte('0.01'),
    `LTV ${actual.ltvPct} vs ${preview.effectiveLtv}`,
  ).toBe(true);
  expect(new Decimal(100).div(new Decimal(100).minus(actual.ltvPct)).minus(preview.leverage).abs().lte('0.051')).toBe(
    true,
  );
}

/** Borrow from a market until only `left` remains. */
export async function drain(service: TestService, market: Market, left: string): Promise<void> {
  const local = service.world.chains.on(market.chainId);
  const [supplied, , borrowed] = await local.client.readContract({
    address: local.chain.contracts.morphoBlue,
    abi: morphoBlueAbi,
    functionName: 'market',
    args: [market.id],
  });
  const amount = supplied - borrowed - units(left, market.loan);
  const price = await local.oraclePrice(market);
  await local.openMorphoPosition(market, {
    account: BORROWER,
    collateral: (((amount * 10n ** 36n) / price) * 2n * 10n ** 18n) / market.lltv,
    borrowed: amount,
  });
}

import { createWalletClient } from 'viem';
import type { LocalAccount } from 'viem/accounts';
import { compileContracts } from '../../devnet/chain/compile.ts';
import { localTransport } from '../../devnet/chain/transport.ts';
import { createOverlay } from '../../devnet/overlay.ts';
import { OWNER } from '../../devnet/seed/accounts.ts';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { erc20Abi } from '../../src/abi/erc20.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import type { Chain, EquityVault, Market } from '../../src/catalog/types.ts';
import type { Address, Hex } from '../../src/shared/ids.ts';
import { vaultVariables } from './partner-inputs.ts';
import { type Answer, type Json, PARTNER, type TestService } from './service.ts';
import { WORLD_START_MS } from './test-clock.ts';

export const CHAIN_ID = 4663;
/** Fixed, not estimated: reverting calls have to be sent too. */
const CALL_GAS = 3_000_000n;

/** One call as returned by both surfaces. */
export interface SentCall {
  readonly to: Address;
  readonly data: Hex;
  readonly value?: string;
}

const BATCH = /* GraphQL */ `
  chainId
  strategyId
  action
  atomic
  effectiveSlippageBps
  expiresAt
  instructions
  simulatedGas
  costs { kind }
  worstCase { equity ltvPct }
  issues { kind message required available askedSlippageBps effectiveSlippageBps }
  calls { to data value intent { functionName arguments { name value } spender minOutputUnits recipient } }
  sendCalls
`;
export const REFUSED = /* GraphQL */ `
  ... on Refusal { __typename code message retryable retryAfterSec
  ... on StaleDataRefusal { group staleForSec }
  ... on NoRouteRefusal { tokenInAddress tokenOutAddress venues { source answer } }
  ... on InsufficientLiquidityRefusal { needed available loanToken { symbol } marketId }
  ... on LimitExceededRefusal { field value limits { name value } }
  ... on SimulationRevertedRefusal { contractError callIndex }
  ... on NotEligibleRefusal { ineligibility pointer }
  }
`;
const PREVIEW = /* GraphQL */ `
  depositAmount netApyPct netApyBeforePct
  stock { token { symbol } priceUsd expectedReceived minReceived requestedLtvPct ltvPct maxLtvPct liquidationPriceUsd priceDropToLiquidationPct borrowAmount borrowApyPct borrowApyBeforePct swapSource priceImpactPct }
  yieldLeg { strategyId collateralIn leverage ltvPct amountFlashLoan depositBasis leverageApyPct leverageApyBeforePct swapSource priceImpactPct }
  fees { stockLegBps yieldLegBps estimatedUsd }
`;
const PREVIEW_QUERY = `query($input: EquityDepositInput!) { preview(input: { equityDeposit: $input }) { __typename ... on EquityDepositPreview { note effectiveSlippageBps deposit { ${PREVIEW} } } ${REFUSED} } }`;
export const DEPOSIT_QUERY = `mutation($wallet: Address!, $input: EquityDepositInput!) { equityDepositPlan(wallet: $wallet, input: $input) { __typename ... on EquityDepositPlan { ${BATCH} deposit { ${PREVIEW} } } ${REFUSED} } }`;
export const EXIT_QUERY = `mutation($wallet: Address!, $input: EquityExitInput!) { equityExitPlan(wallet: $wallet, input: $input) { __typename ... on EquityExitPlan { ${BATCH} yieldPositionIds position { yieldLoopMatch stock { debtAmount } } } ... on AmbiguousYieldLoopsRefusal { field strategyId yieldPositionIds } ${REFUSED} } }`;

/** The chain of the local world, overlay included. */
export function equityChain(): Chain {
  const chain = createCatalog(curatedChains, createOverlay(WORLD_START_MS)).chain(CHAIN_ID);
  if (!chain) throw new Error('no chain with equity vaults');
  return chain;
}

/**
 * Retries of upstreams wait by moving the service's clock. These tests need more quotes than a provider's
 * budget has in the seconds that they take.
 */
export function passing(service: () => TestService | undefined): (ms: number) => Promise<void> {
  return async (ms) => service()?.clock.advance(ms);
}

export type EquityVerbs = ReturnType<typeof equityVerbs>;

/** Verbs of one running service, for vaults. */
export function equityVerbs(service: TestService, chain: Chain = equityChain()) {
  const local = service.world.chains.on(CHAIN_ID);
  const { client } = local;
  const { morphoBlue, flashLeverage, equityRouter } = chain.contracts;
  const router = equityRouter as Address;

  const vault = (symbol: string): EquityVault => {
    const found = chain.equityVaults.find(({ stock }) => stock.symbol === symbol);
    if (!found) throw new Error(`no ${symbol} vault`);
    return found;
  };
  const ask = async (query: string, input: object): Promise<Json> => {
    const { body } = await service.graphql(query, { ...vaultVariables(input) }, PARTNER);
    if (body.errors) throw new Error(JSON.stringify(body.errors));
    return Object.values(body.data as object)[0];
  };
  const balance = (token: Address, of: Address) =>
    client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [of] });

  return {
    local,
    router,
    vault,
    ask,
    balance,
    preview: (input: object): Promise<Json> => ask(PREVIEW_QUERY, input),
    deposit: (input: object): Promise<Json> => ask(DEPOSIT_QUERY, input),
    exit: (input: object): Promise<Json> => ask(EXIT_QUERY, input),
    post: (path: string, body: object): Promise<Answer> => service.post(path, body, PARTNER),
    positions: async (user: Address): Promise<Json> =>
      (await service.get(`/v1/partner/positions/${user}?chainId=${CHAIN_ID}`, PARTNER)).body,
    isAuthorized: (user: Address) =>
      client.readContract({
        address: morphoBlue,
        abi: morphoBlueAbi,
        functionName: 'isAuthorized',
        args: [user, router],
      }),
    /** Supply assets, supply shares, borrow assets and so on, as stored. */
    totals: (market: Market) =>
      client.readContract({ address: morphoBlue, abi: morphoBlueAbi, functionName: 'market', args: [market.id] }),
    stockLeg: async (which: EquityVault, user: Address) => {
      const [, borrowShares, collateral] = await client.readContract({
        address: morphoBlue,
        abi: morphoBlueAbi,
        functionName: 'position',
        args: [which.stockMarket.id, user],
      });
      return { borrowShares, collateral };
    },
    loops: (user: Address) =>
      client.readContract({
        address: flashLeverage,
        abi: flashLeverageAbi,
        functionName: 'getUserLeveragePositions',
        args: [user],
      }),
    fund: (user: Address, which: EquityVault, amount: bigint) => local.mint(which.depositToken, user, amount),
    /** Grant the router directly, like an incomplete batch. */
    authorize: (user: Address, granted: boolean) =>
      local.send({
        from: user,
        to: morphoBlue,
        data: encodeFunctionData({ abi: morphoBlueAbi, functionName: 'setAuthorization', args: [router, granted] }),
      }),
    /** Sign and send one call after the other with the wallet's own key, each mined before the next: returns which succeeded. */
    sendInOrder: async (account: LocalAccount, calls: readonly SentCall[]): Promise<readonly boolean[]> => {
      const wallet = createWalletClient({ account, transport: localTransport(local.rpcUrl) });
      const succeeded: boolean[] = [];
      for (const { to, data, value } of calls) {
        const call = { to, data, value: BigInt(value ?? 0), gas: CALL_GAS };
        const { status } = await wallet.sendTransactionSync({ chain: null, ...call });
        succeeded.push(status === 'success');
      }
      return succeeded;
    },
    /** All calls in one transaction: the wallet temporarily runs a batch executor, as in EIP-7702. */
    sendAtomically: async (user: Address, calls: readonly SentCall[]): Promise<void> => {
      const { BatchExecutor } = await compileContracts();
      if (!BatchExecutor) throw new Error('contracts/product/testing/BatchExecutor.sol was not compiled');
      await client.setCode({ address: user, bytecode: BatchExecutor.deployedBytecode });
      try {
        const batch = calls.map(({ to, data, value }) => ({ to, value: BigInt(value ?? 0), data }));
        const data = encodeFunctionData({ abi: BatchExecutor.abi, functionName: 'execute', args: [batch] });
        await local.send({ from: OWNER, to: user, data });
      } finally {
        await client.setCode({ address: user, bytecode: '0x' });
      }
    },
  };
}

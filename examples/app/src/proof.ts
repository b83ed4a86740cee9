import { type Client, type Intent, type Plan, type Strategy, verify } from './client.ts';
import { unitsOf } from './format.ts';
import type { DevelopmentWallet } from './wallet.ts';

/** Selector of `price()` of a Morpho oracle. */
const PRICE = '0xa035b1fe';

/** The oracle price of a strategy, read from the chain and not from the service: loan per collateral base unit, 1e36. */
export async function priceOf(wallet: DevelopmentWallet, { chainId, oracle }: Strategy): Promise<bigint> {
  await wallet.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: `0x${chainId.toString(16)}` }] });
  const answer = await wallet.request({ method: 'eth_call', params: [{ to: oracle?.address, data: PRICE }, 'latest'] });
  return BigInt(String(answer));
}

export interface OpenRequest {
  readonly strategy: Strategy;
  readonly account: string;
  readonly payToken: { readonly address: string; readonly decimals: number };
  readonly amount: string;
  readonly target: { readonly leverage: number } | { readonly desiredLtv: string };
}

/** Prove from its bytes that a plan opens what was asked for. @throws VerificationError */
export async function proveOpen(
  plan: Plan,
  wallet: DevelopmentWallet,
  request: OpenRequest,
): Promise<readonly string[]> {
  const { strategy, account, payToken, amount, target } = request;
  const price = await priceOf(wallet, strategy);
  const paid = unitsOf(amount, payToken.decimals);
  const isCollateral = payToken.address.toLowerCase() === strategy.collateral.address.toLowerCase();
  const intent: Intent = {
    action: 'open_leverage',
    chainId: strategy.chainId,
    owner: account,
    marketId: strategy.id,
    // The other token of the form is the loan token: the oracle says what it is worth in collateral.
    pay: { token: payToken.address, amount: paid, worth: isCollateral ? undefined : (paid * 10n ** 36n) / price },
    ...target,
    state: { price },
  };
  return verify(plan, intent).sentences;
}

export interface CloseRequest {
  readonly client: Client;
  readonly wallet: DevelopmentWallet;
  readonly account: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Prove from its bytes that a plan closes the position of the request. @throws VerificationError */
export async function proveClose(
  plan: Plan,
  { client, wallet, account, body }: CloseRequest,
): Promise<readonly string[]> {
  const chainId = Number(body.chainId) as 1 | 4663;
  const { positions } = await client.walletPositions({ address: account, chainId });
  const position = positions.find(({ id }) => String(id) === String(body.id));
  if (position?.amountLeveragedCollateral === undefined || position.amountLoan === undefined) {
    throw new Error(`Position ${body.id} of chain ${chainId} cannot be read now.`);
  }
  const strategy = await client.strategy(position.strategyId);
  const { collateral, loan } = strategy;
  const intent: Intent = {
    action: 'close',
    chainId,
    owner: account,
    marketId: strategy.id,
    positionId: Number(position.id),
    amount: typeof body.amount === 'string' ? unitsOf(body.amount, collateral.decimals) : undefined,
    maxSwapLoss: typeof body.maxSwapLossPct === 'number' ? body.maxSwapLossPct / 100 : undefined,
    state: {
      price: await priceOf(wallet, strategy),
      collateral: unitsOf(position.amountLeveragedCollateral, collateral.decimals),
      debt: unitsOf(position.amountLoan, loan.decimals),
    },
  };
  return verify(plan, intent).sentences;
}

import { decodeFunctionResult, encodeFunctionData, type Hex } from 'viem';
import {
  flashLeverageAbi,
  type Intent,
  type Plan,
  type Strategy,
  type TrustedMarket,
  trustedChains,
  verify,
} from './client.ts';
import { unitsOf } from './format.ts';
import type { DevelopmentWallet } from './wallet.ts';

/* Readings that judge a plan come from the chain and the trusted catalog: the service that built the plan has no say in them. */

/** Selector of `price()` of a Morpho oracle. */
const PRICE = '0xa035b1fe';

interface Trusted {
  readonly chainId: number;
  readonly market: TrustedMarket;
  /** Decimals of a token. @throws Error for a token that is not listed */
  decimalsOf(token: string): number;
}

/** @throws Error for a market that the catalog of the package does not list */
function trusted(chainId: number, marketId: string): Trusted {
  const chain = trustedChains.find((one) => one.chainId === chainId);
  const market = chain?.markets.find(({ id }) => id.toLowerCase() === marketId.toLowerCase());
  if (chain === undefined || market === undefined) {
    throw new Error(
      `Nothing can be proven of the market ${marketId} of chain ${chainId}: it is not in the trusted list.`,
    );
  }
  return {
    chainId,
    market,
    decimalsOf(token) {
      const found = chain.tokens.find(({ address }) => address.toLowerCase() === token.toLowerCase());
      if (found === undefined) throw new Error(`The token ${token} of chain ${chainId} is not in the trusted list.`);
      return found.decimals;
    },
  };
}

async function call(wallet: DevelopmentWallet, chainId: number, to: string, data: string): Promise<Hex> {
  await wallet.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: `0x${chainId.toString(16)}` }] });
  return (await wallet.request({ method: 'eth_call', params: [{ to, data }, 'latest'] })) as Hex;
}

/** The oracle price of a market: loan per collateral base unit, 1e36. */
async function priceOf(wallet: DevelopmentWallet, { chainId, market }: Trusted): Promise<bigint> {
  return BigInt(await call(wallet, chainId, market.oracle, PRICE));
}

interface Held {
  readonly known: Trusted;
  readonly collateral: bigint;
  readonly debt: bigint;
}

/** The market of a position, with what it holds and owes. */
async function heldBy(wallet: DevelopmentWallet, chainId: number, owner: Hex, positionId: bigint): Promise<Held> {
  const abi = flashLeverageAbi;
  const to = trustedChains.find((one) => one.chainId === chainId)?.contracts.flashLeverage;
  if (to === undefined) throw new Error(`Chain ${chainId} is not in the trusted list.`);
  const ofPosition = { abi, functionName: 'getUserLeveragePosition' } as const;
  const opened = await call(wallet, chainId, to, encodeFunctionData({ ...ofPosition, args: [owner, positionId] }));
  const { marketId, userProxy } = decodeFunctionResult({ ...ofPosition, data: opened });
  const known = trusted(chainId, marketId);
  const { loanToken, collateralToken, oracle, irm, lltv } = known.market;
  const params = { loanToken, collateralToken, oracle, irm, lltv: BigInt(lltv) };
  const ofMorpho = { abi, functionName: 'getMorphoPosition' } as const;
  const held = await call(wallet, chainId, to, encodeFunctionData({ ...ofMorpho, args: [userProxy, params] }));
  const { borrowShares, collateral } = decodeFunctionResult({ ...ofMorpho, data: held });
  const ofShares = { abi, functionName: 'getSharesValueInLoanToken' } as const;
  const owed = await call(wallet, chainId, to, encodeFunctionData({ ...ofShares, args: [params, borrowShares] }));
  return { known, collateral, debt: decodeFunctionResult({ ...ofShares, data: owed }) };
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
  const known = trusted(strategy.chainId, strategy.id);
  const price = await priceOf(wallet, known);
  const paid = unitsOf(amount, known.decimalsOf(payToken.address));
  const isCollateral = payToken.address.toLowerCase() === known.market.collateralToken.toLowerCase();
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
  readonly wallet: DevelopmentWallet;
  readonly account: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Prove from its bytes that a plan closes the position of the request. @throws VerificationError */
export async function proveClose(plan: Plan, { wallet, account, body }: CloseRequest): Promise<readonly string[]> {
  const chainId = Number(body.chainId);
  const positionId = Number(body.id);
  const { known, collateral, debt } = await heldBy(wallet, chainId, account as Hex, BigInt(positionId));
  const intent: Intent = {
    action: 'close',
    chainId,
    owner: account,
    marketId: known.market.id,
    positionId,
    amount:
      typeof body.amount === 'string'
        ? unitsOf(body.amount, known.decimalsOf(known.market.collateralToken))
        : undefined,
    maxSwapLoss: typeof body.maxSwapLossPct === 'number' ? body.maxSwapLossPct / 100 : undefined,
    state: {
      price: await priceOf(wallet, known),
      collateral,
      debt,
    },
  };
  return verify(plan, intent).sentences;
}

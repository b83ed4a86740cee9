import { fromUnits } from '../copy/index.ts';
import type { DevelopmentWallet } from '../wallet.ts';
import type { PaidToken } from './fields.ts';

const BALANCE_OF = '0x70a08231';
/** Kept back of the native token, so that gas can be paid; wei. */
const FOR_GAS = 10n ** 16n;

/** Switch the wallet to the chain of a plan. */
export async function switchChain(wallet: DevelopmentWallet, chainId: number): Promise<void> {
  await wallet.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: `0x${chainId.toString(16)}` }] });
}

/** What the wallet holds of a token, as a plain decimal; of the native token without what gas needs. */
export async function balanceOf(
  wallet: DevelopmentWallet,
  chainId: number,
  account: string,
  { address, decimals }: PaidToken,
): Promise<string> {
  await switchChain(wallet, chainId);
  if (BigInt(address) === 0n) {
    const held = BigInt(String(await wallet.request({ method: 'eth_getBalance', params: [account, 'latest'] })));
    return fromUnits(held > FOR_GAS ? held - FOR_GAS : 0n, 18);
  }
  const data = `${BALANCE_OF}${account.slice(2).toLowerCase().padStart(64, '0')}`;
  const answer = await wallet.request({ method: 'eth_call', params: [{ to: address, data }, 'latest'] });
  return fromUnits(BigInt(String(answer)), decimals);
}

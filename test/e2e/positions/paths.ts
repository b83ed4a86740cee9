import { seededWallet } from '../../../devnet/seed/wallets.ts';
import type { Address } from '../../../src/shared/ids.ts';

export const CHAIN_IDS = [1, 4663] as const;

export const addressOf = (name: string): Address => seededWallet(name).account.address;
export const pathOf = (wallet: string, chainId?: number) =>
  `/v1/partner/positions/${wallet}${chainId === undefined ? '' : `?chainId=${chainId}`}`;

import { pbkdf2Sync } from 'node:crypto';
import { type Address, getAddress, type Hex, keccak256, slice, stringToHex } from 'viem';
import { type HDAccount, HDKey, hdKeyToAccount } from 'viem/accounts';

const labelled = new Map<string, Address>();

/** Make an address from a label. It is the same everywhere and has no key. */
export function labelAddress(label: string): Address {
  const known = labelled.get(label);
  if (known) return known;
  const address = getAddress(slice(keccak256(stringToHex(`spiral-gateway local world: ${label}`)), 12));
  labelled.set(label, address);
  return address;
}

/** Accounts that act only through the local chain's impersonation. */
export const OWNER = labelAddress('owner');
export const LENDER = labelAddress('lender');
export const BORROWER = labelAddress('borrower');
/** Receives the fees of FlashLeverage. */
export const TREASURY = labelAddress('treasury');

// The public development mnemonic of every local chain tool. Its keys are public.
const MNEMONIC = 'test test test test test test test test test test test junk';

/** The seed of the mnemonic by BIP-39, once for all accounts: in JavaScript it takes a third of a second. */
const root = HDKey.fromMasterSeed(pbkdf2Sync(MNEMONIC, 'mnemonic', 2_048, 64, 'sha512'));

/** The ten well-known development accounts, able to sign. */
export const accounts: readonly HDAccount[] = Array.from({ length: 10 }, (_, addressIndex) =>
  hdKeyToAccount(root, { addressIndex }),
);

/** Full balances, no transaction and no position: free for manual tests. */
export const untouchedAccounts: readonly HDAccount[] = accounts.slice(-3);

/** Read the private key of a development account. */
export function privateKeyOf(account: HDAccount): Hex {
  const key = account.getHdKey().privateKey;
  if (key === null) throw new Error(`No private key for ${account.address}`);
  return `0x${Buffer.from(key).toString('hex')}`;
}

/** Balance of every development account in every token, USD. */
export const DEV_BALANCE_USD = '10000000';

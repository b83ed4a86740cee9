import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join('src', name));

/** The imports of a service that signs or sends. */
const CUSTODY: readonly (readonly [string, RegExp])[] = [
  ['accounts with keys', /viem\/accounts|privateKeyTo|mnemonicTo|hdKeyTo|toAccount\(/],
  ['wallet clients', /createWalletClient|walletActions|WalletClient/],
  ['signatures', /\b(signTransaction|signMessage|signTypedData|signAuthorization|sign_)\b|eth_sign|personal_sign/],
  ['sending', /sendRawTransaction|sendTransaction\b|eth_send|writeContract\b|wallet_sendCalls['"]\s*,/],
  ['development powers', /anvil_|hardhat_|evm_|impersonat/i],
  ['key material', /\b0x[0-9a-fA-F]{64}\b.*(private|secret)|-----BEGIN/i],
];

describe('src/', () => {
  it.each(CUSTODY)('behavior: contains no %s', (_what, pattern) => {
    const found = files.filter((file) => pattern.test(readFileSync(file, 'utf8')));
    expect(found).toEqual([]);
  });
});

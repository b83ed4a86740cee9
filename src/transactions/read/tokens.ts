import { zeroAddress } from 'viem';
import { erc20Abi } from '../../abi/erc20.ts';
import type { Chain, Token } from '../../catalog/types.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { Address } from '../../shared/ids.ts';
import type { PayToken } from '../types.ts';
import { type LatestReader, readOf } from './reads.ts';

/** More would overflow amounts; every real token has at most 24. */
const MAX_DECIMALS = 36;
/** Tokens of earlier payments: once their block is final, decimals and symbol never change. */
const MAX_KNOWN = 1_000;

export interface TokenDirectory {
  /** A curated token at once, another one from the chain. @throws BadRequestError when the address is no token */
  find(reader: LatestReader, chain: Chain, address: Address, field?: string): Promise<PayToken>;
}

/** Describe a curated token as something to pay with. */
export function payTokenOf({ address, symbol, decimals, isNative, resetsApproval }: Token): PayToken {
  return { address, symbol, decimals, isNative, resetsApproval };
}

/** Create the directory of pay tokens. Final answers of the chain are remembered: near the head a token may still become another. */
export function createTokenDirectory(): TokenDirectory {
  const known = new Map<string, PayToken>();
  return {
    async find(reader, chain, address, field = 'payToken') {
      const curated = chain.tokens.find((token) => token.address === address);
      if (curated) return payTokenOf(curated);
      const key = `${chain.chainId}:${address}`;
      const remembered = known.get(key);
      if (remembered) return remembered;
      const { answers, final } = await reader.readSettled([
        readOf(address, erc20Abi, 'decimals', []),
        readOf(address, erc20Abi, 'symbol', []),
      ]);
      const [decimals, symbol] = answers;
      if (decimals === undefined || decimals > MAX_DECIMALS) {
        throw new BadRequestError(
          `${address} is not an ERC-20 token on chain ${chain.chainId}. Send a token's address, or ${zeroAddress} for ${chain.native.symbol}.`,
          { field, value: address },
        );
      }
      // Symbols of unknown tokens are untrusted text: only short plain ones are repeated.
      const label = symbol !== undefined && /^[\w.+-]{1,16}$/.test(symbol) ? symbol : `${address.slice(0, 8)}…`;
      const token: PayToken = { address, symbol: label, decimals, isNative: false, resetsApproval: true };
      if (final?.[0] === decimals && final[1] === symbol) {
        if (known.size >= MAX_KNOWN) known.clear();
        known.set(key, token);
      }
      return token;
    },
  };
}

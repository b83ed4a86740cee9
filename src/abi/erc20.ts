import { parseAbi } from 'viem';

/**
 * ABI of the ERC-20 functions that are read and built, and the transfer event. `approve` has no declared result, because USDT
 * returns nothing.
 */
export const erc20Abi = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function decimals() view returns (uint8)',
  'function symbol() view returns (string)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

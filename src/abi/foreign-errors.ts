import { parseAbi } from 'viem';

/** Errors of tokens (ERC-6093) and of the swap venues' own contracts that a simulation may revert with. */
export const foreignErrorsAbi = parseAbi([
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error RouterInsufficientPtOut(uint256 actualPtOut, uint256 requiredPtOut)',
  'error RouterInsufficientTokenOut(uint256 actualTokenOut, uint256 requiredTokenOut)',
  'error RouterInsufficientSyOut(uint256 actualSyOut, uint256 requiredSyOut)',
  'error ApproxFail()',
  'error MarketExpired()',
]);

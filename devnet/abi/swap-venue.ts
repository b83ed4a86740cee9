import { parseAbi } from 'viem';

/** ABI of the local world's swap venue, which is placed at the router addresses of the real aggregators. Native ETH is the zero address. */
export const swapVenueAbi = parseAbi([
  'struct TokenPrice { address token; uint256 usdPerToken; uint256 depthUsd; }',
  'struct FollowedOracle { address base; address quote; address oracle; }',

  'function swap(address tokenIn, address tokenOut, uint256 amountIn, uint256 minOut, address recipient) payable returns (uint256 amountOut)',
  'function swapWithFee(address tokenIn, address tokenOut, uint256 amountIn, uint256 minOut, address recipient, uint256 feeBps, address feeReceiver) payable returns (uint256 amountOut)',
  'function quote(address tokenIn, address tokenOut, uint256 amountIn) view returns (uint256 amountOut, uint256 impactBps)',
  'function priceOf(address token) view returns (uint256 usdPerToken)',
  'receive() external payable',

  'function i_owner() view returns (address)',
  'function s_feeBps() view returns (uint256)',
  'function s_depthUsd(address token) view returns (uint256)',
  'function s_pairOracle(address base, address quote) view returns (address)',
  'function setFee(uint256 feeBps)',
  'function setPrices(TokenPrice[] prices)',
  'function followOracles(FollowedOracle[] oracles)',
  'function withdraw(address token, uint256 amount, address to)',

  'event Swapped(address indexed sender, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut)',

  'error NotOwner(address caller)',
  'error NoRoute(address tokenIn, address tokenOut)',
  'error FeeTooHigh(uint256 feeBps)',
  'error SizeBeyondDepth(uint256 impactWad)',
  'error OutputBelowMinimum(uint256 amountOut, uint256 minOut)',
  'error WrongValue(uint256 received, uint256 expected)',
  'error NativeTransferFailed(address to, uint256 amount)',
  'error TokenTransferFailed(address token, address from, address to, uint256 amount)',
]);

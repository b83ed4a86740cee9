import { parseAbi } from 'viem';

/**
 * ABI of FlashLeverageRouter: a swap from any token and/or a public-allocator reallocation before FlashLeverage is called.
 * Errors of FlashLeverage pass through it unchanged: decode with both ABIs.
 */
export const flashLeverageRouterAbi = parseAbi([
  'struct MarketParams { address loanToken; address collateralToken; address oracle; address irm; uint256 lltv; }',
  'struct SwapData { address extRouter; bytes extCalldata; }',
  'struct LeverageParams { bytes32 marketId; uint256 amountCollateral; uint256 amountFlashLoan; SwapData swapData; uint256 minTokenOut; }',
  'struct Withdrawal { MarketParams marketParams; uint128 amount; }',
  'struct ReallocateParams { address vault; uint256 fee; Withdrawal[] withdrawals; MarketParams supplyMarketParams; }',

  'function swapAndLeverage(address tokenIn, uint256 amountIn, SwapData swapData, uint256 minTokenOut, LeverageParams leverageParams) payable',
  'function reallocateAndLeverage(ReallocateParams[] reallocateParams, LeverageParams leverageParams) payable',
  'function reallocateSwapAndLeverage(ReallocateParams[] reallocateParams, address tokenIn, uint256 amountIn, SwapData swapData, uint256 minTokenOut, LeverageParams leverageParams) payable',
  'function swapAndSupplyCollateral(address user, uint256 positionId, bytes32 marketId, address tokenIn, uint256 amountIn, SwapData swapData, uint256 minTokenOut) payable',
  'function swapAndRepay(address user, uint256 positionId, bytes32 marketId, address tokenIn, uint256 amountIn, SwapData swapData, uint256 minTokenOut, uint256 borrowShares) payable',
  'receive() external payable',

  'function i_morpho() view returns (address)',
  'function i_flashLeverage() view returns (address)',
  'function i_publicAllocator() view returns (address)',

  'error FlashLeverageRouter__AmountInCannotBeZero()',
  'error FlashLeverageRouter__InvalidMsgValue()',
  'error FlashLeverageRouter__InvalidSwapRouter()',
  'error FlashLeverageRouter__MinTokenOutNotMet()',
  'error FlashLeverageRouter__SwapRouterCallFailed()',
  'error FlashLeverageRouter__ZeroAddress()',
  'error SafeERC20FailedOperation(address token)',
]);

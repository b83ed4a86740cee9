import { parseAbi } from 'viem';

/**
 * ABI of the equity router: entry to and exit from a stock-plus-yield vault, under the caller's Morpho authorization.
 * Its own errors are not known; those of FlashLeverage pass through it unchanged.
 */
export const equityRouterAbi = parseAbi([
  'struct SwapData { address extRouter; bytes extCalldata; }',
  'struct LeverageParams { bytes32 marketId; uint256 amountCollateral; uint256 amountFlashLoan; SwapData swapData; uint256 minTokenOut; }',
  'struct EquityEntryParams { address depositToken; uint256 amountIn; SwapData stockSwapData; uint256 stockMinOut; bytes32 stockMarketId; uint256 stockBorrowAmount; SwapData yieldSwapData; uint256 yieldMinOut; LeverageParams leverageParams; }',
  'struct EquityExitParams { bytes32 stockMarketId; SwapData stockSwapData; uint256 minLoanOut; }',

  'function equityEntry(EquityEntryParams params)',
  'function equityExit(EquityExitParams params)',
]);

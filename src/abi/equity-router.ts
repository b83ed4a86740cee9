import { parseAbi } from 'viem';

/**
 * ABI of the equity router: entry to and exit from a stock-plus-yield vault, under the caller's Morpho authorization.
 * Errors of FlashLeverage pass through it unchanged: decode with both ABIs.
 */
export const equityRouterAbi = parseAbi([
  'struct SwapData { address extRouter; bytes extCalldata; }',
  'struct LeverageParams { bytes32 marketId; uint256 amountCollateral; uint256 amountFlashLoan; SwapData swapData; uint256 minTokenOut; }',
  'struct EquityEntryParams { address depositToken; uint256 amountIn; SwapData stockSwapData; uint256 stockMinOut; bytes32 stockMarketId; uint256 stockBorrowAmount; SwapData yieldSwapData; uint256 yieldMinOut; LeverageParams leverageParams; }',
  'struct EquityExitParams { bytes32 stockMarketId; SwapData stockSwapData; uint256 minLoanOut; }',

  'function equityEntry(EquityEntryParams params)',
  'function equityExit(EquityExitParams params)',
  'function onMorphoFlashLoan(uint256 assets, bytes data)',
  'function BORROW_BUFFER() view returns (uint256)',
  'function i_morpho() view returns (address)',
  'function i_flashLeverage() view returns (address)',

  'event EquityEntered(address indexed user, bytes32 indexed stockMarketId, uint256 amountStock, uint256 amountBorrowed, uint256 amountYieldCollateral)',
  'event EquityExited(address indexed user, bytes32 indexed stockMarketId, uint256 amountStock, uint256 amountRepaid, uint256 amountReturned)',

  'error NotAuthorized(address user, address router)',
  'error DepositTokenMismatch(address given, address expected)',
  'error CollateralAmountNotZero(uint256 amountCollateral)',
  'error StockLtvAboveBound(uint256 ltv, uint256 bound)',
  'error NothingToExit(address user, bytes32 stockMarketId)',
  'error ProceedsBelowDebt(uint256 proceeds, uint256 debt)',
  'error NotMorpho(address caller)',
  'error MarketNotFound(bytes32 marketId)',
  'error Reentrancy()',
  'error SwapRouterNotAllowed(address router)',
  'error SwapSameToken(address token)',
  'error SwapFailed(address router, bytes reason)',
  'error InsufficientOutput(address token, uint256 received, uint256 minimum)',
  'error TokenTransferFailed(address token, address from, address to, uint256 amount)',
  'error TokenApprovalFailed(address token, address spender, uint256 amount)',
]);

import { NEXT_STEPS, type RevertReason, reasonsOf } from './revert-reason.ts';

const leverage = reasonsOf('FlashLeverage', false);
const leverageCurable = reasonsOf('FlashLeverage', true);
const router = reasonsOf('FlashLeverageRouter', false);
const routerCurable = reasonsOf('FlashLeverageRouter', true);
const library = reasonsOf('OpenZeppelin', false);
const proxy = reasonsOf('UserProxy', false);

/** Reverts of FlashLeverage, its router and its proxies. */
export const PRODUCT_REVERTS: readonly RevertReason[] = [
  leverage(
    'FlashLeverage__AmountCannotBeZero',
    'An amount is zero, or the position has no collateral left.',
    'Send an amount above zero; 1x leverage takes no flash loan and is not opened.',
  ),
  leverage(
    'FlashLeverage__BorrowExceedsDepositedForCorrelatedPairs',
    'On a correlated market no more than the deposit basis of the position can be borrowed.',
    'Borrow at most the basis (amountDepositedInLoanToken), or withdraw collateral instead.',
  ),
  leverage('FlashLeverage__CannotBeMorpho', 'Morpho itself was named as a swap router.', NEXT_STEPS.ownerOnly),
  leverage(
    'FlashLeverage__CannotBeUserProxy',
    'The contract of a position was named as a swap router.',
    NEXT_STEPS.ownerOnly,
  ),
  leverage('FlashLeverage__CannotBeZeroAddress', 'An address is zero.', NEXT_STEPS.report),
  leverage(
    'FlashLeverage__ExceedsCollateral',
    'More collateral was to be sold than the position has.',
    'Read the position again and send at most its collateral.',
  ),
  leverageCurable(
    'FlashLeverage__ExceedsMaxLTV',
    'The position would end above the highest LTV that the contract allows: the swap gave less than its quote, or the oracle moved.',
    'Build again; if it stays, ask for a lower LTV.',
  ),
  leverage(
    'FlashLeverage__InvalidDepositFee',
    'The deposit fee is above the maximum of the contract.',
    NEXT_STEPS.ownerOnly,
  ),
  leverage(
    'FlashLeverage__InvalidYieldFee',
    'The yield fee is above the maximum of the contract.',
    NEXT_STEPS.ownerOnly,
  ),
  leverage('FlashLeverage__MarketAlreadyExists', 'The market is known already.', NEXT_STEPS.ownerOnly),
  leverageCurable('FlashLeverage__MinTokenOutNotMet', 'The swap gave less than the minimum.', NEXT_STEPS.again),
  leverage(
    'FlashLeverage__NotApprovedOperator',
    'The caller may not act for this wallet: the router is not, or not any more, an operator of the contract.',
    'Send from the wallet itself; through the router, wait until the contract owner has approved it.',
  ),
  leverage('FlashLeverage__OwnershipRenunciationDisabled', 'The ownership cannot be renounced.', NEXT_STEPS.ownerOnly),
  leverageCurable(
    'FlashLeverage__PartialSwapNotAllowed',
    'The swap router left input unused, or took more than its quote. A close of all collateral does so when somebody has added some meanwhile.',
    'Build again for a fresh quote; a close or an exit of a vault with exact: true, which leaves behind what is added.',
  ),
  leverage(
    'FlashLeverage__PositionAlreadyClosed',
    'The position is closed.',
    'Read the positions of the wallet again.',
  ),
  leverageCurable(
    'FlashLeverage__SwapRouterCallFailed',
    'The swap reverted at its venue. The contract does not pass on the reason; mostly its price has moved below its minimum.',
    NEXT_STEPS.again,
  ),
  leverage(
    'FlashLeverage__UnsupportedMarket',
    'The contract opens no positions in this market.',
    'Choose another strategy. Open positions are managed as before.',
  ),
  leverage(
    'FlashLeverage__UnsupportedSwapRouter',
    'The swap router is not on the allow-list of the contract.',
    'Choose another token, or wait until the contract owner has allowed the venue.',
  ),
  leverage(
    'FlashLeverage__UntrustedLender',
    'The flash-loan callback was called by an address other than Morpho.',
    NEXT_STEPS.report,
  ),
  router('FlashLeverageRouter__AmountInCannotBeZero', 'The amount to swap is zero.', 'Send an amount above zero.'),
  router(
    'FlashLeverageRouter__InvalidMsgValue',
    'The value sent is not the native amount and the reallocation fees together.',
    'Send the transaction with the value it was built with.',
  ),
  router(
    'FlashLeverageRouter__InvalidSwapRouter',
    'The swap router is not on the allow-list of FlashLeverage.',
    'Choose another pay token, or wait until the contract owner has allowed the venue.',
  ),
  routerCurable(
    'FlashLeverageRouter__MinTokenOutNotMet',
    'The swap of the pay token gave less than the minimum.',
    NEXT_STEPS.again,
  ),
  routerCurable(
    'FlashLeverageRouter__SwapRouterCallFailed',
    'The swap of the pay token reverted at its venue.',
    NEXT_STEPS.again,
  ),
  router(
    'FlashLeverageRouter__ZeroAddress',
    'The router knows no public allocator.',
    'Ask for less, so that no reallocation is needed.',
  ),
  library(
    'EnforcedPause',
    'The contract is paused by its owner: positions can be neither opened nor changed nor closed there.',
    NEXT_STEPS.later,
  ),
  library('ExpectedPause', 'The contract is not paused.', NEXT_STEPS.ownerOnly),
  library('FailedDeployment', 'The contract of the position could not be created.', NEXT_STEPS.report),
  library('InsufficientBalance', 'A contract holds less native ETH than it was to send.', NEXT_STEPS.report),
  library('OwnableInvalidOwner', 'The address cannot be an owner.', NEXT_STEPS.ownerOnly),
  library('OwnableUnauthorizedAccount', 'The caller is not the owner of the contract.', NEXT_STEPS.ownerOnly),
  library(
    'ReentrancyGuardReentrantCall',
    'The contract was called again from within its own call: a token or a swap router calls back.',
    'Choose another route or token, and report it.',
  ),
  library(
    'SafeERC20FailedOperation',
    'A token refused a transfer or an approval without a reason.',
    'Check balance and allowance of the token; some tokens block addresses.',
  ),
  proxy('UserProxy: Already Initialized', 'The contract of the position has an owner already.', NEXT_STEPS.report),
  proxy(
    'UserProxy: Call Failed',
    'Morpho refused the action of the position, and the proxy does not pass on the reason: too little liquidity, an LTV above the liquidation LTV, or more than the position holds.',
    'Ask for less, or try again when the market has liquidity.',
  ),
  proxy(
    'UserProxy: Manual Mode Enabled',
    'The position is in manual mode: FlashLeverage can do nothing with it any more.',
    'Send the manualModeCalls of the position, from the owning wallet.',
  ),
  proxy(
    ['UserProxy: Not in manual Mode', 'UserProxy: Not in Manual Mode'],
    'The position is managed by FlashLeverage, not by calls to its proxy.',
    'Build the action here.',
  ),
  proxy('UserProxy: Unauthorised', 'The caller does not own the position.', 'Send from the wallet that owns it.'),
].flat();

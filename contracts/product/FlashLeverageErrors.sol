// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

/// The errors of the deployed contract beside OpenZeppelin's, in its ABI even where this code never reverts with them.
abstract contract FlashLeverageErrors {
    error FlashLeverage__AmountCannotBeZero();
    error FlashLeverage__BorrowExceedsDepositedForCorrelatedPairs();
    error FlashLeverage__CannotBeMorpho();
    error FlashLeverage__CannotBeUserProxy();
    error FlashLeverage__CannotBeZeroAddress();
    error FlashLeverage__ExceedsCollateral();
    error FlashLeverage__ExceedsMaxLTV(uint256 effectiveLtv, uint256 maxLtv);
    error FlashLeverage__InvalidDepositFee();
    error FlashLeverage__InvalidYieldFee();
    error FlashLeverage__MarketAlreadyExists();
    error FlashLeverage__MinTokenOutNotMet();
    error FlashLeverage__NotApprovedOperator();
    error FlashLeverage__OwnershipRenunciationDisabled();
    error FlashLeverage__PartialSwapNotAllowed();
    error FlashLeverage__PositionAlreadyClosed();
    error FlashLeverage__SwapRouterCallFailed();
    error FlashLeverage__UnsupportedMarket();
    error FlashLeverage__UnsupportedSwapRouter();
    error FlashLeverage__UntrustedLender();
}

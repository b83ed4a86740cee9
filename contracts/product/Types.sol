// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {MarketParams} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";

/// A call to an allow-listed swap router: `extCalldata` is sent to `extRouter` unchanged.
struct SwapData {
    address extRouter;
    bytes extCalldata;
}

/// How a position is opened: the caller's collateral, the flash loan on top of it, and the swap of the loan into collateral.
struct LeverageParams {
    bytes32 marketId;
    uint256 amountCollateral;
    uint256 amountFlashLoan;
    SwapData swapData;
    uint256 minTokenOut;
}

/// One position of a user. The two amounts are the basis: the deposited and the withdrawn total, in loan-token units.
/// `open` with zero collateral in Morpho means that the position was liquidated.
struct LeveragePosition {
    bool open;
    bytes32 marketId;
    address userProxy;
    uint256 amountDepositedInLoanToken;
    uint256 amountReturnedInLoanToken;
}

struct MorphoPosition {
    uint256 supplyShares;
    uint128 borrowShares;
    uint128 collateral;
}

struct SupportedMarket {
    bytes32 marketId;
    bool isCorrelated;
}

/// Liquidity to be moved out of one market by the public allocator.
struct Withdrawal {
    MarketParams marketParams;
    uint128 amount;
}

/// One public-allocator call: `vault` moves `withdrawals` into `supplyMarketParams` for `fee` wei.
struct ReallocateParams {
    address vault;
    uint256 fee;
    Withdrawal[] withdrawals;
    MarketParams supplyMarketParams;
}

struct EquityEntryParams {
    address depositToken;
    uint256 amountIn;
    SwapData stockSwapData;
    uint256 stockMinOut;
    bytes32 stockMarketId;
    uint256 stockBorrowAmount;
    SwapData yieldSwapData;
    uint256 yieldMinOut;
    LeverageParams leverageParams;
}

struct EquityExitParams {
    bytes32 stockMarketId;
    SwapData stockSwapData;
    uint256 minLoanOut;
}

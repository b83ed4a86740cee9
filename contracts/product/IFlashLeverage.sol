// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {LeverageParams} from "./Types.sol";

/// The functions of FlashLeverage that the routers call.
interface IFlashLeverage {
    function leverage(address user, LeverageParams calldata params) external;
    function supplyCollateral(address user, uint256 positionId, uint256 amountCollateral) external;
    function repay(address user, uint256 positionId, uint256 amountRepay, uint256 borrowShares) external;
    function isValidSwapRouter(address router) external view returns (bool);
}

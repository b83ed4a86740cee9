// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {MarketParams} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {LeverageParams, LeveragePosition, MorphoPosition} from "./Types.sol";

/// What the routers need of FlashLeverage.
interface IFlashLeverage {
    function leverage(address user, LeverageParams calldata params) external;
    function supplyCollateral(address user, uint256 positionId, uint256 amountCollateral) external;
    function repay(address user, uint256 positionId, uint256 amountRepay, uint256 borrowShares) external;
    function getUserLeveragePosition(address user, uint256 positionId) external view returns (LeveragePosition memory);
    function getMorphoPosition(address user, MarketParams memory market) external view returns (MorphoPosition memory);
    function getSharesValueInLoanToken(MarketParams memory market, uint256 shares) external view returns (uint256);
    function isValidSwapRouter(address router) external view returns (bool);
}

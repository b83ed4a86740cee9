// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IMorpho, Id, MarketParams} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {IFlashLeverage} from "./IFlashLeverage.sol";
import {IPublicAllocator} from "./IPublicAllocator.sol";
import {LeverageParams, ReallocateParams, SwapData} from "./Types.sol";

/// FlashLeverage from any token: a swap into the position's token first, and/or a public-allocator reallocation that brings
/// liquidity into the market. Leftovers go back to the caller. It has no reentrancy lock: it holds no funds between
/// calls, and FlashLeverage has a lock.
contract FlashLeverageRouter {
    using SafeERC20 for IERC20;

    /// Native ETH in place of a token address.
    address private constant NATIVE = address(0);

    IMorpho public immutable i_morpho;
    IFlashLeverage public immutable i_flashLeverage;
    /// Zero on a chain without a public allocator: there, reallocation is refused.
    IPublicAllocator public immutable i_publicAllocator;

    error FlashLeverageRouter__AmountInCannotBeZero();
    error FlashLeverageRouter__InvalidMsgValue();
    error FlashLeverageRouter__InvalidSwapRouter();
    error FlashLeverageRouter__MinTokenOutNotMet();
    error FlashLeverageRouter__SwapRouterCallFailed();
    error FlashLeverageRouter__ZeroAddress();

    constructor(IMorpho morpho, IFlashLeverage flashLeverage, IPublicAllocator publicAllocator) {
        _requireAddress(address(morpho));
        _requireAddress(address(flashLeverage));
        i_morpho = morpho;
        i_flashLeverage = flashLeverage;
        i_publicAllocator = publicAllocator;
    }

    /// Swap venues may return native ETH.
    receive() external payable {}

    /// Swaps `tokenIn` into collateral and opens a position with the output of the swap.
    function swapAndLeverage(
        address tokenIn,
        uint256 amountIn,
        SwapData calldata swapData,
        uint256 minTokenOut,
        LeverageParams calldata leverageParams
    ) external payable {
        _swapAndLeverage(tokenIn, amountIn, swapData, minTokenOut, leverageParams, 0);
    }

    /// Brings liquidity into the market and opens a position with the caller's collateral.
    function reallocateAndLeverage(ReallocateParams[] calldata reallocateParams, LeverageParams calldata leverageParams)
        external
        payable
    {
        _requireValue(_reallocate(reallocateParams));
        address collateral = _market(leverageParams.marketId).collateralToken;
        IERC20(collateral).safeTransferFrom(msg.sender, address(this), leverageParams.amountCollateral);
        _leverage(collateral, leverageParams);
    }

    /// Brings liquidity into the market, swaps `tokenIn` into collateral and opens a position with the output of the swap.
    function reallocateSwapAndLeverage(
        ReallocateParams[] calldata reallocateParams,
        address tokenIn,
        uint256 amountIn,
        SwapData calldata swapData,
        uint256 minTokenOut,
        LeverageParams calldata leverageParams
    ) external payable {
        uint256 fees = _reallocate(reallocateParams);
        _swapAndLeverage(tokenIn, amountIn, swapData, minTokenOut, leverageParams, fees);
    }

    /// Swaps `tokenIn` into collateral and adds all of it to the position.
    function swapAndSupplyCollateral(
        address user,
        uint256 positionId,
        bytes32 marketId,
        address tokenIn,
        uint256 amountIn,
        SwapData calldata swapData,
        uint256 minTokenOut
    ) external payable {
        address collateral = _market(marketId).collateralToken;
        uint256 received = _pullAndSwap(tokenIn, amountIn, swapData, collateral, minTokenOut, 0);
        IERC20(collateral).forceApprove(address(i_flashLeverage), received);
        i_flashLeverage.supplyCollateral(user, positionId, received);
    }

    /// Swaps `tokenIn` into the loan token and repays with it; `borrowShares` max uint256 repays the whole debt.
    function swapAndRepay(
        address user,
        uint256 positionId,
        bytes32 marketId,
        address tokenIn,
        uint256 amountIn,
        SwapData calldata swapData,
        uint256 minTokenOut,
        uint256 borrowShares
    ) external payable {
        address loan = _market(marketId).loanToken;
        uint256 before = _balance(loan);
        uint256 received = _pullAndSwap(tokenIn, amountIn, swapData, loan, minTokenOut, 0);
        IERC20(loan).forceApprove(address(i_flashLeverage), received);
        i_flashLeverage.repay(user, positionId, received, borrowShares);
        _refund(loan, _balance(loan) - before);
    }

    function _swapAndLeverage(
        address tokenIn,
        uint256 amountIn,
        SwapData calldata swapData,
        uint256 minTokenOut,
        LeverageParams memory leverageParams,
        uint256 fees
    ) private {
        address collateral = _market(leverageParams.marketId).collateralToken;
        leverageParams.amountCollateral = _pullAndSwap(tokenIn, amountIn, swapData, collateral, minTokenOut, fees);
        _leverage(collateral, leverageParams);
    }

    function _leverage(address collateral, LeverageParams memory leverageParams) private {
        IERC20(collateral).forceApprove(address(i_flashLeverage), leverageParams.amountCollateral);
        i_flashLeverage.leverage(msg.sender, leverageParams);
    }

    /// Swap the caller's tokens and return at once the part that the swap router left. `fees` of the value are not swapped.
    function _pullAndSwap(
        address tokenIn,
        uint256 amountIn,
        SwapData calldata swapData,
        address tokenOut,
        uint256 minTokenOut,
        uint256 fees
    ) private returns (uint256 received) {
        require(amountIn != 0, FlashLeverageRouter__AmountInCannotBeZero());
        address swapRouter = swapData.extRouter;
        require(i_flashLeverage.isValidSwapRouter(swapRouter), FlashLeverageRouter__InvalidSwapRouter());
        uint256 value = tokenIn == NATIVE ? amountIn : 0;
        _requireValue(value + fees);
        uint256 outBefore = _balance(tokenOut);
        if (tokenIn != NATIVE) IERC20(tokenIn).safeTransferFrom(msg.sender, address(this), amountIn);
        uint256 inBefore = _balance(tokenIn);

        if (tokenIn != NATIVE) IERC20(tokenIn).forceApprove(swapRouter, amountIn);
        (bool ok,) = swapRouter.call{value: value}(swapData.extCalldata);
        require(ok, FlashLeverageRouter__SwapRouterCallFailed());
        if (tokenIn != NATIVE) IERC20(tokenIn).forceApprove(swapRouter, 0);

        received = _balance(tokenOut) - outBefore;
        require(received >= minTokenOut, FlashLeverageRouter__MinTokenOutNotMet());
        uint256 left = _balance(tokenIn) + amountIn - inBefore;
        // A router may return more than it took. Only the caller's own amount counts.
        _refund(tokenIn, left < amountIn ? left : amountIn);
    }

    function _reallocate(ReallocateParams[] calldata reallocateParams) private returns (uint256 fees) {
        _requireAddress(address(i_publicAllocator));
        for (uint256 i; i < reallocateParams.length; ++i) {
            fees += reallocateParams[i].fee;
            require(fees <= msg.value, FlashLeverageRouter__InvalidMsgValue());
            i_publicAllocator.reallocateTo{value: reallocateParams[i].fee}(
                reallocateParams[i].vault, reallocateParams[i].withdrawals, reallocateParams[i].supplyMarketParams
            );
        }
    }

    function _refund(address token, uint256 amount) private {
        if (amount == 0) return;
        if (token != NATIVE) return IERC20(token).safeTransfer(msg.sender, amount);
        (bool ok,) = msg.sender.call{value: amount}("");
        require(ok, "FlashLeverageRouter: the refund of native ETH failed");
    }

    function _market(bytes32 marketId) private view returns (MarketParams memory) {
        return i_morpho.idToMarketParams(Id.wrap(marketId));
    }

    function _balance(address token) private view returns (uint256) {
        return token == NATIVE ? address(this).balance : IERC20(token).balanceOf(address(this));
    }

    function _requireValue(uint256 expected) private view {
        require(msg.value == expected, FlashLeverageRouter__InvalidMsgValue());
    }

    function _requireAddress(address account) private pure {
        require(account != address(0), FlashLeverageRouter__ZeroAddress());
    }
}

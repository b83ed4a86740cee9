// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {IMorpho, MarketParams} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {IFlashLeverage} from "./IFlashLeverage.sol";
import {IPublicAllocator} from "./IPublicAllocator.sol";
import {SafeToken} from "./SafeToken.sol";
import {SwapExecutor} from "./SwapExecutor.sol";
import {LeverageParams, ReallocateParams, SwapData} from "./Types.sol";

/// FlashLeverage from any token: a swap into the position's token first, and/or a public-allocator reallocation that brings
/// liquidity into the market. Acts only for its caller, keeps nothing: what is left over goes back to the caller.
contract FlashLeverageRouter is SwapExecutor {
    using SafeToken for address;

    IMorpho public immutable i_morpho;
    IFlashLeverage public immutable i_flashLeverage;
    /// Zero on a chain without a public allocator: there, reallocation is refused.
    IPublicAllocator public immutable i_publicAllocator;

    error WrongValue(uint256 received, uint256 expected);
    error ReallocationUnavailable();
    error NotPositionOwner(address caller, address user);
    error MarketMismatch(bytes32 given, bytes32 expected);
    error ProceedsBelowDebt(uint256 proceeds, uint256 debt);
    error NativeTransferFailed(address to, uint256 amount);

    constructor(IMorpho morpho, IFlashLeverage flashLeverage, IPublicAllocator publicAllocator) {
        i_morpho = morpho;
        i_flashLeverage = flashLeverage;
        i_publicAllocator = publicAllocator;
    }

    /// Swap venues may give native ETH back.
    receive() external payable {}

    /// Swaps `tokenIn` into collateral and opens a position with what the swap gave.
    function swapAndLeverage(
        address tokenIn,
        uint256 amountIn,
        SwapData calldata swapData,
        uint256 minTokenOut,
        LeverageParams calldata leverageParams
    ) external payable nonReentrant {
        _requireValue(tokenIn == NATIVE ? amountIn : 0);
        _swapAndLeverage(tokenIn, amountIn, swapData, minTokenOut, leverageParams);
    }

    /// Brings liquidity into the market and opens a position with the caller's collateral.
    function reallocateAndLeverage(ReallocateParams[] calldata reallocateParams, LeverageParams calldata leverageParams)
        external
        payable
        nonReentrant
    {
        _requireValue(_reallocate(reallocateParams));
        address collateral = _market(i_morpho, leverageParams.marketId).collateralToken;
        collateral.safeTransferFrom(msg.sender, address(this), leverageParams.amountCollateral);
        _leverage(collateral, leverageParams);
    }

    /// Brings liquidity into the market, swaps `tokenIn` into collateral and opens a position with what the swap gave.
    function reallocateSwapAndLeverage(
        ReallocateParams[] calldata reallocateParams,
        address tokenIn,
        uint256 amountIn,
        SwapData calldata swapData,
        uint256 minTokenOut,
        LeverageParams calldata leverageParams
    ) external payable nonReentrant {
        uint256 fees = _reallocate(reallocateParams);
        _requireValue(tokenIn == NATIVE ? amountIn + fees : fees);
        _swapAndLeverage(tokenIn, amountIn, swapData, minTokenOut, leverageParams);
    }

    /// Swaps `tokenIn` into collateral and adds all of it to the caller's position.
    function swapAndSupplyCollateral(
        address user,
        uint256 positionId,
        bytes32 marketId,
        address tokenIn,
        uint256 amountIn,
        SwapData calldata swapData,
        uint256 minTokenOut
    ) external payable nonReentrant {
        _requireValue(tokenIn == NATIVE ? amountIn : 0);
        address collateral = _marketOfPosition(user, positionId, marketId).collateralToken;
        uint256 received = _pullAndSwap(tokenIn, amountIn, swapData, collateral, minTokenOut);
        collateral.forceApprove(address(i_flashLeverage), received);
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
    ) external payable nonReentrant {
        _requireValue(tokenIn == NATIVE ? amountIn : 0);
        MarketParams memory market = _marketOfPosition(user, positionId, marketId);
        address loan = market.loanToken;
        uint256 received = _pullAndSwap(tokenIn, amountIn, swapData, loan, minTokenOut);
        if (borrowShares != 0) _requireCovers(market, positionId, borrowShares, received);
        uint256 before = _balance(loan);
        loan.forceApprove(address(i_flashLeverage), received);
        i_flashLeverage.repay(user, positionId, received, borrowShares);
        loan.forceApprove(address(i_flashLeverage), 0);
        _refund(loan, received - (before - _balance(loan)));
    }

    function _isAllowedSwapRouter(address router) internal view override returns (bool) {
        return i_flashLeverage.isValidSwapRouter(router);
    }

    function _swapAndLeverage(
        address tokenIn,
        uint256 amountIn,
        SwapData calldata swapData,
        uint256 minTokenOut,
        LeverageParams memory leverageParams
    ) private {
        address collateral = _market(i_morpho, leverageParams.marketId).collateralToken;
        // The minimum stands twice in the calldata; the stricter of the two counts.
        uint256 minimum = leverageParams.amountCollateral > minTokenOut ? leverageParams.amountCollateral : minTokenOut;
        leverageParams.amountCollateral = _pullAndSwap(tokenIn, amountIn, swapData, collateral, minimum);
        _leverage(collateral, leverageParams);
    }

    function _leverage(address collateral, LeverageParams memory leverageParams) private {
        collateral.forceApprove(address(i_flashLeverage), leverageParams.amountCollateral);
        i_flashLeverage.leverage(msg.sender, leverageParams);
    }

    /// Swaps the caller's tokens and gives back at once what the router did not use.
    function _pullAndSwap(
        address tokenIn,
        uint256 amountIn,
        SwapData calldata swapData,
        address tokenOut,
        uint256 minTokenOut
    ) private returns (uint256 received) {
        if (tokenIn != NATIVE) tokenIn.safeTransferFrom(msg.sender, address(this), amountIn);
        uint256 unspent;
        (received, unspent) = _swap(swapData, tokenIn, amountIn, tokenOut, minTokenOut);
        _refund(tokenIn, unspent);
    }

    function _reallocate(ReallocateParams[] calldata reallocateParams) private returns (uint256 fees) {
        require(address(i_publicAllocator) != address(0), ReallocationUnavailable());
        for (uint256 i; i < reallocateParams.length; ++i) {
            fees += reallocateParams[i].fee;
            require(fees <= msg.value, WrongValue(msg.value, fees));
            i_publicAllocator.reallocateTo{value: reallocateParams[i].fee}(
                reallocateParams[i].vault, reallocateParams[i].withdrawals, reallocateParams[i].supplyMarketParams
            );
        }
    }

    function _marketOfPosition(address user, uint256 positionId, bytes32 marketId)
        private
        view
        returns (MarketParams memory)
    {
        require(msg.sender == user, NotPositionOwner(msg.sender, user));
        bytes32 expected = i_flashLeverage.getUserLeveragePosition(user, positionId).marketId;
        require(marketId == expected, MarketMismatch(marketId, expected));
        return _market(i_morpho, marketId);
    }

    /// Says with numbers what would otherwise fail as a token transfer: the swap gave less than the shares cost.
    function _requireCovers(MarketParams memory market, uint256 positionId, uint256 borrowShares, uint256 received)
        private
        view
    {
        address proxy = i_flashLeverage.getUserLeveragePosition(msg.sender, positionId).userProxy;
        uint256 held = i_flashLeverage.getMorphoPosition(proxy, market).borrowShares;
        uint256 shares = borrowShares < held ? borrowShares : held;
        uint256 debt = i_flashLeverage.getSharesValueInLoanToken(market, shares);
        require(received >= debt, ProceedsBelowDebt(received, debt));
    }

    function _requireValue(uint256 expected) private view {
        require(msg.value == expected, WrongValue(msg.value, expected));
    }

    function _refund(address token, uint256 amount) private {
        if (amount == 0) return;
        if (token != NATIVE) return token.safeTransfer(msg.sender, amount);
        (bool ok,) = msg.sender.call{value: amount}("");
        require(ok, NativeTransferFailed(msg.sender, amount));
    }
}

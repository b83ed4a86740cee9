// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {IMorpho, Id, MarketParams} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {SafeToken} from "./SafeToken.sol";
import {SwapData} from "./Types.sol";

/// What all three entry contracts share: the guarded call of an allow-listed swap router, and the reentrancy lock.
/// Received amounts are balance differences, so that nothing lying in the contract is ever taken for a fill.
abstract contract SwapExecutor {
    using SafeToken for address;

    /// Native ETH in place of a token address.
    address internal constant NATIVE = address(0);

    bool private s_entered;

    error Reentrancy();
    error MarketNotFound(bytes32 marketId);
    error SwapRouterNotAllowed(address router);
    error SwapSameToken(address token);
    error SwapFailed(address router, bytes reason);
    error InsufficientOutput(address token, uint256 received, uint256 minimum);

    modifier nonReentrant() {
        require(!s_entered, Reentrancy());
        s_entered = true;
        _;
        s_entered = false;
    }

    function _isAllowedSwapRouter(address router) internal view virtual returns (bool);

    /// Sells up to `amountIn` of `tokenIn`; `unspent` is what the router left of it. The router's allowance is gone afterwards.
    function _swap(SwapData memory swapData, address tokenIn, uint256 amountIn, address tokenOut, uint256 minOut)
        internal
        returns (uint256 received, uint256 unspent)
    {
        address router = swapData.extRouter;
        require(_isAllowedSwapRouter(router), SwapRouterNotAllowed(router));
        require(tokenIn != tokenOut, SwapSameToken(tokenIn));
        uint256 inBefore = _balance(tokenIn);
        uint256 outBefore = _balance(tokenOut);

        if (tokenIn != NATIVE) tokenIn.forceApprove(router, amountIn);
        (bool ok, bytes memory reason) = router.call{value: tokenIn == NATIVE ? amountIn : 0}(swapData.extCalldata);
        require(ok, SwapFailed(router, reason));
        if (tokenIn != NATIVE) tokenIn.forceApprove(router, 0);

        received = _balance(tokenOut) - outBefore;
        require(received >= minOut, InsufficientOutput(tokenOut, received, minOut));
        unspent = _balance(tokenIn) + amountIn - inBefore;
        // A router may give back more than it took (a gift); the caller only ever counts on its own money.
        if (unspent > amountIn) unspent = amountIn;
    }

    function _market(IMorpho morpho, bytes32 marketId) internal view returns (MarketParams memory market) {
        market = morpho.idToMarketParams(Id.wrap(marketId));
        require(market.loanToken != address(0), MarketNotFound(marketId));
    }

    function _balance(address token) internal view returns (uint256) {
        return token == NATIVE ? address(this).balance : token.balanceOf(address(this));
    }
}

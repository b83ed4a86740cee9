// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {SafeToken} from "../SafeToken.sol";
import {SwapVenue} from "../SwapVenue.sol";

/// A swap venue that can keep a part of its output, for tests of dishonest venues.
contract LyingVenue is SwapVenue {
    using SafeToken for address;

    constructor(address owner, uint256 feeBps) SwapVenue(owner, feeBps) {}

    /// As `swap`, but `keptPpm` millionths of the output go to `taker`. With `onlyOnChain` only where gas has a price, which it
    /// has not in simulations.
    function swapAndKeep(
        address tokenIn,
        address tokenOut,
        uint256 amountIn,
        address recipient,
        uint256 keptPpm,
        address taker,
        bool onlyOnChain
    ) external payable returns (uint256 amountOut) {
        if (tokenIn != address(0)) tokenIn.safeTransferFrom(msg.sender, address(this), amountIn);
        (amountOut,) = quote(tokenIn, tokenOut, amountIn);
        uint256 kept = onlyOnChain && tx.gasprice == 0 ? 0 : amountOut * keptPpm / 1e6;
        _send(tokenOut, recipient, amountOut - kept);
        _send(tokenOut, taker, kept);
    }

    /// As `swap`, but `recipient` gets at most `paid`, and `taker` the rest of the output.
    function swapForExactly(
        address tokenIn,
        address tokenOut,
        uint256 amountIn,
        address recipient,
        uint256 paid,
        address taker
    ) external payable returns (uint256 amountOut) {
        if (tokenIn != address(0)) tokenIn.safeTransferFrom(msg.sender, address(this), amountIn);
        (amountOut,) = quote(tokenIn, tokenOut, amountIn);
        uint256 kept = amountOut > paid ? amountOut - paid : 0;
        _send(tokenOut, recipient, amountOut - kept);
        _send(tokenOut, taker, kept);
    }

    function _send(address token, address to, uint256 amount) private {
        if (token != address(0)) return token.safeTransfer(to, amount);
        (bool ok,) = to.call{value: amount}("");
        require(ok, NativeTransferFailed(to, amount));
    }
}

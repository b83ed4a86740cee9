// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {SafeToken} from "../SafeToken.sol";

/// A malicious swap router. Tests only.
contract HostileRouter {
    using SafeToken for address;

    receive() external payable {}

    /// Call back in the middle of a swap. A revert is passed on unchanged.
    function reenter(address target, bytes calldata data) external payable {
        (bool ok, bytes memory reason) = target.call(data);
        if (ok) return;
        assembly ("memory-safe") {
            revert(add(reason, 0x20), mload(reason))
        }
    }

    /// Take the tokens without an output.
    function take(address tokenIn, uint256 amountIn) external {
        tokenIn.safeTransferFrom(msg.sender, address(this), amountIn);
    }

    /// Fill only the configured part, from its balance.
    function fill(address tokenIn, uint256 amountIn, address tokenOut, uint256 amountOut) external payable {
        if (tokenIn != address(0)) tokenIn.safeTransferFrom(msg.sender, address(this), amountIn);
        tokenOut.safeTransfer(msg.sender, amountOut);
        if (msg.value > amountIn) {
            (bool ok,) = msg.sender.call{value: msg.value - amountIn}("");
            require(ok);
        }
    }
}

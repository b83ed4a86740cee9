// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

/// ERC-20 calls for tokens that return no value, return false, or require an allowance of zero before a change (USDT).
library SafeToken {
    error TokenTransferFailed(address token, address from, address to, uint256 amount);
    error TokenApprovalFailed(address token, address spender, uint256 amount);

    function balanceOf(address token, address account) internal view returns (uint256 balance) {
        (bool ok, bytes memory result) = token.staticcall(abi.encodeWithSignature("balanceOf(address)", account));
        require(ok && result.length >= 32, TokenTransferFailed(token, account, account, 0));
        balance = abi.decode(result, (uint256));
    }

    function safeTransfer(address token, address to, uint256 amount) internal {
        bool ok = _call(token, abi.encodeWithSignature("transfer(address,uint256)", to, amount));
        require(ok, TokenTransferFailed(token, address(this), to, amount));
    }

    function safeTransferFrom(address token, address from, address to, uint256 amount) internal {
        bool ok = _call(token, abi.encodeWithSignature("transferFrom(address,address,uint256)", from, to, amount));
        require(ok, TokenTransferFailed(token, from, to, amount));
    }

    /// Sets the allowance, through zero.
    function forceApprove(address token, address spender, uint256 amount) internal {
        bool ok = _call(token, abi.encodeWithSignature("approve(address,uint256)", spender, 0));
        if (ok && amount != 0) ok = _call(token, abi.encodeWithSignature("approve(address,uint256)", spender, amount));
        require(ok, TokenApprovalFailed(token, spender, amount));
    }

    function _call(address token, bytes memory data) private returns (bool) {
        (bool ok, bytes memory result) = token.call(data);
        return ok && token.code.length != 0 && (result.length == 0 || abi.decode(result, (bool)));
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

/// ERC-20 transfers of tokens that return no value, or false.
library SafeToken {
    error TokenTransferFailed(address token, address from, address to, uint256 amount);

    function safeTransfer(address token, address to, uint256 amount) internal {
        bool ok = _call(token, abi.encodeWithSignature("transfer(address,uint256)", to, amount));
        require(ok, TokenTransferFailed(token, address(this), to, amount));
    }

    function safeTransferFrom(address token, address from, address to, uint256 amount) internal {
        bool ok = _call(token, abi.encodeWithSignature("transferFrom(address,address,uint256)", from, to, amount));
        require(ok, TokenTransferFailed(token, from, to, amount));
    }

    function _call(address token, bytes memory data) private returns (bool) {
        (bool ok, bytes memory result) = token.call(data);
        return ok && token.code.length != 0 && (result.length == 0 || abi.decode(result, (bool)));
    }
}

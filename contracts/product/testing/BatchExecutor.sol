// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

/// For tests only: the code of a wallet that can batch (EIP-5792, EIP-7702). All calls succeed, or none.
contract BatchExecutor {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    error CallFailed(uint256 index, bytes reason);

    function execute(Call[] calldata calls) external payable {
        for (uint256 i; i < calls.length; ++i) {
            (bool success, bytes memory reason) = calls[i].to.call{value: calls[i].value}(calls[i].data);
            require(success, CallFailed(i, reason));
        }
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

/// Runs a sequence of calls and reads as a wallet, within one `eth_call`: never deployed, its code is put at the wallet's own
/// address by state override. So the wallet is the sender of every call and the origin of all, and what the sequence leaves
/// behind can be read at its end.
contract WalletExecutor {
    struct Step {
        address to;
        uint256 value;
        bytes data;
        /// A read may revert, and changes nothing.
        bool isRead;
        /// From 1: a word of an earlier step's answer is appended to the data. 0 = nothing is.
        uint256 tailOf;
        /// Which word, counted from the answer's end, from 1.
        uint256 tailWord;
    }

    struct Result {
        bool ok;
        uint256 gasUsed;
        bytes data;
    }

    /// What is sent to the wallet arrives, as it would without code.
    fallback() external payable {}
    receive() external payable {}

    /// Ends with the first call that reverts: what would have followed is left empty.
    function run(Step[] calldata steps) external returns (uint256 timestamp, Result[] memory results) {
        require(msg.sender == address(this));
        results = new Result[](steps.length);
        for (uint256 i; i < steps.length; ++i) {
            Step calldata step = steps[i];
            bytes memory data = step.data;
            if (step.tailOf != 0) data = bytes.concat(data, _wordFromEnd(results[step.tailOf - 1].data, step.tailWord));
            Result memory result = results[i];
            uint256 gasBefore = gasleft();
            (result.ok, result.data) = step.isRead ? step.to.staticcall(data) : step.to.call{value: step.value}(data);
            result.gasUsed = gasBefore - gasleft();
            if (!result.ok && !step.isRead) break;
        }
        timestamp = block.timestamp;
    }

    function _wordFromEnd(bytes memory data, uint256 count) private pure returns (bytes32 word) {
        if (data.length < 32 * count) return 0;
        assembly {
            word := mload(add(data, sub(add(mload(data), 0x20), mul(0x20, count))))
        }
    }
}

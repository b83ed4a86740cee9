// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

/// Runs a sequence of calls and reads as a wallet, within one `eth_call`: never deployed, its code is placed at the wallet's
/// address by state override. So the wallet is the sender of every call and the origin of all, and the resulting state can
/// be read at the end.
contract WalletExecutor {
    struct Step {
        address to;
        uint256 value;
        bytes data;
        /// A read may revert and changes no state.
        bool isRead;
        /// From 1: the step whose answer gives a word that is appended to the data. 0 = no word.
        uint256 tailOf;
        /// Index of the word, counted from the end of the answer, from 1.
        uint256 tailWord;
    }

    struct Result {
        bool ok;
        uint256 gasUsed;
        bytes data;
    }

    /// Accept payments to the wallet, as without code.
    fallback() external payable {}
    receive() external payable {}

    /// Stop at the first call that reverts. The results of later calls are empty.
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

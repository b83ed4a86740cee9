// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.28;

import {Owned} from "./Owned.sol";

/// @notice Price feed with the views of Chainlink's aggregators whose owner sets the answer. Like theirs it publishes again
/// at every heartbeat. A frozen feed never does.
contract PriceFeed is Owned {
    uint8 public immutable decimals;
    uint256 public immutable heartbeat;
    string public description;

    int256 private s_answer;
    uint256 private s_publishedAt;
    bool private s_frozen;

    constructor(string memory description_, uint8 decimals_, uint256 heartbeat_, int256 answer_, address owner_)
        Owned(owner_)
    {
        description = description_;
        decimals = decimals_;
        heartbeat = heartbeat_;
        s_answer = answer_;
        s_publishedAt = block.timestamp;
    }

    /// A frozen feed keeps its date when its answer is set.
    function setAnswer(int256 answer_) external onlyOwner {
        s_answer = answer_;
        if (!s_frozen) s_publishedAt = block.timestamp;
    }

    /// Stop publishing. The latest date stays.
    function freeze() external onlyOwner {
        s_publishedAt = _updatedAt();
        s_frozen = true;
    }

    /// Publish now and at every later heartbeat.
    function unfreeze() external onlyOwner {
        s_publishedAt = block.timestamp;
        s_frozen = false;
    }

    /// Return this date from now on, also one in the future or without sense.
    function freezeAt(uint256 updatedAt) external onlyOwner {
        s_publishedAt = updatedAt;
        s_frozen = true;
    }

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        updatedAt = _updatedAt();
        return (1, s_answer, updatedAt, updatedAt, 1);
    }

    function _updatedAt() private view returns (uint256) {
        if (s_frozen) return s_publishedAt;
        return s_publishedAt + (block.timestamp - s_publishedAt) / heartbeat * heartbeat;
    }
}

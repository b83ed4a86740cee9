// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.28;

import {IOracle} from "@morpho-org/morpho-blue/src/interfaces/IOracle.sol";
import {Owned} from "./Owned.sol";
import {PriceFeed} from "./PriceFeed.sol";

/// @notice Oracle with the views of MorphoChainlinkOracleV2: the price is its scale times the base feed over the quote feed.
/// Without feeds it values a vault's shares, at a rate that its owner sets.
contract FeedOracle is IOracle, Owned {
    uint256 public immutable SCALE_FACTOR;
    address public immutable BASE_VAULT;
    uint256 public constant BASE_VAULT_CONVERSION_SAMPLE = 1;
    address public constant QUOTE_VAULT = address(0);
    uint256 public constant QUOTE_VAULT_CONVERSION_SAMPLE = 1;
    address public immutable BASE_FEED_1;
    address public constant BASE_FEED_2 = address(0);
    address public immutable QUOTE_FEED_1;
    address public constant QUOTE_FEED_2 = address(0);

    uint256 private s_vaultRate;

    event PriceSet(uint256 price);

    constructor(uint256 scale, address baseFeed, address quoteFeed, address baseVault, uint256 vaultRate, address owner_)
        Owned(owner_)
    {
        SCALE_FACTOR = scale;
        BASE_FEED_1 = baseFeed;
        QUOTE_FEED_1 = quoteFeed;
        BASE_VAULT = baseVault;
        s_vaultRate = vaultRate;
    }

    /// @notice The rate of the vault. With a feed, the price is set at the feed.
    function setPrice(uint256 price_) external onlyOwner {
        s_vaultRate = price_;
        emit PriceSet(price_);
    }

    function price() external view returns (uint256) {
        if (BASE_FEED_1 == address(0)) return s_vaultRate;
        return SCALE_FACTOR * _answer(BASE_FEED_1) / (QUOTE_FEED_1 == address(0) ? 1 : _answer(QUOTE_FEED_1));
    }

    function _answer(address feed) private view returns (uint256) {
        (, int256 answer,,,) = PriceFeed(feed).latestRoundData();
        require(answer >= 0, "negative answer");
        return uint256(answer);
    }
}

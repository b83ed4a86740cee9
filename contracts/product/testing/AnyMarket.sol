// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {Id, Market, MarketParams} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";

/// A protocol in which every id is a market, with an oracle of its own at the id's last 20 bytes, and which is the rate model
/// of all of them. Tests only.
contract AnyMarket {
    function idToMarketParams(Id id) external view returns (MarketParams memory params) {
        params.oracle = address(uint160(uint256(Id.unwrap(id))));
        params.irm = address(this);
    }

    function market(Id id) external view returns (Market memory) {
        uint128 supply = uint128(uint256(Id.unwrap(id)));
        return Market(supply, supply, supply / 2, supply / 2, uint128(block.timestamp - 1), 0);
    }

    function rateAtTarget(Id) external pure returns (int256) {
        return 1;
    }

    function borrowRateView(MarketParams memory, Market memory) external pure returns (uint256) {
        return 2;
    }
}

/// An oracle that takes some 60,000 gas, as one does that asks several feeds behind proxies. Tests only.
contract UsualOracle {
    uint256 private constant GAS = 60_000;

    function price() external view returns (uint256) {
        uint256 end = gasleft() - GAS;
        while (gasleft() > end) {}
        return 1e36;
    }
}

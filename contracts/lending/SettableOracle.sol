// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.28;

import {IOracle} from "@morpho-org/morpho-blue/src/interfaces/IOracle.sol";
import {Owned} from "./Owned.sol";

/// @notice Oracle whose owner sets the price: loan base units per collateral base unit, times 1e36.
contract SettableOracle is IOracle, Owned {
    uint256 public price;

    event PriceSet(uint256 price);

    constructor(uint256 price_, address owner_) Owned(owner_) {
        price = price_;
    }

    function setPrice(uint256 price_) external onlyOwner {
        price = price_;
        emit PriceSet(price_);
    }
}

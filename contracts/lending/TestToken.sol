// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.28;

import {Erc20} from "./Erc20.sol";
import {Owned} from "./Owned.sol";

/// @notice ERC-20 with chosen decimals whose owner may mint to anyone.
contract TestToken is Erc20, Owned {
    constructor(string memory name_, string memory symbol_, uint8 decimals_, address owner_)
        Erc20(name_, symbol_, decimals_)
        Owned(owner_)
    {}

    function mint(address to, uint256 amount) external onlyOwner {
        _mint(to, amount);
    }

    /// @notice Mint the same amount to each.
    function mintEach(address[] calldata to, uint256 amount) external onlyOwner {
        for (uint256 i; i < to.length; ++i) {
            _mint(to[i], amount);
        }
    }
}

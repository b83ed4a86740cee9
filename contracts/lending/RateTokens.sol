// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.28;

import {TestToken} from "./TestToken.sol";

/// @notice Savings token that publishes its growth per second in ray (1e27) as `str()`.
contract StrToken is TestToken {
    uint256 public str = 1e27;

    constructor(string memory name_, string memory symbol_, uint8 decimals_, address owner_)
        TestToken(name_, symbol_, decimals_, owner_)
    {}

    function setRate(uint256 perSecondRay) external onlyOwner {
        str = perSecondRay;
    }
}

/// @notice Savings token that publishes its growth per second in ray (1e27) as `vsr()`.
contract VsrToken is TestToken {
    uint256 public vsr = 1e27;

    constructor(string memory name_, string memory symbol_, uint8 decimals_, address owner_)
        TestToken(name_, symbol_, decimals_, owner_)
    {}

    function setRate(uint256 perSecondRay) external onlyOwner {
        vsr = perSecondRay;
    }
}

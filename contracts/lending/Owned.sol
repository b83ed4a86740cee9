// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.28;

/// @notice One fixed owner.
abstract contract Owned {
    address public immutable owner;

    error NotOwner();

    modifier onlyOwner() {
        require(msg.sender == owner, NotOwner());
        _;
    }

    constructor(address owner_) {
        owner = owner_;
    }
}

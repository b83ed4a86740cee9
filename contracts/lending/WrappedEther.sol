// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.28;

import {TestToken} from "./TestToken.sol";

/// @notice Wraps and unwraps ether one to one. Tokens minted by the owner are backed by ether that the seeding adds.
contract WrappedEther is TestToken {
    event Deposit(address indexed account, uint256 amount);
    event Withdrawal(address indexed account, uint256 amount);

    error EtherTransferFailed(address account, uint256 amount);

    constructor(string memory name_, string memory symbol_, uint8 decimals_, address owner_)
        TestToken(name_, symbol_, decimals_, owner_)
    {}

    receive() external payable {
        deposit();
    }

    function deposit() public payable {
        _mint(msg.sender, msg.value);
        emit Deposit(msg.sender, msg.value);
    }

    function withdraw(uint256 amount) external {
        _burn(msg.sender, amount);
        emit Withdrawal(msg.sender, amount);
        (bool sent,) = msg.sender.call{value: amount}("");
        require(sent, EtherTransferFailed(msg.sender, amount));
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

/// A token that calls back in each transfer. It has no balances: any address can transfer any amount. Tests only.
contract HostileToken {
    uint8 public constant decimals = 18;
    address private s_target;
    bytes private s_data;

    function arm(address target, bytes calldata data) external {
        s_target = target;
        s_data = data;
    }

    function approve(address, uint256) external pure returns (bool) {
        return true;
    }

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    function transfer(address, uint256) external returns (bool) {
        return _callBack();
    }

    function transferFrom(address, address, uint256) external returns (bool) {
        return _callBack();
    }

    /// Happens once: the token is disarmed before its call. Returns whether the call succeeded.
    function _callBack() private returns (bool ok) {
        if (s_target == address(0)) return true;
        address target = s_target;
        s_target = address(0);
        (ok,) = target.call(s_data);
    }
}

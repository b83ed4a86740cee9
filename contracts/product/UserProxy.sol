// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// Holds one leveraged position in Morpho for `s_user`; FlashLeverage acts through it. In manual mode, which is permanent, only
/// its user acts. One implementation per FlashLeverage; positions are minimal clones of it. It refuses with plain strings.
contract UserProxy {
    using SafeERC20 for IERC20;

    address public immutable i_flashLeverage;
    address public immutable i_morpho;
    address public s_user;
    bool public s_manualMode;

    constructor(address flashLeverage, address morpho) {
        i_flashLeverage = flashLeverage;
        i_morpho = morpho;
    }

    function initialize(address user) external {
        require(s_user == address(0), "UserProxy: Already Initialized");
        s_user = user;
    }

    /// Call Morpho only. Morpho's revert reason is not passed on.
    function execute(bytes calldata data) external returns (bytes memory result) {
        if (msg.sender == i_flashLeverage) require(!s_manualMode, "UserProxy: Manual Mode Enabled");
        else if (msg.sender == s_user) require(s_manualMode, "UserProxy: Not in manual Mode");
        else revert("UserProxy: Unauthorised");
        bool ok;
        (ok, result) = i_morpho.call(data);
        require(ok, "UserProxy: Call Failed");
    }

    function enableManualMode() external {
        require(msg.sender == i_flashLeverage, "UserProxy: Unauthorised");
        s_manualMode = true;
    }

    /// Send tokens that arrived by mistake or as rewards to the user.
    function recover(address token) external {
        require(msg.sender == s_user, "UserProxy: Unauthorised");
        IERC20(token).safeTransfer(s_user, IERC20(token).balanceOf(address(this)));
    }
}

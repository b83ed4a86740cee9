// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {IMorpho} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";

/// Holds one leveraged position in Morpho for `s_user`. It moves nothing itself: FlashLeverage is its Morpho manager.
/// One implementation per FlashLeverage; positions are minimal clones of it.
contract UserProxy {
    address public immutable i_flashLeverage;
    IMorpho public immutable i_morpho;
    address public s_user;

    error NotFlashLeverage(address caller);
    error AlreadyInitialized();

    constructor(address flashLeverage, IMorpho morpho) {
        i_flashLeverage = flashLeverage;
        i_morpho = morpho;
    }

    function initialize(address user) external {
        require(msg.sender == i_flashLeverage, NotFlashLeverage(msg.sender));
        require(s_user == address(0), AlreadyInitialized());
        s_user = user;
        i_morpho.setAuthorization(i_flashLeverage, true);
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {MarketParams} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {Withdrawal} from "./Types.sol";

interface IPublicAllocator {
    /// `msg.value` must be the vault's fee; `withdrawals` must be sorted by market id, ascending.
    function reallocateTo(address vault, Withdrawal[] calldata withdrawals, MarketParams calldata supplyMarketParams)
        external
        payable;
}

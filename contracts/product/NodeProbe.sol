// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

/// Shows whether a node runs code as its chain does. Never deployed. Its creation code is run in three ways (as creation code,
/// at an address by state override, and within `eth_simulateV1`), and each has to end with the same word.
///
/// It counts its runs in slot 0, emits an event without topics, and returns a hash of the chain's id and the count. The
/// compiler writes zeros with PUSH0, and MCOPY is used as well: a node that does not know them fails here. The word's first
/// byte is zero, because what creation returns may not begin with 0xEF.
contract NodeProbe {
    constructor() payable {
        assembly {
            let runs := add(sload(0), 1)
            sstore(0, runs)
            mstore(0x80, chainid())
            mstore(0xa0, runs)
            mcopy(0x00, 0x80, 0x40)
            mstore(0x00, shr(8, keccak256(0x00, 0x40)))
            log0(0x00, 0x20)
            return(0x00, 0x20)
        }
    }
}

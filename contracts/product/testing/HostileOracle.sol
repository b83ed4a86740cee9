// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

/// Malicious oracles. Tests only.
contract RevertingOracle {
    error NoPrice();

    function price() external pure returns (uint256) {
        revert NoPrice();
    }
}

/// Uses all gas.
contract BurningOracle {
    fallback() external {
        while (true) {}
    }
}

/// Returns as many bytes as its gas pays for, so that copying the answer is expensive too.
contract FloodingOracle {
    fallback() external {
        assembly {
            return(0, 500000)
        }
    }
}

/// Reverts with as many bytes as its gas pays for.
contract FloodingRevertOracle {
    fallback() external {
        assembly {
            revert(0, 500000)
        }
    }
}

/// Returns half a word.
contract ShortOracle {
    fallback() external {
        assembly {
            return(0, 16)
        }
    }
}

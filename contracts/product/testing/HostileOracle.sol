// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

/// Oracles that do what no oracle should. Tests only.
contract RevertingOracle {
    error NoPrice();

    function price() external pure returns (uint256) {
        revert NoPrice();
    }
}

/// Uses up whatever gas it is given.
contract BurningOracle {
    fallback() external {
        while (true) {}
    }
}

/// Answers with as much as its gas pays for, to make whoever copies it pay as well.
contract FloodingOracle {
    fallback() external {
        assembly {
            return(0, 500000)
        }
    }
}

/// Refuses with as much as its gas pays for.
contract FloodingRevertOracle {
    fallback() external {
        assembly {
            revert(0, 500000)
        }
    }
}

/// Tells half a word.
contract ShortOracle {
    fallback() external {
        assembly {
            return(0, 16)
        }
    }
}

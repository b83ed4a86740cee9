// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

/// Reads many markets in one call and is never deployed: its creation code is sent as an `eth_call` without a receiver, and
/// its constructor returns what it read instead of a contract.
///
/// Arguments, packed behind the code: the ids of the markets, 32 bytes each; their number, 12 bytes; Morpho Blue, 20 bytes.
///
/// Returned, in words of 32 bytes: the block's time, the chain's id, the number of markets, and for each market in turn
///   0  total supply assets | total supply shares, 16 bytes each
///   1  total borrow assets | total borrow shares
///   2  last update | fee
///   3  statuses, 2 bytes | rate at target, 15 bytes | borrow rate, 15 bytes
///   4  price
/// Statuses take 2 bits each, from the lowest: market, rate at target, borrow rate, price. What is larger than its field is
/// told as the field's largest number; what was not answered as zero.
///
/// Whatever is asked can fail alone: the call never reverts. The first byte returned is zero, as is the time's, so that it
/// is not refused as code that begins with 0xEF (EIP-3541).
contract MarketLens {
    // What became of a question. Zero: too little gas was left to ask it.
    uint256 private constant ANSWERED = 1;
    uint256 private constant REVERTED = 2;
    uint256 private constant MALFORMED = 3;

    bytes4 private constant ID_TO_MARKET_PARAMS = 0x2c3c9157;
    bytes4 private constant MARKET = 0x5c60e39a;
    bytes4 private constant RATE_AT_TARGET = 0x01977b57;
    bytes4 private constant BORROW_RATE_VIEW = 0x8c00bf6b;
    bytes4 private constant PRICE = 0xa035b1fe;

    /// Morpho and its rate models are known code that takes some 15,000 at most.
    uint256 private constant STATE_GAS = 300_000;
    /// An oracle is anybody's code. Most take 10,000 to 300,000, one that values a vault over thirty markets a million; and
    /// ten that burn all of this leave enough for a hundred others within the 50 million that nodes usually give a call.
    uint256 private constant PRICE_GAS = 3_000_000;
    /// Kept for returning: a byte costs 200, as code that is stored does. The rest is for finishing rows without questions,
    /// and for finding each oracle among those before it.
    uint256 private constant RESERVE_PER_MARKET = 40_000;
    uint256 private constant RESERVE = 100_000;

    uint256 private constant ROW_BYTES = 160;

    // Memory. The answers about a market's parameters and totals stand where the question for its rate wants them.
    uint256 private constant WORD = 0x00;
    uint256 private constant KEPT_GAS = 0x20;
    uint256 private constant QUESTION = 0x40;
    uint256 private constant QUESTION_ID = 0x44;
    uint256 private constant RATE_QUESTION = 0x80;
    uint256 private constant PARAMS = 0x84;
    uint256 private constant PARAMS_ORACLE = 0xc4;
    uint256 private constant PARAMS_IRM = 0xe4;
    uint256 private constant TOTALS = 0x124;
    uint256 private constant RETURNED = 0x200;
    uint256 private constant ROWS = 0x260;

    /// Payable because a check for value is code, which is sent with every call.
    constructor() payable {
        assembly {
            /// Ask with exactly so much gas, or not at all: an answer must not depend on what the node gives.
            function ask(to, given, question, size, answer, answerSize) -> status {
                if lt(gas(), add(given, mload(KEPT_GAS))) { leave }
                switch staticcall(given, to, question, size, answer, answerSize)
                case 0 { status := REVERTED }
                default {
                    status := MALFORMED
                    if eq(returndatasize(), answerSize) { status := ANSWERED }
                }
            }

            function askAbout(id, to, selector, answer, answerSize) -> status {
                mstore(QUESTION, selector)
                mstore(QUESTION_ID, id)
                status := ask(to, STATE_GAS, QUESTION, 0x24, answer, answerSize)
            }

            function capped(value, bits) -> result {
                result := sub(shl(bits, 1), 1)
                if lt(value, result) { result := value }
            }

            function pairAt(at) -> pair {
                pair := or(shl(128, capped(mload(at), 128)), capped(mload(add(at, 0x20)), 128))
            }

            let morpho, count, at
            {
                let tail := sub(codesize(), 0x20)
                codecopy(WORD, tail, 0x20)
                morpho := and(mload(WORD), 0xffffffffffffffffffffffffffffffffffffffff)
                count := shr(160, mload(WORD))
                at := sub(tail, mul(0x20, count))
            }
            let end := add(ROWS, mul(ROW_BYTES, count))
            mstore(KEPT_GAS, add(RESERVE, mul(RESERVE_PER_MARKET, count)))
            mstore(RATE_QUESTION, BORROW_RATE_VIEW)
            mstore(RETURNED, timestamp())
            mstore(add(RETURNED, 0x20), chainid())
            mstore(add(RETURNED, 0x40), count)

            // Behind the rows, a word each: the oracles. They are asked when every market is known.
            let oracle := end
            for { let row := ROWS } lt(row, end) { row := add(row, ROW_BYTES) } {
                codecopy(WORD, at, 0x20)
                at := add(at, 0x20)
                let id := mload(WORD)
                let market := askAbout(id, morpho, MARKET, TOTALS, 0xc0)
                if eq(market, ANSWERED) {
                    mstore(row, pairAt(TOTALS))
                    mstore(add(row, 0x20), pairAt(add(TOTALS, 0x40)))
                    mstore(add(row, 0x40), pairAt(add(TOTALS, 0x80)))
                }
                // Whom nobody names cannot be asked: why not stands for the answers of the model and the oracle.
                let params := askAbout(id, morpho, ID_TO_MARKET_PARAMS, PARAMS, 0xa0)
                let statuses := or(market, or(shl(2, params), shl(6, params)))
                if eq(params, ANSWERED) {
                    mstore(oracle, mload(PARAMS_ORACLE))
                    let rate := askAbout(id, mload(PARAMS_IRM), RATE_AT_TARGET, WORD, 0x20)
                    statuses := or(market, shl(2, rate))
                    if eq(rate, ANSWERED) { mstore(add(row, 0x60), shl(120, capped(mload(WORD), 120))) }
                    if eq(market, ANSWERED) {
                        rate := ask(mload(PARAMS_IRM), STATE_GAS, RATE_QUESTION, 0x164, WORD, 0x20)
                        statuses := or(statuses, shl(4, rate))
                        if eq(rate, ANSWERED) {
                            mstore(add(row, 0x60), or(mload(add(row, 0x60)), capped(mload(WORD), 120)))
                        }
                    }
                }
                mstore(add(row, 0x60), or(mload(add(row, 0x60)), shl(240, statuses)))
                oracle := add(oracle, 0x20)
            }

            mstore(QUESTION, PRICE)
            oracle := end
            for { let row := ROWS } lt(row, end) { row := add(row, ROW_BYTES) } {
                if lt(shr(240, mload(add(row, 0x60))), 0x40) {
                    // The first market with this oracle, at the latest this one.
                    let first := end
                    for {} xor(mload(first), mload(oracle)) {} { first := add(first, 0x20) }
                    let known := add(ROWS, mul(5, sub(first, end)))
                    if eq(known, row) {
                        let price := ask(mload(oracle), PRICE_GAS, QUESTION, 0x04, WORD, 0x20)
                        mstore(add(row, 0x60), or(mload(add(row, 0x60)), shl(246, price)))
                        if eq(price, ANSWERED) { mstore(add(row, 0x80), mload(WORD)) }
                    }
                    if lt(known, row) {
                        mstore(add(row, 0x60), or(mload(add(row, 0x60)), shl(246, shr(246, mload(add(known, 0x60))))))
                        mstore(add(row, 0x80), mload(add(known, 0x80)))
                    }
                }
                oracle := add(oracle, 0x20)
            }
            return(RETURNED, sub(end, RETURNED))
        }
    }
}

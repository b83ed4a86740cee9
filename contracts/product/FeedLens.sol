// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

/// Reads the feeds behind many oracles in one call, as MarketLens reads markets: never deployed, its constructor returns what
/// it read. Morpho's Chainlink oracles, of both versions, name their feeds by four views; other oracles do not have them.
///
/// Arguments, packed behind the code: the oracles, 32 bytes each; their number, 32 bytes.
///
/// Returned, in words of 32 bytes: the block's time, the chain's id, the number of oracles, and for each oracle in turn
///   0     statuses of 2 bits each, from the lowest: the four views, then the four feeds
///   1-4   feed, 20 bytes | when it was updated, 12 bytes
/// A date that is larger than its field is told as the field's largest number; what was not answered as zero. A feed that the
/// oracle does not have is the zero address, and is not asked. After a view that does not answer an oracle is left alone.
///
/// Whatever is asked can fail alone: the call never reverts.
contract FeedLens {
    // What became of a question. Zero: not asked, which too little gas may be the reason for.
    uint256 private constant ANSWERED = 1;
    uint256 private constant REVERTED = 2;
    uint256 private constant MALFORMED = 3;

    /// BASE_FEED_1, BASE_FEED_2, QUOTE_FEED_1, QUOTE_FEED_2, from the lowest.
    uint256 private constant VIEWS = 0xacfbd39e56095e11dc53858cf50a4718;
    bytes4 private constant LATEST_ROUND_DATA = 0xfeaf968c;

    /// Immutables of a known contract; an oracle of another kind may do anything, once.
    uint256 private constant VIEW_GAS = 50_000;
    /// A feed is a proxy before an aggregator: some 15,000.
    uint256 private constant FEED_GAS = 200_000;
    /// Kept for returning: a byte costs 200, as code that is stored does. The rest is for finishing rows without questions.
    uint256 private constant RESERVE_PER_ORACLE = 40_000;
    uint256 private constant RESERVE = 100_000;

    uint256 private constant ROW_BYTES = 160;

    uint256 private constant WORD = 0x00;
    uint256 private constant QUESTION = 0x40;
    uint256 private constant ANSWER = 0x60;
    uint256 private constant RETURNED = 0x200;
    uint256 private constant ROWS = 0x260;

    /// Payable because a check for value is code, which is sent with every call.
    constructor() payable {
        assembly {
            /// Ask with exactly so much gas, or not at all: an answer must not depend on what the node gives.
            function ask(to, given, kept, answerSize) -> status {
                if lt(gas(), add(given, kept)) { leave }
                switch staticcall(given, to, QUESTION, 0x04, ANSWER, answerSize)
                case 0 { status := REVERTED }
                default {
                    status := MALFORMED
                    if eq(returndatasize(), answerSize) { status := ANSWERED }
                }
            }

            codecopy(WORD, sub(codesize(), 0x20), 0x20)
            let count := mload(WORD)
            let at := sub(sub(codesize(), 0x20), mul(0x20, count))
            let end := add(ROWS, mul(ROW_BYTES, count))
            let kept := add(RESERVE, mul(RESERVE_PER_ORACLE, count))
            mstore(RETURNED, timestamp())
            mstore(add(RETURNED, 0x20), chainid())
            mstore(add(RETURNED, 0x40), count)

            for { let row := ROWS } lt(row, end) { row := add(row, ROW_BYTES) } {
                codecopy(WORD, at, 0x20)
                at := add(at, 0x20)
                let oracle := mload(WORD)
                let statuses := 0
                for { let i := 0 } lt(i, 4) { i := add(i, 1) } {
                    mstore(QUESTION, shl(224, shr(mul(32, i), VIEWS)))
                    let status := ask(oracle, VIEW_GAS, kept, 0x20)
                    statuses := or(statuses, shl(mul(2, i), status))
                    if xor(status, ANSWERED) { break }
                    let feed := shr(96, shl(96, mload(ANSWER)))
                    if iszero(feed) { continue }
                    mstore(QUESTION, LATEST_ROUND_DATA)
                    status := ask(feed, FEED_GAS, kept, 0xa0)
                    statuses := or(statuses, shl(add(8, mul(2, i)), status))
                    let updated := 0
                    if eq(status, ANSWERED) {
                        updated := mload(add(ANSWER, 0x60))
                        if shr(96, updated) { updated := shr(160, not(0)) }
                    }
                    mstore(add(row, mul(0x20, add(i, 1))), or(shl(96, feed), updated))
                }
                mstore(row, statuses)
            }
            return(RETURNED, sub(end, RETURNED))
        }
    }
}

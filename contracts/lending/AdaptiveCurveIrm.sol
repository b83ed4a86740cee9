// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.28;

import {IIrm} from "@morpho-org/morpho-blue/src/interfaces/IIrm.sol";
import {Id, Market, MarketParams} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {MarketParamsLib} from "@morpho-org/morpho-blue/src/libraries/MarketParamsLib.sol";

/// @notice Adaptive-curve interest-rate model, from the protocol's published formulas: a curve around 90 %
/// utilization, four times steeper towards 100 % and four times lower towards 0 %, whose rate at target moves by
/// up to 50 (e-folds per year) with the distance from the target. All rates are per second in WAD.
contract AdaptiveCurveIrm is IIrm {
    using MarketParamsLib for MarketParams;

    int256 private constant WAD = 1e18;
    int256 private constant YEAR = 365 days;
    int256 private constant CURVE_STEEPNESS = 4e18;
    int256 private constant TARGET_UTILIZATION = 0.9e18;
    int256 private constant ADJUSTMENT_SPEED = 50e18 / YEAR;
    int256 private constant INITIAL_RATE_AT_TARGET = 0.04e18 / YEAR;
    int256 private constant MIN_RATE_AT_TARGET = 0.001e18 / YEAR;
    int256 private constant MAX_RATE_AT_TARGET = 2e18 / YEAR;

    int256 private constant LN_2 = 0.693147180559945309e18;
    /// @dev ln(1e-18): below it exp(x) rounds to zero.
    int256 private constant LN_WEI = -41.446531673892822312e18;
    /// @dev ln(type(int256).max / 1e36): above it exp(x) is clipped, so that a product with 1e18 cannot overflow.
    int256 private constant EXP_UPPER_BOUND = 93.859467695000404319e18;
    int256 private constant EXP_UPPER_VALUE = 57716089161558943949701069502944508345128.422502756744429568e18;

    address public immutable MORPHO;

    /// @notice Rate at target utilization after the market's last interaction; zero before the first one.
    mapping(Id => int256) public rateAtTarget;

    event BorrowRateUpdate(Id indexed id, uint256 avgBorrowRate, uint256 rateAtTarget);

    constructor(address morpho) {
        MORPHO = morpho;
    }

    /// @inheritdoc IIrm
    function borrowRate(MarketParams memory marketParams, Market memory market) external returns (uint256) {
        require(msg.sender == MORPHO, "not Morpho");
        Id id = marketParams.id();
        (uint256 average, int256 end) = _borrowRate(id, market);
        rateAtTarget[id] = end;
        emit BorrowRateUpdate(id, average, uint256(end));
        return average;
    }

    /// @inheritdoc IIrm
    function borrowRateView(MarketParams memory marketParams, Market memory market) external view returns (uint256) {
        (uint256 average,) = _borrowRate(marketParams.id(), market);
        return average;
    }

    /// @return Average borrow rate since the last update, and the rate at target now.
    function _borrowRate(Id id, Market memory market) private view returns (uint256, int256) {
        int256 error = _errorOf(market);
        int256 start = rateAtTarget[id];
        if (start == 0) return (_curve(INITIAL_RATE_AT_TARGET, error), INITIAL_RATE_AT_TARGET);

        int256 elapsed = int256(block.timestamp - market.lastUpdate);
        int256 exponent = (ADJUSTMENT_SPEED * error / WAD) * elapsed;
        if (exponent == 0) return (_curve(start, error), start);

        // The average of the exponential over the elapsed time, by the trapezoidal rule with two steps.
        int256 end = _grow(start, exponent);
        int256 middle = _grow(start, exponent / 2);
        return (_curve((start + end + 2 * middle) / 4, error), end);
    }

    /// @dev Distance of the utilization from its target, as a share of what is possible on that side.
    function _errorOf(Market memory market) private pure returns (int256) {
        int256 utilization = market.totalSupplyAssets == 0
            ? int256(0)
            : int256(uint256(market.totalBorrowAssets) * uint256(WAD) / market.totalSupplyAssets);
        int256 possible = utilization > TARGET_UTILIZATION ? WAD - TARGET_UTILIZATION : TARGET_UTILIZATION;
        return (utilization - TARGET_UTILIZATION) * WAD / possible;
    }

    /// @dev r = ((1 - 1/C) * error + 1) * rate below the target, ((C - 1) * error + 1) * rate above it.
    function _curve(int256 rate, int256 error) private pure returns (uint256) {
        int256 coefficient = error < 0 ? WAD - WAD * WAD / CURVE_STEEPNESS : CURVE_STEEPNESS - WAD;
        return uint256((coefficient * error / WAD + WAD) * rate / WAD);
    }

    function _grow(int256 rate, int256 exponent) private pure returns (int256) {
        int256 grown = rate * _exp(exponent) / WAD;
        if (grown < MIN_RATE_AT_TARGET) return MIN_RATE_AT_TARGET;
        return grown > MAX_RATE_AT_TARGET ? MAX_RATE_AT_TARGET : grown;
    }

    /// @dev exp(x) with x = q ln 2 + r and |r| <= ln 2 / 2: 2^q times the second-order Taylor polynomial of exp(r).
    function _exp(int256 x) private pure returns (int256) {
        if (x < LN_WEI) return 0;
        if (x >= EXP_UPPER_BOUND) return EXP_UPPER_VALUE;
        int256 q = (x + (x < 0 ? -(LN_2 / 2) : LN_2 / 2)) / LN_2;
        int256 r = x - q * LN_2;
        int256 expR = WAD + r + (r * r) / WAD / 2;
        return q >= 0 ? expR << uint256(q) : expR >> uint256(-q);
    }
}

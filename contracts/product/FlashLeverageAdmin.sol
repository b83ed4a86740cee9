// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {IMorpho, Id, MarketParams, Position} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {IOracle} from "@morpho-org/morpho-blue/src/interfaces/IOracle.sol";
import {MathLib} from "@morpho-org/morpho-blue/src/libraries/MathLib.sol";
import {SharesMathLib} from "@morpho-org/morpho-blue/src/libraries/SharesMathLib.sol";
import {ORACLE_PRICE_SCALE} from "@morpho-org/morpho-blue/src/libraries/ConstantsLib.sol";
import {MarketParamsLib} from "@morpho-org/morpho-blue/src/libraries/MarketParamsLib.sol";
import {MorphoBalancesLib} from "@morpho-org/morpho-blue/src/libraries/periphery/MorphoBalancesLib.sol";
import {SwapExecutor} from "./SwapExecutor.sol";
import {LeveragePosition, MorphoPosition, SupportedMarket} from "./Types.sol";
import {UserProxy} from "./UserProxy.sol";

/// The state of FlashLeverage, its owner's switches and its views.
abstract contract FlashLeverageAdmin is SwapExecutor {
    using MathLib for uint256;
    using SharesMathLib for uint256;
    using MarketParamsLib for MarketParams;

    /// Distance between a market's liquidation LTV and the highest LTV a position may be left at: 0.25 points.
    uint256 public constant LIQUIDATION_BUFFER = 0.0025e18;
    /// The most a swap may lose against the market's oracle: 1 %.
    uint256 public constant MAX_SLIPPAGE = 0.01e18;

    address public immutable i_owner;
    IMorpho public immutable i_morpho;
    /// The first contract this one creates, hence at its nonce 1; positions are clones of it, from nonce 2 on.
    address public immutable i_proxyImplementation;

    bool public s_paused;
    mapping(bytes32 marketId => bool) public s_isCorrelated;
    mapping(bytes32 marketId => bool) private s_supportedMarkets;
    mapping(address router => bool) private s_swapRouters;
    mapping(address operator => bool) private s_operators;
    mapping(address user => LeveragePosition[]) internal s_positions;

    error NotOwner(address caller);
    error NotApprovedOperator(address caller, address user);
    error ContractPaused();
    error MarketNotSupported(bytes32 marketId);
    error PositionNotFound(address user, uint256 positionId);
    error InvalidSwapRouter(address router);

    modifier onlyOwner() {
        require(msg.sender == i_owner, NotOwner(msg.sender));
        _;
    }

    /// Pausing stops what adds risk (open, increase, borrow, withdraw); closing, repaying and adding collateral go on.
    modifier whenNotPaused() {
        require(!s_paused, ContractPaused());
        _;
    }

    constructor(address owner, IMorpho morpho) {
        i_owner = owner;
        i_morpho = morpho;
        i_proxyImplementation = address(new UserProxy(address(this), morpho));
    }

    function addSupportedMarkets(SupportedMarket[] calldata markets) external onlyOwner {
        for (uint256 i; i < markets.length; ++i) {
            _market(i_morpho, markets[i].marketId);
            s_supportedMarkets[markets[i].marketId] = true;
            s_isCorrelated[markets[i].marketId] = markets[i].isCorrelated;
        }
    }

    /// Morpho and this contract can never be swap routers: a "swap" there would act with the authorizations of every proxy.
    function setSwapRouter(address router, bool allowed) external onlyOwner {
        bool forbidden = router == address(i_morpho) || router == address(this) || router == address(0);
        require(!forbidden, InvalidSwapRouter(router));
        s_swapRouters[router] = allowed;
    }

    function setApprovedOperator(address operator, bool approved) external onlyOwner {
        s_operators[operator] = approved;
    }

    function pause() external onlyOwner {
        s_paused = true;
    }

    function unpause() external onlyOwner {
        s_paused = false;
    }

    function getUserLeveragePosition(address user, uint256 positionId) external view returns (LeveragePosition memory) {
        return _position(user, positionId);
    }

    function getUserLeveragePositions(address user) external view returns (LeveragePosition[] memory) {
        return s_positions[user];
    }

    /// The Morpho position of `user`: for a leveraged position, pass its `userProxy`.
    function getMorphoPosition(address user, MarketParams memory market) public view returns (MorphoPosition memory) {
        Position memory p = i_morpho.position(market.id(), user);
        return MorphoPosition(p.supplyShares, p.borrowShares, p.collateral);
    }

    /// The debt behind `shares` with interest accrued to now, rounded up.
    function getSharesValueInLoanToken(MarketParams memory market, uint256 shares) public view returns (uint256) {
        (,, uint256 assets, uint256 totalShares) = MorphoBalancesLib.expectedMarketBalances(i_morpho, market);
        return shares.toAssetsUp(assets, totalShares);
    }

    function getCollateralValueInLoanToken(MarketParams memory market, uint256 amountCollateral)
        public
        view
        returns (uint256)
    {
        return amountCollateral.mulDivDown(IOracle(market.oracle).price(), ORACLE_PRICE_SCALE);
    }

    function getMaxLtv(MarketParams memory market) public pure returns (uint256) {
        return market.lltv - LIQUIDATION_BUFFER;
    }

    function getLiqLtv(MarketParams memory market) external pure returns (uint256) {
        return market.lltv;
    }

    function isValidSwapRouter(address router) external view returns (bool) {
        return _isAllowedSwapRouter(router);
    }

    function isApprovedOperator(address operator) external view returns (bool) {
        return s_operators[operator];
    }

    function isSupportedMarket(bytes32 marketId) external view returns (bool) {
        return s_supportedMarkets[marketId];
    }

    function _isAllowedSwapRouter(address router) internal view override returns (bool) {
        return s_swapRouters[router];
    }

    function _requireMayActFor(address user) internal view {
        require(msg.sender == user || s_operators[msg.sender], NotApprovedOperator(msg.sender, user));
    }

    function _supportedMarket(bytes32 marketId) internal view returns (MarketParams memory) {
        require(s_supportedMarkets[marketId], MarketNotSupported(marketId));
        return _market(i_morpho, marketId);
    }

    function _position(address user, uint256 positionId) internal view returns (LeveragePosition storage) {
        require(positionId < s_positions[user].length, PositionNotFound(user, positionId));
        return s_positions[user][positionId];
    }
}

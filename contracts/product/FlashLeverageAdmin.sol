// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {IMorpho, Id, MarketParams, Position} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {IOracle} from "@morpho-org/morpho-blue/src/interfaces/IOracle.sol";
import {MathLib} from "@morpho-org/morpho-blue/src/libraries/MathLib.sol";
import {SharesMathLib} from "@morpho-org/morpho-blue/src/libraries/SharesMathLib.sol";
import {ORACLE_PRICE_SCALE} from "@morpho-org/morpho-blue/src/libraries/ConstantsLib.sol";
import {MarketParamsLib} from "@morpho-org/morpho-blue/src/libraries/MarketParamsLib.sol";
import {MorphoBalancesLib} from "@morpho-org/morpho-blue/src/libraries/periphery/MorphoBalancesLib.sol";
import {FlashLeverageErrors} from "./FlashLeverageErrors.sol";
import {LeveragePosition, MorphoPosition, SupportedMarket} from "./Types.sol";
import {UserProxy} from "./UserProxy.sol";

/// The state of FlashLeverage, its owner's switches and its views.
abstract contract FlashLeverageAdmin is Ownable2Step, Pausable, ReentrancyGuard, FlashLeverageErrors {
    using SafeERC20 for IERC20;
    using MathLib for uint256;
    using SharesMathLib for uint256;
    using MarketParamsLib for MarketParams;

    uint256 private constant MAX_YIELD_FEE = 0.1e18;
    uint256 private constant MAX_DEPOSIT_FEE = 0.01e18;

    /// Distance between a market's liquidation LTV and the maximum LTV of a position. Deployments differ in it.
    uint256 public immutable LIQUIDATION_BUFFER;
    IMorpho public immutable i_morpho;
    /// The first contract created by this one, hence at nonce 1. Positions are clones of it, from nonce 2 on.
    address public immutable i_userProxyImplementation;

    address public s_treasury;
    /// Fees in WAD: share of the yield on correlated markets, share of the deposit on uncorrelated ones.
    uint256 public s_yieldFee;
    uint256 public s_depositFee;
    mapping(bytes32 marketId => bool) public s_isCorrelated;
    mapping(address operator => bool) public s_approvedOperators;
    mapping(bytes32 marketId => bool) private s_knownMarkets;
    mapping(bytes32 marketId => bool) private s_enabledMarkets;
    mapping(address router => bool) internal s_swapRouters;
    mapping(address user => LeveragePosition[]) internal s_positions;

    event MarketAdded(bytes32 indexed marketId, bool isCorrelated);
    event MarketEnabled(bytes32 indexed marketId, bool enabled);
    event SwapRouterUpdated(address indexed router, bool enabled);
    event ApprovedOperatorUpdated(address indexed operator, bool approved);
    event DepositFeeUpdated(uint256 oldFee, uint256 newFee);
    event YieldFeeUpdated(uint256 oldFee, uint256 newFee);
    event TreasuryUpdated(address indexed oldTreasury, address indexed newTreasury);

    constructor(address initialOwner, IMorpho morpho, address treasury, uint256 liquidationBuffer)
        Ownable(initialOwner)
    {
        _requireAddress(address(morpho));
        _requireAddress(treasury);
        LIQUIDATION_BUFFER = liquidationBuffer;
        i_morpho = morpho;
        i_userProxyImplementation = address(new UserProxy(address(this), address(morpho)));
        UserProxy(i_userProxyImplementation).initialize(address(this));
        s_treasury = treasury;
        s_yieldFee = 0.05e18;
    }

    function addSupportedMarkets(SupportedMarket[] calldata markets) external onlyOwner {
        for (uint256 i; i < markets.length; ++i) {
            (bytes32 marketId, bool isCorrelated) = (markets[i].marketId, markets[i].isCorrelated);
            require(!s_knownMarkets[marketId], FlashLeverage__MarketAlreadyExists());
            require(_market(marketId).loanToken != address(0), FlashLeverage__UnsupportedMarket());
            s_knownMarkets[marketId] = true;
            s_enabledMarkets[marketId] = true;
            s_isCorrelated[marketId] = isCorrelated;
            emit MarketAdded(marketId, isCorrelated);
        }
    }

    /// A disabled market takes no new positions. Existing ones are managed as before.
    function setMarketEnabled(bytes32 marketId, bool value) external onlyOwner {
        require(s_knownMarkets[marketId], FlashLeverage__UnsupportedMarket());
        s_enabledMarkets[marketId] = value;
        emit MarketEnabled(marketId, value);
    }

    /// Morpho and the proxies cannot be swap routers, because a call to them would act on positions.
    function setSwapRouter(address router, bool value) external onlyOwner {
        _requireAddress(router);
        require(router != address(i_morpho), FlashLeverage__CannotBeMorpho());
        require(!_isUserProxy(router), FlashLeverage__CannotBeUserProxy());
        s_swapRouters[router] = value;
        emit SwapRouterUpdated(router, value);
    }

    function setApprovedOperator(address operator, bool value) external onlyOwner {
        _requireAddress(operator);
        s_approvedOperators[operator] = value;
        emit ApprovedOperatorUpdated(operator, value);
    }

    function updateYieldFee(uint256 newYieldFee) external onlyOwner {
        require(newYieldFee <= MAX_YIELD_FEE, FlashLeverage__InvalidYieldFee());
        emit YieldFeeUpdated(s_yieldFee, newYieldFee);
        s_yieldFee = newYieldFee;
    }

    function updateDepositFee(uint256 newDepositFee) external onlyOwner {
        require(newDepositFee <= MAX_DEPOSIT_FEE, FlashLeverage__InvalidDepositFee());
        emit DepositFeeUpdated(s_depositFee, newDepositFee);
        s_depositFee = newDepositFee;
    }

    function updateTreasury(address newTreasury) external onlyOwner {
        _requireAddress(newTreasury);
        emit TreasuryUpdated(s_treasury, newTreasury);
        s_treasury = newTreasury;
    }

    /// Give the proxy to its user alone: this contract can no longer act on the position.
    function enableManualMode(address userProxy) external onlyOwner {
        UserProxy(userProxy).enableManualMode();
    }

    /// Send out tokens that were sent here by mistake. The contract holds no other funds between calls.
    function recover(address token) external onlyOwner {
        IERC20(token).safeTransfer(owner(), IERC20(token).balanceOf(address(this)));
    }

    /// While paused, no position can be opened, changed or closed.
    function pause() external onlyOwner {
        _pause();
    }

    function unpause() external onlyOwner {
        _unpause();
    }

    function renounceOwnership() public pure override {
        revert FlashLeverage__OwnershipRenunciationDisabled();
    }

    function getUserLeveragePosition(address user, uint256 positionId) external view returns (LeveragePosition memory) {
        return s_positions[user][positionId];
    }

    function getUserLeveragePositions(address user) external view returns (LeveragePosition[] memory) {
        return s_positions[user];
    }

    /// The Morpho position of `user`: for a leveraged position, pass its `userProxy`.
    function getMorphoPosition(address user, MarketParams memory market) public view returns (MorphoPosition memory) {
        Position memory p = i_morpho.position(market.id(), user);
        return MorphoPosition(p.supplyShares, p.borrowShares, p.collateral);
    }

    /// The debt behind `borrowShares` with interest accrued to now, rounded up.
    function getSharesValueInLoanToken(MarketParams memory market, uint256 borrowShares)
        public
        view
        returns (uint256)
    {
        (,, uint256 assets, uint256 totalShares) = MorphoBalancesLib.expectedMarketBalances(i_morpho, market);
        return borrowShares.toAssetsUp(assets, totalShares);
    }

    function getCollateralValueInLoanToken(MarketParams memory market, uint256 amountCollateral)
        public
        view
        returns (uint256)
    {
        return amountCollateral.mulDivDown(IOracle(market.oracle).price(), ORACLE_PRICE_SCALE);
    }

    function getMaxLtv(MarketParams memory market) public view returns (uint256) {
        return market.lltv - LIQUIDATION_BUFFER;
    }

    function getLiqLtv(MarketParams memory market) external pure returns (uint256) {
        return market.lltv;
    }

    function isValidSwapRouter(address router) external view returns (bool) {
        return s_swapRouters[router];
    }

    function isSupportedMarket(bytes32 marketId) public view returns (bool) {
        return s_enabledMarkets[marketId];
    }

    function _market(bytes32 marketId) internal view returns (MarketParams memory) {
        return i_morpho.idToMarketParams(Id.wrap(marketId));
    }

    function _requireAddress(address account) internal pure {
        require(account != address(0), FlashLeverage__CannotBeZeroAddress());
    }

    function _isUserProxy(address account) private view returns (bool) {
        (bool ok, bytes memory result) = account.staticcall(abi.encodeCall(UserProxy(account).i_flashLeverage, ()));
        return ok && result.length == 32 && abi.decode(result, (uint256)) == uint160(address(this));
    }
}

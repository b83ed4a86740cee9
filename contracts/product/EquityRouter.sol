// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {IMorpho, MarketParams, Position} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {IMorphoFlashLoanCallback} from "@morpho-org/morpho-blue/src/interfaces/IMorphoCallbacks.sol";
import {IOracle} from "@morpho-org/morpho-blue/src/interfaces/IOracle.sol";
import {MathLib} from "@morpho-org/morpho-blue/src/libraries/MathLib.sol";
import {SharesMathLib} from "@morpho-org/morpho-blue/src/libraries/SharesMathLib.sol";
import {ORACLE_PRICE_SCALE} from "@morpho-org/morpho-blue/src/libraries/ConstantsLib.sol";
import {MarketParamsLib} from "@morpho-org/morpho-blue/src/libraries/MarketParamsLib.sol";
import {MorphoBalancesLib} from "@morpho-org/morpho-blue/src/libraries/periphery/MorphoBalancesLib.sol";
import {IFlashLeverage} from "./IFlashLeverage.sol";
import {SafeToken} from "./SafeToken.sol";
import {SwapExecutor} from "./SwapExecutor.sol";
import {EquityEntryParams, EquityExitParams, LeverageParams, SwapData} from "./Types.sol";

/// Stock-plus-yield vaults. The stock leg is the caller's own Morpho position, which this router may touch only while the
/// caller's Morpho authorization lasts; the yield leg is a FlashLeverage position of the caller.
contract EquityRouter is SwapExecutor, IMorphoFlashLoanCallback {
    using SafeToken for address;
    using MathLib for uint256;
    using SharesMathLib for uint256;
    using MarketParamsLib for MarketParams;

    /// Distance between a stock market's liquidation LTV and the highest LTV an entry may end at: 0.25 points.
    uint256 public constant BORROW_BUFFER = 0.0025e18;

    IMorpho public immutable i_morpho;
    IFlashLeverage public immutable i_flashLeverage;

    /// The stock leg of `user` that is being taken apart.
    struct StockLeg {
        address user;
        MarketParams market;
        uint256 borrowShares;
        uint256 collateral;
        SwapData swapData;
        uint256 minLoanOut;
    }

    event EquityEntered(
        address indexed user,
        bytes32 indexed stockMarketId,
        uint256 amountStock,
        uint256 amountBorrowed,
        uint256 amountYieldCollateral
    );
    event EquityExited(
        address indexed user,
        bytes32 indexed stockMarketId,
        uint256 amountStock,
        uint256 amountRepaid,
        uint256 amountReturned
    );

    error NotAuthorized(address user, address router);
    error DepositTokenMismatch(address given, address expected);
    error CollateralAmountNotZero(uint256 amountCollateral);
    error StockLtvAboveBound(uint256 ltv, uint256 bound);
    error NothingToExit(address user, bytes32 stockMarketId);
    error ProceedsBelowDebt(uint256 proceeds, uint256 debt);
    error NotMorpho(address caller);

    /// Morpho would refuse as well, but only after the swap, and without saying why.
    modifier whileAuthorized() {
        require(i_morpho.isAuthorized(msg.sender, address(this)), NotAuthorized(msg.sender, address(this)));
        _;
    }

    constructor(IMorpho morpho, IFlashLeverage flashLeverage) {
        i_morpho = morpho;
        i_flashLeverage = flashLeverage;
    }

    /// Deposit token → stock, as the caller's own collateral → borrow against it → yield collateral → leveraged position.
    function equityEntry(EquityEntryParams calldata params) external nonReentrant whileAuthorized {
        MarketParams memory market = _market(i_morpho, params.stockMarketId);
        address loan = market.loanToken;
        require(params.depositToken == loan, DepositTokenMismatch(params.depositToken, loan));
        uint256 given = params.leverageParams.amountCollateral;
        require(given == 0, CollateralAmountNotZero(given));

        loan.safeTransferFrom(msg.sender, address(this), params.amountIn);
        (uint256 stock, uint256 unspent) =
            _swap(params.stockSwapData, loan, params.amountIn, market.collateralToken, params.stockMinOut);
        market.collateralToken.forceApprove(address(i_morpho), stock);
        i_morpho.supplyCollateral(market, stock, msg.sender, "");
        _requireBelowBound(market, msg.sender, params.stockBorrowAmount);
        i_morpho.borrow(market, params.stockBorrowAmount, 0, msg.sender, address(this));

        (uint256 yieldCollateral, uint256 unspentLoan) = _openYieldLeg(params, loan);
        if (unspent + unspentLoan != 0) loan.safeTransfer(msg.sender, unspent + unspentLoan);
        emit EquityEntered(msg.sender, params.stockMarketId, stock, params.stockBorrowAmount, yieldCollateral);
    }

    /// Takes the caller's whole stock leg apart: repays the debt, sells the stock, sends the rest in loan tokens to the caller.
    /// `minLoanOut` bounds the whole output of the swap. The yield loops are closed by their owner, in FlashLeverage.
    function equityExit(EquityExitParams calldata params) external nonReentrant whileAuthorized {
        MarketParams memory market = _market(i_morpho, params.stockMarketId);
        i_morpho.accrueInterest(market);
        Position memory held = i_morpho.position(market.id(), msg.sender);
        require(held.collateral != 0, NothingToExit(msg.sender, params.stockMarketId));
        StockLeg memory leg = StockLeg(
            msg.sender, market, held.borrowShares, held.collateral, params.stockSwapData, params.minLoanOut
        );

        uint256 debt = _debt(market, held.borrowShares);
        uint256 loanBefore = _balance(market.loanToken);
        uint256 stockBefore = _balance(market.collateralToken);
        if (debt == 0) _takeApart(0, leg);
        else i_morpho.flashLoan(market.loanToken, debt, abi.encode(leg));
        uint256 returned = _balance(market.loanToken) - loanBefore;
        uint256 unsold = _balance(market.collateralToken) - stockBefore;

        if (returned != 0) market.loanToken.safeTransfer(msg.sender, returned);
        if (unsold != 0) market.collateralToken.safeTransfer(msg.sender, unsold);
        emit EquityExited(msg.sender, params.stockMarketId, held.collateral - unsold, debt, returned);
    }

    /// Morpho calls back only who took the flash loan, so `data` is always this contract's own.
    function onMorphoFlashLoan(uint256 assets, bytes calldata data) external {
        require(msg.sender == address(i_morpho), NotMorpho(msg.sender));
        StockLeg memory leg = abi.decode(data, (StockLeg));
        _takeApart(assets, leg);
        leg.market.loanToken.forceApprove(msg.sender, assets);
    }

    function _isAllowedSwapRouter(address router) internal view override returns (bool) {
        return i_flashLeverage.isValidSwapRouter(router);
    }

    function _openYieldLeg(EquityEntryParams calldata params, address loan)
        private
        returns (uint256 received, uint256 unspent)
    {
        LeverageParams memory leverageParams = params.leverageParams;
        address collateral = _market(i_morpho, leverageParams.marketId).collateralToken;
        (received, unspent) =
            _swap(params.yieldSwapData, loan, params.stockBorrowAmount, collateral, params.yieldMinOut);
        leverageParams.amountCollateral = received;
        collateral.forceApprove(address(i_flashLeverage), received);
        i_flashLeverage.leverage(msg.sender, leverageParams);
    }

    function _takeApart(uint256 assets, StockLeg memory leg) private {
        MarketParams memory market = leg.market;
        if (assets != 0) {
            market.loanToken.forceApprove(address(i_morpho), assets);
            i_morpho.repay(market, 0, leg.borrowShares, leg.user, "");
        }
        i_morpho.withdrawCollateral(market, leg.collateral, leg.user, address(this));
        (uint256 received,) =
            _swap(leg.swapData, market.collateralToken, leg.collateral, market.loanToken, leg.minLoanOut);
        require(received >= assets, ProceedsBelowDebt(received, assets));
    }

    /// Checked before the borrow: Morpho would refuse above the liquidation LTV only, and without the numbers.
    function _requireBelowBound(MarketParams memory market, address user, uint256 moreDebt) private view {
        Position memory held = i_morpho.position(market.id(), user);
        uint256 debt = _debt(market, held.borrowShares) + moreDebt;
        uint256 price = IOracle(market.oracle).price();
        uint256 value = uint256(held.collateral).mulDivDown(price, ORACLE_PRICE_SCALE);
        uint256 ltv = value == 0 ? type(uint256).max : debt.wDivUp(value);
        uint256 bound = market.lltv - BORROW_BUFFER;
        require(ltv <= bound, StockLtvAboveBound(ltv, bound));
    }

    function _debt(MarketParams memory market, uint256 shares) private view returns (uint256) {
        (,, uint256 assets, uint256 totalShares) = MorphoBalancesLib.expectedMarketBalances(i_morpho, market);
        return shares.toAssetsUp(assets, totalShares);
    }
}

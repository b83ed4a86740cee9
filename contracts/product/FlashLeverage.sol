// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {IMorpho, MarketParams} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {IMorphoFlashLoanCallback} from "@morpho-org/morpho-blue/src/interfaces/IMorphoCallbacks.sol";
import {MathLib} from "@morpho-org/morpho-blue/src/libraries/MathLib.sol";
import {FlashLeverageAdmin} from "./FlashLeverageAdmin.sol";
import {SafeToken} from "./SafeToken.sol";
import {LeverageParams, LeveragePosition, MorphoPosition, SwapData} from "./Types.sol";
import {UserProxy} from "./UserProxy.sol";

/// Leveraged positions on Morpho Blue, each in a proxy of its own, opened and closed within one flash loan.
/// Nothing stays here between calls; every path that adds risk ends below the market's maximum LTV.
contract FlashLeverage is FlashLeverageAdmin, IMorphoFlashLoanCallback {
    using SafeToken for address;
    using MathLib for uint256;

    /// A swap that happens inside a flash loan. `isUnwind` tells the direction: false = loan into collateral and borrow,
    /// true = repay `borrowShares` and collateral into loan.
    struct FlashCall {
        bool isUnwind;
        MarketParams market;
        address proxy;
        uint256 amountCollateral;
        uint256 borrowShares;
        SwapData swapData;
        uint256 minTokenOut;
    }

    event LeveragePositionOpened(
        address indexed user,
        uint256 indexed positionId,
        uint256 indexed amountDepositedInLoanToken,
        uint256 amountCollateral
    );
    event LeveragePositionClosed(
        address indexed user, uint256 indexed positionId, uint256 indexed amountReturnedInLoanToken
    );
    event CollateralSupplied(address indexed user, uint256 indexed positionId, uint256 amount);
    event CollateralWithdrawn(address indexed user, uint256 indexed positionId, uint256 amount);
    event LoanRepaid(address indexed user, uint256 indexed positionId, uint256 amount);
    event AdditionalBorrowed(address indexed user, uint256 indexed positionId, uint256 amount);

    error NotMorpho(address caller);
    error ZeroAmount();
    error PositionNotOpen(address user, uint256 positionId);
    error PositionLiquidated(address user, uint256 positionId);
    error CollateralAboveBalance(uint256 amount, uint256 balance);
    error LtvAboveMax(uint256 ltv, uint256 maxLtv);
    error SlippageAboveCap(uint256 valueIn, uint256 valueOut, uint256 maxSlippage);
    error ProceedsBelowDebt(uint256 proceeds, uint256 debt);
    error ProxyCreationFailed();

    constructor(address owner, IMorpho morpho) FlashLeverageAdmin(owner, morpho) {}

    /// Opens a position for `user` with the caller's collateral. A flash loan of zero opens it without debt.
    function leverage(address user, LeverageParams calldata params) external nonReentrant whenNotPaused {
        _requireMayActFor(user);
        require(params.amountCollateral != 0, ZeroAmount());
        MarketParams memory market = _supportedMarket(params.marketId);
        address proxy = _createProxy(user);
        uint256 basis = getCollateralValueInLoanToken(market, params.amountCollateral);
        uint256 positionId = s_positions[user].length;
        s_positions[user].push(LeveragePosition(true, params.marketId, proxy, basis, 0));

        market.collateralToken.safeTransferFrom(msg.sender, address(this), params.amountCollateral);
        if (params.amountFlashLoan == 0) {
            _supply(market, proxy, params.amountCollateral);
        } else {
            _flashLoan(
                params.amountFlashLoan,
                FlashCall(false, market, proxy, params.amountCollateral, 0, params.swapData, params.minTokenOut)
            );
        }
        emit LeveragePositionOpened(user, positionId, basis, params.amountCollateral);
    }

    /// Raises the leverage of the caller's position with a further flash loan, swapped into collateral.
    function increaseLeverage(
        uint256 positionId,
        uint256 amountFlashLoan,
        SwapData calldata swapData,
        uint256 minTokenOut
    ) external nonReentrant whenNotPaused {
        (LeveragePosition storage position, MarketParams memory market,) = _livePosition(msg.sender, positionId);
        require(amountFlashLoan != 0, ZeroAmount());
        _flashLoan(amountFlashLoan, FlashCall(false, market, position.userProxy, 0, 0, swapData, minTokenOut));
    }

    /// Sells `amountCollateral` (0 = all, which closes the position) and repays the same share of the debt; the rest of the
    /// proceeds goes to the caller. `minTokenOut` bounds the whole output of the swap.
    function deleverage(
        uint256 positionId,
        uint256 amountCollateral,
        SwapData calldata swapData,
        uint256 minTokenOut
    ) external nonReentrant returns (uint256 amountReturned) {
        (LeveragePosition storage position, MarketParams memory market, MorphoPosition memory held) =
            _livePosition(msg.sender, positionId);
        uint256 amount = amountCollateral == 0 ? held.collateral : amountCollateral;
        require(amount <= held.collateral, CollateralAboveBalance(amount, held.collateral));
        uint256 shares = uint256(held.borrowShares).mulDivUp(amount, held.collateral);
        uint256 debt = _accruedDebt(market, shares);
        FlashCall memory call =
            FlashCall(true, market, position.userProxy, amount, shares, swapData, minTokenOut);

        uint256 loanBefore = market.loanToken.balanceOf(address(this));
        uint256 collateralBefore = market.collateralToken.balanceOf(address(this));
        if (debt == 0) _unwind(0, call);
        else _flashLoan(debt, call);
        amountReturned = market.loanToken.balanceOf(address(this)) - loanBefore;
        uint256 unsold = market.collateralToken.balanceOf(address(this)) - collateralBefore;

        position.amountReturnedInLoanToken += amountReturned + getCollateralValueInLoanToken(market, unsold);
        if (amount == held.collateral) {
            position.open = false;
            emit LeveragePositionClosed(msg.sender, positionId, position.amountReturnedInLoanToken);
        } else {
            emit CollateralWithdrawn(msg.sender, positionId, amount);
            emit LoanRepaid(msg.sender, positionId, debt);
        }
        if (amountReturned != 0) market.loanToken.safeTransfer(msg.sender, amountReturned);
        if (unsold != 0) market.collateralToken.safeTransfer(msg.sender, unsold);
    }

    /// Adds the caller's collateral to a position of `user`.
    function supplyCollateral(address user, uint256 positionId, uint256 amountCollateral) external nonReentrant {
        _requireMayActFor(user);
        require(amountCollateral != 0, ZeroAmount());
        (LeveragePosition storage position, MarketParams memory market,) = _livePosition(user, positionId);
        position.amountDepositedInLoanToken += getCollateralValueInLoanToken(market, amountCollateral);
        market.collateralToken.safeTransferFrom(msg.sender, address(this), amountCollateral);
        _supply(market, position.userProxy, amountCollateral);
        emit CollateralSupplied(user, positionId, amountCollateral);
    }

    /// Sends collateral of the caller's position to the caller. Taking all of it (no debt left) closes the position.
    function withdrawCollateral(uint256 positionId, uint256 amountWithdraw) external nonReentrant whenNotPaused {
        (LeveragePosition storage position, MarketParams memory market, MorphoPosition memory held) =
            _livePosition(msg.sender, positionId);
        require(amountWithdraw <= held.collateral, CollateralAboveBalance(amountWithdraw, held.collateral));
        position.amountReturnedInLoanToken += getCollateralValueInLoanToken(market, amountWithdraw);
        _requireBelowMaxLtv(market, position.userProxy, 0, amountWithdraw);
        i_morpho.withdrawCollateral(market, amountWithdraw, position.userProxy, msg.sender);
        emit CollateralWithdrawn(msg.sender, positionId, amountWithdraw);
        if (amountWithdraw == held.collateral) {
            position.open = false;
            emit LeveragePositionClosed(msg.sender, positionId, position.amountReturnedInLoanToken);
        }
    }

    /// Repays debt of a position of `user` with the caller's loan tokens: `borrowShares` when not zero (max uint256 = the whole
    /// debt, whatever `amountRepay` says), else `amountRepay`. Never takes more than the debt.
    function repay(address user, uint256 positionId, uint256 amountRepay, uint256 borrowShares) external nonReentrant {
        _requireMayActFor(user);
        (LeveragePosition storage position, MarketParams memory market, MorphoPosition memory held) =
            _livePosition(user, positionId);
        uint256 debt = _accruedDebt(market, held.borrowShares);
        uint256 shares = borrowShares;
        uint256 amount = amountRepay;
        if (shares > held.borrowShares || (shares == 0 && amount >= debt)) shares = held.borrowShares;
        if (shares != 0) amount = getSharesValueInLoanToken(market, shares);
        require(amount != 0, ZeroAmount());

        position.amountDepositedInLoanToken += amount;
        market.loanToken.safeTransferFrom(msg.sender, address(this), amount);
        market.loanToken.forceApprove(address(i_morpho), amount);
        i_morpho.repay(market, shares == 0 ? amount : 0, shares, position.userProxy, "");
        emit LoanRepaid(user, positionId, amount);
    }

    /// Borrows more against the caller's position and sends it to the caller.
    function borrow(uint256 positionId, uint256 amountBorrow) external nonReentrant whenNotPaused {
        (LeveragePosition storage position, MarketParams memory market,) = _livePosition(msg.sender, positionId);
        position.amountReturnedInLoanToken += amountBorrow;
        _requireBelowMaxLtv(market, position.userProxy, amountBorrow, 0);
        i_morpho.borrow(market, amountBorrow, 0, position.userProxy, msg.sender);
        emit AdditionalBorrowed(msg.sender, positionId, amountBorrow);
    }

    /// Morpho calls back only who took the flash loan, so `data` is always this contract's own.
    function onMorphoFlashLoan(uint256 assets, bytes calldata data) external {
        require(msg.sender == address(i_morpho), NotMorpho(msg.sender));
        FlashCall memory call = abi.decode(data, (FlashCall));
        if (call.isUnwind) _unwind(assets, call);
        else _wind(assets, call);
        call.market.loanToken.forceApprove(msg.sender, assets);
    }

    /// Swaps the flash loan into collateral, supplies it and borrows what the swap cost, which repays the flash loan.
    function _wind(uint256 assets, FlashCall memory call) private {
        MarketParams memory market = call.market;
        (uint256 received, uint256 unspent) =
            _swap(call.swapData, market.loanToken, assets, market.collateralToken, call.minTokenOut);
        _requireWithinSlippage(assets - unspent, getCollateralValueInLoanToken(market, received));
        _supply(market, call.proxy, call.amountCollateral + received);
        _requireBelowMaxLtv(market, call.proxy, assets - unspent, 0);
        i_morpho.borrow(market, assets - unspent, 0, call.proxy, address(this));
    }

    /// Repays the debt with the flash loan, takes the collateral out and sells it for at least the flash loan.
    function _unwind(uint256 assets, FlashCall memory call) private {
        MarketParams memory market = call.market;
        if (assets != 0) {
            market.loanToken.forceApprove(address(i_morpho), assets);
            i_morpho.repay(market, 0, call.borrowShares, call.proxy, "");
        }
        i_morpho.withdrawCollateral(market, call.amountCollateral, call.proxy, address(this));
        (uint256 received, uint256 unspent) =
            _swap(call.swapData, market.collateralToken, call.amountCollateral, market.loanToken, call.minTokenOut);
        _requireWithinSlippage(getCollateralValueInLoanToken(market, call.amountCollateral - unspent), received);
        require(received >= assets, ProceedsBelowDebt(received, assets));
    }

    function _flashLoan(uint256 assets, FlashCall memory call) private {
        i_morpho.flashLoan(call.market.loanToken, assets, abi.encode(call));
    }

    function _supply(MarketParams memory market, address proxy, uint256 amount) private {
        market.collateralToken.forceApprove(address(i_morpho), amount);
        i_morpho.supplyCollateral(market, amount, proxy, "");
    }

    /// The debt behind `shares` after the market itself has accrued, so that repaying the shares costs exactly this.
    function _accruedDebt(MarketParams memory market, uint256 shares) private returns (uint256) {
        i_morpho.accrueInterest(market);
        return getSharesValueInLoanToken(market, shares);
    }

    function _livePosition(address user, uint256 positionId)
        private
        view
        returns (LeveragePosition storage position, MarketParams memory market, MorphoPosition memory held)
    {
        position = _position(user, positionId);
        require(position.open, PositionNotOpen(user, positionId));
        market = _market(i_morpho, position.marketId);
        held = getMorphoPosition(position.userProxy, market);
        require(held.collateral != 0, PositionLiquidated(user, positionId));
    }

    /// Checked before Morpho acts: Morpho would refuse above the liquidation LTV only, and without the numbers.
    function _requireBelowMaxLtv(MarketParams memory market, address proxy, uint256 moreDebt, uint256 lessCollateral)
        private
        view
    {
        MorphoPosition memory held = getMorphoPosition(proxy, market);
        uint256 debt = getSharesValueInLoanToken(market, held.borrowShares) + moreDebt;
        if (debt == 0) return;
        uint256 value = getCollateralValueInLoanToken(market, held.collateral - lessCollateral);
        uint256 ltv = value == 0 ? type(uint256).max : debt.wDivUp(value);
        require(ltv <= getMaxLtv(market), LtvAboveMax(ltv, getMaxLtv(market)));
    }

    function _requireWithinSlippage(uint256 valueIn, uint256 valueOut) private pure {
        bool within = valueOut >= valueIn.wMulDown(1e18 - MAX_SLIPPAGE);
        require(within, SlippageAboveCap(valueIn, valueOut, MAX_SLIPPAGE));
    }

    /// A minimal clone (EIP-1167) of the implementation, by CREATE: its address follows from this contract's nonce.
    function _createProxy(address user) private returns (address proxy) {
        bytes memory code = abi.encodePacked(
            hex"3d602d80600a3d3981f3363d3d373d3d3d363d73", i_proxyImplementation, hex"5af43d82803e903d91602b57fd5bf3"
        );
        assembly ("memory-safe") {
            proxy := create(0, add(code, 0x20), mload(code))
        }
        require(proxy != address(0), ProxyCreationFailed());
        UserProxy(proxy).initialize(user);
    }
}

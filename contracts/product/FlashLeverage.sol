// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IMorpho, IMorphoBase, MarketParams} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {IMorphoFlashLoanCallback} from "@morpho-org/morpho-blue/src/interfaces/IMorphoCallbacks.sol";
import {MathLib} from "@morpho-org/morpho-blue/src/libraries/MathLib.sol";
import {FlashLeverageAdmin} from "./FlashLeverageAdmin.sol";
import {LeverageParams, LeveragePosition, MorphoPosition, SwapData} from "./Types.sol";
import {UserProxy} from "./UserProxy.sol";

/// Leveraged positions on Morpho Blue, each in a proxy of its own, opened and closed within one flash loan.
/// The contract holds no funds between calls. Every path that adds risk ends at or below the market's maximum LTV.
contract FlashLeverage is FlashLeverageAdmin, IMorphoFlashLoanCallback {
    using SafeERC20 for IERC20;
    using MathLib for uint256;

    /// A swap inside a flash loan. `isUnwind` is the direction: false = loan into collateral and borrow,
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
    event CollateralSupplied(address indexed user, uint256 indexed positionId, uint256 amountSuppliedInLoanToken);
    event CollateralWithdrawn(address indexed user, uint256 indexed positionId, uint256 amountWithdrawn);
    event LoanRepaid(address indexed user, uint256 indexed positionId, uint256 amountRepaid);
    event AdditionalBorrowed(address indexed user, uint256 indexed positionId, uint256 amountBorrowed);

    constructor(address initialOwner, IMorpho morpho, address treasury, uint256 liquidationBuffer)
        FlashLeverageAdmin(initialOwner, morpho, treasury, liquidationBuffer)
    {}

    /// Opens a position for `user` with the caller's collateral.
    function leverage(address user, LeverageParams calldata params) external nonReentrant whenNotPaused {
        _requireMayActFor(user);
        _requireAmount(params.amountCollateral);
        _requireAmount(params.amountFlashLoan);
        require(isSupportedMarket(params.marketId), FlashLeverage__UnsupportedMarket());
        MarketParams memory market = _market(params.marketId);

        uint256 amount = _pullDeposit(market.collateralToken, params.marketId, params.amountCollateral);
        address proxy = Clones.clone(i_userProxyImplementation);
        UserProxy(proxy).initialize(user);
        uint256 basis = getCollateralValueInLoanToken(market, amount);
        uint256 positionId = s_positions[user].length;
        s_positions[user].push(LeveragePosition(true, params.marketId, proxy, basis, 0));
        _flashLoan(
            params.amountFlashLoan,
            FlashCall(false, market, proxy, amount, 0, params.swapData, params.minTokenOut)
        );
        emit LeveragePositionOpened(user, positionId, basis, amount);
    }

    /// Raises the leverage of the caller's position with a further flash loan, swapped into collateral. Without a deposit there is no fee,
    /// and the basis stays the same.
    function increaseLeverage(
        uint256 positionId,
        uint256 amountFlashLoan,
        SwapData calldata swapData,
        uint256 minTokenOut
    ) external nonReentrant whenNotPaused {
        _requireAmount(amountFlashLoan);
        (LeveragePosition storage position, MarketParams memory market) = _openPosition(msg.sender, positionId);
        _flashLoan(amountFlashLoan, FlashCall(false, market, position.userProxy, 0, 0, swapData, minTokenOut));
    }

    /// Sells `amountCollateral` (0 = all, which closes the position) and repays the same share of the debt; the rest of the
    /// proceeds, less the yield fee, goes to the caller. `minTokenOut` bounds the whole output of the swap.
    function deleverage(
        uint256 positionId,
        uint256 amountCollateral,
        SwapData calldata swapData,
        uint256 minTokenOut
    ) external nonReentrant whenNotPaused returns (uint256 amountReturned) {
        (LeveragePosition storage position, MarketParams memory market) = _openPosition(msg.sender, positionId);
        MorphoPosition memory held = getMorphoPosition(position.userProxy, market);
        uint256 amount = amountCollateral == 0 ? held.collateral : amountCollateral;
        _requireAmount(amount);
        require(amount <= held.collateral, FlashLeverage__ExceedsCollateral());
        uint256 shares = uint256(held.borrowShares).mulDivUp(amount, held.collateral);
        uint256 debt = _accruedDebt(market, shares);
        uint256 returned = _takeApart(
            debt, FlashCall(true, market, position.userProxy, amount, shares, swapData, minTokenOut)
        );

        uint256 basis = position.amountDepositedInLoanToken.mulDivDown(amount, held.collateral);
        uint256 fee = _yieldFee(position.marketId, returned > basis ? returned - basis : 0);
        amountReturned = returned - fee;
        _pay(market.loanToken, s_treasury, fee);
        _pay(market.loanToken, msg.sender, amountReturned);
        position.amountReturnedInLoanToken += amountReturned;
        if (amount < held.collateral) {
            position.amountDepositedInLoanToken -= basis;
            emit CollateralWithdrawn(msg.sender, positionId, amount);
            emit LoanRepaid(msg.sender, positionId, debt);
        } else {
            _close(position, positionId);
        }
    }

    /// Adds the caller's collateral to a position of `user`.
    function supplyCollateral(address user, uint256 positionId, uint256 amountCollateral)
        external
        nonReentrant
        whenNotPaused
    {
        _requireMayActFor(user);
        _requireAmount(amountCollateral);
        (LeveragePosition storage position, MarketParams memory market) = _openPosition(user, positionId);
        uint256 amount = _pullDeposit(market.collateralToken, position.marketId, amountCollateral);
        uint256 value = getCollateralValueInLoanToken(market, amount);
        position.amountDepositedInLoanToken += value;
        _supply(market, position.userProxy, amount);
        emit CollateralSupplied(user, positionId, value);
    }

    /// Send collateral of the caller's position to the caller, less the yield fee. The fee is charged on the value above the
    /// basis after the withdrawal, at most on the withdrawn value. Withdrawing all collateral closes the position.
    function withdrawCollateral(uint256 positionId, uint256 amountWithdraw) external nonReentrant whenNotPaused {
        _requireAmount(amountWithdraw);
        (LeveragePosition storage position, MarketParams memory market) = _openPosition(msg.sender, positionId);
        address proxy = position.userProxy;
        UserProxy(proxy).execute(
            abi.encodeCall(IMorphoBase.withdrawCollateral, (market, amountWithdraw, proxy, address(this)))
        );
        (uint256 value, uint256 debt) = _requireBelowMaxLtv(market, proxy, 0);

        uint256 withdrawn = getCollateralValueInLoanToken(market, amountWithdraw);
        uint256 basis = position.amountDepositedInLoanToken;
        uint256 net = value > debt ? value - debt : 0;
        uint256 yield = net > basis ? net - basis : 0;
        uint256 feeInLoan = _yieldFee(position.marketId, yield < withdrawn ? yield : withdrawn);
        uint256 fee = feeInLoan == 0 ? 0 : feeInLoan.mulDivDown(amountWithdraw, withdrawn);
        position.amountDepositedInLoanToken = basis > withdrawn ? basis - withdrawn : 0;
        _pay(market.collateralToken, s_treasury, fee);
        _pay(market.collateralToken, msg.sender, amountWithdraw - fee);
        emit CollateralWithdrawn(msg.sender, positionId, amountWithdraw - fee);
        if (getMorphoPosition(proxy, market).collateral == 0) _close(position, positionId);
    }

    /// Repays debt of a position of `user` with the caller's loan tokens: `borrowShares` when not zero (max uint256 = the whole
    /// debt), otherwise `amountRepay` less the fee. Unused loan tokens go back to the caller.
    function repay(address user, uint256 positionId, uint256 amountRepay, uint256 borrowShares)
        external
        nonReentrant
        whenNotPaused
    {
        _requireMayActFor(user);
        _requireAmount(amountRepay);
        (LeveragePosition storage position, MarketParams memory market) = _openPosition(user, positionId);
        uint256 amount = _pullDeposit(market.loanToken, position.marketId, amountRepay);
        uint256 held = getMorphoPosition(position.userProxy, market).borrowShares;
        uint256 shares = borrowShares < held ? borrowShares : held;
        // An amount at or above the debt repays it by shares: Morpho refuses more assets than are owed.
        if (borrowShares == 0) shares = amount >= _accruedDebt(market, held) ? held : 0;

        IERC20(market.loanToken).forceApprove(address(i_morpho), amount);
        (uint256 repaid,) = i_morpho.repay(market, shares == 0 ? amount : 0, shares, position.userProxy, "");
        IERC20(market.loanToken).forceApprove(address(i_morpho), 0);
        position.amountDepositedInLoanToken += repaid;
        _pay(market.loanToken, msg.sender, amount - repaid);
        emit LoanRepaid(user, positionId, repaid);
    }

    /// Borrow more against the caller's position and send it to the caller. On a correlated market at most the basis,
    /// because a larger amount would pay out yield without a fee.
    function borrow(uint256 positionId, uint256 amountBorrow) external nonReentrant whenNotPaused {
        _requireAmount(amountBorrow);
        (LeveragePosition storage position, MarketParams memory market) = _openPosition(msg.sender, positionId);
        _requireBelowMaxLtv(market, position.userProxy, amountBorrow);
        uint256 basis = position.amountDepositedInLoanToken;
        bool isWithinBasis = amountBorrow <= basis;
        require(
            isWithinBasis || !s_isCorrelated[position.marketId],
            FlashLeverage__BorrowExceedsDepositedForCorrelatedPairs()
        );
        position.amountDepositedInLoanToken = isWithinBasis ? basis - amountBorrow : 0;
        _borrow(market, position.userProxy, amountBorrow);
        _pay(market.loanToken, msg.sender, amountBorrow);
        emit AdditionalBorrowed(msg.sender, positionId, amountBorrow);
    }

    /// Morpho calls back the borrower of the flash loan only, so `data` was written by this contract.
    function onMorphoFlashLoan(uint256 amountLoan, bytes calldata data) external {
        require(msg.sender == address(i_morpho), FlashLeverage__UntrustedLender());
        FlashCall memory call = abi.decode(data, (FlashCall));
        if (call.isUnwind) _unwind(amountLoan, call);
        else _wind(amountLoan, call);
        IERC20(call.market.loanToken).forceApprove(msg.sender, amountLoan);
    }

    /// Swaps the flash loan into collateral, supplies it and borrows the flash loan's amount, which repays it.
    function _wind(uint256 amountLoan, FlashCall memory call) private {
        MarketParams memory market = call.market;
        uint256 received =
            _swap(call.swapData, market.loanToken, amountLoan, market.collateralToken, call.minTokenOut);
        _supply(market, call.proxy, call.amountCollateral + received);
        _requireBelowMaxLtv(market, call.proxy, amountLoan);
        _borrow(market, call.proxy, amountLoan);
    }

    /// Repays the debt with the flash loan, withdraw the collateral and sell it. If the proceeds are below the flash loan,
    /// Morpho cannot collect it and the transaction reverts.
    function _unwind(uint256 amountLoan, FlashCall memory call) private {
        MarketParams memory market = call.market;
        if (amountLoan != 0) {
            IERC20(market.loanToken).forceApprove(address(i_morpho), amountLoan);
            i_morpho.repay(market, 0, call.borrowShares, call.proxy, "");
        }
        UserProxy(call.proxy).execute(
            abi.encodeCall(
                IMorphoBase.withdrawCollateral, (market, call.amountCollateral, call.proxy, address(this))
            )
        );
        _swap(call.swapData, market.collateralToken, call.amountCollateral, market.loanToken, call.minTokenOut);
    }

    /// Sell exactly `amountIn` at an allow-listed router. The received amount is a balance difference, so earlier balances do not count.
    function _swap(SwapData memory swapData, address tokenIn, uint256 amountIn, address tokenOut, uint256 minTokenOut)
        private
        returns (uint256 received)
    {
        require(s_swapRouters[swapData.extRouter], FlashLeverage__UnsupportedSwapRouter());
        uint256 inBefore = _balance(tokenIn);
        uint256 outBefore = _balance(tokenOut);
        IERC20(tokenIn).forceApprove(swapData.extRouter, amountIn);
        (bool ok,) = swapData.extRouter.call(swapData.extCalldata);
        require(ok, FlashLeverage__SwapRouterCallFailed());
        require(_balance(tokenIn) == inBefore - amountIn, FlashLeverage__PartialSwapNotAllowed());
        received = _balance(tokenOut) - outBefore;
        require(received >= minTokenOut, FlashLeverage__MinTokenOutNotMet());
    }

    /// Takes the caller's tokens and, on an uncorrelated market, the deposit fee out of them.
    function _pullDeposit(address token, bytes32 marketId, uint256 amount) private returns (uint256) {
        IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
        uint256 fee = s_isCorrelated[marketId] ? 0 : amount.wMulDown(s_depositFee);
        _pay(token, s_treasury, fee);
        return amount - fee;
    }

    function _yieldFee(bytes32 marketId, uint256 yield) private view returns (uint256) {
        return s_isCorrelated[marketId] ? yield.wMulDown(s_yieldFee) : 0;
    }

    /// Proceeds of the collateral after the debt.
    function _takeApart(uint256 debt, FlashCall memory call) private returns (uint256) {
        uint256 before = _balance(call.market.loanToken);
        if (debt == 0) _unwind(0, call);
        else _flashLoan(debt, call);
        return _balance(call.market.loanToken) - before;
    }

    function _close(LeveragePosition storage position, uint256 positionId) private {
        position.open = false;
        emit LeveragePositionClosed(msg.sender, positionId, position.amountReturnedInLoanToken);
    }

    function _flashLoan(uint256 amountLoan, FlashCall memory call) private {
        i_morpho.flashLoan(call.market.loanToken, amountLoan, abi.encode(call));
    }

    function _supply(MarketParams memory market, address proxy, uint256 amount) private {
        IERC20(market.collateralToken).forceApprove(address(i_morpho), amount);
        i_morpho.supplyCollateral(market, amount, proxy, "");
    }

    function _borrow(MarketParams memory market, address proxy, uint256 amount) private {
        UserProxy(proxy).execute(abi.encodeCall(IMorphoBase.borrow, (market, amount, 0, proxy, address(this))));
    }

    function _pay(address token, address to, uint256 amount) private {
        if (amount != 0) IERC20(token).safeTransfer(to, amount);
    }

    function _balance(address token) private view returns (uint256) {
        return IERC20(token).balanceOf(address(this));
    }

    /// The debt behind `shares` after the market has accrued: exactly the cost of repaying them.
    function _accruedDebt(MarketParams memory market, uint256 shares) private returns (uint256) {
        i_morpho.accrueInterest(market);
        return getSharesValueInLoanToken(market, shares);
    }

    function _openPosition(address user, uint256 positionId)
        private
        view
        returns (LeveragePosition storage position, MarketParams memory market)
    {
        position = s_positions[user][positionId];
        require(position.open, FlashLeverage__PositionAlreadyClosed());
        market = _market(position.marketId);
    }

    /// Value of a proxy's collateral and its debt, plus `moreDebt`.
    function _requireBelowMaxLtv(MarketParams memory market, address proxy, uint256 moreDebt)
        private
        view
        returns (uint256 value, uint256 debt)
    {
        MorphoPosition memory held = getMorphoPosition(proxy, market);
        debt = getSharesValueInLoanToken(market, held.borrowShares) + moreDebt;
        value = getCollateralValueInLoanToken(market, held.collateral);
        if (debt == 0) return (value, debt);
        uint256 ltv = value == 0 ? type(uint256).max : debt.wDivDown(value);
        uint256 maxLtv = getMaxLtv(market);
        require(ltv <= maxLtv, FlashLeverage__ExceedsMaxLTV(ltv, maxLtv));
    }

    function _requireMayActFor(address user) private view {
        _requireAddress(user);
        require(msg.sender == user || s_approvedOperators[msg.sender], FlashLeverage__NotApprovedOperator());
    }

    function _requireAmount(uint256 amount) private pure {
        require(amount != 0, FlashLeverage__AmountCannotBeZero());
    }
}

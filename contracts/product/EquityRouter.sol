// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {IMorpho, Id, MarketParams, Position} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {IMorphoFlashLoanCallback} from "@morpho-org/morpho-blue/src/interfaces/IMorphoCallbacks.sol";
import {MarketParamsLib} from "@morpho-org/morpho-blue/src/libraries/MarketParamsLib.sol";
import {SharesMathLib} from "@morpho-org/morpho-blue/src/libraries/SharesMathLib.sol";
import {MorphoBalancesLib} from "@morpho-org/morpho-blue/src/libraries/periphery/MorphoBalancesLib.sol";
import {IFlashLeverage} from "./IFlashLeverage.sol";
import {EquityEntryParams, EquityExitParams, LeverageParams, SwapData} from "./Types.sol";

/// Stock-plus-yield vaults. The stock leg is the caller's own Morpho position, which this router can use only while the
/// caller's Morpho authorization lasts; the yield leg is a FlashLeverage position of the caller. Only the two entry points of
/// the deployed contract are known. Its errors are unknown, so these are local.
contract EquityRouter is ReentrancyGuard, IMorphoFlashLoanCallback {
    using SafeERC20 for IERC20;
    using SharesMathLib for uint256;
    using MarketParamsLib for MarketParams;

    IMorpho private immutable i_morpho;
    IFlashLeverage private immutable i_flashLeverage;

    /// The stock leg of `user` during an exit.
    struct StockLeg {
        address user;
        MarketParams market;
        uint256 borrowShares;
        uint256 collateral;
        SwapData swapData;
        uint256 minLoanOut;
    }

    error EquityRouter__DepositTokenMismatch();
    error EquityRouter__CollateralAmountNotZero();
    error EquityRouter__NothingToExit();
    error EquityRouter__UnsupportedSwapRouter();
    error EquityRouter__SwapRouterCallFailed();
    error EquityRouter__MinTokenOutNotMet();
    error EquityRouter__UntrustedLender();

    constructor(IMorpho morpho, IFlashLeverage flashLeverage) {
        i_morpho = morpho;
        i_flashLeverage = flashLeverage;
    }

    /// Deposit token → stock, as the caller's own collateral → borrow against it → yield collateral → leveraged position.
    function equityEntry(EquityEntryParams calldata params) external nonReentrant {
        MarketParams memory market = _market(params.stockMarketId);
        address loan = market.loanToken;
        require(params.depositToken == loan, EquityRouter__DepositTokenMismatch());
        require(params.leverageParams.amountCollateral == 0, EquityRouter__CollateralAmountNotZero());

        uint256 before = _balance(loan);
        IERC20(loan).safeTransferFrom(msg.sender, address(this), params.amountIn);
        uint256 stock =
            _swap(params.stockSwapData, loan, params.amountIn, market.collateralToken, params.stockMinOut);
        IERC20(market.collateralToken).forceApprove(address(i_morpho), stock);
        i_morpho.supplyCollateral(market, stock, msg.sender, "");
        i_morpho.borrow(market, params.stockBorrowAmount, 0, msg.sender, address(this));
        _openYieldLeg(params, loan);
        _pay(loan, _balance(loan) - before);
    }

    /// Close the caller's whole stock leg: repay the debt, sell the stock and send the rest in loan tokens to the caller.
    /// `minLoanOut` bounds the whole output of the swap. The yield loops are closed by their owner, in FlashLeverage.
    function equityExit(EquityExitParams calldata params) external nonReentrant {
        MarketParams memory market = _market(params.stockMarketId);
        i_morpho.accrueInterest(market);
        Position memory held = i_morpho.position(market.id(), msg.sender);
        require(held.collateral != 0, EquityRouter__NothingToExit());
        StockLeg memory leg = StockLeg(
            msg.sender, market, held.borrowShares, held.collateral, params.stockSwapData, params.minLoanOut
        );

        uint256 debt = _debt(market, held.borrowShares);
        uint256 loanBefore = _balance(market.loanToken);
        uint256 stockBefore = _balance(market.collateralToken);
        if (debt == 0) _takeApart(0, leg);
        else i_morpho.flashLoan(market.loanToken, debt, abi.encode(leg));
        _pay(market.loanToken, _balance(market.loanToken) - loanBefore);
        _pay(market.collateralToken, _balance(market.collateralToken) - stockBefore);
    }

    /// Morpho calls back the borrower of the flash loan only, so `data` was written by this contract.
    function onMorphoFlashLoan(uint256 assets, bytes calldata data) external {
        require(msg.sender == address(i_morpho), EquityRouter__UntrustedLender());
        StockLeg memory leg = abi.decode(data, (StockLeg));
        _takeApart(assets, leg);
        IERC20(leg.market.loanToken).forceApprove(msg.sender, assets);
    }

    function _openYieldLeg(EquityEntryParams calldata params, address loan) private {
        LeverageParams memory leverageParams = params.leverageParams;
        address collateral = _market(leverageParams.marketId).collateralToken;
        leverageParams.amountCollateral =
            _swap(params.yieldSwapData, loan, params.stockBorrowAmount, collateral, params.yieldMinOut);
        IERC20(collateral).forceApprove(address(i_flashLeverage), leverageParams.amountCollateral);
        i_flashLeverage.leverage(msg.sender, leverageParams);
    }

    function _takeApart(uint256 assets, StockLeg memory leg) private {
        MarketParams memory market = leg.market;
        if (assets != 0) {
            IERC20(market.loanToken).forceApprove(address(i_morpho), assets);
            i_morpho.repay(market, 0, leg.borrowShares, leg.user, "");
        }
        i_morpho.withdrawCollateral(market, leg.collateral, leg.user, address(this));
        _swap(leg.swapData, market.collateralToken, leg.collateral, market.loanToken, leg.minLoanOut);
    }

    /// Sell up to `amountIn` and reset the router's allowance. The received amount is a balance difference.
    function _swap(SwapData memory swapData, address tokenIn, uint256 amountIn, address tokenOut, uint256 minOut)
        private
        returns (uint256 received)
    {
        address router = swapData.extRouter;
        require(i_flashLeverage.isValidSwapRouter(router), EquityRouter__UnsupportedSwapRouter());
        uint256 before = _balance(tokenOut);
        IERC20(tokenIn).forceApprove(router, amountIn);
        (bool ok,) = router.call(swapData.extCalldata);
        require(ok, EquityRouter__SwapRouterCallFailed());
        IERC20(tokenIn).forceApprove(router, 0);
        received = _balance(tokenOut) - before;
        require(received >= minOut, EquityRouter__MinTokenOutNotMet());
    }

    function _pay(address token, uint256 amount) private {
        if (amount != 0) IERC20(token).safeTransfer(msg.sender, amount);
    }

    function _market(bytes32 marketId) private view returns (MarketParams memory) {
        return i_morpho.idToMarketParams(Id.wrap(marketId));
    }

    function _balance(address token) private view returns (uint256) {
        return IERC20(token).balanceOf(address(this));
    }

    function _debt(MarketParams memory market, uint256 shares) private view returns (uint256) {
        (,, uint256 assets, uint256 totalShares) = MorphoBalancesLib.expectedMarketBalances(i_morpho, market);
        return shares.toAssetsUp(assets, totalShares);
    }
}

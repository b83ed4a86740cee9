// SPDX-License-Identifier: GPL-2.0-or-later
pragma solidity 0.8.28;

import {IOracle} from "@morpho-org/morpho-blue/src/interfaces/IOracle.sol";
import {MathLib} from "@morpho-org/morpho-blue/src/libraries/MathLib.sol";
import {SafeToken} from "./SafeToken.sol";

interface IDecimals {
    function decimals() external view returns (uint8);
}

/// Fills swaps from its inventory at its price, less a fee and an impact that grows with size. Local worlds only, where it
/// is placed at the router addresses of the real aggregators.
contract SwapVenue {
    using SafeToken for address;
    using MathLib for uint256;

    /// `usdPerToken`: USD in 1e18 per whole token; zero where the price follows an oracle.
    /// `depthUsd`: the size, in USD 1e18, that moves the price by 1 %; zero = no impact.
    struct TokenPrice {
        address token;
        uint256 usdPerToken;
        uint256 depthUsd;
    }

    /// A Morpho oracle that prices `base` in `quote` (1e36-scaled base units).
    struct FollowedOracle {
        address base;
        address quote;
        address oracle;
    }

    address private constant NATIVE = address(0);
    uint256 private constant ORACLE_SCALE = 1e36;
    uint256 private constant MAX_FEE_BPS = 500;
    uint256 private constant MAX_IMPACT = 0.5e18;

    address public immutable i_owner;
    uint256 public s_feeBps;
    mapping(address token => uint256) public s_depthUsd;
    mapping(address base => mapping(address quote => address)) public s_pairOracle;
    mapping(address token => uint256) private s_usdPerToken;
    /// The quote token through whose oracle a token's USD price is found.
    mapping(address token => address) private s_pricedIn;

    event Swapped(
        address indexed sender, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut
    );

    error NotOwner(address caller);
    error NoRoute(address tokenIn, address tokenOut);
    error FeeTooHigh(uint256 feeBps);
    error SizeBeyondDepth(uint256 impactWad);
    error OutputBelowMinimum(uint256 amountOut, uint256 minOut);
    error WrongValue(uint256 received, uint256 expected);
    error NativeTransferFailed(address to, uint256 amount);

    modifier onlyOwner() {
        require(msg.sender == i_owner, NotOwner(msg.sender));
        _;
    }

    constructor(address owner, uint256 feeBps) {
        i_owner = owner;
        _setFee(feeBps);
    }

    /// Native inventory.
    receive() external payable {}

    function setFee(uint256 feeBps) external onlyOwner {
        _setFee(feeBps);
    }

    function setPrices(TokenPrice[] calldata prices) external onlyOwner {
        for (uint256 i; i < prices.length; ++i) {
            s_usdPerToken[prices[i].token] = prices[i].usdPerToken;
            s_depthUsd[prices[i].token] = prices[i].depthUsd;
        }
    }

    /// Trade the pair at the oracle's price instead of USD prices. A base token without a USD price is valued by its first
    /// followed oracle.
    function followOracles(FollowedOracle[] calldata oracles) external onlyOwner {
        for (uint256 i; i < oracles.length; ++i) {
            s_pairOracle[oracles[i].base][oracles[i].quote] = oracles[i].oracle;
            if (s_pricedIn[oracles[i].base] == address(0)) s_pricedIn[oracles[i].base] = oracles[i].quote;
        }
    }

    function withdraw(address token, uint256 amount, address to) external onlyOwner {
        _pay(token, to, amount);
    }

    /// Sells the caller's `amountIn` of `tokenIn` for at least `minOut`, paid to `recipient`.
    function swap(address tokenIn, address tokenOut, uint256 amountIn, uint256 minOut, address recipient)
        external
        payable
        returns (uint256 amountOut)
    {
        _take(tokenIn, amountIn);
        return _fill(tokenIn, tokenOut, amountIn, minOut, recipient);
    }

    /// As `swap`, with a referral fee taken out of `tokenIn` first.
    function swapWithFee(
        address tokenIn,
        address tokenOut,
        uint256 amountIn,
        uint256 minOut,
        address recipient,
        uint256 feeBps,
        address feeReceiver
    ) external payable returns (uint256 amountOut) {
        require(feeBps <= MAX_FEE_BPS, FeeTooHigh(feeBps));
        _take(tokenIn, amountIn);
        uint256 fee = amountIn * feeBps / 10_000;
        if (fee != 0) _pay(tokenIn, feeReceiver, fee);
        return _fill(tokenIn, tokenOut, amountIn - fee, minOut, recipient);
    }

    /// Output of a swap of this size now, and its price impact (basis points, rounded down).
    function quote(address tokenIn, address tokenOut, uint256 amountIn)
        public
        view
        returns (uint256 amountOut, uint256 impactBps)
    {
        uint256 impact = _impact(tokenIn, tokenOut, amountIn);
        uint256 afterFee = _atPrice(tokenIn, tokenOut, amountIn).mulDivDown(10_000 - s_feeBps, 10_000);
        return (afterFee.wMulDown(1e18 - impact), impact / 1e14);
    }

    /// USD (1e18) per whole token; zero = this venue does not trade it.
    function priceOf(address token) public view returns (uint256) {
        uint256 fixedPrice = s_usdPerToken[token];
        address quoteToken = s_pricedIn[token];
        if (fixedPrice != 0 || quoteToken == address(0)) return fixedPrice;
        uint256 quoteUnits = IOracle(s_pairOracle[token][quoteToken]).price().mulDivDown(_unit(token), 1e18);
        return quoteUnits.mulDivDown(priceOf(quoteToken), _unit(quoteToken)) / 1e18;
    }

    /// Output at the venue's price before fee and impact: by the pair's oracle if one is followed, otherwise by USD prices.
    function _atPrice(address tokenIn, address tokenOut, uint256 amountIn) private view returns (uint256) {
        address sell = s_pairOracle[tokenIn][tokenOut];
        if (sell != address(0)) return amountIn.mulDivDown(IOracle(sell).price(), ORACLE_SCALE);
        address buy = s_pairOracle[tokenOut][tokenIn];
        if (buy != address(0)) return amountIn.mulDivDown(ORACLE_SCALE, IOracle(buy).price());
        return _usd(tokenIn, amountIn).mulDivDown(_unit(tokenOut), priceOf(tokenOut));
    }

    /// 1 % per depth traded, on both sides of the pair, in 1e18.
    function _impact(address tokenIn, address tokenOut, uint256 amountIn) private view returns (uint256 impact) {
        bool routed = tokenIn != tokenOut && priceOf(tokenIn) != 0 && priceOf(tokenOut) != 0;
        require(routed, NoRoute(tokenIn, tokenOut));
        uint256 size = _usd(tokenIn, amountIn);
        if (s_depthUsd[tokenIn] != 0) impact = size.mulDivDown(0.01e18, s_depthUsd[tokenIn]);
        if (s_depthUsd[tokenOut] != 0) impact += size.mulDivDown(0.01e18, s_depthUsd[tokenOut]);
        require(impact <= MAX_IMPACT, SizeBeyondDepth(impact));
    }

    function _fill(address tokenIn, address tokenOut, uint256 amountIn, uint256 minOut, address recipient)
        private
        returns (uint256 amountOut)
    {
        (amountOut,) = quote(tokenIn, tokenOut, amountIn);
        require(amountOut >= minOut, OutputBelowMinimum(amountOut, minOut));
        _pay(tokenOut, recipient, amountOut);
        emit Swapped(msg.sender, tokenIn, tokenOut, amountIn, amountOut);
    }

    function _take(address token, uint256 amount) private {
        uint256 expected = token == NATIVE ? amount : 0;
        require(msg.value == expected, WrongValue(msg.value, expected));
        if (token != NATIVE) token.safeTransferFrom(msg.sender, address(this), amount);
    }

    function _pay(address token, address to, uint256 amount) private {
        if (token != NATIVE) return token.safeTransfer(to, amount);
        (bool ok,) = to.call{value: amount}("");
        require(ok, NativeTransferFailed(to, amount));
    }

    function _setFee(uint256 feeBps) private {
        require(feeBps <= MAX_FEE_BPS, FeeTooHigh(feeBps));
        s_feeBps = feeBps;
    }

    function _usd(address token, uint256 amount) private view returns (uint256) {
        return amount.mulDivDown(priceOf(token), _unit(token));
    }

    function _unit(address token) private view returns (uint256) {
        return token == NATIVE ? 1e18 : 10 ** IDecimals(token).decimals();
    }
}

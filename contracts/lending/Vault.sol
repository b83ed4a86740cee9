// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.28;

import {IERC20} from "@morpho-org/morpho-blue/src/interfaces/IERC20.sol";
import {Id, IMorpho, Market, MarketParams} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {MarketParamsLib} from "@morpho-org/morpho-blue/src/libraries/MarketParamsLib.sol";
import {MorphoBalancesLib} from "@morpho-org/morpho-blue/src/libraries/periphery/MorphoBalancesLib.sol";
import {SafeTransferLib} from "@morpho-org/morpho-blue/src/libraries/SafeTransferLib.sol";
import {Erc20} from "./Erc20.sol";
import {Owned} from "./Owned.sol";

struct MarketConfig {
    uint184 cap;
    bool enabled;
    uint64 removableAt;
}

struct MarketAllocation {
    MarketParams marketParams;
    /// Supply in the market afterwards; max uint256 in the last row = the sum withdrawn before.
    uint256 assets;
}

/// @notice Lending vault: holds one loan token, supplies several of its markets, and lets allocators shift between them.
/// Deposits enter the first market of the queue; the owner spreads them with `reallocate`.
contract Vault is Erc20, Owned {
    using MarketParamsLib for MarketParams;
    using MorphoBalancesLib for IMorpho;
    using SafeTransferLib for IERC20;

    IMorpho public immutable MORPHO;
    address public immutable asset;
    mapping(Id => MarketConfig) public config;
    mapping(address => bool) public isAllocator;
    Id[] public withdrawQueue;

    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares);
    event ReallocateSupply(address indexed caller, Id indexed id, uint256 suppliedAssets);
    event ReallocateWithdraw(address indexed caller, Id indexed id, uint256 withdrawnAssets);

    error NotAllocatorRole();
    error InconsistentAsset(Id id);
    error MarketNotEnabled(Id id);
    error SupplyCapExceeded(Id id);
    error InconsistentReallocation();
    error NotEnoughLiquidity();

    constructor(address morpho, address asset_, string memory name_, string memory symbol_, address owner_)
        Erc20(name_, symbol_, 18)
        Owned(owner_)
    {
        MORPHO = IMorpho(morpho);
        asset = asset_;
    }

    function enableMarket(MarketParams memory marketParams, uint184 cap) external onlyOwner {
        Id id = marketParams.id();
        require(marketParams.loanToken == asset, InconsistentAsset(id));
        if (!config[id].enabled) withdrawQueue.push(id);
        config[id] = MarketConfig({cap: cap, enabled: true, removableAt: 0});
    }

    function setIsAllocator(address account, bool allowed) external onlyOwner {
        isAllocator[account] = allowed;
    }

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        shares = assets * (totalSupply + 1) / (totalAssets() + 1);
        _mint(receiver, shares);
        emit Deposit(msg.sender, receiver, assets, shares);
        IERC20(asset).safeTransferFrom(msg.sender, address(this), assets);
        _supply(MORPHO.idToMarketParams(withdrawQueue[0]), assets);
    }

    function withdraw(uint256 assets, address receiver, address from) external returns (uint256 shares) {
        uint256 total = totalAssets() + 1;
        shares = (assets * (totalSupply + 1) + total - 1) / total;
        if (msg.sender != from) _spendAllowance(from, shares);
        _burn(from, shares);
        emit Withdraw(msg.sender, receiver, from, assets, shares);
        _takeFromMarkets(assets);
        IERC20(asset).safeTransfer(receiver, assets);
    }

    /// @notice Bring the supply of each listed market to the wanted amount; the sum must stay the same.
    function reallocate(MarketAllocation[] calldata allocations) external {
        require(isAllocator[msg.sender] || msg.sender == owner, NotAllocatorRole());
        uint256 supplied;
        uint256 withdrawn;
        for (uint256 i; i < allocations.length; ++i) {
            MarketParams memory marketParams = allocations[i].marketParams;
            uint256 wanted = allocations[i].assets;
            Id id = marketParams.id();
            require(config[id].enabled, MarketNotEnabled(id));
            uint256 present = MORPHO.expectedSupplyAssets(marketParams, address(this));
            if (wanted < present) {
                withdrawn += _withdraw(marketParams, present - wanted, wanted == 0);
                emit ReallocateWithdraw(msg.sender, id, present - wanted);
                continue;
            }
            uint256 added = wanted == type(uint256).max ? withdrawn - supplied : wanted - present;
            if (added == 0) continue;
            require(present + added <= config[id].cap, SupplyCapExceeded(id));
            _supply(marketParams, added);
            supplied += added;
            emit ReallocateSupply(msg.sender, id, added);
        }
        require(withdrawn == supplied, InconsistentReallocation());
    }

    function totalAssets() public view returns (uint256 total) {
        for (uint256 i; i < withdrawQueue.length; ++i) {
            total += MORPHO.expectedSupplyAssets(MORPHO.idToMarketParams(withdrawQueue[i]), address(this));
        }
    }

    function withdrawQueueLength() external view returns (uint256) {
        return withdrawQueue.length;
    }

    function _takeFromMarkets(uint256 assets) private {
        for (uint256 i; i < withdrawQueue.length && assets > 0; ++i) {
            MarketParams memory marketParams = MORPHO.idToMarketParams(withdrawQueue[i]);
            MORPHO.accrueInterest(marketParams);
            Market memory market = MORPHO.market(withdrawQueue[i]);
            uint256 liquid = market.totalSupplyAssets - market.totalBorrowAssets;
            uint256 present = MORPHO.expectedSupplyAssets(marketParams, address(this));
            uint256 taken = present < liquid ? present : liquid;
            if (taken > assets) taken = assets;
            if (taken > 0) _withdraw(marketParams, taken, false);
            assets -= taken;
        }
        require(assets == 0, NotEnoughLiquidity());
    }

    function _supply(MarketParams memory marketParams, uint256 assets) private {
        // Zero first: a token like USDT refuses to change an allowance that is not zero.
        _approve(0);
        _approve(assets);
        MORPHO.supply(marketParams, assets, 0, address(this), "");
    }

    /// @dev A withdrawal of everything is counted in shares, so that no dust remains.
    function _withdraw(MarketParams memory marketParams, uint256 assets, bool all) private returns (uint256 withdrawn) {
        uint256 shares = all ? MORPHO.position(marketParams.id(), address(this)).supplyShares : 0;
        (withdrawn,) = MORPHO.withdraw(marketParams, all ? 0 : assets, shares, address(this), address(this));
    }

    function _approve(uint256 amount) private {
        // By selector: USDT's approve returns nothing.
        (bool ok,) = asset.call(abi.encodeWithSignature("approve(address,uint256)", address(MORPHO), amount));
        require(ok, "approve failed");
    }
}

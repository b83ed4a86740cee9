// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.28;

import {Id, IMorpho, MarketParams} from "@morpho-org/morpho-blue/src/interfaces/IMorpho.sol";
import {MarketParamsLib} from "@morpho-org/morpho-blue/src/libraries/MarketParamsLib.sol";
import {MorphoBalancesLib} from "@morpho-org/morpho-blue/src/libraries/periphery/MorphoBalancesLib.sol";
import {MarketAllocation, Vault} from "./Vault.sol";

struct Withdrawal {
    MarketParams marketParams;
    uint128 amount;
}

struct FlowCaps {
    uint128 maxIn;
    uint128 maxOut;
}

struct FlowCapsConfig {
    Id id;
    FlowCaps caps;
}

/// @notice Lets anyone move a vault's liquidity towards one market, for the vault's fee in wei and within the flow
/// caps of each market. A flow in one direction widens the cap of the other.
contract PublicAllocator {
    using MarketParamsLib for MarketParams;
    using MorphoBalancesLib for IMorpho;

    IMorpho public immutable MORPHO;
    mapping(address vault => uint256) public fee;
    mapping(address vault => uint256) public accruedFee;
    mapping(address vault => mapping(Id => FlowCaps)) public flowCaps;

    event PublicWithdrawal(address indexed sender, address indexed vault, Id indexed id, uint256 withdrawnAssets);
    event PublicReallocateTo(address indexed sender, address indexed vault, Id indexed supplyMarketId, uint256 suppliedAssets);

    error NotOwner();
    error IncorrectFee();
    error EmptyWithdrawals();
    error MarketNotEnabled(Id id);
    error WithdrawZero(Id id);
    error InconsistentWithdrawals();
    error DepositMarketInWithdrawals();
    error MaxOutflowExceeded(Id id);
    error MaxInflowExceeded(Id id);
    error NotEnoughSupply(Id id);
    error FeeTransferFailed(address feeRecipient);

    modifier onlyVaultOwner(address vault) {
        require(msg.sender == Vault(vault).owner(), NotOwner());
        _;
    }

    constructor(address morpho) {
        MORPHO = IMorpho(morpho);
    }

    function setFee(address vault, uint256 newFee) external onlyVaultOwner(vault) {
        fee[vault] = newFee;
    }

    function setFlowCaps(address vault, FlowCapsConfig[] calldata configs) external onlyVaultOwner(vault) {
        for (uint256 i; i < configs.length; ++i) {
            require(_isEnabled(vault, configs[i].id), MarketNotEnabled(configs[i].id));
            flowCaps[vault][configs[i].id] = configs[i].caps;
        }
    }

    function transferFee(address vault, address payable recipient) external onlyVaultOwner(vault) {
        uint256 amount = accruedFee[vault];
        accruedFee[vault] = 0;
        (bool sent,) = recipient.call{value: amount}("");
        require(sent, FeeTransferFailed(recipient));
    }

    /// @notice Withdraw from the listed markets (by id, ascending) and supply the sum to one other market.
    function reallocateTo(address vault, Withdrawal[] calldata withdrawals, MarketParams calldata supplyMarketParams)
        external
        payable
    {
        require(msg.value == fee[vault], IncorrectFee());
        accruedFee[vault] += msg.value;
        require(withdrawals.length > 0, EmptyWithdrawals());
        Id supplyId = supplyMarketParams.id();
        require(_isEnabled(vault, supplyId), MarketNotEnabled(supplyId));

        MarketAllocation[] memory allocations = new MarketAllocation[](withdrawals.length + 1);
        uint128 total;
        Id previous;
        for (uint256 i; i < withdrawals.length; ++i) {
            Id id = withdrawals[i].marketParams.id();
            require(Id.unwrap(id) > Id.unwrap(previous), InconsistentWithdrawals());
            require(Id.unwrap(id) != Id.unwrap(supplyId), DepositMarketInWithdrawals());
            allocations[i] = MarketAllocation(withdrawals[i].marketParams, _remaining(vault, id, withdrawals[i]));
            total += withdrawals[i].amount;
            previous = id;
        }

        FlowCaps storage caps = flowCaps[vault][supplyId];
        require(caps.maxIn >= total, MaxInflowExceeded(supplyId));
        caps.maxIn -= total;
        caps.maxOut += total;
        allocations[withdrawals.length] = MarketAllocation(supplyMarketParams, type(uint256).max);
        Vault(vault).reallocate(allocations);
        emit PublicReallocateTo(msg.sender, vault, supplyId, total);
    }

    /// @dev The vault's supply in the market after this withdrawal, which counts against the caps.
    function _remaining(address vault, Id id, Withdrawal calldata withdrawal) private returns (uint256) {
        require(_isEnabled(vault, id), MarketNotEnabled(id));
        require(withdrawal.amount > 0, WithdrawZero(id));
        FlowCaps storage caps = flowCaps[vault][id];
        require(caps.maxOut >= withdrawal.amount, MaxOutflowExceeded(id));
        uint256 present = MORPHO.expectedSupplyAssets(withdrawal.marketParams, vault);
        require(present >= withdrawal.amount, NotEnoughSupply(id));
        caps.maxIn += withdrawal.amount;
        caps.maxOut -= withdrawal.amount;
        emit PublicWithdrawal(msg.sender, vault, id, withdrawal.amount);
        return present - withdrawal.amount;
    }

    function _isEnabled(address vault, Id id) private view returns (bool enabled) {
        (, enabled,) = Vault(vault).config(id);
    }
}

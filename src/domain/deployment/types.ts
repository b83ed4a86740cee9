import type { Address } from '../../shared/ids.ts';

/** Values that the deployed contract returns. Absent = it lacks that view, or the value was implausible. Shares are in WAD. */
export interface ContractDeployment {
  /** Whether there is code at the address. */
  readonly hasCode?: boolean | undefined;
  /** Distance between the liquidation LTV and the highest LTV that it accepts. */
  readonly liquidationBuffer?: bigint | undefined;
  /** Share of the yield, on correlated markets. */
  readonly yieldFee?: bigint | undefined;
  /** Share of a deposit, on uncorrelated markets. */
  readonly depositFee?: bigint | undefined;
  /** Receives the fees. */
  readonly treasury?: Address | undefined;
  readonly isPaused?: boolean | undefined;
  /** Whether swaps may go through the routers of the catalog's venues; routers without an answer are left out. */
  readonly swapRouters: readonly AllowedAddress[];
  /** Whether the catalog's own routers may act for users; routers without an answer are left out. */
  readonly operators: readonly AllowedAddress[];
  /** Whether there is code at the catalog's other contracts and at the routers of its venues. */
  readonly code?: readonly { readonly address: Address; readonly hasCode: boolean }[] | undefined;
  /** The other contracts that the product's own contracts are linked to; links without an answer are left out. */
  readonly links?: readonly ContractLink[] | undefined;
  /** Fields of the above whose value was implausible. */
  readonly implausible?: readonly string[] | undefined;
}

/** A link from a contract of the product to another contract. */
export interface ContractLink {
  /** The contract that returns the link. */
  readonly address: Address;
  /** Role of the linked contract in the catalog. */
  readonly to: 'morphoBlue' | 'flashLeverage' | 'publicAllocator';
  readonly target: Address;
}

export interface AllowedAddress {
  readonly address: Address;
  readonly isAllowed: boolean;
}

/** Values of one market from the deployed contract and from the lending protocol. Absent = not known. */
export interface MarketSupport {
  readonly isSupported?: boolean | undefined;
  readonly isCorrelated?: boolean | undefined;
  /** The parameters behind its id; `null` = there is no market of that id. */
  readonly params?: ChainMarketParams | null | undefined;
}

/** The parameters of a market in the lending protocol. */
export interface ChainMarketParams {
  readonly loanToken: Address;
  readonly collateralToken: Address;
  readonly oracle: Address;
  readonly irm: Address;
  /** WAD. */
  readonly lltv: bigint;
}

/** Values that a token contract returns. Absent = the contract lacks that view. */
export interface TokenContract {
  readonly hasCode: boolean;
  readonly decimals?: bigint | undefined;
  /** Shortened and without unprintable characters, because token contracts are not trusted. */
  readonly symbol?: string | undefined;
}

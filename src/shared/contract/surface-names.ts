import type { MANAGE_ACTIONS } from '../vocabulary.ts';

type ManageAction = (typeof MANAGE_ACTIONS)[number];

/** The names that REST and GraphQL spell differently, for messages and details of errors, issues and instructions. */
export interface SurfaceNames {
  /** Name an input of a builder, by its name in REST. */
  input(name: string): string;
  /** The input that repays a whole debt. */
  readonly repayAll: string;
  readonly actions: Readonly<Record<ManageAction, string>>;
  readonly slippage: {
    readonly name: string;
    /** Write a ratio in the unit of the input. */
    value(ratio: string): string;
  };
  /** The parts of a plan of single transactions. */
  readonly plan: {
    readonly approval: string;
    readonly approvals: string;
    /** Name what allows a contract to take a token. */
    readonly allowance: string;
    readonly transaction: string;
  };
  /** Fields or paths of the service to go to. */
  readonly places: {
    strategies(chainId?: number): string;
    positions(wallet: string, chainId: number): string;
    readonly equityDeposit: string;
    readonly equityPreview: string;
    readonly equityExit: string;
    readonly leverage: string;
    readonly leveragePreview: string;
    readonly freshness: string;
  };
}

export const REST_NAMES: SurfaceNames = {
  input: (name) => name,
  repayAll: 'full: true',
  actions: {
    close: 'close',
    increase_leverage: 'increase_leverage',
    add_collateral: 'add_collateral',
    remove_collateral: 'remove_collateral',
    repay: 'repay',
    borrow: 'borrow',
  },
  slippage: { name: 'the slippage', value: (ratio) => ratio },
  plan: {
    approval: 'entry of "approvals"',
    approvals: 'entries of "approvals"',
    allowance: '"approvals"',
    transaction: '"tx"',
  },
  places: {
    strategies: (chainId) => (chainId === undefined ? '/v1/strategies' : `/v1/strategies?chainId=${chainId}`),
    positions: (wallet, chainId) => `/v1/partner/positions/${wallet}?chainId=${chainId}`,
    equityDeposit: '/v1/partner/equity/deposit/build',
    equityPreview: '/v1/partner/equity/simulate',
    equityExit: '/v1/partner/equity/exit/build',
    leverage: '/v1/partner/leverage',
    leveragePreview: '/v1/partner/leverage/simulate',
    freshness: '/health',
  },
};

export const MANAGE_ACTIONS = [
  'close',
  'increase_leverage',
  'add_collateral',
  'remove_collateral',
  'repay',
  'borrow',
] as const;

type ManageAction = (typeof MANAGE_ACTIONS)[number];

/**
 * The names that REST and GraphQL spell differently. Messages and details of errors, issues, notes and instructions have references
 * to them (`NAMES`), which the edge of a request spells in the names of its surface.
 */
export interface Names {
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

const [BEGIN, NEXT, END] = ['\u{E000}', '\u{E001}', '\u{E002}'];

/** A reference to a name by its path, with the arguments of one that takes some. */
const reference = (...parts: readonly (string | number | undefined)[]): string =>
  `${BEGIN}${parts.filter((part) => part !== undefined).join(NEXT)}${END}`;

/** References to all names, for sentences. */
export const NAMES: Names = {
  input: (name) => reference('input', name),
  repayAll: reference('repayAll'),
  actions: Object.fromEntries(
    MANAGE_ACTIONS.map((action) => [action, reference(`actions.${action}`)]),
  ) as Names['actions'],
  slippage: { name: reference('slippage.name'), value: (ratio) => reference('slippage.value', ratio) },
  plan: {
    approval: reference('plan.approval'),
    approvals: reference('plan.approvals'),
    allowance: reference('plan.allowance'),
    transaction: reference('plan.transaction'),
  },
  places: {
    strategies: (chainId) => reference('places.strategies', chainId),
    positions: (wallet, chainId) => reference('places.positions', wallet, chainId),
    equityDeposit: reference('places.equityDeposit'),
    equityPreview: reference('places.equityPreview'),
    equityExit: reference('places.equityExit'),
    leverage: reference('places.leverage'),
    leveragePreview: reference('places.leveragePreview'),
    freshness: reference('places.freshness'),
  },
};

const REFERENCE = new RegExp(`${BEGIN}([^${END}]*)${END}`, 'gu');

/** Spell the references in a text, or in all texts of a plain value, in the names of a surface. One without references stays the same. */
export function spell<T>(value: T, names: Names): T {
  if (typeof value === 'string') {
    return (
      value.includes(BEGIN) ? value.replace(REFERENCE, (found, path) => nameAt(path, names) ?? found) : value
    ) as T;
  }
  if (Array.isArray(value)) {
    const entries = value.map((entry) => spell(entry, names));
    return entries.some((entry, i) => entry !== value[i]) ? (entries as T) : value;
  }
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value).map(([key, entry]) => [key, spell(entry, names), entry] as const);
  return entries.some(([, after, before]) => after !== before) ? (Object.fromEntries(entries) as T) : value;
}

function nameAt(reference: string, names: Names): string | undefined {
  const [path = '', ...args] = reference.split(NEXT);
  const found = path
    .split('.')
    .reduce<unknown>(
      (at, key) => (Object.hasOwn(Object(at), key) ? (at as Record<string, unknown>)[key] : undefined),
      names,
    );
  const name = typeof found === 'function' ? found(...args) : found;
  return typeof name === 'string' ? name : undefined;
}

export const REST_NAMES: Names = {
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

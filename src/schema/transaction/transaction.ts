import { numberToHex } from 'viem';
import type { ShownCall } from '../../resolvers/common/calls.ts';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import type { Address, ChainId } from '../../shared/ids.ts';
import { SWAP_SOURCES } from '../../shared/vocabulary.ts';
import type { BuiltCall, Intent, Issue, TokenAmount } from '../../transactions/index.ts';
import { builder } from '../builder.ts';

const SOURCE_DESCRIPTIONS: Record<(typeof SWAP_SOURCES)[number], string> = {
  AggregatorOne: 'The first swap aggregator.',
  AggregatorTwo: 'The second swap aggregator, on chain 1 only.',
  YieldMarket: 'The converter of principal tokens.',
};

export const SwapSourceRef = builder.enumType('SwapSource', {
  description: 'The venue of a swap.',
  values: Object.fromEntries(
    SWAP_SOURCES.map((source) => [source, { value: source, description: SOURCE_DESCRIPTIONS[source] }]),
  ) as { [S in (typeof SWAP_SOURCES)[number]]: { value: S; description: string } },
});

export const NamedValueRef = builder
  .objectRef<{ readonly name: string; readonly value: string }>('NamedValue')
  .implement({
    description: 'A value with its name.',
    fields: (t) => ({
      name: t.exposeString('name', {
        description: 'Name; of a nested value dotted, e.g. `leverageParams.minTokenOut`.',
      }),
      value: t.exposeString('value', {
        description: 'The value as text, numbers in base units; long bytes shortened.',
      }),
    }),
  });

const IntentRef = builder.objectRef<Intent>('CallIntent').implement({
  description: 'What the calldata says, decoded from the bytes themselves: compare it with what you meant.',
  fields: (t) => ({
    method: t.exposeString('method', { description: 'The contract function.' }),
    arguments: t.expose('arguments', {
      type: [NamedValueRef],
      complexity: { field: 1, multiplier: 10 },
      description: 'All arguments by name, nested ones flattened.',
    }),
    spender: t.expose('spender', {
      type: 'Address',
      nullable: true,
      description: 'Who gets an allowance; `null` = it is no approval.',
    }),
    minimumOut: t.expose('minimumOut', {
      type: 'BigInteger',
      nullable: true,
      description: 'Least output of the (last) swap in base units; `null` = nothing is swapped.',
    }),
    recipient: t.expose('recipient', {
      type: 'Address',
      description: 'Whose position or tokens it is about: the signer.',
    }),
  }),
});

export const UnsignedCallRef = builder.objectRef<ShownCall>('UnsignedCall').implement({
  description: 'One call to sign. Nothing here has been signed or sent.',
  fields: (t) => ({
    to: t.field({ type: 'Address', description: 'The contract.', resolve: ({ call }) => call.to }),
    data: t.field({ type: 'HexData', description: 'Calldata.', resolve: ({ call }) => call.data }),
    value: t.field({ type: 'BigInteger', description: 'Native value in wei.', resolve: ({ call }) => call.value }),
    intent: t.field({
      type: IntentRef,
      complexity: 5,
      description: 'The same in words.',
      resolve: ({ intent }) => intent(),
    }),
  }),
});

export interface SendCalls {
  readonly chainId: ChainId;
  readonly from: Address;
  readonly calls: readonly BuiltCall[];
  /** Whether the calls must happen together or not at all. */
  readonly atomicRequired: boolean;
}

const SendCallRef = builder.objectRef<BuiltCall>('SendCall').implement({
  description: 'One call of a batch, as wallets take it.',
  fields: (t) => ({
    to: t.expose('to', { type: 'Address', description: 'The contract.' }),
    data: t.expose('data', { type: 'HexData', description: 'Calldata.' }),
    value: t.string({ description: 'Native value in wei, hex.', resolve: ({ value }) => numberToHex(value) }),
  }),
});

export const SendCallsRef = builder.objectRef<SendCalls>('SendCallsParameters').implement({
  description: 'The bundle as the first parameter of `wallet_sendCalls` (EIP-5792).',
  fields: (t) => ({
    version: t.string({ description: 'Version of the parameters.', resolve: () => '2.0.0' }),
    chainId: t.string({ description: 'The chain, hex.', resolve: ({ chainId }) => numberToHex(chainId) }),
    from: t.expose('from', { type: 'Address', description: 'The signer.' }),
    atomicRequired: t.exposeBoolean('atomicRequired', {
      description: 'Whether a wallet that cannot batch atomically must refuse.',
    }),
    calls: t.field({
      type: [SendCallRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'Approvals first, then the transaction.',
      resolve: ({ calls }) => [...calls],
    }),
  }),
});

export const TokenAmountRef = builder.objectRef<TokenAmount>('TokenAmount').implement({
  description: 'An amount of one token.',
  fields: (t) => ({
    token: t.field({ type: 'Address', description: 'The token.', resolve: ({ token }) => token.address }),
    symbol: t.string({ description: 'Its symbol.', resolve: ({ token }) => token.symbol }),
    amount: t.field({
      type: 'Decimal',
      description: 'How much, whole tokens.',
      resolve: ({ token, amount }) => formatUnitsPlain(amount, token.decimals),
    }),
  }),
});

const ISSUE_DESCRIPTIONS: Record<Issue['kind'], string> = {
  INSUFFICIENT_BALANCE: 'The wallet holds less than this takes.',
  APPROVAL_NEEDED: 'The contract may not take the token yet; `approvals` allows it.',
  PRICE_UNVERIFIED: 'Nothing but the venue itself prices the token.',
  NOT_SIMULATED: 'The calls could not be tried out beforehand.',
  REFERENCE_OLD: 'A feed behind the oracle that judges this is past its heartbeat: it goes on with the last price.',
  REFERENCE_UNDATED: 'How old the price of the oracle that judges this is cannot be told.',
  SLIPPAGE_TIGHTENED: 'Less slippage than asked for holds in the calldata: more would break a limit of the contracts.',
};

const IssueKindRef = builder.enumType('PlanIssueKind', {
  description: 'What there is to know or to do before signing.',
  values: Object.fromEntries(
    Object.entries(ISSUE_DESCRIPTIONS).map(([kind, description]) => [kind, { value: kind, description }]),
  ) as { [K in Issue['kind']]: { value: K; description: string } },
});

export const IssueRef = builder.objectRef<Issue>('PlanIssue').implement({
  description: 'Something to know or to do before signing. It never stops a plan.',
  fields: (t) => ({
    kind: t.expose('kind', { type: IssueKindRef, description: 'What it is.' }),
    message: t.exposeString('message', { description: 'The same in a sentence.' }),
    token: t.expose('token', {
      type: 'Address',
      nullable: true,
      description: 'The token it is about; `null` = none.',
    }),
    required: t.expose('required', {
      type: 'Decimal',
      nullable: true,
      description: 'How much is needed, whole tokens; `null` = it is not about an amount.',
    }),
    available: t.expose('available', {
      type: 'Decimal',
      nullable: true,
      description: 'How much there is, whole tokens; `null` = it is not about an amount.',
    }),
    asked: t.expose('asked', {
      type: 'Decimal',
      nullable: true,
      description: 'The slippage that was asked for, a ratio after its cap; `null` = it is not about slippage.',
    }),
    effective: t.expose('effective', {
      type: 'Decimal',
      nullable: true,
      description: 'The slippage that holds in the calldata, a ratio; `null` = it is not about slippage.',
    }),
  }),
});

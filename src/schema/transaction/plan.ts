import { type AmountView, type PlanBaseView, receivedAmounts } from '../../resolvers/transaction/estimate.ts';
import { MAX_PLAN_CALLS } from '../../shared/contract/list-bounds.ts';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import { sendCallsParameters } from '../../transactions/wallet-send-calls.ts';
import { builder } from '../builder.ts';
import { TokenRef } from '../refs.ts';
import { UnsignedCallRef } from './call.ts';
import { EstimateRef } from './estimate.ts';

const TokenAmountRef = builder.objectRef<AmountView>('TokenAmount').implement({
  description: 'An amount of one token.',
  fields: (t) => ({
    token: t.expose('token', { type: TokenRef, description: 'The token.' }),
    units: t.expose('amount', { type: 'BigInteger', description: 'The amount in base units.' }),
    amount: t.field({
      type: 'Decimal',
      description: 'The amount in whole tokens.',
      resolve: ({ token, amount }) => formatUnitsPlain(amount, token.decimals),
    }),
  }),
});

export const TransactionPlanRef = builder.interfaceRef<PlanBaseView>('TransactionPlan').implement({
  description:
    'Unsigned calls for one wallet, simulated on the newest state. Nothing is signed or sent by this service. A plan belongs to one wallet and to one moment: it has no `id`, and after `expiresAt` it is built anew.',
  interfaces: [EstimateRef],
  fields: (t) => ({
    wallet: t.expose('user', { type: 'Address', description: 'The wallet that signs.' }),
    calls: t.field({
      type: [UnsignedCallRef],
      complexity: { field: 1, multiplier: 6 },
      description: `All calls in the order in which they are sent, approvals first, at most ${MAX_PLAN_CALLS}: the closing of each loop of a vault, and a handful.`,
      resolve: ({ calls }) => [...calls],
    }),
    atomic: t.exposeBoolean('atomicRequired', {
      description:
        'Whether the calls have to be sent as one atomic batch. A wallet that cannot batch sends such calls in order, and the last one in any case: it revokes an authorization that one before it grants.',
    }),
    sendCalls: t.field({
      type: 'JSONObject',
      description:
        'All calls as the first parameter of `wallet_sendCalls` (EIP-5792), to be handed to the wallet as it is.',
      resolve: ({ chainId, user, calls, atomicRequired }) =>
        sendCallsParameters({ chainId, from: user, calls: calls.map(({ call }) => call), atomicRequired }),
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description:
        'Time from which the plan has to be built anew: the expiry of its earliest quote, at most 60 s away; without quotes a minute after the request.',
      resolve: ({ expiresAtMs }) => expiresAtMs,
    }),
    signingUrl: t.expose('signingUrl', {
      type: 'URL',
      nullable: true,
      description: 'Link to review and sign in the app.',
    }),
    instructions: t.exposeString('instructions', { description: 'The steps for a person, in sentences.' }),
    received: t.field({
      type: [TokenAmountRef],
      nullable: true,
      complexity: { field: 1, multiplier: 2 },
      description: `Increase of the balances of the wallet in the simulation, fees of the contracts paid, at most 2 tokens; empty = none.`,
      resolve: (plan, _args, ctx) => receivedAmounts(plan, ctx),
    }),
    simulatedGas: t.expose('gasUsed', {
      type: 'BigInteger',
      nullable: true,
      description: 'Gas that the simulation of all calls used, in units of gas.',
    }),
  }),
});

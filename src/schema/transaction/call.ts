import type { CallView } from '../../resolvers/common/calls.ts';
import { MAX_CALL_ARGUMENTS } from '../../shared/contract/list-bounds.ts';
import { type Intent, isApproval } from '../../transactions/index.ts';
import { builder } from '../builder.ts';

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
  description: 'The meaning of calldata, decoded from the bytes themselves: compare it with the intended action.',
  fields: (t) => ({
    functionName: t.exposeString('method', { description: 'The contract function.' }),
    arguments: t.expose('arguments', {
      type: [NamedValueRef],
      complexity: { field: 1, multiplier: 10 },
      description: `All arguments by name, nested ones flattened; exactly those of the function, at most ${MAX_CALL_ARGUMENTS}.`,
    }),
    spender: t.expose('spender', {
      type: 'Address',
      nullable: true,
      description: 'The address that gets an allowance; `null` = the call is no approval.',
    }),
    minOutputUnits: t.expose('minimumOut', {
      type: 'BigInteger',
      nullable: true,
      description: 'Least output of the (last) swap in base units; `null` = nothing is swapped.',
    }),
    recipient: t.expose('recipient', {
      type: 'Address',
      description: 'The owner of the position or of the tokens: the signer.',
    }),
  }),
});

export const UnsignedCallRef = builder.objectRef<CallView>('UnsignedCall').implement({
  description: 'One call to sign. It has been neither signed nor sent.',
  fields: (t) => ({
    to: t.field({ type: 'Address', description: 'The contract.', resolve: ({ call }) => call.to }),
    data: t.field({ type: 'HexData', description: 'Calldata.', resolve: ({ call }) => call.data }),
    value: t.field({ type: 'BigInteger', description: 'Native value in wei.', resolve: ({ call }) => call.value }),
    isApproval: t.boolean({
      description: 'Whether it only allows a contract to take a token, for a call that follows it.',
      resolve: ({ call }) => isApproval(call),
    }),
    intent: t.field({
      type: IntentRef,
      complexity: 5,
      description: 'The meaning of the calldata.',
      resolve: ({ intent }) => intent(),
    }),
  }),
});

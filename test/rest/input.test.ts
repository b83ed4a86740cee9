import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { locateField } from '../../src/rest/input.ts';

const row = {
  params: z.object({ address: z.string(), chainId: z.int() }),
  body: z.strictObject({ amount: z.string(), id: z.int() }),
  pathParams: { address: '0x12' },
};

describe(locateField, () => {
  it('default: where the caller sent it', () => {
    expect(locateField('amount', row)).toBe('body.amount');
    expect(locateField('address', row)).toBe('path.address');
    expect(locateField('chainId', row)).toBe('query.chainId');
  });

  it('behavior: names of the pipeline are names of the request', () => {
    expect(locateField('variables.chainId', row)).toBe('query.chainId');
    expect(locateField('input.amount', row)).toBe('body.amount');
    expect(locateField('variables.input.id', row)).toBe('body.id');
  });

  it('behavior: what is located stays, and what is not an input too', () => {
    for (const name of ['body.amount', 'body', 'query', 'path.id', 'points', 'action']) {
      expect(locateField(name, row)).toBe(name);
    }
  });
});

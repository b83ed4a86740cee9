import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  ignoredParameters,
  locateField,
  MAX_BODY_BYTES,
  parseInput,
  parseJsonBody,
  parseQuery,
  queryNames,
  valuesOf,
} from '../../src/rest/input.ts';
import { BadRequestError } from '../../src/shared/errors.ts';

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

  it('behavior: names of the pipeline map to names of the request', () => {
    expect(locateField('variables.chainId', row)).toBe('query.chainId');
    expect(locateField('input.amount', row)).toBe('body.amount');
    expect(locateField('variables.input.id', row)).toBe('body.id');
  });

  it('behavior: keeps located errors, and errors that are not about inputs', () => {
    for (const name of ['body.amount', 'body', 'query', 'path.id', 'points', 'action']) {
      expect(locateField(name, row)).toBe(name);
    }
  });
});

describe(parseQuery, () => {
  const known = queryNames(row.params, row.pathParams);

  it('default: returns the known names; all names where none are given', () => {
    expect(parseQuery('chainId=1&utm_source=x', known)).toEqual({ chainId: '1' });
    expect(parseQuery('chainId=1&utm_source=x')).toEqual({ chainId: '1', utm_source: 'x' });
  });

  it.each(['chainid=4663', 'ChainId=4663', 'chain_id=4663', 'chain-id=4663', 'chainIds=4663', 'chanId=4663'])(
    'error: BadRequest for a known name in another spelling: %s',
    (query) => {
      const [name] = query.split('=');
      const details = { field: `query.${name}`, value: '4663', limit: { oneOf: ['chainId'] } };
      expect(() => parseQuery(query, known)).toThrow(expect.objectContaining({ code: 'bad_request', details }));
    },
  );

  it.each(['chainId[]', 'chainIds[]', 'chainId[0]', 'filter[chainId]', 'input.chainId', 'amp;chainId', 'chanId[]'])(
    'error: BadRequest for a known name with signs around it: %s',
    (name) => {
      expect(() => parseQuery(`${name}=4663`, known)).toThrow('Its spelling is "chainId".');
    },
  );

  it('error: BadRequest for the word of a known name anywhere in a name', () => {
    for (const name of ['chains', 'onChain', 'CHAIN_ID_EQ', 'network', 'subNetworks', `${'x.'.repeat(5_000)}chainId`]) {
      expect(() => parseQuery(`${name}=4663`, known)).toThrow('Its spelling is "chainId".');
      expect(parseQuery(`${name}=4663`, ['leverage'])).toEqual({});
    }
  });

  describe('with a default chain', () => {
    const differs = valuesOf(z.object({ chainId: z.enum(['1', '4663']).default('1') }));
    const read = (query: string, names: readonly string[] = known) => parseQuery(query, names, 'ignore', {}, differs);

    it.each([
      'chians=4663',
      'net[]=4663',
      'CAIP=eip155:4663',
      'x=0x1237',
      'cid=04663',
      'cid=4663.0',
      'nid=%204663',
      'l2=1,4663',
      '=4663',
    ])('error: BadRequest for another chain as the value of an unknown name: %s', (query) => {
      expect(() => read(query)).toThrow('is unknown. Its value is a chain, which is asked for with "chainId".');
      expect(read(query, ['leverage'])).toEqual({});
    });

    it.each(['chair=4', 'nid=1', 'cid=abc', 'net=true', 'train=', 'ref=46630', 'utm_id=4663', 'utm_network=4663'])(
      'behavior: ignores an unknown name whose value is no other chain, and those of campaigns: %s',
      (query) => {
        expect(read(query)).toEqual({});
      },
    );

    it('behavior: ignores a chain as the value of an unknown name where all chains are answered', () => {
      const all = valuesOf(z.object({ chainId: z.enum(['1', '4663']).optional() }));
      expect(parseQuery('page=1', known, 'ignore', {}, all)).toEqual({});
    });
  });

  it('error: BadRequest for the beginning of a known name in any case, in the plural too', () => {
    for (const name of ['lever', 'LEVERS', 'lever[]']) {
      expect(() => parseQuery(`${name}=4`, ['leverage'])).toThrow('Its spelling is "leverage".');
    }
  });

  it('behavior: ignores an unknown name with signs, and reads no more than the beginning of a long one', () => {
    for (const name of ['utm[source]', '[]', `${'x.'.repeat(5_000)}leverage`]) {
      expect(parseQuery(`${name}=1&${name}=2`, ['leverage'])).toEqual({});
    }
  });

  it('error: BadRequest for any unknown name where none is ignored', () => {
    const refuse = (names: readonly string[]) => () => parseQuery('utm_source=x', names, 'refuse');
    expect(refuse(known)).toThrow('The parameter "utm_source" is unknown. This path takes chainId: leave it out.');
    expect(refuse([])).toThrow('This path takes no parameters');
    expect(parseQuery('chainId=1', known, 'refuse')).toEqual({ chainId: '1' });
  });

  it('error: BadRequest for a repeated name', () => {
    expect(() => parseQuery('query=1&query=1')).toThrow(BadRequestError);
    expect(() => parseQuery('__proto__=1&__proto__=2')).toThrow(BadRequestError);
    expect(() => parseQuery('chainId=1&chainId=1', known)).toThrow(BadRequestError);
  });
});

describe(ignoredParameters, () => {
  it('default: names of the query that are not known, once each', () => {
    expect(ignoredParameters('chainId=1&utm_source=x&b=2', ['chainId'])).toBe('utm_source, b');
    expect(ignoredParameters('chainId=1', ['chainId'])).toBeUndefined();
    expect(ignoredParameters('', [])).toBeUndefined();
    expect(ignoredParameters('=1', [])).toBe('""');
  });

  it('behavior: any name is a valid header value of bounded length', () => {
    expect(ignoredParameters('a%0d%0ab=1&%F0%9F%98%80=1&x,y=2', [])).toBe('a%0D%0Ab, %F0%9F%98%80, x%2Cy');
    const many = Array.from({ length: 50 }, (_, n) => `${n}${'%E2%82%AC'.repeat(40)}=1`).join('&');
    const value = ignoredParameters(many, []) ?? '';
    expect(value.split(', ')).toHaveLength(10);
    expect(value).toMatch(/^[A-Za-z0-9%, ]{1,2000}$/);
    expect(decodeURIComponent(value).split(', ')[9]).toBe(`9${'€'.repeat(19)}`);
    expect(value).not.toMatch(/%(?![0-9A-F]{2})/);
  });
});

describe(parseInput, () => {
  const schema = z.strictObject({
    amount: z.string(),
    leverage: z.number().optional(),
    id: z.int().min(0).optional(),
    action: z.enum(['close', 'borrow']).optional(),
    ids: z.array(z.int()).max(2).optional(),
    from: z.iso.datetime().optional(),
  });
  const refused = (value: unknown): BadRequestError => {
    try {
      parseInput(schema, value, () => 'body');
    } catch (error) {
      if (error instanceof BadRequestError) return error;
    }
    throw new Error('it was taken');
  };

  it.each<[string, unknown, object, string]>([
    ['nothing where something is needed', {}, { field: 'body.amount' }, 'a string'],
    [
      'a number for text',
      { amount: 5 },
      { field: 'body.amount', value: '5' },
      'a string: send the number as a string, in quotes',
    ],
    [
      'text for a number',
      { amount: '5', leverage: '5' },
      { field: 'body.leverage', value: '5' },
      'a number: send it without quotes',
    ],
    ['a fraction for an index', { amount: '5', id: 0.5 }, { field: 'body.id', value: '0.5' }, 'an integer'],
    [
      'less than there can be',
      { amount: '5', id: -1 },
      { field: 'body.id', value: '-1', limit: { min: 0 } },
      'at least 0',
    ],
    [
      'a word of no list',
      { amount: '5', action: 'sell' },
      { field: 'body.action', value: 'sell', limit: { oneOf: ['close', 'borrow'] } },
      'close, borrow',
    ],
    [
      'too long a list',
      { amount: '5', ids: [1, 2, 3] },
      { field: 'body.ids', value: '[1,2,3]', limit: { maxItems: 2 } },
      'at most 2 entries',
    ],
    [
      'a date for a time',
      { amount: '5', from: '2030-01-01' },
      { field: 'body.from', value: '2030-01-01' },
      'a time such as',
    ],
    ['a list for an object', [], { field: 'body', value: '[]' }, 'a JSON object'],
  ])('error: BadRequest for %s names the field and the expected type', (_what, value, details, expected) => {
    const error = refused(value);
    expect(error.details).toEqual(details);
    expect(error.message).toContain(expected);
  });

  it('error: BadRequest for each unknown field, with the known fields', () => {
    const oneOf = ['amount', 'leverage', 'id', 'action', 'ids', 'from'];
    expect(refused({ amount: '5', levrage: 5 }).details).toEqual({
      field: 'body.levrage',
      value: '5',
      limit: { oneOf },
    });
    const both = refused(JSON.parse('{"amount":"5","a":1,"__proto__":2}'));
    expect(both.details?.issues?.map(({ field }) => field)).toEqual(['body.a', 'body.__proto__']);
  });

  it('error: BadRequest for thousands of unknown fields lists only the first', () => {
    const error = refused(Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 1])));
    expect(error.details?.issues?.length).toBe(20);
    expect(JSON.stringify(error.details).length).toBeLessThan(4_000);
  });
});

describe(parseJsonBody, () => {
  const request = (text: string) => ({
    method: 'POST',
    path: '/',
    query: '',
    headers: { 'content-type': 'application/json' },
    body: async () => new TextEncoder().encode(text),
    correlationId: 'test',
    clientIp: '127.0.0.1',
  });

  const parsed = (text: string) =>
    parseJsonBody(
      request(text),
      MAX_BODY_BYTES,
      async () => {},
      () => (name) => name === 'known',
    );

  it('default: the value', async () => {
    expect(await parsed('{"a":[{"a":1},{"a":2}]}')).toEqual({ a: [{ a: 1 }, { a: 2 }] });
  });

  it('error: BadRequest for an empty body', async () => {
    await expect(parsed('')).rejects.toMatchObject({
      message: 'The body is empty. Send a JSON object.',
      details: { field: 'body' },
    });
  });

  it.each(['{"amount":"1","amount":"2"}', '{"amount":"1", "\\u0061mount" : "2"}'])(
    'error: BadRequest for a repeated key: %s',
    async (text) => {
      await expect(parsed(text)).rejects.toMatchObject({
        code: 'bad_request',
        details: { field: 'body.amount' },
      });
    },
  );
});

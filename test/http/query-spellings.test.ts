import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../support/service.ts';
import { type Front, OPS_KEY, PARTNER_KEY, startTestGateway, UNLIMITED } from './test-gateway.ts';

let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: UNLIMITED });
});
afterAll(() => front.stop());

const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8')) as Json;
const ADDRESS = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const LOOP = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';

/** Every GET row that takes a chain, with an address, a strategy or a position in its path, and whether it has a default chain. */
const rows: readonly (readonly [path: string, tag: string, hasDefault: boolean])[] = Object.entries<Json>(
  paths,
).flatMap(([path, { get }]) => {
  const parameters: readonly Json[] = get?.parameters ?? [];
  const others = parameters.filter(({ in: place, required }) => place === 'query' && required);
  const query = others.map(({ name, example, examples, schema }) => {
    const [first] = Object.values((examples ?? {}) as Json) as Json[];
    return `${name}=${example ?? first?.value ?? schema.examples?.[0] ?? schema.example}&`;
  });
  const filled = path.replace('{address}', ADDRESS).replace('{id}', path.includes('/positions/') ? '0' : LOOP);
  const chain = parameters.find(({ name }) => name === 'chainId');
  return chain ? [[`${filled}?${query.join('')}`, get.tags[0], chain.schema.default !== undefined] as const] : [];
});

const KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = { Partner: PARTNER_KEY, Ops: OPS_KEY };

const to4663 = (name: string) => `${name}=4663`;

/** Names that mean the chain, and values that are none. */
const SPELLINGS = [
  ...[
    'chains',
    'Chain',
    'CHAINS',
    'chains[]',
    'chain[]',
    'chain_',
    'cha-in',
    'blockchain',
    'blockchainId',
    'onchain',
  ].map(to4663),
  ...[
    'chainIdentifier',
    'chain_id_eq',
    'chainId_in',
    'chainIdIn',
    'chainId4663',
    'chainName',
    'chainKey',
    'chainSlug',
  ].map(to4663),
  ...['fromChainId', 'toChain', 'targetChain', 'evmChainId', 'evm_chain', 'filter[chain][eq]', 'where.chain.id'].map(
    to4663,
  ),
  ...['network', 'networks', 'Network', 'networkId', 'network_id', 'networkIds[]', 'filter[network]', 'subnetwork'].map(
    to4663,
  ),
  ...['chianId', 'cainId', 'chainI', 'chaind', 'chainIdd', `${'x'.repeat(100)}chainId`, 'ch%61in'].map(to4663),
  'chainId[]=4663',
  'chainId%5B%5D=4663',
  'chainId[0]=4663',
  'chainIds[]=4663',
  'chanId[]=4663',
  'chain[id]=4663',
  'filter[chainId]=4663',
  'CHAINID=4663',
  'CHAIN_ID=4663',
  'chain.id=4663',
  'input.chainId=4663',
  'chain%20id=4663',
  '%20chainId=4663',
  'chainId%00=4663',
  'amp;chainId=4663',
  'chainId:4663',
  '%22chainId%22=4663',
  'chainId=1&chainId=4663',
  'chainId=4663&chainId=4663',
  'chainId=1&chainId[]=4663',
  'chainId',
  'chainId=',
  'chainId=%20',
  'chainId=1,4663',
  'chainId=[4663]',
  'chainId=4663;1',
  'chainId=0x1237',
  'chainId=4663.0',
  'chainId=+4663',
  'chainId=04663',
  'chainId=null',
];

describe('a chain that is misspelt is refused on every row that takes one', () => {
  test('default: the rows are those of the document', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(new Set(rows.map(([, tag]) => tag))).toEqual(new Set(['Public', 'Partner', 'Ops']));
  });

  test.each(SPELLINGS)('error: %s', async (query) => {
    for (const [path, tag] of rows) {
      const { status, body } = await front.send(`${path}${query}`, { headers: KEYS[tag] ?? {} });
      expect([path, status, body.error?.code]).toEqual([path, 400, 'bad_request']);
      expect([path, body.error.details.field]).toEqual([path, expect.stringMatching(/^query\./)]);
      expect([path, body.error.message]).toEqual([path, expect.stringMatching(/chainId|is repeated/)]);
    }
  });
});

describe('other unknown names', () => {
  const others = ['utm_source', 'id', 'page', 'c', 'caip2', 'asset', '', '4663', 'fields[]'];

  test.each(others)(
    'behavior: "%s" is ignored and named in a header on public rows, and refused on others',
    async (name) => {
      for (const [path, tag] of rows) {
        const parameter = encodeURIComponent(name);
        const { status, body, headers } = await front.send(`${path}${parameter}=abc`, { headers: KEYS[tag] ?? {} });
        if (tag !== 'Public') {
          expect([path, status, body.error?.details.field]).toEqual([path, 400, `query.${name}`]);
          continue;
        }
        expect([path, status]).toEqual([path, (await front.send(path)).status]);
        if (status === 200) expect(headers.get('ignored-parameters')).toBe(name === '' ? '""' : parameter);
      }
    },
  );

  test.each(others)(
    'error: "%s" with another chain as its value is refused, except those of campaigns and where no chain is the default',
    async (name) => {
      for (const [path, tag, hasDefault] of rows) {
        const sent = `${path}${encodeURIComponent(name)}=4663`;
        const { status, body } = await front.send(sent, { headers: KEYS[tag] ?? {} });
        const ignored = tag === 'Public' && (name === 'utm_source' || !hasDefault);
        expect([sent, status]).toEqual([sent, ignored ? (await front.send(path)).status : 400]);
        if (!ignored) expect([sent, body.error?.details.field]).toEqual([sent, `query.${name}`]);
      }
    },
  );

  test('behavior: repeated ones are ignored too', async () => {
    const { status, headers } = await front.send('/v1/prices?utm=a&utm=b&__proto__=1&__proto__=2');
    expect([status, headers.get('ignored-parameters')]).toEqual([200, 'utm, __proto__']);
    expect((await front.send('/graphql?query={chains{chainId}}&query={__typename}')).status).toBe(400);
  });
});

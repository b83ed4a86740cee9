import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  REGISTERED_ONLY,
  seededClosedVault,
  seededDrift,
  seededUnresolved,
} from '../../../devnet/seed/registrations.ts';
import { seededWallet, seededWallets } from '../../../devnet/seed/wallets.ts';
import { EXAMPLES } from '../../../src/schema/examples.ts';
import { bodyViolation } from '../../support/row-body.ts';
import { type Json, OPS, PARTNER, startService, type TestService } from '../../support/service.ts';

const CHAINS = [1, 4663] as const;
const KINDS = { missing: 'no_db_row', 'still open': 'db_open_chain_closed', 'already closed': 'db_closed_chain_open' };

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const addressOf = (name: string) => seededWallet(name).account.address;
const reportOf = async (chainId: number) => (await service.get(`/v1/ops/portfolios?chainId=${chainId}`, OPS)).body;
const ask = async (fields: string, variables: Record<string, unknown> = {}) => {
  const { body } = await service.graphql(fields, variables, OPS);
  expect(body.errors).toBeUndefined();
  return body.data.ops;
};
/** Every loop of an entry, those of vaults included. */
const loopsOf = (entry: Json): Json[] =>
  [...entry.positions, ...entry.equityPositions, ...entry.closed].flatMap((item) => item.yieldLoops ?? [item]);
const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

describe('GET /v1/ops/portfolios', () => {
  test.each(CHAINS)('default: chain %i shows exactly the seeded drift and unresolved rows', async (chainId) => {
    const body = await reportOf(chainId);
    expect(bodyViolation('opsPortfolios', body)).toBeNull();
    const drift = body.users.flatMap((user: Json) =>
      loopsOf(user).flatMap(({ id, dbDrift }) => (dbDrift === null ? [] : [[user.address, id, dbDrift]])),
    );
    const expected = seededDrift
      .filter((seed) => seed.chainId === chainId)
      .map(({ wallet, id, departure }) => [addressOf(wallet), id, KINDS[departure]]);
    expect(drift.toSorted(byText)).toEqual(expected.toSorted(byText));
    const unresolved = body.users.flatMap((user: Json) =>
      user.unresolved.map(({ reason, positionIndex }: Json) => [user.address, positionIndex, reason]),
    );
    const rows = seededUnresolved
      .filter((seed) => seed.chainId === chainId)
      .map(({ wallet, id, reason }) => [wallet, id, reason]);
    expect(unresolved.toSorted(byText)).toEqual(rows.toSorted(byText));
    expect(body).toMatchObject({
      chainId,
      stale: false,
      degraded: false,
      counts: { drift: expected.length, unresolved: rows.length, failed: 0, users: body.users.length },
    });
  });

  test.each(CHAINS)('behavior: chain %i shows every seeded position once, with its status', async (chainId) => {
    const body = await reportOf(chainId);
    for (const { account, entries } of seededWallets) {
      const here = entries.filter((entry) => entry.chainId === chainId);
      const user = body.users.find(({ address }: Json) => address === account.address);
      const statuses = here.map((entry, id) => [id, entry.kind === 'loop' ? entry.status : 'open']);
      const shown = user ? loopsOf(user).map(({ id, status }) => [id, status]) : [];
      expect(shown.toSorted(([a], [b]) => a - b)).toEqual(statuses);
    }
    const addresses = body.users.map(({ address }: Json) => address.toLowerCase());
    expect(addresses).toEqual(addresses.toSorted());
  });

  test('behavior: lists a wallet that only the register has; a closed vault is listed as the vault', async () => {
    const { users } = await reportOf(4663);
    const registered = users.find(({ address }: Json) => address === REGISTERED_ONLY);
    expect(registered).toMatchObject({ header: { totalDepositedUsd: '0', openCount: 0 }, positions: [], closed: [] });
    const retired = users.find(({ address }: Json) => address === addressOf(seededClosedVault.wallet));
    expect(retired.closed).toMatchObject([
      {
        kind: 'equity',
        status: 'closed',
        stockSymbol: seededClosedVault.stock,
        yieldLoops: [{ id: 0 }],
        dbDrift: null,
      },
    ]);
    expect(retired.closed[0].stock).toBeUndefined();
  });

  test('behavior: decimals are plain, and the parts of every P&L add up', async () => {
    for (const chainId of CHAINS) {
      const { users } = await reportOf(chainId);
      const all = users.flatMap((user: Json) => [user, ...loopsOf(user), ...user.equityPositions, ...user.closed]);
      const complete = all.filter(({ pnl }: Json) => pnl.totalUsd !== undefined);
      expect(complete.length).toBeGreaterThan(users.length);
      for (const { pnl } of complete) {
        const [scaled, total] = [(text: string) => BigInt(toScaled(text)), BigInt(toScaled(pnl.totalUsd))];
        const base = scaled(pnl.netValueUsd) + scaled(pnl.returnedUsd) - scaled(pnl.depositedUsd);
        expect(base).toBe(scaled(pnl.baseResultUsd));
        expect(base + scaled(pnl.incentivesUsd)).toBe(total);
        for (const value of Object.values(pnl)) if (value !== null) expect(value).toMatch(/^-?\d+(\.\d+)?$/);
      }
    }
  });

  test('error: Unauthorized without a key and with a partner key; BadRequest for another chain', async () => {
    for (const path of ['/v1/ops/portfolios', `/v1/ops/portfolio/${addressOf('looper')}`]) {
      expect((await service.get(path)).status).toBe(401);
      expect((await service.get(path, PARTNER)).status).toBe(401);
      expect((await service.get(`${path}?chainId=5`, OPS)).status).toBe(400);
    }
    expect((await service.get('/v1/ops/portfolio/0x12', OPS)).status).toBe(400);
  });
});

/** 36 decimals, exactly. */
function toScaled(text: string): string {
  const [whole = '0', places = ''] = text.replace('-', '').split('.');
  return `${text.startsWith('-') ? '-' : ''}${whole}${places.padEnd(36, '0')}`;
}

describe('GET /v1/ops/portfolio/{address}', () => {
  test.each(CHAINS)('default: chain %i: the same as in the list, read live', async (chainId) => {
    const { users } = await reportOf(chainId);
    expect(users.length).toBeGreaterThan(0);
    for (const listed of users) {
      const live = await service.get(`/v1/ops/portfolio/${listed.address}?chainId=${chainId}`, OPS);
      expect(live.status).toBe(200);
      expect(bodyViolation('opsPortfolio', live.body)).toBeNull();
      expect(live.body).toEqual(listed);
    }
  });

  test('behavior: partners see the same result, and the time of the registration', async () => {
    const address = addressOf('looper');
    const { body: ops } = await service.get(`/v1/ops/portfolio/${address}?chainId=1`, OPS);
    const { body } = await service.get(`/v1/partner/positions/${address}?chainId=1`, PARTNER);
    const registered = ops.positions.filter((loop: Json) => loop.registered !== null);
    expect(registered.length).toBeGreaterThan(0);
    for (const loop of ops.positions) {
      const shown = body.positions.find(({ id }: Json) => id === loop.id);
      expect(shown.pnl).toEqual(loop.pnl);
      expect(shown.openedAt).toBe(loop.registered?.createdAt);
      expect(shown.explorerLinks.wallet).toMatch(new RegExp(`^https://.+/address/${address}$`));
    }
  });

  test('behavior: a wallet without positions has empty lists', async () => {
    const { body } = await service.get('/v1/ops/portfolio/0x00000000000000000000000000000000000000A1', OPS);
    expect(body).toMatchObject({
      header: { openCount: 0 },
      positions: [],
      equityPositions: [],
      closed: [],
      unresolved: [],
    });
  });
});

describe('ops { … }', () => {
  test('behavior: GraphQL has the same drift and unresolved rows as REST', async () => {
    const ops = await ask(
      `{ ops { drift(first: 500) { totalCount nodes { chainId wallet positionIndex kind severity firstSeenAt inRegister { isOpen } onChain { status } } }
         portfolios(first: 100) { nodes { chainId wallet unresolvedRows(first: 20) { nodes { reason registration { positionIndex } } } } } } }`,
    );
    const rest = (await Promise.all(CHAINS.map(reportOf))).flatMap(({ chainId, users }) =>
      users.flatMap((user: Json) => [
        ...loopsOf(user).flatMap(({ id, drift }) =>
          drift ? [[chainId, user.address, id, drift.kind, drift.severity, drift.firstSeen, drift.chain.status]] : [],
        ),
        ...user.unresolved.map(({ reason, positionIndex }: Json) => [chainId, user.address, positionIndex, reason]),
      ]),
    );
    const graphql = [
      ...ops.drift.nodes.map((d: Json) => [
        d.chainId,
        d.wallet,
        d.positionIndex,
        d.kind.toLowerCase(),
        d.severity.toLowerCase(),
        d.firstSeenAt,
        d.onChain.status.toLowerCase(),
      ]),
      ...ops.portfolios.nodes.flatMap((p: Json) =>
        p.unresolvedRows.nodes.map((row: Json) => [
          p.chainId,
          p.wallet,
          row.registration.positionIndex,
          row.reason.toLowerCase(),
        ]),
      ),
    ];
    expect(graphql.toSorted(byText)).toEqual(rest.toSorted(byText));
    expect(ops.drift.totalCount).toBe(seededDrift.length);
    expect(ops.drift.nodes.every((d: Json) => (d.inRegister === null) === (d.kind === 'NO_DB_ROW'))).toBe(true);
  });

  test('behavior: the pages together equal the list, in every order', async () => {
    for (const field of ['VALUE_USD', 'PNL_USD', 'HEADROOM', 'OPENED_AT']) {
      const query = `query ($first: Int!, $after: String) { ops { portfolios(orderBy: { field: ${field}, direction: ASC }, first: $first, after: $after) {
        totalCount pageInfo { hasNextPage endCursor } nodes { wallet chainId } } } }`;
      const whole = (await ask(query, { first: 500 })).portfolios;
      const paged: Json[] = [];
      let after: string | null = null;
      do {
        const page: Json = (await ask(query, { first: 3, after })).portfolios;
        paged.push(...page.nodes);
        after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
      } while (after !== null);
      expect(paged).toEqual(whole.nodes);
      expect(paged).toHaveLength(whole.totalCount);
    }
  });

  test('behavior: filters by chain, status, market, drift, vault, size and headroom', async () => {
    const items = async (filter: Record<string, unknown>, chainIds?: readonly number[]) =>
      (
        await ask(
          `query ($chainIds: [ChainId!], $filter: PortfolioFilter) { ops { items(chainIds: $chainIds, filter: $filter, first: 500) { totalCount nodes {
             ... on PortfolioLoop { position { chainId status strategyId ltvHeadroomPct netValueUsd } drift { kind } }
             ... on PortfolioVault { vaultId chainId status leastLtvHeadroomPct } } } } }`,
          { filter, chainIds },
        )
      ).items.nodes;
    const all = await items({});
    const loops = all.filter(({ position }: Json) => position);
    for (const chainId of CHAINS) {
      const found = await items({}, [chainId]);
      expect(found.every((item: Json) => (item.position ?? item).chainId === chainId)).toBe(true);
    }
    expect((await items({ statuses: ['LIQUIDATED'] })).length).toBe(2);
    const { strategyId: marketId } = loops[0].position;
    expect(await items({ marketIds: [marketId] })).toEqual(
      loops.filter(({ position }: Json) => position.strategyId === marketId),
    );
    const drifting = await items({ driftKinds: ['NO_DB_ROW'] });
    expect(drifting.map(({ drift }: Json) => drift.kind)).toEqual(['NO_DB_ROW', 'NO_DB_ROW']);
    const { vaultId } = all.find((item: Json) => item.vaultId && item.status === 'OPEN');
    const inVault = await items({ vaultIds: [vaultId] });
    expect(inVault.some((item: Json) => item.vaultId === vaultId)).toBe(true);
    expect(inVault.some(({ position }: Json) => position !== undefined)).toBe(true);
    const large = await items({ minValueUsd: '50000' });
    expect(large.length).toBeGreaterThan(1);
    expect(large.every(({ position }: Json) => Number(position.netValueUsd) >= 50_000)).toBe(true);
    const near = await items({ maxHeadroomPct: '2', statuses: ['OPEN'] });
    const pointsOf = (item: Json) => item.position?.ltvHeadroomPct ?? item.leastLtvHeadroomPct ?? null;
    expect(near.every((item: Json) => Number(pointsOf(item)) <= 2)).toBe(true);
    // A vault is at risk with the part of it that is nearest to liquidation.
    const open = all.filter((item: Json) => (item.position ?? item).status === 'OPEN');
    expect(near).toHaveLength(
      open.filter((item: Json) => pointsOf(item) !== null && Number(pointsOf(item)) <= 2).length,
    );
    expect(near.filter(({ vaultId }: Json) => vaultId).length).toBeGreaterThan(0);
  });

  test('error: BadRequest for a foreign cursor, and Unauthorized for a partner key', async () => {
    const query = '{ ops { portfolios(after: "abc") { totalCount } } }';
    const refused = await service.graphql(query, {}, OPS);
    expect(refused.body.errors?.[0].extensions.code).toBe('bad_request');
    const partner = await service.graphql('{ ops { aggregates { walletCount } } }', {}, PARTNER);
    expect(partner.body.errors?.[0].extensions.code).toBe('unauthorized');
    expect(partner.body.data?.ops ?? null).toBeNull();
  });

  test.each(EXAMPLES.ops.map(({ title, query }) => [title, query] as const))(
    'default: example %s',
    async (_, query) => {
      await ask(query);
    },
  );
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { seedRegistrations } from '../../devnet/seed-database.ts';
import type { Database } from '../../src/database/client.ts';
import {
  createRegistrationRepository,
  type Registration,
  type RegistrationCursor,
} from '../../src/database/registrations.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { type Address, parseAddress, parseMarketId, parseStrategyId } from '../../src/shared/ids.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';

const MARKET = parseMarketId(`0x${'a'.repeat(64)}`);
const CREATED = Date.UTC(2026, 2, 1);

let database: MigratedDatabase;
let db: Database;
beforeAll(async () => {
  database = await openMigratedDatabase(4);
  db = database.db;
});
beforeEach(() => {
  database.statements.length = 0;
});
afterEach(async () => {
  await db.deleteFrom('position_registrations').execute();
});
afterAll(() => database.close());

function wallet(number: number): Address {
  return parseAddress(`0x${(0xabcdef0000 + number).toString(16).padStart(40, 'd')}`);
}

function registration(over: Partial<Registration> = {}): Registration {
  return {
    wallet: wallet(1),
    chainId: 1,
    marketId: MARKET,
    positionIndex: 0,
    isOpen: true,
    depositedUsd: new Decimal('1000.123456789012345678'),
    addedUsd: new Decimal('0'),
    removedUsd: new Decimal('0'),
    returnedUsd: new Decimal('0'),
    collateralApyPctAtOpen: new Decimal('8.25'),
    borrowApyPctAtOpen: new Decimal('4.5'),
    leverageApyPctAtOpen: new Decimal('-1.75'),
    desiredLtvPct: new Decimal('90.5'),
    entryPrice: new Decimal('1.000000000000000001'),
    exitPrice: null,
    equityVaultId: null,
    createdAtMs: CREATED,
    updatedAtMs: CREATED + 1,
    closedAtMs: null,
    ...over,
  };
}

const VAULT = parseStrategyId(`equity-${MARKET}`);
const CLOSED: Partial<Registration> = {
  isOpen: false,
  returnedUsd: new Decimal('1010.5'),
  exitPrice: new Decimal('1.01'),
  closedAtMs: CREATED + 5_000,
};

describe('byWallets', () => {
  test('default: returns all registrations exactly', async () => {
    const rows = [
      registration(),
      registration({ positionIndex: 1, ...CLOSED }),
      registration({ chainId: 4663, equityVaultId: VAULT, collateralApyPctAtOpen: null, desiredLtvPct: null }),
    ];
    await seedRegistrations(db, rows);
    const repository = createRegistrationRepository(db);
    expect(await repository.byWallets([wallet(1), wallet(2)])).toEqual(
      new Map([
        [wallet(1), rows],
        [wallet(2), []],
      ]),
    );
    expect((await repository.byWallets([wallet(1)], 4663)).get(wallet(1))).toEqual([rows[2]]);
  });

  test('behavior: one statement for any number of wallets', async () => {
    const rows = Array.from({ length: 5_000 }, (_, index) => registration({ wallet: wallet(index) }));
    await seedRegistrations(db, rows);
    database.statements.length = 0;
    const found = await createRegistrationRepository(db).byWallets(rows.map((row) => row.wallet));
    expect(database.statements).toHaveLength(1);
    expect(found.size).toBe(5_000);
    expect([...found.values()].every((list) => list.length === 1)).toBe(true);
  });

  test('behavior: runs no statement without wallets, and ignores case', async () => {
    const repository = createRegistrationRepository(db);
    expect(await repository.byWallets([])).toEqual(new Map());
    expect(database.statements).toEqual([]);
    await seedRegistrations(db, [registration()]);
    const lower = wallet(1).toLowerCase() as Address;
    expect([...(await repository.byWallets([lower, wallet(1)])).keys()]).toEqual([wallet(1)]);
  });
});

describe('pageOfChain', () => {
  test('default: pages hold every row once, in one statement each', async () => {
    const rows = Array.from({ length: 25 }, (_, index) =>
      registration({ wallet: wallet(Math.floor(index / 3)), positionIndex: index % 3 }),
    );
    await seedRegistrations(db, [...rows, registration({ chainId: 4663 })]);
    database.statements.length = 0;
    const repository = createRegistrationRepository(db);
    const observed: Registration[] = [];
    let after: RegistrationCursor | null = null;
    do {
      const page = await repository.pageOfChain(1, { limit: 10, after });
      observed.push(...page.rows);
      after = page.next;
    } while (after !== null);
    expect(database.statements).toHaveLength(3);
    expect(observed).toEqual(rows);
  });

  test('behavior: an exactly full page can be the last', async () => {
    await seedRegistrations(db, [registration(), registration({ positionIndex: 1 })]);
    const page = await createRegistrationRepository(db).pageOfChain(1, { limit: 2 });
    expect([page.rows.length, page.next]).toEqual([2, null]);
  });

  test('behavior: a row added behind the cursor does not shift the next page', async () => {
    await seedRegistrations(
      db,
      [1, 2, 3].map((number) => registration({ wallet: wallet(number) })),
    );
    const repository = createRegistrationRepository(db);
    const first = await repository.pageOfChain(1, { limit: 2 });
    await seedRegistrations(db, [registration({ wallet: wallet(0) })]);
    const second = await repository.pageOfChain(1, { limit: 2, after: first.next });
    expect(second.rows.map((row) => row.wallet)).toEqual([wallet(3)]);
  });
});

describe('counts', () => {
  test('default', async () => {
    await seedRegistrations(db, [
      registration(),
      registration({ positionIndex: 1, ...CLOSED }),
      registration({ wallet: wallet(2), equityVaultId: VAULT }),
      registration({ wallet: wallet(3), chainId: 4663 }),
    ]);
    const repository = createRegistrationRepository(db);
    expect(await repository.counts(1)).toEqual({ rows: 4 - 1, wallets: 2, open: 2, closed: 1, equity: 1 });
    expect(await repository.counts(5)).toEqual({ rows: 0, wallets: 0, open: 0, closed: 0, equity: 0 });
  });
});

describe('seedRegistrations', () => {
  test('behavior: a second seeding replaces the rows', async () => {
    await seedRegistrations(db, [registration()]);
    await seedRegistrations(db, [registration(CLOSED)]);
    const found = await createRegistrationRepository(db).byWallets([wallet(1)]);
    expect(found.get(wallet(1))).toEqual([registration(CLOSED)]);
  });
});

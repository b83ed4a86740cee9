/** A folder whose mutants are tried, and the tests that have to notice them. */
export interface Folder {
  readonly name: string;
  readonly sources: string;
  /** Folders and files of tests; those that start a local world are left out. */
  readonly tests: readonly string[];
  /** Test files that take too long to run once for each change. */
  readonly leftOut?: RegExp;
  /** Sources without behaviour of their own, and those whose tests need a local world. */
  readonly without?: RegExp;
  readonly needsPostgres?: boolean;
}

export const FOLDERS: readonly Folder[] = [
  { name: 'domain', sources: 'src/domain', tests: ['test/domain', 'test/services', 'test/resolvers', 'test/warmers'] },
  {
    name: 'transactions',
    sources: 'src/transactions',
    tests: ['test/transactions', 'test/domain/leverage.test.ts'],
    leftOut: /venue-matrix|open\.properties|equity-preview/,
  },
  {
    name: 'limits',
    sources: 'src/limits',
    tests: ['test/limits', 'test/graphql'],
  },
  {
    name: 'snapshot',
    sources: 'src/snapshot',
    tests: ['test/snapshot', 'test/warmers'],
    leftOut: /redis-topologies/,
  },
  {
    name: 'database',
    sources: 'src/database',
    tests: ['test/database', 'test/services', 'test/keys', 'test/app'],
    without: /migrations\/|position-history|market-marks/,
    leftOut: /database\/(servers|connection)|keys\/cli|services\/(wallets|charts|positions)/,
    needsPostgres: true,
  },
];

/** Name of the product's contracts among the folders. */
export const SOLIDITY = 'solidity';

/** Functions that a test file must not reach, directly or through its helpers: each takes seconds to start. */
export const STARTS_A_WORLD =
  /\b(startService|startWorld|startCluster|useChains|useWorld|startChains|startDoctorWorld|spawnService)\(/;

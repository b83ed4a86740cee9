import { isUnionType } from 'graphql';
import { expect, test } from 'vitest';
import { buildSchema } from '../../src/schema/index.ts';
import { createThrownErrors, type Entry } from '../support/thrown-errors.ts';

const INPUT = 'src/resolvers/transaction/input.ts';
const built = (member: string): Entry => ({
  file: 'src/transactions/index.ts',
  name: 'createPartnerServices',
  member,
});

/** Code behind each union: the reading of its input, and the builder. */
const OPERATIONS: Readonly<Record<string, readonly Entry[]>> = {
  LeveragePreviewResult: [{ file: INPUT, name: 'openInput' }, built('leverage.preview')],
  OpenLeveragePlanResult: [{ file: INPUT, name: 'openInput' }, built('leverage.open')],
  ManageLeveragePlanResult: [{ file: INPUT, name: 'manageInput' }, built('leverage.manage')],
  // Errors of one option are data of that option: only errors before all of them are refusals.
  DeleverageOptionsResult: [
    { file: 'src/transactions/deleverage/target.ts', name: 'targetOf' },
    { file: 'src/transactions/read/position.ts', name: 'readManaged' },
  ],
  EquityDepositPreviewResult: [{ file: INPUT, name: 'depositInput' }, built('equity.preview')],
  EquityDepositPlanResult: [{ file: INPUT, name: 'depositInput' }, built('equity.deposit')],
  EquityExitPlanResult: [{ file: INPUT, name: 'exitInput' }, built('equity.exit')],
};

const schema = buildSchema();
const types = Object.values(schema.getTypeMap());
const refusals = schema.getPossibleTypes(schema.getType('Refusal') as never).map(({ name }) => name);

test('behavior: the unions with refusals are those of the operations', () => {
  const unions = types
    .filter(isUnionType)
    .filter((union) => union.getTypes().some(({ name }) => refusals.includes(name)));
  expect(unions.map(({ name }) => name).sort()).toEqual(Object.keys(OPERATIONS).sort());
});

/** A preview has no wallet and no calls, so it lacks the errors of wallets and of simulated calls. */
const OF_WALLETS = ['PositionProxyError', 'SimulationRevertedError'];

test('behavior: each union has exactly the refusals that its builder can throw', () => {
  const errorOf = (refusal: string) => refusal.replace(/Refusal$/, 'Error');
  const thrownBy = createThrownErrors(new Set([...refusals.map(errorOf), 'UnsteadyQuotesError']));
  for (const [name, entries] of Object.entries(OPERATIONS)) {
    const union = schema.getType(name);
    const members = isUnionType(union) ? union.getTypes().map((type) => type.name) : [];
    // The quotes of a venue that get worse are a kind of missing route.
    const thrown = [...thrownBy(entries)].map((error) => (error === 'UnsteadyQuotesError' ? 'NoRouteError' : error));
    const isPreview = name.endsWith('PreviewResult');
    const expected = [...new Set(thrown)].filter((error) => !isPreview || !OF_WALLETS.includes(error));
    expect([name, expected.sort()]).toEqual([
      name,
      members
        .filter((type) => refusals.includes(type))
        .map(errorOf)
        .sort(),
    ]);
  }
});

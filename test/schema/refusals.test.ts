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
  PreviewResult: [
    { file: INPUT, name: 'openInput' },
    { file: INPUT, name: 'manageInput' },
    { file: INPUT, name: 'depositInput' },
    { file: INPUT, name: 'exitInput' },
    built('leverage.preview'),
    built('leverage.previewManage'),
    built('equity.preview'),
    built('equity.previewExit'),
  ],
  OpenLeveragePlanResult: [{ file: INPUT, name: 'openInput' }, built('leverage.open')],
  ManageLeveragePlanResult: [{ file: INPUT, name: 'manageInput' }, built('leverage.manage')],
  // Errors of one option are data of that option: only errors before all of them are refusals.
  DeleverageOptionsResult: [
    { file: 'src/transactions/deleverage/target.ts', name: 'targetOf' },
    { file: 'src/transactions/read/position.ts', name: 'readManaged' },
  ],
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

test('behavior: each union has exactly the refusals that its builder can throw', () => {
  const errorOf = (refusal: string) => refusal.replace(/Refusal$/, 'Error');
  const thrownBy = createThrownErrors(new Set([...refusals.map(errorOf), 'UnsteadyQuotesError']));
  for (const [name, entries] of Object.entries(OPERATIONS)) {
    const union = schema.getType(name);
    const members = isUnionType(union) ? union.getTypes().map((type) => type.name) : [];
    // The quotes of a venue that get worse are a kind of missing route.
    const thrown = [...thrownBy(entries)].map((error) => (error === 'UnsteadyQuotesError' ? 'NoRouteError' : error));
    expect([name, [...new Set(thrown)].sort()]).toEqual([
      name,
      members
        .filter((type) => refusals.includes(type))
        .map(errorOf)
        .sort(),
    ]);
  }
});

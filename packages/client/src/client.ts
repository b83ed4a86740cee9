import { InputError } from './errors.ts';
import { type ClientOptions, createRequests } from './http/requests.ts';
import { createLive, type Live } from './live/live.ts';
import { createPages, type PageMethods } from './pages.ts';
import { originOf, rememberOrigin } from './plan-origin.ts';
import { createRows, type RowAnswer, type Rows } from './rows.ts';

/** A bundle as a build row returns it. */
export type Plan = RowAnswer<'leverageBuild' | 'manageBuild' | 'equityDepositBuild' | 'equityExitBuild'>;

/** Typed access to one service. Every documented row is a method; see also the pages, `live` and `rebuild`. */
export interface Client extends Rows, PageMethods {
  readonly baseUrl: string;
  /** One strategy by its id: `strategyById({ id })`. */
  strategy(id: string, options?: Parameters<Rows['strategyById']>[1]): Promise<RowAnswer<'strategyById'>>;
  /** Changes as they happen. */
  readonly live: Live;
  /** Build a plan of a client of this process again, with the same input. */
  rebuild(plan: Plan): Promise<Plan>;
}

const BUILDS = ['leverageBuild', 'manageBuild', 'equityDepositBuild', 'equityExitBuild'] as const;

/** Create a client of a service. Nothing is requested yet. @throws InputError for an invalid address, key or option */
export function createClient(options: ClientOptions): Client {
  const requests = createRequests(options);
  const rows = createRows(requests, (row, input, answer) => {
    const isBuild = (BUILDS as readonly string[]).includes(row);
    if (isBuild) rememberOrigin(answer, { row, input: input as object, build: answer });
  });
  const methods = rows as unknown as Readonly<Record<string, (input: object) => Promise<Plan>>>;
  return {
    ...rows,
    ...createPages(requests),
    baseUrl: requests.baseUrl,
    strategy: (id, call) => rows.strategyById({ id }, call),
    live: createLive(requests),
    async rebuild(plan) {
      const origin = originOf(plan);
      const build = origin === undefined ? undefined : methods[origin.row];
      if (origin === undefined || build === undefined) {
        throw new InputError('This plan was not built by a client of this process: build it again with its own input.');
      }
      return build(origin.input);
    },
  };
}

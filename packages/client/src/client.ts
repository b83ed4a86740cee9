import { InputError } from './errors.ts';
import { type ClientOptions, createRequests } from './http/requests.ts';
import { createLive, type Live } from './live/live.ts';
import { createPages, type PageMethods } from './pages.ts';
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
  /** Build a plan of this client again, with the same input. */
  rebuild(plan: Plan): Promise<Plan>;
  /** The wallet that a plan of this client was built for; `undefined` = the plan is of another origin. */
  walletOf(plan: Plan): string | undefined;
}

const BUILDS = ['leverageBuild', 'manageBuild', 'equityDepositBuild', 'equityExitBuild'] as const;

/** Create a client of a service. Nothing is requested yet. @throws InputError for an invalid address or key */
export function createClient(options: ClientOptions): Client {
  const requests = createRequests(options);
  const built = new WeakMap<object, { readonly name: string; readonly input: object }>();
  const rows = createRows(requests, (name, input, answer) => {
    const isBuild = (BUILDS as readonly string[]).includes(name);
    if (isBuild) built.set(answer, { name, input: structuredClone(input) as object });
  });
  const methods = rows as unknown as Readonly<Record<string, (input: object) => Promise<Plan>>>;
  return {
    ...rows,
    ...createPages(requests),
    baseUrl: requests.baseUrl,
    strategy: (id, call) => rows.strategyById({ id }, call),
    live: createLive(requests),
    async rebuild(plan) {
      const origin = built.get(plan);
      const build = origin === undefined ? undefined : methods[origin.name];
      if (origin === undefined || build === undefined) {
        throw new InputError('This plan was not built by this client: build it again with its own input.');
      }
      return build(origin.input);
    },
    walletOf(plan) {
      const input = built.get(plan)?.input;
      return input !== undefined && 'userAddress' in input ? String(input.userAddress) : undefined;
    },
  };
}

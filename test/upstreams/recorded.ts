import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { corrupt } from '../../devnet/upstreams/corrupt.ts';
import { type AppliedFault, type Fault, faultSchema } from '../../devnet/upstreams/faults.ts';
import { providers } from '../../devnet/upstreams/providers/index.ts';
import type { Provider } from '../../devnet/upstreams/types.ts';
import { surfacesOf } from '../../doctor/providers/surfaces.ts';
import type { CheckOutcome, ProviderSurface, SurfaceContext } from '../../doctor/providers/types.ts';
import {
  RECORDING_FILE,
  type RecordedAnswer,
  recordedAnswerSchema,
  recordingSchema,
} from '../../doctor/recording/format.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import type { Address } from '../../src/shared/ids.ts';
import type { ProviderName } from '../../src/upstreams/limits.ts';
import type { Batch } from '../../src/upstreams/types.ts';
import type { CommonCase, Expectation } from './conformance.ts';
import type { Routes, SeenRequest } from './support/server.ts';
import { plain } from './support/world.ts';

/** A folder that `npm run doctor -- --record` wrote. */
export interface LoadedRecording {
  readonly context: SurfaceContext;
  readonly answers: readonly RecordedAnswer[];
}

/** How the simulator calls a provider, whether it takes a key, and how often an overloaded one is asked. */
const PROVIDERS: Readonly<Record<ProviderName, { readonly simulator: Provider; readonly keyed: boolean }>> = {
  pendle: { simulator: 'pendle', keyed: true },
  defillamaYields: { simulator: 'defillama-yields', keyed: false },
  defillamaCoins: { simulator: 'defillama-coins', keyed: false },
  stablewatch: { simulator: 'stablewatch', keyed: true },
  royco: { simulator: 'royco', keyed: true },
  merkl: { simulator: 'merkl', keyed: true },
  coingecko: { simulator: 'coingecko', keyed: true },
  geckoterminal: { simulator: 'geckoterminal', keyed: false },
  kyberswap: { simulator: 'kyberswap', keyed: true },
  openocean: { simulator: 'openocean', keyed: true },
  morphoApi: { simulator: 'morpho', keyed: true },
};

const SURFACES = surfacesOf(createCatalog(curatedChains));

/** Read a folder of recorded answers. @throws ZodError for a file of another form */
export function loadRecording(folder: string): LoadedRecording {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const { recordedAt, overlay, feeReceiver } = recordingSchema.parse(read(RECORDING_FILE));
  const files = readdirSync(folder).filter((name) => name.endsWith('.json') && name !== RECORDING_FILE);
  return {
    context: {
      catalog: createCatalog(curatedChains, overlay as never),
      nowMs: Date.parse(recordedAt),
      feeReceiver: (feeReceiver ?? undefined) as Address | undefined,
    },
    answers: files.map((name) => recordedAnswerSchema.parse(read(name))),
  };
}

/** The surfaces of which a recording holds usable answers, as cases of the suite. */
export function recordedCases(recording: LoadedRecording): readonly CommonCase[] {
  return SURFACES.filter((surface) => answersOf(recording, surface).length > 0).map((surface) =>
    recordedCase(surface, () => recording),
  );
}

/** One surface of each provider as a case, whose answers are looked up when the case runs. */
export function laterCases(recording: () => LoadedRecording): readonly CommonCase[] {
  const byProvider = new Map(SURFACES.toReversed().map((surface) => [surface.provider, surface]));
  return [...byProvider.values()].map((surface) => recordedCase(surface, recording));
}

const nameOf = ({ provider, name, chainId }: ProviderSurface) =>
  `${provider} ${name}${chainId === undefined ? '' : ` on chain ${chainId}`}`;

/** The suite of all adapters with the simulators' faults, on recorded answers. */
function recordedCase(surface: ProviderSurface, recording: () => LoadedRecording): CommonCase {
  const { simulator, keyed } = PROVIDERS[surface.provider];
  const sound: Expectation = { each: (value, good) => expect(value).toEqual(good) };
  const anything: Expectation = { each: () => {} };
  const broken = (fault: Fault, expected: Expectation) => ({
    get routes() {
      const applied: AppliedFault = faultSchema.parse(fault);
      const routes = routesOf(recording(), surface, (body) => corrupt(body, applied, providers[simulator].shape));
      // Later requests may depend on the broken answer.
      return new Proxy(routes, { has: () => true, get: (known, key) => known[String(key)] ?? null });
    },
    expect: expected,
  });
  return {
    name: `recorded: ${nameOf(surface)}`,
    publicName: surface.publicName,
    keyed,
    overloadTries: surface.provider === 'kyberswap' ? (surface.name === 'quote' ? 9 : 3) : undefined,
    create: (deps) => async (signal) => {
      const outcome = await surface.ask(deps, recording().context, signal);
      return batchOf(outcome ?? new Map());
    },
    get routes() {
      return routesOf(recording(), surface, (body) => body);
    },
    get nowMs() {
      return recording().context.nowMs;
    },
    isGood: (answer) => {
      const { values } = answer as Batch<unknown>;
      expect(values.size).toBeGreaterThan(0);
    },
    absent: anything,
    dated: null,
    variants: {
      missingField: broken({ kind: 'missingField' }, sound),
      // An empty answer may be right: no campaign runs.
      empty: broken({ kind: 'empty' }, anything),
      partial: broken({ kind: 'partial' }, anything),
      duplicate: broken({ kind: 'duplicate' }, sound),
      nan: broken({ kind: 'nan' }, sound),
      absurd: broken({ kind: 'absurd' }, sound),
      future: broken({ kind: 'future' }, sound),
    },
  };
}

/** Only the numbers of an answer, independent of its other rows. */
function batchOf(outcome: CheckOutcome): Batch<unknown> {
  const values = new Map<string, unknown>();
  const failures = new Map();
  for (const [key, reported] of outcome) {
    if (reported.ok)
      values.set(
        key,
        reported.measures.map((measure) => plain(numberOf(measure))),
      );
    else failures.set(key, reported.reason);
  }
  return { values, failures };
}

function numberOf(measure: Extract<ReturnType<CheckOutcome['get']>, { ok: true }>['measures'][number]): unknown {
  return measure.kind === 'rate' ? measure.pct : measure.kind === 'price' ? measure.usd : measure.amountOut;
}

function answersOf(
  { answers }: LoadedRecording,
  { provider, name, chainId }: ProviderSurface,
): readonly RecordedAnswer[] {
  return answers.filter(
    (one) =>
      one.provider === provider &&
      one.surface === name &&
      one.chainId === (chainId ?? null) &&
      one.answer.status === 200,
  );
}

/** Answer with the recording of the same request, else of the same path: the catalog may have grown since. */
function routesOf(recording: LoadedRecording, surface: ProviderSurface, change: (body: unknown) => unknown): Routes {
  const byPath = new Map<string, RecordedAnswer[]>();
  for (const one of answersOf(recording, surface)) {
    const key = `${one.request.method} ${one.request.path || '/'}`;
    byPath.set(key, [...(byPath.get(key) ?? []), one]);
  }
  return Object.fromEntries(
    [...byPath].map(([key, found]) => [
      key,
      (request: SeenRequest) => change((found.find((one) => isSame(one, request)) ?? found[0])?.answer.json),
    ]),
  );
}

function isSame({ request }: RecordedAnswer, { query, body }: SeenRequest): boolean {
  const matches = Object.entries(request.query).every(([name, value]) => query[name] === value);
  return matches && JSON.stringify(request.body ?? null) === JSON.stringify(body ?? null);
}

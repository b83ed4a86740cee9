import { createRequire } from 'node:module';

/** A request of a Bruno collection as `@usebruno/lang` reads and writes it. */
export interface BruRequest {
  readonly meta: { readonly name: string; readonly type: 'http'; readonly seq: number | string };
  readonly http: {
    readonly method: string;
    readonly url: string;
    readonly body: 'json' | 'none';
    readonly auth: 'bearer' | 'none';
  };
  readonly params?:
    | readonly {
        readonly name: string;
        readonly value: string;
        readonly enabled: boolean;
        readonly type: 'query' | 'path';
      }[]
    | undefined;
  readonly auth?: { readonly bearer: { readonly token: string } } | undefined;
  readonly body?: { readonly json: string } | undefined;
  readonly assertions?:
    | readonly { readonly name: string; readonly value: string; readonly enabled: boolean }[]
    | undefined;
  readonly docs?: string | undefined;
}

interface BruEnvironment {
  readonly variables: readonly {
    readonly name: string;
    readonly value: string;
    readonly enabled: boolean;
    readonly secret: boolean;
  }[];
}

interface BruLanguage {
  jsonToBruV2(request: BruRequest): string;
  bruToJsonV2(text: string): BruRequest;
  envJsonToBruV2(environment: BruEnvironment): string;
  bruToEnvJsonV2(text: string): BruEnvironment;
}

/** The reader and writer of Bruno's format. The package has no types. */
export const bruLanguage = createRequire(import.meta.url)('@usebruno/lang') as BruLanguage;

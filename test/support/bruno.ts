import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bruLanguage } from '../../scripts/collection/bru.ts';

/** A request of the collection as it is sent. */
export interface CollectionRequest {
  readonly file: string;
  readonly url: string;
  readonly init: RequestInit;
  /** The status that its assertion expects. */
  readonly status: number;
}

const FOLDER = 'collection';

/** Read the requests of the collection with Bruno's own parser, with the variables of the local environment and a server. */
export function collectionRequests(baseUrl: string): readonly CollectionRequest[] {
  const { variables } = bruLanguage.bruToEnvJsonV2(readFileSync(join(FOLDER, 'environments/local.bru'), 'utf8'));
  const values = new Map(variables.map(({ name, value }) => [name, value]));
  values.set('baseUrl', baseUrl);
  const filled = (text: string) =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (_all, name: string) => {
      const value = values.get(name);
      if (value === undefined) throw new Error(`The environment has no variable ${name}.`);
      return value;
    });
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.bru') && !file.startsWith('environments'))
    .map((file) => {
      const {
        http,
        params = [],
        auth,
        body,
        assertions,
      } = bruLanguage.bruToJsonV2(readFileSync(join(FOLDER, file), 'utf8'));
      let url = filled(http.url);
      for (const { name, value, type } of params) if (type === 'path') url = url.replace(`/:${name}`, `/${value}`);
      const headers = new Headers();
      if (auth) headers.set('authorization', `Bearer ${filled(auth.bearer.token)}`);
      if (body) headers.set('content-type', 'application/json');
      const expected = assertions?.find(({ name }) => name === 'res.status')?.value ?? '';
      const init = { method: http.method.toUpperCase(), headers, body: body?.json ?? null };
      return { file, url, init, status: Number(expected.replace('eq ', '')) };
    });
}

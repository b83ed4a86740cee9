import type { ExampleApp } from '../../config/config.ts';
import { HTML_SECURITY_HEADERS } from '../headers.ts';
import { typeOf } from './page-files.ts';
import type { StaticFile } from './static-files.ts';

/** Path of the example app, whose files are relative to it. */
const EXAMPLE_APP = '/app/';

/** The files of the example app; none where there is no local world. */
export function exampleAppFiles(app: ExampleApp | undefined): Readonly<Record<string, StaticFile>> {
  if (app === undefined) return {};
  const { 'content-security-policy': policy } = HTML_SECURITY_HEADERS.strict;
  // Its wallet sends to the local chains.
  const headers = {
    'content-security-policy': policy.replace("connect-src 'self'", `connect-src 'self' ${app.connectsTo.join(' ')}`),
  };
  return Object.fromEntries(
    Object.entries(app.files).map(([name, load]): [string, StaticFile] => {
      const path = `${EXAMPLE_APP}${name === 'index.html' ? '' : name}`;
      // It has the address of the wallet, and a key.
      const isOwn = name === 'world.json';
      return [path, { type: typeOf(name), load, cacheControl: 'no-cache', headers, isOwn }];
    }),
  );
}

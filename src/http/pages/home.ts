import { HTML_SECURITY_HEADERS } from '../headers.ts';
import { htmlPage, placeOf, plainFile, styleFile } from './page-files.ts';
import type { StaticFile } from './static-files.ts';

const FOLDER = 'home';

export interface HomeOptions {
  readonly urlOf: (path: string) => Promise<string>;
  readonly slots: Readonly<Record<string, string>>;
}

/** The page at the root, with links to the others and the status for people, and the icon of all pages. */
export function homeFiles({ urlOf, slots }: HomeOptions): Readonly<Record<string, StaticFile>> {
  const own = (name: string) => plainFile(() => placeOf(FOLDER, name), name);
  return {
    '/': htmlPage({
      place: () => placeOf(FOLDER, 'index.html'),
      slots,
      files: ['favicon.svg', 'home/style.css', 'home/status.js'],
      urlOf,
      policy: HTML_SECURITY_HEADERS.strict,
      markdownAt: '/llms.txt',
    }),
    '/home/style.css': styleFile(() => placeOf(FOLDER, 'style.css')),
    '/home/status.js': own('status.js'),
    '/favicon.svg': own('favicon.svg'),
    // Browsers ask for it where no page names an icon, as for a JSON answer.
    '/favicon.ico': own('favicon.ico'),
  };
}

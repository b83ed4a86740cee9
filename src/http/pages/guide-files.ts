import { HTML_SECURITY_HEADERS } from '../headers.ts';
import { guideHtml } from './guide-html.ts';
import { type GuideText, guideIndex, readRunbooks } from './guides.ts';
import { placeOf, plainFile, styleFile } from './page-files.ts';
import type { StaticFile } from './static-files.ts';

const HOUR = 'public, max-age=3600';
const MARKDOWN_TYPE = 'text/markdown; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

/** The guides as pages and as Markdown, and their list for models: `/llms.txt`. */
export function guideFiles(
  guides: readonly GuideText[],
  urlOf: (path: string) => Promise<string>,
): Readonly<Record<string, StaticFile>> {
  const runbooks = readRunbooks();
  const index: GuideText = {
    name: 'guides',
    title: 'Guides',
    description: 'All guides and interfaces.',
    markdown: [
      guideIndex(guides, { docs: '', root: '../' }),
      '## For operators\n',
      ...runbooks.map(({ name, title, description }) => `- [${title}](${name}.md): ${description}`),
    ].join('\n'),
  };
  const text = (type: string, load: () => string): StaticFile => ({ type, load, cacheControl: HOUR });
  const pages = [index, ...guides, ...runbooks].flatMap((guide) => {
    // Pages for users lead to those of users, and pages for operators to those of operators.
    const all = [index, ...(runbooks.includes(guide) ? runbooks : guides)];
    const markdownAt = `/docs/${guide.name}.md`;
    const page: StaticFile = {
      type: 'text/html; charset=utf-8',
      cacheControl: 'no-cache',
      headers: HTML_SECURITY_HEADERS.strict,
      markdownAt,
      load: async () =>
        guideHtml({
          guide,
          all,
          style: await urlOf('/docs/guide.css'),
          icon: await urlOf('/favicon.svg'),
          script: await urlOf('/docs/copy.js'),
        }),
    };
    const markdown = text(MARKDOWN_TYPE, () => guide.markdown);
    return [
      [`/docs/${guide.name}`, page],
      [markdownAt, markdown],
    ] as const;
  });
  return {
    '/llms.txt': text(TEXT_TYPE, () => guideIndex(guides, { docs: 'docs/', root: '' })),
    '/llms-full.txt': text(TEXT_TYPE, () => guides.map(({ markdown }) => markdown).join('\n\n')),
    '/docs/guide.css': styleFile(() => placeOf('docs', 'guide.css')),
    '/docs/copy.js': plainFile(() => placeOf('docs', 'copy.js'), 'copy.js'),
    ...Object.fromEntries(pages),
  };
}

import type { MarkedExtension, Tokens } from 'marked';
import type { GuideText } from './guides.ts';

export interface GuidePage {
  readonly guide: GuideText;
  /** In the order of the navigation. */
  readonly all: readonly GuideText[];
  /** Paths of the files that the page names. */
  readonly style: string;
  readonly icon: string;
  readonly script: string;
}

const ANCHOR = /^<a id="[\w-]+">$/;
/** A page with fewer chapters has no list of them. */
const MIN_CHAPTERS = 4;

/** Render a guide as a page that needs no script: its script only adds buttons. Its URLs are relative, because a proxy may add a path prefix. */
export async function guideHtml({ guide, all, style, icon, script }: GuidePage): Promise<string> {
  const { Marked } = await import('marked');
  const chapters: string[] = [];
  const content = await new Marked(extension(chapters)).parse(guide.markdown);
  const contents =
    chapters.length < MIN_CHAPTERS
      ? ''
      : `<nav class="contents" aria-label="On this page"><ul>${chapters.join('')}</ul></nav>`;
  const links = all.map(({ name, title }) => {
    const current = name === guide.name ? ' aria-current="page"' : '';
    return `<li><a href="${name}"${current}>${escaped(title)}</a></li>`;
  });
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="description" content="${escaped(guide.description)}">
    <title>${escaped(guide.title)} · spiral-gateway</title>
    <link rel="icon" href="..${icon}" type="image/svg+xml">
    <link rel="stylesheet" href="..${style}">
    <link rel="alternate" href="${guide.name}.md" type="text/markdown">
    <script src="..${script}" type="module"></script>
  </head>
  <body>
    <a class="skip" href="#content">Skip to the content</a>
    <header>
      <nav aria-label="Guides">
        <ul>
          <li><a href="../">Home</a></li>
          ${links.join('\n          ')}
          <li><a href="../docs">REST interface</a></li>
        </ul>
      </nav>
    </header>
    ${contents}
    <main id="content">
${content}
      <p><a href="${guide.name}.md">This page as Markdown</a></p>
    </main>
  </body>
</html>
`;
}

/**
 * Headings get the anchors that links name, wide parts scroll for themselves, and links lead to pages.
 * @param chapters takes a link to each heading of the second level, as an item of a list
 */
function extension(chapters: string[]): MarkedExtension {
  const anchors = new Map<string, number>();
  return {
    gfm: true,
    walkTokens(token) {
      if (token.type === 'link') token.href = pageOf((token as Tokens.Link).href);
    },
    renderer: {
      heading({ tokens, depth, text }) {
        const name = anchorOf(text);
        const used = anchors.get(name) ?? 0;
        anchors.set(name, used + 1);
        const id = used === 0 ? name : `${name}-${used}`;
        const title = this.parser.parseInline(tokens);
        if (depth === 2) chapters.push(`<li><a href="#${escaped(id)}">${title}</a></li>`);
        return `<h${depth} id="${escaped(id)}">${title}</h${depth}>\n`;
      },
      table(token) {
        const cells = (row: readonly Tokens.TableCell[], tag: 'th' | 'td') =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('');
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        return `<div class="wide" tabindex="0"><table><thead><tr>${cells(token.header, 'th')}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`;
      },
      // The guides have anchors, and no other HTML.
      html: ({ text }) => (ANCHOR.test(text) || text === '</a>' ? text : escaped(text)),
    },
  };
}

/** The page of a guide in place of its Markdown. */
function pageOf(href: string): string {
  return href.replace(/^([\w-]+)\.md(?=#|$)/, '$1');
}

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

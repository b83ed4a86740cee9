/** A block of the guide that the walk executes. */
export interface Block {
  /** Its heading. */
  readonly name: string;
  readonly text: string;
}

const TITLE = '## From an empty machine';

/** Take the executable blocks of the chapter. @throws Error when the guide has no such chapter */
export function blocksOf(guide: string): readonly Block[] {
  const start = guide.indexOf(`${TITLE}\n`);
  if (start < 0) throw new Error(`docs/installation.md has no chapter "${TITLE}"`);
  const chapter = guide.slice(start, guide.indexOf('\n## ', start + 1));
  return [...chapter.matchAll(/^### (.*)\n(?:(?!^###)[\s\S])*?^```bash\n([\s\S]*?)^```$/gm)].map(
    ([, name = '', text = '']) => ({ name, text }),
  );
}

/** The ports of the chapter. */
const PORT = /\b(?:5432|6432|6379|638[01]|26379|2638[01]|8787|880[1-4]|910[1-4]|9090)\b/g;

/** Put other ports and folders in place of the ones of the chapter. @param portOf another port for one of the chapter */
export function relocated(
  blocks: readonly Block[],
  portOf: (port: string) => number,
  folders: Folders,
): readonly Block[] {
  return blocks.map(({ name, text }) => ({
    name,
    text: text
      .replaceAll(PORT, (port) => String(portOf(port)))
      .replaceAll('/opt/spiral-gateway', folders.code)
      .replaceAll('/srv/spiral', folders.data),
  }));
}

export interface Folders {
  /** Of the repository. */
  readonly code: string;
  /** Of settings, logs and data. */
  readonly data: string;
}

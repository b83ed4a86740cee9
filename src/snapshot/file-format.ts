import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type ChainFacts, emptyGroup, FACT_GROUPS } from '../domain/facts.ts';
import { isRecord } from '../shared/input/record.ts';
import { inTurns } from '../shared/turns.ts';
import { asGroup, CODEC_VERSION, CodecError, CodecVersionError, decode, encode, encodeGroup } from './codec.ts';

/** Characters of a part that is written at once. */
const PART_LENGTH = 65_536;

/** Write the facts of all chains into an empty file: a line with version and checksum, then the body. */
export async function writeFacts(file: FileHandle, all: readonly ChainFacts[]): Promise<void> {
  const hash = createHash('sha256');
  const headOf = (sha256: string) => `${encode({ v: CODEC_VERSION, sha256 })}\n`;
  let part = '';
  const write = () => {
    const text = part;
    part = '';
    hash.update(text);
    return file.appendFile(text);
  };
  await file.appendFile(headOf('0'.repeat(64)));
  for await (const piece of inTurns(piecesOf(all))) {
    part += piece;
    if (part.length >= PART_LENGTH) await write();
  }
  await write();
  await file.appendFile('\n');
  // In place of the zeros.
  await file.write(headOf(hash.digest('hex')), 0);
}

/**
 * Parse and check the whole file before any of it is used.
 * @throws CodecVersionError when another version wrote it; CodecError when it is cut, changed, or has invalid content
 */
export function parseFile(text: string): readonly ChainFacts[] {
  const headEnd = text.indexOf('\n');
  const head = text.slice(0, Math.max(headEnd, 0));
  const body = text.slice(headEnd + 1).replace(/\n$/, '');
  const header = decode(head);
  if (!isRecord(header) || typeof header.v !== 'number') throw new CodecError('The snapshot file has no header.');
  if (header.v !== CODEC_VERSION) throw new CodecVersionError('The snapshot file is', header.v);
  if (header.sha256 !== sha256(body)) throw new CodecError('The snapshot file does not match its checksum.');
  const chains = decode(body);
  if (!Array.isArray(chains)) throw new CodecError('The snapshot file holds no list of chains.');
  return chains.map((chain: unknown): ChainFacts => {
    if (!isRecord(chain) || !isRecord(chain.groups)) throw new CodecError('The snapshot file holds a malformed chain.');
    const { chainId, version, publishedMs, groups } = chain;
    if (!isCount(chainId) || !isCount(version) || !isCount(publishedMs)) {
      throw new CodecError('The snapshot file holds a malformed chain.');
    }
    // An older version of the service that wrote the file may lack a group.
    const states = Object.fromEntries(
      FACT_GROUPS.map((group) => [group, groups[group] === undefined ? emptyGroup() : asGroup(group, groups[group])]),
    );
    return { chainId, version, publishedMs, groups: states as unknown as ChainFacts['groups'] };
  });
}

/** The parts of the body, one item each. */
function* piecesOf(all: readonly ChainFacts[]): Generator<string> {
  yield '[';
  for (const [n, { chainId, version, publishedMs, groups }] of all.entries()) {
    yield `${n === 0 ? '' : ','}${encode({ chainId, version, publishedMs }).slice(0, -1)},"groups":{`;
    for (const [i, group] of FACT_GROUPS.entries()) {
      yield `${i === 0 ? '' : ','}${JSON.stringify(group)}:`;
      yield* encodeGroup(group, groups[group]);
    }
    yield '}}';
  }
  yield ']';
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

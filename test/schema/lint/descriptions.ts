/** Check that a description of the schema is a complete, plain sentence. @returns its faults */
export function faultsOfWords(description: string): string[] {
  const faults: string[] = [];
  if (!/^[A-Z0-9`"]/.test(description)) faults.push('begins with a small letter');
  if (!/[.!]$/.test(description.trim())) faults.push('does not end as a sentence');
  const opening = DANGLING_START.exec(description);
  if (opening) faults.push(`begins with "${opening[0]}", which points to something outside`);
  const inner = DANGLING.exec(description);
  if (inner) faults.push(`says "${inner[0]}", which points to something outside`);
  const clause = CLAUSE.exec(description);
  if (clause) faults.push(`begins with the clause "${clause[0]} …" in place of a noun`);
  return faults;
}

/** In sorted SDL nothing stands before a description. */
const DANGLING_START =
  /^(The same|Same|That|Those|This|These|Its|It|Their|They|Them|As above|See above|Also|Likewise|Otherwise|Then|There|Of it|Of them|Of that)\b/;
const DANGLING =
  /\b(as above|see above|the above|see below|the former|the latter|since then|(?:of|at|by|in|less) that (?:block|fee|time|moment|token|chain|value|price))\b/i;
const CLAUSE = /^(What|Whatever|Who|Whoever|How|Why|Where|When|Which|Whichever)\b(?! of)/;

/** Find the sentences that begin with a clause in place of a noun ("What is read."). Questions are none. */
export function clausesIn(text: string): string[] {
  const sentences = text.split(/(?<=[.?!])\s+/).map((sentence) => sentence.replace(/\s+/g, ' ').trim());
  return sentences.filter(
    (sentence) => /^(What|Whatever|Who|Whoever|Whichever)\b/.test(sentence) && !sentence.endsWith('?'),
  );
}

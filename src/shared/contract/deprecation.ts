/** The announced end of a part of the interface. Dates are YYYY-MM-DD, from 00:00 UTC. */
export interface Deprecation {
  /** When it was announced. */
  readonly since: string;
  /** From when on the part may be missing: at least six months later. */
  readonly sunset: string;
  /** The replacement as an instruction, e.g. `Use netApyPct`. */
  readonly instead: string;
}

/** The page with the policy and the deprecated parts, which the answers link to. */
export const DEPRECATION_DOCUMENT = '/docs';

/** The sentence for descriptions, and the reason of `@deprecated`. */
export function deprecationSentence({ since, sunset, instead }: Deprecation): string {
  return `Deprecated since ${since}, may be removed from ${sunset} on. ${instead}.`;
}

const SENTENCE = /^Deprecated since (\S+), may be removed from (\S+) on\. (.+)\.$/;

/** Read a deprecation from its sentence; `undefined` = another text. */
export function deprecationOf(sentence: string): Deprecation | undefined {
  const [, since, sunset, instead] = SENTENCE.exec(sentence) ?? [];
  return since === undefined || sunset === undefined || instead === undefined ? undefined : { since, sunset, instead };
}

/** The headers of an answer with deprecated parts (RFC 9745, RFC 8594): the earliest dates, and a link to the policy. */
export function deprecationHeaders(
  deprecations: readonly Deprecation[],
  document: string,
): Readonly<Record<string, string>> | undefined {
  const [since] = deprecations.map((deprecation) => deprecation.since).sort();
  const [sunset] = deprecations.map((deprecation) => deprecation.sunset).sort();
  if (since === undefined || sunset === undefined) return undefined;
  return {
    deprecation: `@${Date.parse(since) / 1_000}`,
    sunset: new Date(sunset).toUTCString(),
    link: `<${document}>; rel="deprecation"; type="text/html"`,
  };
}

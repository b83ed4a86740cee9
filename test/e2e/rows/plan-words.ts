import type { Json } from '../../support/service.ts';

/** What texts of GraphQL call the parts of a plan, and what those of REST do. */
const REST_WORDS = [
  ['the approval in \\"calls\\"', '\\"approvals\\"'],
  ['approval in \\"calls\\"', 'entry of \\"approvals\\"'],
  ['the last of \\"calls\\"', '\\"tx\\"'],
] as const;

export const withRestWords = (answer: Json): Json =>
  JSON.parse(REST_WORDS.reduce((text, [from, to]) => text.replaceAll(from, to), JSON.stringify(answer)));

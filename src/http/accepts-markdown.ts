import { acceptsInstead } from '../shared/contract/accepts.ts';

/** Whether an `Accept` header asks for Markdown instead of a page. */
export function acceptsMarkdown(accept: string | undefined): boolean {
  return acceptsInstead(accept, 'text/markdown', 'text/html');
}

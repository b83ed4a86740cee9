import { z } from 'zod';

/** Where providers put a code of their own. */
const codeSchema = z.union([
  z.object({ code: z.int() }).transform(({ code }) => code),
  z.object({ error_code: z.int() }).transform((body) => body.error_code),
  z.object({ status: z.object({ error_code: z.int() }) }).transform(({ status }) => status.error_code),
  z
    .object({ error: z.object({ status: z.object({ error_code: z.int() }) }) })
    .transform(({ error }) => error.status.error_code),
]);

/** Read the provider's own code from an answer. Only numbers, because texts may quote the request. */
export function providerCode(body: unknown): number | undefined {
  return codeSchema.safeParse(body).data;
}

const STORAGE_KEY = 'ops-key';

/** The key lives in this tab only: never in local storage, cookies, or an address. */
export const keyStore = {
  get: () => sessionStorage.getItem(STORAGE_KEY),
  set: (key) => sessionStorage.setItem(STORAGE_KEY, key),
  clear: () => sessionStorage.removeItem(STORAGE_KEY),
};

/** The key has no access. */
export class KeyRefused extends Error {
  name = 'KeyRefused';
}

/** Read the health page, which is the same for everyone. Throws an `Error` when it cannot be read. */
export async function readHealth() {
  const response = await fetch('/health', { headers: { accept: 'application/json' }, cache: 'no-store' });
  if (!response.ok) throw new Error(`The service answered with status ${response.status}.`);
  return response.json();
}

/** Run a GraphQL document. Throws `KeyRefused`, or an `Error` whose message can be shown. */
export async function ask(query, variables, key = keyStore.get()) {
  let response;
  try {
    response = await fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, variables }),
      cache: 'no-store',
    });
  } catch {
    throw new Error('The service does not answer. The page tries again every minute.');
  }
  const body = await response.json().catch(() => ({}));
  const [error] = body.errors ?? (body.error ? [body.error] : []);
  if (!error && response.ok) return body.data;
  const code = error?.extensions?.code ?? error?.code;
  if (code === 'unauthorized' || response.status === 401) throw new KeyRefused();
  const message = error?.message ?? `The service answered with status ${response.status}.`;
  throw Object.assign(new Error(message), { code, retryAfterSec: Number(response.headers.get('retry-after') ?? 0) });
}

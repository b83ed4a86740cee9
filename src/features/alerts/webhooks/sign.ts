import { createHmac } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
/** Used where no KEY_PEPPER is set, which production requires. */
const NO_PEPPER = 'spiral-gateway without KEY_PEPPER';

/**
 * Derive the signing secret of an alert. The database holds the salt alone, so it does not suffice to sign.
 * @param pepper - KEY_PEPPER; another one gives other secrets, and invalidates every key as well
 */
export function signingSecret(
  alertId: string,
  { salt, version }: { readonly salt: Buffer; readonly version: number },
  pepper: string | undefined,
): string {
  const mac = createHmac('sha256', pepper ?? NO_PEPPER);
  mac.update(`alert-webhook\n${alertId}\n${version}\n`).update(salt);
  return `${SECRET_PREFIX}${mac.digest('base64url')}`;
}

/** A signing secret and its version. */
export interface VersionedSecret {
  readonly version: number;
  readonly secret: string;
}

/**
 * Sign a body with the time of sending, so that a copy cannot be sent later.
 * @param secrets the newest first; each makes a signature of its own
 * @param timestamp unix seconds
 * @returns value of the header `x-spiral-signature`
 */
export function signatureHeader(secrets: readonly VersionedSecret[], timestamp: number, body: string): string {
  const signatures = secrets.map(({ version, secret }) => {
    const mac = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
    return `,k=${version},v1=${mac}`;
  });
  return `t=${timestamp}${signatures.join('')}`;
}

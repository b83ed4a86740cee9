import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Make a certificate authority, and certificates that it has signed: of a server and of a client, of a server whose certificate
 * has expired, and of one with another host. Returns their paths.
 */
export function makeCertificates(folder: string) {
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const authority = (name: string) =>
    openssl(
      'req',
      '-x509',
      ...key,
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
    );
  authority('ca');
  authority('another-ca');
  writeFileSync(at('names.txt'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  writeFileSync(at('other-names.txt'), 'subjectAltName=DNS:redis.elsewhere.example\n');
  for (const [name, days, names] of [
    ['server', '2', 'names.txt'],
    ['client', '2', 'names.txt'],
    ['expired', '-1', 'names.txt'],
    ['other-host', '2', 'other-names.txt'],
  ] as const) {
    openssl('req', '-new', ...key, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    const sign = ['x509', '-req', '-days', days, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'];
    openssl(...sign, '-in', `${name}.csr`, '-extfile', names, '-out', `${name}.pem`);
  }
  const text = (name: string): string => readFileSync(at(name), 'utf8');
  return {
    path: at,
    ca: text('ca.pem'),
    anotherCa: text('another-ca.pem'),
    cert: text('client.pem'),
    key: text('client.key'),
  };
}

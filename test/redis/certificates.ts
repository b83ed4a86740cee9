import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Make a certificate authority, and a certificate of a server and of a client that it has signed. Returns their paths. */
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
  for (const name of ['server', 'client']) {
    openssl('req', '-new', ...key, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    const sign = ['x509', '-req', '-days', '2', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'];
    openssl(...sign, '-in', `${name}.csr`, '-extfile', 'names.txt', '-out', `${name}.pem`);
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

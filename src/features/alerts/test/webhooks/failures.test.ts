import { describe, expect, test } from 'vitest';
import { failureOf } from '../../webhooks/send.ts';

/** The codes of certificates that the documentation of Node lists, and those of OpenSSL and of connections beside them. */
const CODES: readonly (readonly [code: string, failure: string])[] = [
  ['UNABLE_TO_GET_ISSUER_CERT', 'certificate_authority'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate_authority'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate_authority'],
  ['UNABLE_TO_DECRYPT_CERT_SIGNATURE', 'certificate_authority'],
  ['UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY', 'certificate_authority'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate_authority'],
  ['CERT_CHAIN_TOO_LONG', 'certificate_authority'],
  ['PATH_LENGTH_EXCEEDED', 'certificate_authority'],
  ['INVALID_CA', 'certificate_authority'],
  ['CERT_UNTRUSTED', 'certificate_authority'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate_self_signed'],
  ['CERT_HAS_EXPIRED', 'certificate_expired'],
  ['ERROR_IN_CERT_NOT_AFTER_FIELD', 'certificate_expired'],
  ['CERT_NOT_YET_VALID', 'certificate_not_yet_valid'],
  ['ERROR_IN_CERT_NOT_BEFORE_FIELD', 'certificate_not_yet_valid'],
  ['CERT_REVOKED', 'certificate_revoked'],
  ['HOSTNAME_MISMATCH', 'certificate_host'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate_host'],
  ['ERR_TLS_CERT_ALTNAME_FORMAT', 'certificate_host'],
  ['EE_KEY_TOO_SMALL', 'certificate_weak'],
  ['CA_KEY_TOO_SMALL', 'certificate_weak'],
  ['CA_MD_TOO_WEAK', 'certificate_weak'],
  ['ERR_SSL_EE_KEY_TOO_SMALL', 'certificate_weak'],
  ['ERR_SSL_DH_KEY_TOO_SMALL', 'certificate_weak'],
  ['INVALID_PURPOSE', 'certificate_refused'],
  ['CERT_REJECTED', 'certificate_refused'],
  ['CERT_SIGNATURE_FAILURE', 'certificate_refused'],
  ['CRL_HAS_EXPIRED', 'tls'],
  ['UNABLE_TO_GET_CRL', 'tls'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
  ['EPROTO', 'tls'],
  ['ECONNREFUSED', 'unreachable'],
  ['ECONNRESET', 'unreachable'],
  ['ENOTFOUND', 'unknown_host'],
  ['', 'unreachable'],
];

describe('failureOf', () => {
  test.each(CODES)('default: the code "%s" is %s', (code, failure) => {
    expect(failureOf(Object.assign(new Error(), { code }))).toBe(failure);
  });
});

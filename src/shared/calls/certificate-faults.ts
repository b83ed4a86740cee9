/** A fault of the certificate of a server. */
export type CertificateFault = 'certificate_expired' | 'certificate_host' | 'certificate_authority';

/** Codes of Node by fault; other codes of TLS are not specific enough. */
const BY_CODE: readonly (readonly [pattern: RegExp, fault: CertificateFault])[] = [
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/, 'certificate_expired'],
  [/^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/, 'certificate_host'],
  [
    /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED)$/,
    'certificate_authority',
  ],
];

/** Name the fault of a certificate by the code of an error; `undefined` = another error. */
export function certificateFaultOf(code: string): CertificateFault | undefined {
  return BY_CODE.find(([pattern]) => pattern.test(code))?.[1];
}

import { certificateFaultOf } from '../../shared/calls/certificate-faults.ts';

/** The problems of a database, each with the reason that callers see, and the next step for operators. */
export const DATABASE_PROBLEMS = {
  unreachable: { reason: 'unreachable', todo: 'Start Postgres, or correct host and port; check firewalls.' },
  unknown_host: { reason: 'unreachable', todo: 'Correct the host: its name has no address.' },
  going_up_or_down: {
    reason: 'unreachable',
    todo: 'None: Postgres is starting or stopping. Look at its log if it stays.',
  },
  pooler_without_server: {
    reason: 'unreachable',
    todo: 'The pooler answers and its Postgres does not: look at the log of the pooler.',
  },
  corrupted: {
    reason: 'unreachable',
    todo: 'The answer is not the protocol of Postgres: check the address and the network, and use TLS.',
  },
  silent: {
    reason: 'timeout',
    todo: 'Postgres, or a pooler that waits for it, accepts a connection and does not answer: look at its host, the network and the log of the pooler.',
  },
  slow_statement: { reason: 'timeout', todo: 'Look for locks, missing statistics and load.' },
  pool_exhausted: {
    reason: 'timeout',
    todo: 'All connections of this process are in use: look for slow statements, or raise DATABASE_POOL_SIZE.',
  },
  bad_password: { reason: 'rejected', todo: 'Correct user and password.' },
  no_such_database: { reason: 'rejected', todo: 'Correct the name of the database, or create it.' },
  access_denied: { reason: 'rejected', todo: 'Allow this user, database and address in pg_hba.conf.' },
  tls_required: { reason: 'rejected', todo: 'The server takes encrypted connections only: add ?sslmode=verify-full.' },
  tls_missing: { reason: 'rejected', todo: 'The server has no TLS: turn it on there, or remove sslmode.' },
  certificate: { reason: 'rejected', todo: 'The certificate of the server cannot be used: see its log.' },
  certificate_expired: {
    reason: 'rejected',
    todo: 'Renew the certificate of the server, and check the clock of this machine.',
  },
  certificate_host: { reason: 'rejected', todo: 'Write a host that is in the certificate of the server.' },
  certificate_authority: {
    reason: 'rejected',
    todo: 'Add sslrootcert with the authority that has signed the certificate of the server.',
  },
  certificate_file: { reason: 'rejected', todo: 'sslrootcert, sslcert or sslkey names a file that cannot be read.' },
  pooler_refuses: { reason: 'rejected', todo: 'The pooler refuses a parameter of the connection: see its log.' },
  no_right: { reason: 'rejected', todo: 'Grant the rights that "npm run migrate -- --grants ROLE" prints.' },
  read_only: {
    reason: 'rejected',
    todo: 'Point DATABASE_URL at the primary; see default_transaction_read_only of the role.',
  },
  other_schema: {
    reason: 'rejected',
    todo: 'Run "npm run migrate" with a role that may create tables, or deploy the version that the migrations need.',
  },
  too_many_connections: {
    reason: 'server_error',
    todo: 'Raise max_connections, put a pooler in front, or lower DATABASE_POOL_SIZE.',
  },
  out_of_space: { reason: 'server_error', todo: 'Free disk space or memory on the server of Postgres.' },
  server_error: { reason: 'server_error', todo: 'Look at the log of Postgres.' },
} as const satisfies Record<string, { readonly reason: UnavailableReason; readonly todo: string }>;

export type DatabaseProblem = keyof typeof DATABASE_PROBLEMS;
export type UnavailableReason = 'unreachable' | 'timeout' | 'rejected' | 'server_error';

/** SQLSTATE classes and codes (Postgres manual, appendix A) of an unavailable database, as opposed to an invalid statement. */
const BY_SQLSTATE: readonly (readonly [pattern: RegExp, problem: DatabaseProblem])[] = [
  [/^(57014|55P03)$/, 'slow_statement'], // cancelled by statement_timeout; lock_timeout
  [/^40001$/, 'slow_statement'], // a standby cancels a statement that conflicts with its replay
  [/^57P0[123]$/, 'going_up_or_down'],
  [/^(08|57P)/, 'unreachable'],
  [/^28P01$/, 'bad_password'],
  [/^28/, 'access_denied'],
  [/^3D000$/, 'no_such_database'],
  [/^42501$/, 'no_right'],
  [/^25006$/, 'read_only'],
  [/^53300$/, 'too_many_connections'],
  [/^53/, 'out_of_space'],
  [/^(58|XX)/, 'server_error'], // system error; internal error
];

/** Poolers use one code for all of their refusals, and the driver has none: their messages distinguish them. */
const BY_TEXT: readonly (readonly [pattern: RegExp, problem: DatabaseProblem])[] = [
  [/unsupported startup parameter/i, 'pooler_refuses'],
  [
    /server login|pgbouncer cannot connect|query_wait_timeout|server conn(ection)? crashed|connect failed/i,
    'pooler_without_server',
  ],
  [/no more connections allowed|too many clients/i, 'too_many_connections'],
  [/no such database/i, 'no_such_database'],
  [/password authentication failed|no such user|SASL authentication failed|client password must be/i, 'bad_password'],
  [/no encryption|SSL off|SSL (connection )?is required/i, 'tls_required'],
  [/does not support SSL/i, 'tls_missing'],
  [/establishing an SSL connection/i, 'tls_missing'],
  [/timeout exceeded when trying to connect/i, 'pool_exhausted'],
  [/timeout/i, 'silent'],
  [/invalid response|Received unexpected/i, 'corrupted'],
  [/Connection terminated|connection error|not queryable|pool after calling end/i, 'unreachable'],
];

/** Codes of Node for sockets, names, certificates and files. */
const BY_NODE_CODE: readonly (readonly [pattern: RegExp, problem: DatabaseProblem])[] = [
  [/^ETIMEDOUT$/, 'silent'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'unknown_host'],
  [/^(ENOENT|EACCES|EISDIR)$/, 'certificate_file'],
  [/CERT|SIGNATURE|_CRL|^ERR_OSSL|^ERR_SSL|HOSTNAME_MISMATCH/, 'certificate'],
  [/^E[A-Z]+$/, 'unreachable'],
];

const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * Name the problem of the database; `undefined` when the error concerns the statement, such as a violated constraint.
 * @param connecting - a failure to connect always means unavailable.
 */
export function problemOf(error: unknown, connecting = false): DatabaseProblem | undefined {
  const { code, message } = messageOf(error);
  const named = (rules: typeof BY_TEXT, text: string) => rules.find(([pattern]) => pattern.test(text))?.[1];
  if (code === CORRUPTED) return 'corrupted';
  const isSqlState = SQLSTATE.test(code) && !/^E[A-Z]+$/.test(code);
  if (isSqlState) {
    const problem = named(BY_SQLSTATE, code);
    if (problem === undefined && !connecting) return undefined;
    // Connection refusals of the server and of poolers share codes.
    const isCoarse = problem === undefined || problem === 'access_denied' || problem === 'unreachable';
    return (isCoarse ? named(BY_TEXT, message) : undefined) ?? problem ?? 'server_error';
  }
  const found =
    certificateFaultOf(code) ?? (code === '' ? undefined : named(BY_NODE_CODE, code)) ?? named(BY_TEXT, message);
  return found ?? (connecting ? 'unreachable' : undefined);
}

/** Code of bytes that are not the protocol. */
export const CORRUPTED = 'ERR_CORRUPTED_FRAME';

function messageOf(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof Error)) return { code: '', message: '' };
  // A host with several addresses fails with one error for each.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : first?.code;
  return { code: typeof code === 'string' ? code : '', message: error.message };
}

import type { FailureReason } from '../domain/facts.ts';
import { meaningOf } from '../domain/outside-answer.ts';
import type { Logger } from '../shared/logger.ts';
import type { ExchangeOutcome } from './exchange.ts';
import { providerCode } from './provider-code.ts';
import type { ProviderStates } from './provider-states.ts';

/** Subject of failures that concern the form of answers. */
const SHAPE = 'the form of its answers';

function codeOf(outcome: ExchangeOutcome): number | undefined {
  return outcome.kind === 'fault' ? undefined : providerCode(outcome.body);
}

/** The part of a request that names it. */
interface NotedRequest {
  readonly path: string;
  readonly scope?: string | undefined;
}

/** Create the recorder of a provider's state, which also logs its changes. */
export function createNotes(
  {
    states,
    publicName,
    part,
    isWaitedFor = false,
  }: {
    readonly states?: ProviderStates | undefined;
    readonly publicName: string;
    readonly part?: string | undefined;
    readonly isWaitedFor?: boolean | undefined;
  },
  logger: Logger,
) {
  const notes = states?.add({ provider: publicName, part, isWaitedFor });
  /** Last logged state of each subject: only changes are logged. */
  const lastLogged = new Map<string, string>();
  const noteChange = (subject: string, state: string, say: () => void) => {
    if (lastLogged.get(subject) === state) return;
    lastLogged.set(subject, state);
    say();
  };
  /** Whether the latest answer had another shape; the next one of the right shape ends it. */
  let isMisshapen = false;
  const subjectOf = ({ path, scope }: NotedRequest) => `${path || '/'}${scope === undefined ? '' : ` (${scope})`}`;
  const noteFailure = (request: NotedRequest, reason: FailureReason, outcome: ExchangeOutcome | undefined) => {
    const { path, scope } = request;
    const httpStatus = outcome?.status;
    const code = outcome && codeOf(outcome);
    notes?.failed(subjectOf(request), { reason, httpStatus, code });
    noteChange(subjectOf(request), `${reason} ${code ?? httpStatus}`, () =>
      logger.warn({ path, scope, reason, meaning: meaningOf(reason), status: httpStatus, code }, 'upstream failing'),
    );
  };
  const noteAnswer = (request: NotedRequest) => {
    if (!isMisshapen) notes?.answered(subjectOf(request));
    const { path, scope } = request;
    if (lastLogged.delete(subjectOf(request))) logger.info({ path, scope }, 'upstream recovered');
  };
  return {
    noteChange,
    noteFailure,
    noteAnswer,
    noteShape(isUsable: boolean) {
      isMisshapen = !isUsable;
      if (isUsable) notes?.answered(SHAPE);
      else notes?.failed(SHAPE, { reason: 'malformed' });
    },
    noteThrottle(forMs: number) {
      notes?.throttled(forMs);
    },
  };
}

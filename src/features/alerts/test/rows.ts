import type { OneSided } from '../../../../test/e2e/rows/compare.ts';
import type { Example, Row } from '../../../../test/e2e/rows/reads.ts';
import { type Json, PARTNER, type TestService } from '../../../../test/support/service.ts';

/** The rows of alerts, which belong to a key: those of the local world to the partner's. */

const ALERT =
  'alertId label subject chainId wallet positionIndex strategyId condition threshold rearmAt webhookUrl secretVersion earlierSecretsEndAt status value observedAt changedAt createdAt';
const DELIVERY =
  'eventId alertId type body occurredAt status attempts nextAttemptAt finishedAt httpStatus failure: failureReason';

async function ask(service: TestService, query: string, variables: Record<string, unknown>): Promise<Json> {
  const { body } = await service.graphql(query, variables, PARTNER);
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  return body.data;
}

/** The variables of the schema: its words are in capitals. */
const enumsOf = (given: Json) =>
  Object.fromEntries(
    Object.entries<Json>(given).map(([name, value]) => [name, WORDS.has(name) ? value.toUpperCase() : value]),
  );
/** The chain is an argument beside the input, and a position has one name for its index and its id. */
const alertVariables = ({ chainId, positionIndex: positionId, ...input }: Json) => ({
  chainId,
  input: enumsOf({ ...input, positionId }),
});
const WORDS = new Set(['subject', 'condition', 'status']);
const pageOf = ({ query }: Example) => {
  const { limit, ...rest } = (query ?? {}) as Json;
  return { ...enumsOf(rest), first: Number(limit ?? 50) };
};
const own = (leaf: RegExp, reason: string): { restOnly: OneSided; typedOnly: OneSided } => ({
  restOnly: [[leaf, reason]],
  typedOnly: [[leaf, reason]],
});
const IS_NEW = 'each request makes one';
const alertId = [/^(alert\.|alerts\.\d+\.)id$/, '$1alertId'] as const;
const eventId = [/^(delivery\.|deliveries\.\d+\.)id$/, '$1eventId'] as const;
const PAGE = [[/^next /, 'a cursor is there while a page follows']] as const;

export const ALERT_ROWS: Readonly<Record<string, Row>> = {
  'POST /v1/partner/alerts': {
    key: PARTNER,
    names: [alertId],
    ...own(/^(secret|alert\.(id|alertId)) /, IS_NEW),
    ask: async (service, { body }) =>
      (
        await ask(
          service,
          `mutation ($chainId: ChainId!, $input: CreateAlertInput!) { createAlert(chainId: $chainId, input: $input) { secret alert { ${ALERT} } } }`,
          alertVariables(body),
        )
      ).createAlert,
  },
  'GET /v1/partner/alerts': {
    key: PARTNER,
    names: [alertId],
    restOnly: PAGE,
    ask: async (service, example) => {
      const { alerts } = await ask(
        service,
        `query ($subject: AlertSubject, $first: Int) { alerts(subject: $subject, first: $first) { count: totalCount alerts: nodes { ${ALERT} } } }`,
        pageOf(example),
      );
      return alerts;
    },
  },
  'GET /v1/partner/alerts/{id}': {
    key: PARTNER,
    names: [alertId],
    ask: (service, { params }) =>
      ask(service, `query ($id: String!) { alert(alertId: $id) { ${ALERT} } }`, { id: params?.id }),
  },
  'POST /v1/partner/alerts/{id}/rotate-secret': {
    key: PARTNER,
    names: [alertId],
    ...own(/^(secret|alert\.secretVersion) /, IS_NEW),
    ask: async (service, { params, query }) =>
      (
        await ask(
          service,
          `mutation ($id: String!, $overlapSec: Int) { rotateAlertSecret(alertId: $id, overlapSec: $overlapSec) { secret alert { ${ALERT} } } }`,
          { id: params?.id, overlapSec: Number(query?.overlapSec) },
        )
      ).rotateAlertSecret,
  },
  'DELETE /v1/partner/alerts/{id}': {
    key: PARTNER,
    names: [[/^id$/, 'alertId']],
    ...own(/^deleted /, 'the second request finds none'),
    ask: async (service, { params }) =>
      (
        await ask(service, 'mutation ($id: String!) { deleteAlert(alertId: $id) { alertId deleted } }', {
          id: params?.id,
        })
      ).deleteAlert,
  },
  'POST /v1/partner/alerts/{id}/ping': {
    key: PARTNER,
    names: [eventId],
    ...own(/^delivery\.(id|eventId|body) /, IS_NEW),
    ask: (service, { params }) =>
      ask(service, `mutation ($id: String!) { delivery: pingAlert(alertId: $id) { ${DELIVERY} } }`, { id: params?.id }),
  },
  'GET /v1/partner/alerts/deliveries': {
    key: PARTNER,
    names: [eventId],
    restOnly: PAGE,
    ask: async (service, example) => {
      const { page } = await ask(
        service,
        `query ($status: AlertDeliveryStatus, $first: Int) { page: alertDeliveries(status: $status, first: $first) { count: totalCount deliveries: nodes { ${DELIVERY} } } }`,
        pageOf(example),
      );
      return page;
    },
  },
  'POST /v1/partner/alerts/deliveries/{id}/redeliver': {
    key: PARTNER,
    names: [eventId],
    ask: (service, { params }) =>
      ask(service, `mutation ($id: String!) { delivery: redeliverAlertEvent(eventId: $id) { ${DELIVERY} } }`, {
        id: params?.id,
      }),
  },
};

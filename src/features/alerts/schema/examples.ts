import type { ExampleQuery } from '../../../schema/common/examples.ts';

export const ALERT_EXAMPLES: readonly ExampleQuery[] = [
  {
    title: 'Partner: alerts',
    query: `# Needs a key. The alerts of the key, the newest first, with the state that the latest facts gave them.
query Alerts {
  alerts(first: 10) {
    nodes {
      id
      alertId
      label
      condition
      subject
      chainId
      wallet
      positionIndex
      strategyId
      threshold
      status
      value
      changedAt
      webhookUrl
    }
  }
}`,
    tier: 'partner',
  },
];

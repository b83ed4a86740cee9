import type { Conversions } from '../derive/conversion.ts';
import { historyConversions } from './histories.ts';
import { listConversions } from './lists.ts';
import { marketConversions } from './market.ts';
import { planConversions } from './plans.ts';
import { portfolioConversions } from './portfolios.ts';
import { refusalConversions } from './refusals.ts';
import { valueConversions } from './values.ts';

/** The conversions of all rows, by name. */
export const conversions: Conversions = {
  ...valueConversions,
  ...listConversions,
  ...historyConversions,
  ...marketConversions,
  ...planConversions,
  ...portfolioConversions,
  ...refusalConversions,
};

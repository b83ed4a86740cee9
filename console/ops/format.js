const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const cents = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const tokens = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 8 });
const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

export const UNKNOWN = '–';

/** USD of an exact decimal string; an unknown value shows as a dash, never as zero. */
export function usd(value, { signed = false } = {}) {
  if (value === null || value === undefined) return UNKNOWN;
  const number = Number(value);
  const sign = number < 0 ? '−' : signed && number > 0 ? '+' : '';
  const size = Math.abs(number);
  return `${sign}$${size >= 100_000 ? whole.format(size) : cents.format(size)}`;
}

/** An amount of tokens, shortened for reading. */
export function amount(value) {
  return value === null || value === undefined ? UNKNOWN : tokens.format(Number(value));
}

export function shortUsd(number) {
  return `${number < 0 ? '−' : ''}$${compact.format(Math.abs(number))}`;
}

export function percent(value, places = 2) {
  return value === null || value === undefined ? UNKNOWN : `${Number(value).toFixed(places).replace('-', '−')}%`;
}

export function points(value) {
  return value === null || value === undefined ? UNKNOWN : Number(value).toFixed(2).replace('-', '−');
}

export function shortAddress(address) {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

export function when(value) {
  return value === null || value === undefined ? UNKNOWN : moment.format(new Date(value));
}

/** Format an age in one unit. */
export function age(seconds) {
  if (seconds === null || seconds === undefined) return UNKNOWN;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** A name of the schema as words: `LENDING_STATE` becomes `lending state`. */
export function words(name) {
  return name.toLowerCase().replaceAll('_', ' ');
}

export const DRIFT_WORDS = {
  NO_DB_ROW: 'Not registered',
  DB_OPEN_CHAIN_CLOSED: 'Registered open, ended on chain',
  DB_CLOSED_CHAIN_OPEN: 'Registered closed, open on chain',
};

/** For a narrow column, with the words above as the title. */
export const DRIFT_SHORT = {
  NO_DB_ROW: 'Not registered',
  DB_OPEN_CHAIN_CLOSED: 'Ended on chain',
  DB_CLOSED_CHAIN_OPEN: 'Open on chain',
};

export const REASON_WORDS = {
  MARKET_NOT_CONFIGURED: 'market not in the catalog',
  NO_CHAIN_POSITION: 'no such position on chain',
  CHAIN_MISMATCH: 'market of another chain or position',
};

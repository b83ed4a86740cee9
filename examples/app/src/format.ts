/** Percent as the service states it. */
export function percent(value: string | null | undefined): string | undefined {
  return value === null || value === undefined ? undefined : `${value} %`;
}

const USD = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const USD_AND_CENTS = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
const WITHOUT_CENTS = 1_000;

export function usd(value: string | number | null | undefined): string | undefined {
  if (value === null || value === undefined) return undefined;
  const number = Number(value);
  return (Math.abs(number) < WITHOUT_CENTS ? USD_AND_CENTS : USD).format(number);
}

/** An amount with at most six significant decimals; shown, never calculated with. */
export function amount(value: string | null | undefined, symbol = ''): string | undefined {
  if (value === null || value === undefined) return undefined;
  const [whole = '0', decimals = ''] = value.split('.');
  const shown = decimals.slice(0, 6).replace(/0+$/, '');
  return `${whole}${shown === '' ? '' : `.${shown}`} ${symbol}`.trim();
}

export function shortened(hash: string): string {
  return `${hash.slice(0, 6)}…${hash.slice(-4)}`;
}

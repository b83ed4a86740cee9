/**
 * Name the values of an enum after the words of the domain, in capitals.
 * @param descriptions by word
 */
export function enumValues<V extends string>(
  descriptions: Readonly<Record<V, string>>,
): { [W in V]: { value: W; description: string } } {
  const entries = Object.entries(descriptions) as [V, string][];
  return Object.fromEntries(entries.map(([value, description]) => [enumName(value), { value, description }])) as {
    [W in V]: { value: W; description: string };
  };
}

/** The name of a word in an enum: `swapAndLeverage` is `SWAP_AND_LEVERAGE`, `near_maturity` is `NEAR_MATURITY`. */
function enumName(word: string): string {
  return word
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toUpperCase();
}

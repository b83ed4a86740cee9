/** The chart provider's public plan reaches one year back and refuses longer ranges. */
export const MAX_CHART_DAYS = 365;
export const COIN_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
export const CURRENCY_PATTERN = /^[A-Za-z]{3,5}$/;
/** Interface 4.2: candle sizes by timeframe, and the maximum number of candles in an answer. */
export const CANDLE_AGGREGATES = { minute: [1, 5, 15], hour: [1, 4, 12], day: [1] } as const;
export const MAX_CANDLES = 1000;

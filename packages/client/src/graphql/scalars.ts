/** The JSON types of the scalars of the schema, for the option `scalars` of GraphQL code generators. */
export const SCALARS = {
  Address: 'string',
  BigInteger: 'string',
  ChainId: 'number',
  DateTime: 'string',
  Decimal: 'string',
  HexData: 'string',
  JSONObject: 'Readonly<Record<string, unknown>>',
  MarketId: 'string',
  NonNegativeInt: 'number',
  PortfolioDocument: 'Readonly<Record<string, unknown>>',
  StrategyId: 'string',
  URL: 'string',
  UUID: 'string',
} as const;

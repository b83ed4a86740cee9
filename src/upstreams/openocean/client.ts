import { Decimal } from '../../shared/decimal.ts';
import { ABSENT, type AdapterDeps, createHttp, createProviderBudget } from '../http.ts';
import { NO_ROUTE_STATUSES, nativeAlias, quoteExpiry } from '../quotes.ts';
import type { SwapQuotePort, SwapRequest } from '../types.ts';
import { mapSwap } from './map.ts';
import { swapSchema } from './schema.ts';

/** Required by the provider, which weighs routes by gas with it; 1 gwei. It does not end up in the calldata. */
const GAS_PRICE_WEI = '1000000000';

/** Ask executable quotes of the second swap aggregator. */
export function createOpenocean(deps: AdapterDeps): SwapQuotePort {
  const { apiKey } = deps.config;
  const http = createHttp({
    ...deps,
    provider: 'openocean',
    publicName: 'AggregatorTwo',
    budget: createProviderBudget(deps, { isWaitedFor: true }),
    secrets: apiKey === undefined ? {} : { headers: { apikey: apiKey } },
  });
  return {
    source: 'AggregatorTwo',
    serves: ({ chain }) => chain.providers.openocean !== undefined,
    async quote(request, options) {
      const chain = request.chain.providers.openocean;
      if (chain === undefined) return null;
      const expiresAtMs = quoteExpiry(deps.clock.now());
      const body = await http.request({
        path: '/v4/:chain/swap',
        params: { chain },
        query: {
          inTokenAddress: nativeAlias(request.tokenIn),
          outTokenAddress: nativeAlias(request.tokenOut),
          amountDecimals: request.amountIn.toString(),
          gasPriceDecimals: GAS_PRICE_WEI,
          slippage: request.slippage.shiftedBy(2).toFixed(),
          // `account` receives the output, and pays the input too unless there is a `sender`.
          account: request.recipient,
          ...(request.sender === request.recipient ? {} : { sender: request.sender }),
          ...feeQuery(request),
        },
        absentOn: NO_ROUTE_STATUSES,
        signal: options?.signal,
      });
      if (body === ABSENT) return null;
      const quote = mapSwap(request, http.parse(swapSchema, body), expiresAtMs);
      if (typeof quote === 'string') throw http.error(quote);
      return quote;
    },
  };
}

/** The fee in percent: 5 bps = 0.05. */
function feeQuery({ feeBps, feeReceiver }: SwapRequest): Readonly<Record<string, string>> {
  if (feeBps === 0 || feeReceiver === undefined) return {};
  return { referrer: feeReceiver, referrerFee: new Decimal(feeBps).shiftedBy(-2).toFixed() };
}

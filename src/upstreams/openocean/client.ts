import { Decimal } from '../../shared/decimal.ts';
import type { ChainId } from '../../shared/ids.ts';
import { withoutUndefined } from '../../shared/without-undefined.ts';
import { ABSENT, type AdapterDeps, createHttp } from '../http.ts';
import { nativeAlias, quoteExpiry } from '../quotes.ts';
import { QUOTE_REQUEST_MS, type SwapQuotePort, type SwapRequest } from '../types.ts';
import { mapSwap, swapCodes, takenFeeBps } from './map.ts';
import { swapSchema } from './schema.ts';

/**
 * Current gas price of a chain in wei; `undefined` where it is unknown. The provider requires one and weighs routes by it; the
 * calldata does not depend on it.
 */
export type GasPriceOf = (chainId: ChainId) => Promise<bigint | undefined>;

/** Sent where the chain's gas price is unknown: 1 gwei. */
const FALLBACK_GAS_PRICE_WEI = 1_000_000_000n;

/** Read executable quotes of the second swap aggregator. */
export function createOpenocean(deps: AdapterDeps & { readonly gasPriceOf?: GasPriceOf | undefined }): SwapQuotePort {
  const { apiKey } = deps.config;
  const http = createHttp({
    ...deps,
    provider: 'openocean',
    publicName: 'AggregatorTwo',
    isWaitedFor: true,
    secrets: apiKey === undefined ? {} : { headers: { apikey: apiKey } },
  });
  return {
    source: 'AggregatorTwo',
    serves: ({ chain }) => chain.providers.openocean !== undefined,
    async quote(request, options) {
      const chain = request.chain.providers.openocean;
      if (chain === undefined) return null;
      const expiresAtMs = quoteExpiry(deps.clock.now());
      const gasPriceWei = (await deps.gasPriceOf?.(request.chain.chainId)) ?? FALLBACK_GAS_PRICE_WEI;
      const body = await http.request({
        path: '/v4/:chain/swap',
        params: { chain },
        query: withoutUndefined({
          inTokenAddress: nativeAlias(request.tokenIn),
          outTokenAddress: nativeAlias(request.tokenOut),
          amountDecimals: request.amountIn.toString(),
          gasPriceDecimals: gasPriceWei.toString(),
          slippage: request.slippage.shiftedBy(2).toFixed(),
          // `account` receives the output, and also pays the input unless there is a `sender`.
          account: request.recipient,
          sender: request.sender === request.recipient ? undefined : request.sender,
          ...feeQuery(request),
        }),
        documented: swapCodes,
        patienceMs: QUOTE_REQUEST_MS[options?.purpose ?? 'preview'],
        scope: chain,
        signal: options?.signal,
      });
      if (body === ABSENT) return null;
      const quote = mapSwap(request, http.parse(swapSchema, body), expiresAtMs);
      if (typeof quote === 'string') throw http.error(quote);
      return quote;
    },
  };
}

/** The fee in percent. */
function feeQuery(request: SwapRequest): Readonly<Record<string, string>> {
  const { feeReceiver } = request;
  const takenBps = takenFeeBps(request);
  if (takenBps === 0 || feeReceiver === undefined) return {};
  return { referrer: feeReceiver, referrerFee: new Decimal(takenBps).shiftedBy(-2).toFixed() };
}

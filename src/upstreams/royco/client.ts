import type { Token } from '../../catalog/types.ts';
import type { CollateralApy } from '../../domain/facts.ts';
import { gather, toBatch } from '../batch.ts';
import { type AdapterDeps, createHttp } from '../http.ts';
import type { Batch, CallOptions, CollateralApySourcePort } from '../types.ts';
import { mapVault } from './map.ts';
import { chartSchema, infoSchema } from './schema.ts';

/** Read structured-vault yields. Value and chart are two requests; a vault with only one of them fails. */
export function createRoyco(deps: AdapterDeps): CollateralApySourcePort {
  const { apiKey } = deps.config;
  const http = createHttp({
    ...deps,
    provider: 'royco',
    publicName: 'incentivemarket',
    secrets: apiKey === undefined ? {} : { headers: { 'x-api-key': apiKey } },
  });

  async function ask(token: Token, options?: CallOptions): Promise<Batch<CollateralApy>> {
    const params = { chainId: String(token.chainId), address: token.address.toLowerCase() };
    const common = { params, signal: options?.signal };
    const info = await http.request({ path: '/vault/info/:chainId/:address', ...common });
    const parsed = http.parse(infoSchema, info);
    const chart = await http.request({ path: '/chart/vault/apy/:chainId/:address/3m', ...common });
    const { apy, dropped } = mapVault(parsed, http.parse(chartSchema, chart), deps.clock.now());
    http.reportDropped('points', dropped);
    return toBatch([[token.address, apy]]);
  }

  return {
    name: 'incentivemarket',
    apys: (_chain, tokens, options) =>
      gather(
        tokens,
        (token) => [token.address],
        (token) => ask(token, options),
      ),
  };
}

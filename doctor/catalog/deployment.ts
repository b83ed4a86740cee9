import { zeroAddress } from 'viem';
import type { Chain, Market } from '../../src/catalog/types.ts';
import type { ContractDeployment } from '../../src/domain/deployment/types.ts';
import { DEPLOYMENT_KEY } from '../../src/domain/facts.ts';
import { type Line, linesOf } from '../core/types.ts';
import { summed } from './compare.ts';
import { type CatalogReading, labelOf } from './read.ts';

const AREA = 'catalog';
const WAD = 10n ** 18n;
/** Maximum fees in the published source, WAD. */
const [MAX_YIELD_FEE, MAX_DEPOSIT_FEE] = [WAD / 10n, WAD / 100n];
/** Ten points: four times the largest known buffer. */
const MAX_BUFFER = WAD / 10n;

/** Judge the values of the deployed contract: pause, buffer, fees, treasury, markets, allow-lists. */
export function judgeDeployment(chain: Chain, reading: CatalogReading): readonly Line[] {
  const on = `chain ${chain.chainId}`;
  const make = linesOf(AREA, `${on} contract flashLeverage`);
  const { deployment, marketSupport } = reading.deployment;
  const reported = deployment.values.get(DEPLOYMENT_KEY);
  if (reported === undefined) {
    const reason = deployment.failures.get(DEPLOYMENT_KEY) ?? 'missing';
    return [make.failure('answers', `its views are not readable (${reason})`, 'See the nodes of this chain above.')];
  }
  const loops = chain.markets.filter(({ kind }) => kind === 'loop');
  return [
    pauseOf(make, reported),
    bufferOf(make, reported),
    ...feesOf(make, reported),
    ...allowLists(chain, reported),
    ...summed(
      `${on} markets`,
      'supported',
      loops.map((market) => supportOf(on, market, marketSupport)),
      'are supported',
    ),
    ...summed(
      `${on} markets`,
      'max_ltv',
      loops.map((market) => maxLtvOf(on, market, reported, reading)),
      'have the expected highest LTV',
    ),
  ];
}

type Make = ReturnType<typeof linesOf>;
const UNKNOWN_VIEW =
  'Compare the contract at this address with the deployed one; until then a documented default is used.';

function pauseOf(make: Make, { isPaused }: ContractDeployment): Line {
  if (isPaused === undefined) return make.warning('paused', 'paused() does not answer', UNKNOWN_VIEW);
  return isPaused
    ? make.warning(
        'paused',
        'the contract is paused: nothing can be opened or changed',
        'Ask its owner; builds are refused until it is unpaused.',
      )
    : make.ok('paused', 'not paused');
}

function bufferOf(make: Make, { liquidationBuffer: buffer }: ContractDeployment): Line {
  if (buffer === undefined) return make.warning('buffer', 'LIQUIDATION_BUFFER() does not answer', UNKNOWN_VIEW);
  const formatted = `${percent(buffer)} points of buffer`;
  return buffer > MAX_BUFFER
    ? make.failure(
        'buffer',
        `${formatted}, which is impossible`,
        'Compare the contract at this address with the deployed one.',
      )
    : make.ok('buffer', formatted);
}

function feesOf(make: Make, { yieldFee, depositFee, treasury }: ContractDeployment): readonly Line[] {
  const one = (check: string, view: string, fee: bigint | undefined, most: bigint): Line => {
    if (fee === undefined) return make.warning(check, `${view}() does not answer`, UNKNOWN_VIEW);
    return fee > most
      ? make.failure(
          check,
          `${percent(fee)} %, above the ${percent(most)} % that the published source allows`,
          'Compare the contract with the published source before it is used.',
        )
      : make.ok(check, `${check.replace('_', ' ')} ${percent(fee)} %`);
  };
  const isNobody = treasury === undefined || treasury === zeroAddress;
  return [
    one('yield_fee', 's_yieldFee', yieldFee, MAX_YIELD_FEE),
    one('deposit_fee', 's_depositFee', depositFee, MAX_DEPOSIT_FEE),
    isNobody
      ? make.warning(
          'treasury',
          'the contract returns no treasury: the receiver of fees is unknown',
          'Ask the owner of the contract.',
        )
      : make.ok('treasury', `treasury ${treasury}`),
  ];
}

function allowLists(chain: Chain, { swapRouters, operators }: ContractDeployment): readonly Line[] {
  const on = `chain ${chain.chainId}`;
  const venues = Object.entries(chain.swapRouters).flatMap(([venue, routers]) =>
    (routers ?? []).map((address) => ({ what: `router of ${venue}`, address })),
  );
  const ours = Object.entries(chain.contracts)
    .filter(([name]) => name === 'flashLeverageRouter' || name === 'equityRouter')
    .map(([name, address]) => ({ what: `contract ${name}`, address: address as string }));
  const judge =
    (onChain: ContractDeployment['swapRouters'], view: string, refused: string) =>
    ({ what, address }: { readonly what: string; readonly address: string }): Line | undefined => {
      const found = onChain.find((entry) => entry.address === address);
      if (found?.isAllowed === true) return undefined;
      const make = linesOf(AREA, `${on} ${what}`);
      return found === undefined
        ? make.warning('allowed', `${view} does not answer for ${address}`, UNKNOWN_VIEW)
        : make.failure('allowed', `the deployed contract does not allow ${address}`, refused);
    };
  return [
    ...summed(
      `${on} routers`,
      'allowed',
      venues.map(
        judge(
          swapRouters,
          'isValidSwapRouter',
          'Ask the owner of the contract to allow this router (setSwapRouter), or take the venue out of the catalog: every build over it reverts.',
        ),
      ),
      'are on the allow-list of the deployed contract',
    ),
    ...summed(
      `${on} operators`,
      'allowed',
      ours.map(
        judge(
          operators,
          's_approvedOperators',
          'Ask the owner of the contract to approve it (setApprovedOperator): every build over it reverts.',
        ),
      ),
      'may act for users',
    ),
  ];
}

type Support = CatalogReading['deployment']['marketSupport'];

function supportOf(on: string, market: Market, { values }: Support): Line | undefined {
  const supported = values.get(market.id)?.isSupported;
  if (supported === true) return undefined;
  const make = linesOf(AREA, `${on} market ${labelOf(market)}`);
  return supported === undefined
    ? make.warning('supported', 'isSupportedMarket() does not answer', UNKNOWN_VIEW)
    : make.warning(
        'supported',
        'the deployed contract does not support it',
        'Ask its owner to enable it, or remove it from the catalog: no position can be opened.',
      );
}

function maxLtvOf(
  on: string,
  market: Market,
  { liquidationBuffer }: ContractDeployment,
  { maxLtv }: CatalogReading,
): Line | undefined {
  const onChain = maxLtv.get(market.id);
  const make = linesOf(AREA, `${on} market ${labelOf(market)}`);
  if (onChain === undefined) return make.warning('max_ltv', 'getMaxLtv() does not answer', UNKNOWN_VIEW);
  if (liquidationBuffer === undefined || onChain === market.lltv - liquidationBuffer) return undefined;
  return make.failure(
    'max_ltv',
    `getMaxLtv() is ${percent(onChain)} %, and the liquidation LTV less the buffer is ${percent(market.lltv - liquidationBuffer)} %`,
    'Compare the contract at this address with the deployed one: limits and ladders would be wrong.',
  );
}

/** WAD as percent. */
function percent(wad: bigint): string {
  return String(Number(wad / 10n ** 12n) / 10_000);
}

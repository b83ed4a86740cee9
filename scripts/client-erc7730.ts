import { mkdirSync, writeFileSync } from 'node:fs';
import { type Abi, type AbiFunction, type AbiParameter, maxUint256, zeroAddress } from 'viem';
import { equityRouterAbi } from '../src/abi/equity-router.ts';
import { flashLeverageAbi } from '../src/abi/flash-leverage.ts';
import { flashLeverageRouterAbi } from '../src/abi/flash-leverage-router.ts';
import { morphoBlueAbi } from '../src/abi/morpho-blue.ts';
import { type Chain, type ChainContracts, createCatalog, curatedChains } from '../src/catalog/index.ts';
import { type Described, ENTRY, EXIT, LEVERAGE, MORPHO, ROUTER } from './erc7730/functions.ts';

const SCHEMA = 'https://eips.ethereum.org/assets/eip-7730/erc7730-v2.schema.json';

interface DescriptorFile {
  /** Name without its extension. */
  readonly file: string;
  readonly contract: keyof ChainContracts;
  readonly name: string;
  readonly abi: Abi;
  readonly functions: Readonly<Record<string, Described>>;
}

const only = (functions: Readonly<Record<string, Described>>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(functions).filter(([name]) => names.includes(name)));
const FLAT_ROUTER = ['swapAndLeverage', 'swapAndSupplyCollateral', 'swapAndRepay'];
const NESTED_ROUTER = ['reallocateAndLeverage', 'reallocateSwapAndLeverage'];

/**
 * The descriptors of the package. Functions with a struct in a struct of a struct stand in files of their own: the schema of the
 * standard matches their signatures, and its copy in the registry of descriptors does not.
 */
export const DESCRIPTORS: readonly DescriptorFile[] = [
  {
    file: 'flash-leverage',
    contract: 'flashLeverage',
    name: 'FlashLeverage',
    abi: flashLeverageAbi,
    functions: LEVERAGE,
  },
  {
    file: 'flash-leverage-router',
    contract: 'flashLeverageRouter',
    name: 'FlashLeverageRouter',
    abi: flashLeverageRouterAbi,
    functions: only(ROUTER, FLAT_ROUTER),
  },
  {
    file: 'flash-leverage-router.nested',
    contract: 'flashLeverageRouter',
    name: 'FlashLeverageRouter',
    abi: flashLeverageRouterAbi,
    functions: only(ROUTER, NESTED_ROUTER),
  },
  { file: 'equity-router', contract: 'equityRouter', name: 'EquityRouter', abi: equityRouterAbi, functions: EXIT },
  {
    file: 'equity-router.nested',
    contract: 'equityRouter',
    name: 'EquityRouter',
    abi: equityRouterAbi,
    functions: ENTRY,
  },
  { file: 'morpho-blue', contract: 'morphoBlue', name: 'Morpho', abi: morphoBlueAbi, functions: MORPHO },
];

/** Make a descriptor. @throws Error for a function or a path that the ABI does not have */
export function renderDescriptor({ contract, name, abi, functions }: DescriptorFile, chains: readonly Chain[]): string {
  const deployed = chains.filter(({ contracts }) => contracts[contract] !== undefined);
  const deployments = deployed.flatMap(({ chainId, contracts }) => {
    const address = contracts[contract];
    return address === undefined ? [] : [{ chainId, address }];
  });
  const formats = Object.entries(functions).map(([function_, described]) => format(abi, function_, described));
  const maps = Object.fromEntries(
    formats.flatMap(({ sides }) => sides.map((side) => [mapName(side), mapOf(side, deployed)])),
  );
  const descriptor = {
    $schema: SCHEMA,
    context: { $id: name, contract: { deployments } },
    metadata: {
      owner: 'Spiral',
      contractName: name,
      enums: ENUMS,
      ...(Object.keys(maps).length === 0 ? NO_MAPS : { maps }),
    },
    display: { formats: Object.fromEntries(formats.map(({ signature, shown }) => [signature, shown])) },
  };
  return `${JSON.stringify(descriptor, null, 2)}\n`;
}

const NO_MAPS = {};
const ENUMS = {
  repaid: { '0': 'as much as is sent', [String(maxUint256)]: 'the whole debt' },
  rights: { true: 'Allow', false: 'Forbid' },
};

/** A token of a market. */
type Side = 'collateral' | 'loan';

const mapName = (side: Side) => `${side}OfMarket`;

function mapOf(side: Side, chains: readonly Chain[]) {
  const values = Object.fromEntries(
    chains.flatMap(({ markets }) => markets.map((market) => [market.id, market[side].address])),
  );
  return { $keyType: 'Market id', values };
}

function format(abi: Abi, functionName: string, { intent, sentence, fields }: Described) {
  const item = abi.find((one): one is AbiFunction => one.type === 'function' && one.name === functionName);
  if (!item) throw new Error(`The ABI has no function ${functionName}.`);
  const sides: Side[] = [];
  const shownFields = fields.map(({ path, label, as, token }) => {
    requirePath(item, path);
    if (as === 'tokenAmount' && token && 'map' in token) {
      requirePath(item, token.keyPath);
      sides.push(token.map);
      const reference = { map: `$.metadata.maps.${mapName(token.map)}`, keyPath: `#.${token.keyPath}` };
      return { path, label, format: as, params: { token: reference } };
    }
    if (as === 'tokenAmount' && token && 'path' in token) {
      requirePath(item, token.path);
      return { path, label, format: as, params: { tokenPath: token.path, nativeCurrencyAddress: zeroAddress } };
    }
    if (as === 'repaid' || as === 'rights') {
      return { path, label, format: 'enum', params: { $ref: `$.metadata.enums.${as}` } };
    }
    return as === 'addressName'
      ? { path, label, format: as, params: { types: ['wallet', 'contract'] } }
      : { path, label, format: as };
  });
  return { signature: signatureOf(item), shown: { intent, interpolatedIntent: sentence, fields: shownFields }, sides };
}

function requirePath({ name, inputs }: AbiFunction, path: string): void {
  const found = path.split('.').reduce<readonly AbiParameter[] | undefined>((members, key) => {
    const member = members?.find((one) => one.name === key);
    return member && ('components' in member ? member.components : []);
  }, inputs);
  if (!found) throw new Error(`${name} has no argument ${path}.`);
}

/** A signature as the specification writes it: names of parameters, no `tuple`, no space behind a comma. */
function signatureOf({ name, inputs }: AbiFunction): string {
  return `${name}(${inputs.map(parameterOf).join(',')})`;
}

function parameterOf(parameter: AbiParameter): string {
  const { type, name } = parameter;
  if (!('components' in parameter)) return `${type} ${name}`;
  return `(${parameter.components.map(parameterOf).join(',')})${type.slice('tuple'.length)} ${name}`;
}

/** Write the descriptors of the package. */
export function writeDescriptors(): void {
  const folder = new URL('../packages/client/erc7730/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  const { chains } = createCatalog(curatedChains);
  for (const file of DESCRIPTORS) writeFileSync(new URL(`${file.file}.json`, folder), renderDescriptor(file, chains));
}

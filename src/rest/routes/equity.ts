import { z } from 'zod';
import { EQUITY_PREFIX } from '../../shared/ids.ts';
import { includedParts, sendsCalls } from '../schemas/plan.ts';
import {
  amountText,
  paidAddressText,
  positionIndex,
  slippageNumber,
  strategyIdText,
  swapLossNumber,
} from '../schemas/transactions.ts';
import type { AnyRoute } from '../types.ts';
import { type BoundsBody, boundsVariables } from './builds.ts';
import { BUILD_ERRORS, type RouteOptions, SIMULATION_ERRORS } from './shared.ts';

const SPY_VAULT = `${EQUITY_PREFIX}0x50bc39b5722fb5634c436d74c6787f3c125b879e7b73cf9e9ecc01bbb57b8e55`;
const USER = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
const OWNER = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';
/** More loops than any wallet has; keeps one batch within the gas of a block. */
const MAX_LOOPS = 20;
const BODY = 'JSON, at most 64 KiB.';

const vaultId = strategyIdText(`Vault id from the strategies list; starts with "${EQUITY_PREFIX}".`, EQUITY_PREFIX);
const slippage = slippageNumber(0.01);

/** `chainId` of vaults: only chains that have some. Optional: the vault determines it. */
const equityChainId = (chainIds: readonly number[]) =>
  z
    .int()
    .refine((value) => chainIds.includes(value), {
      error: `expected a chain with equity vaults: ${chainIds.join(' or ')}`,
      params: { limit: { oneOf: chainIds } },
    })
    .optional()
    .meta({ type: 'integer', enum: [...chainIds], description: `Chain id: ${chainIds.join(' or ')} only.` });

/** The equity rows of the partner surface. */
export function equityRoutes({ equityChainIds, derive }: RouteOptions): AnyRoute[] {
  const chainId = equityChainId(equityChainIds);
  const deposit = {
    strategyId: vaultId,
    amount: amountText("Amount of the vault's deposit token, whole tokens. Never rounded."),
    stockLtvPct: amountText(
      "LTV of the stock leg in percent; the vault's target when left out. More than 88 % of the liquidation LTV is refused. Decimal string.",
      "the vault's `equityVault.maxStockLtvPct`",
    ).optional(),
    slippage,
    maxSwapLossPct: swapLossNumber(
      "Maximum cost of all swaps and fees together, percent of the deposit. Replaces the limits of 1 % of a swap's input and 2 % of the deposit.",
      10,
    ),
    chainId,
  };
  return [
    derive({
      method: 'POST',
      path: '/v1/partner/equity/simulate',
      surface: 'Partner',
      summary: 'Preview a deposit into an equity vault',
      description:
        'Result of a deposit at current prices: the stock leg, the yield leg and the net APY. Needs no wallet and builds nothing.',
      operation: 'EquitySimulate',
      tool: { name: 'preview_vault_deposit' },
      params: z.object({}),
      body: z.strictObject(deposit).meta({ id: 'EquitySimulateBody', description: BODY }),
      variables: ({ body }) => ({ chainId: body.chainId, input: depositVariables(body) }),
      errors: BUILD_ERRORS,
      examples: [
        { summary: 'At the target LTV', body: { strategyId: SPY_VAULT, amount: '5000' } },
        {
          summary: 'At an LTV of 40 %',
          body: { strategyId: SPY_VAULT, amount: '5000', stockLtvPct: '40', slippage: 0.005, chainId: 4663 },
        },
      ],
    }),
    derive({
      method: 'POST',
      path: '/v1/partner/equity/deposit/build',
      surface: 'Partner',
      summary: 'Build the batch of a deposit into an equity vault',
      description:
        'Unsigned calls in order: approve exactly the amount, grant, enter, revoke. The whole batch is executed in simulation before it is returned. A wallet without the funds gets it too, with a note. A wallet without batches sends the calls in order and always sends the last one.',
      operation: 'EquityDepositBuild',
      tool: { name: 'build_vault_deposit' },
      params: z.object({}),
      body: z
        .strictObject({
          ...deposit,
          userAddress: paidAddressText('The signing wallet; the stock leg and the yield loop are opened for it.'),
          include: includedParts,
        })
        .meta({ id: 'EquityDepositBuildBody', description: BODY }),
      variables: ({ body: { userAddress, include, ...body } }) => ({
        wallet: userAddress,
        chainId: body.chainId,
        input: depositVariables(body),
        sendCalls: sendsCalls(include),
      }),
      errors: [...BUILD_ERRORS, ...SIMULATION_ERRORS],
      examples: [{ summary: 'At the target LTV', body: { strategyId: SPY_VAULT, amount: '5000', userAddress: USER } }],
    }),
    ...exitRoutes(chainId, derive),
  ];
}

function exitRoutes(chainId: ReturnType<typeof equityChainId>, derive: RouteOptions['derive']): AnyRoute[] {
  const exit = z
    .strictObject({
      strategyId: vaultId,
      userAddress: paidAddressText('The signing wallet, which owns the vault.'),
      yieldPositionIds: z
        .array(positionIndex.describe('Index of a position on chain.'))
        .max(MAX_LOOPS)
        .optional()
        .describe('Yield loops to close with the stock leg; required when yieldLoopMatch is "ambiguous".'),
      slippage,
      maxSwapLossPct: swapLossNumber(
        'Maximum loss of all sales together, percent of the equity. Replaces the limit of 1 % of each sale.',
        100,
      ),
      minAmountOut: amountText(
        'Minimum proceeds of all sales together, whole deposit tokens; debts are repaid from them.',
      ).optional(),
      exact: z
        .boolean()
        .optional()
        .describe(
          'Whether the calls name the amounts of collateral that were read, so that collateral that a stranger adds meanwhile cannot make the batch revert: it stays where it is.',
        ),
      allowUnsimulated: z
        .boolean()
        .optional()
        .describe(
          'Whether the batch is built without simulation if no node of the chain can simulate; its instructions then say NOT_SIMULATED.',
        ),
      include: includedParts,
      chainId,
    })
    .meta({ id: 'EquityExitBuildBody', description: BODY });
  const simulate = derive({
    method: 'POST',
    path: '/v1/partner/equity/exit/simulate',
    surface: 'Partner',
    summary: 'Preview the exit from an equity vault',
    description:
      'The vault and its stock leg before the exit, the costs and the least payout at current prices, with the body of exit/build. Builds nothing; quotes may be up to 5 s old, see quotesAsOf.',
    operation: 'EquityExitSimulate',
    tool: { name: 'preview_vault_exit' },
    params: z.object({}),
    body: exit,
    variables: ({ body: { userAddress, include: _include, ...body } }) => ({
      wallet: userAddress,
      chainId: body.chainId,
      input: exitVariables(body),
    }),
    errors: BUILD_ERRORS,
    examples: [{ summary: 'The whole vault', body: { strategyId: SPY_VAULT, userAddress: OWNER } }],
  });
  const build = derive({
    method: 'POST',
    path: '/v1/partner/equity/exit/build',
    surface: 'Partner',
    summary: 'Build the batch that fully unwinds an equity vault',
    description:
      'Unsigned calls in order: close each yield loop, grant, take the stock leg apart, revoke. It closes the loops of yieldPositionIds, by default the loops of the vault, and no other loop. If the match is ambiguous, the request is refused with the candidates.',
    operation: 'EquityExitBuild',
    tool: { name: 'build_vault_exit' },
    params: z.object({}),
    body: exit,
    variables: ({ body: { userAddress, include, ...body } }) => ({
      wallet: userAddress,
      chainId: body.chainId,
      input: exitVariables(body),
      sendCalls: sendsCalls(include),
    }),
    errors: [...BUILD_ERRORS, ...SIMULATION_ERRORS],
    examples: [{ summary: 'The whole vault', body: { strategyId: SPY_VAULT, userAddress: OWNER } }],
  });
  return [simulate, build];
}

/** Map a deposit to the input of the schema. */
function depositVariables({ slippage: ratio, maxSwapLossPct, chainId: _chainId, ...deposit }: DepositBody) {
  return { ...deposit, ...boundsVariables({ slippage: ratio, maxSwapLossPct }) };
}

interface DepositBody extends Omit<BoundsBody, 'minAmountOut'> {
  readonly strategyId: string;
  readonly amount: string;
  readonly stockLtvPct?: string | undefined;
  readonly chainId?: number | undefined;
}

/** Map an exit to the input of the schema. */
function exitVariables({ slippage: ratio, maxSwapLossPct, minAmountOut, chainId: _chainId, ...exit }: ExitBody) {
  return {
    ...exit,
    ...boundsVariables({ slippage: ratio, maxSwapLossPct, minAmountOut }),
  };
}

interface ExitBody extends BoundsBody {
  readonly strategyId: string;
  readonly yieldPositionIds?: readonly number[] | undefined;
  readonly exact?: boolean | undefined;
  readonly allowUnsimulated?: boolean | undefined;
  readonly chainId?: number | undefined;
}

import { zeroAddress } from 'viem';
import { expect } from 'vitest';
import { labelAddress } from '../../../devnet/seed/accounts.ts';
import type { Json } from '../../support/service.ts';
import { marketOf, tokenOf } from './support.ts';

/** A name, the change to a valid body, and the refusal. */
type RefusedInput = readonly [name: string, body: Json, refusal: Json];

export const market = marketOf(1, 'sUSDe/PYUSD 91.5');

/** Changes of an opening that pays with the collateral. */
export const refusedOpenings: readonly RefusedInput[] = [
  ['both targets', { desiredLtv: '50' }, { details: { field: 'body.leverage' } }],
  ['neither target', { leverage: undefined }, { details: { field: 'body.leverage' } }],
  ['a leverage of 1', { leverage: 1 }, { details: { field: 'body.leverage' } }],
  ['an LTV of 0', { leverage: undefined, desiredLtv: '0' }, { details: { field: 'body.desiredLtv' } }],
  [
    'a leverage above the safe limit',
    { leverage: 12 },
    { details: { field: 'body.leverage', value: '12', limit: { maxLeverage: '10.5', maxLtvPct: '90.50' } } },
  ],
  [
    'an LTV above the safe limit',
    { leverage: undefined, desiredLtv: '90.51' },
    { details: { field: 'body.desiredLtv', limit: { maxLtvPct: '90.50' } } },
  ],
  ['a slippage of 0', { slippage: 0 }, { details: { field: 'body.slippage' } }],
  ['a negative slippage', { slippage: -0.01 }, { details: { field: 'body.slippage' } }],
  [
    'more decimals than the token has',
    { payToken: tokenOf(1, 'USDC').address, amount: '1.0000001' },
    { details: { field: 'body.amount', limit: { maxDecimals: 6 } } },
  ],
  ['an amount in exponent form', { amount: '1e3' }, { details: { field: 'body.amount' } }],
  ['an amount of 0', { amount: '0' }, { details: { field: 'body.amount' } }],
  ['a negative amount', { amount: '-5' }, { details: { field: 'body.amount' } }],
  ['dust', { amount: '0.000000000001' }, { details: { field: 'body.amount' } }],
  ['a leverage that borrows next to nothing', { leverage: 1.00000001 }, { details: { field: 'body.amount' } }],
  ['an unknown strategy', { strategyId: `0x${'12'.repeat(32)}` }, { details: { field: 'body.strategyId' } }],
  ['a malformed strategy', { strategyId: '0x12' }, { details: { field: 'body.strategyId' } }],
  [
    'a chain that contradicts the strategy',
    { chainId: 4663 },
    { details: { field: 'body.chainId', value: '4663', limit: { oneOf: [1] } } },
  ],
  [
    'an equity vault',
    { chainId: 4663, strategyId: `equity-${marketOf(4663, 'SPY/USDG 62.5 Longbow').id}` },
    { details: { field: 'body.strategyId', limit: { use: '/v1/partner/equity/simulate' } } },
  ],
  ['a leverage beyond all numbers', { leverage: 1e300 }, { details: { field: 'body.leverage', value: '1e+300' } }],
  ['an amount beyond all tokens', { amount: '9'.repeat(40) }, { details: { field: 'body.amount', limit: {} } }],
  ['a chain that is not served', { chainId: 10 }, { details: { field: 'body.chainId' } }],
  ['a pay token that is none', { payToken: labelAddress('no token') }, { details: { field: 'body.payToken' } }],
  [
    'a field that does not exist',
    { slipage: 0.01 },
    {
      details: {
        field: 'body.slipage',
        value: '0.01',
        limit: {
          oneOf: [
            'strategyId',
            'payToken',
            'amount',
            'leverage',
            'desiredLtv',
            'slippage',
            'maxSwapLossPct',
            'minAmountOut',
            'chainId',
          ],
        },
      },
    },
  ],
  [
    'a matured principal token',
    { strategyId: marketOf(1, 'PT-stcUSD/USDC 91.5').id, payToken: tokenOf(1, 'USDC').address },
    { details: { reason: 'matured' } },
  ],
  [
    'a collateral without a swap route',
    { strategyId: marketOf(1, 'sNUSD/USDC 91.5').id, payToken: tokenOf(1, 'USDC').address },
    { details: { reason: 'no_swap_route' } },
  ],
];

/** Changes of an open position with id 0. */
export const refusedChanges: readonly RefusedInput[] = [
  ['an unknown action', { action: 'liquidate' }, { details: { field: 'body.action' } }],
  ['an unknown position', { action: 'close', id: 77 }, { details: { field: 'body.id', value: '77' } }],
  ['a close with a target', { action: 'close', leverage: 2 }, { details: { field: 'body.leverage' } }],
  ['an increase without a target', { action: 'increase_leverage' }, { details: { field: 'body.leverage' } }],
  [
    'an increase with both targets',
    { action: 'increase_leverage', leverage: 4, desiredLtv: '80' },
    { details: { field: 'body.leverage' } },
  ],
  ['an increase that is none', { action: 'increase_leverage', leverage: 2 }, { details: { reason: 'nothing_to_do' } }],
  [
    'an increase above the safe limit',
    { action: 'increase_leverage', leverage: 11 },
    { details: { limit: { maxLeverage: '10.5' } } },
  ],
  [
    'added collateral without a token',
    { action: 'add_collateral', amount: '5' },
    { details: { field: 'body.payToken' } },
  ],
  [
    'added collateral without an amount',
    { action: 'add_collateral', payToken: zeroAddress },
    { details: { field: 'body.amount' } },
  ],
  ['a repayment without anything', { action: 'repay' }, { details: { field: 'body.amount' } }],
  ['a repayment without a token', { action: 'repay', amount: '5' }, { details: { field: 'body.payToken' } }],
  ['full with another action', { action: 'borrow', amount: '5', full: true }, { details: { field: 'body.full' } }],
  [
    'a repayment above the debt',
    { action: 'repay', amount: '9000', payToken: market.loan.address },
    { details: { field: 'body.amount', limit: { maxAmount: expect.any(String) } } },
  ],
  [
    'removing above the safe LTV',
    { action: 'remove_collateral', amount: '290' },
    { details: { field: 'body.amount', limit: { maxAmount: expect.any(String), maxLtvPct: '90.5' } } },
  ],
  [
    'borrowing above the safe LTV',
    { action: 'borrow', amount: '5000' },
    { details: { field: 'body.amount', limit: { maxAmount: expect.any(String) } } },
  ],
  [
    'more decimals than the loan token has',
    { action: 'borrow', amount: '0.0000001' },
    { details: { limit: { maxDecimals: 6 } } },
  ],
];

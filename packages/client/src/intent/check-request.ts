import { trustedMarketOf, trustedVaultOf } from '../verify/trusted.ts';
import type { TrustedChain } from '../verify/types.ts';
import { requireChain } from './derive.ts';
import { lacking, needed, positionOf, targetOf, unitsOf } from './fields.ts';
import { type BuildRequest, fieldsOf, type RequestFields } from './request.ts';

/**
 * Check what a request says by itself, before a node is read.
 *
 * @throws VerificationError as `deriveIntent` does
 */
export function checkRequest(request: BuildRequest, chain: TrustedChain): void {
  const { row } = request;
  const fields = fieldsOf(request);
  const amountOf = (token: string) => unitsOf(chain, token, needed(fields.amount, 'amount'));
  requireChain(row, { chain, fields });
  switch (row) {
    case 'leverageBuild':
      trustedMarketOf(chain, needed(fields.strategyId, 'strategyId'));
      amountOf(needed(fields.payToken, 'payToken'));
      targetOf(fields);
      break;
    case 'manageBuild':
      positionOf(fields);
      checkAction(fields, amountOf);
      break;
    case 'equityDepositBuild': {
      const { vault } = trustedVaultOf(chain, needed(fields.strategyId, 'strategyId'));
      amountOf(trustedMarketOf(chain, vault.stockMarketId).loanToken);
      break;
    }
    case 'equityExitBuild':
      trustedVaultOf(chain, needed(fields.strategyId, 'strategyId'));
  }
}

function checkAction(fields: RequestFields, amountOf: (token: string) => bigint): void {
  switch (fields.action) {
    case 'increase_leverage':
      targetOf(fields);
      break;
    case 'add_collateral':
      amountOf(needed(fields.payToken, 'payToken'));
      break;
    case 'repay':
      if (fields.full !== true) amountOf(needed(fields.payToken, 'payToken'));
      break;
    case 'remove_collateral':
    case 'borrow':
      needed(fields.amount, 'amount');
      break;
    case 'close':
      break;
    default:
      throw lacking(`a known action (it is ${fields.action})`);
  }
}

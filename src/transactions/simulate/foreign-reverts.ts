import { NEXT_STEPS, type RevertReason, reasonsOf } from './revert-reason.ts';

const morpho = reasonsOf('Morpho', false);
const morphoCurable = reasonsOf('Morpho', true);
const allocator = reasonsOf('Public allocator', false);
const allocatorCurable = reasonsOf('Public allocator', true);
const token = reasonsOf('Token', false);
const venue = reasonsOf('Swap venue', true);
const language = reasonsOf('Solidity', false);
const matured = reasonsOf('Swap venue', false);

/** Reverts of the lending protocol, tokens, venues and the language. */
export const FOREIGN_REVERTS: readonly RevertReason[] = [
  morpho(
    'unauthorized',
    'The caller may not act on this position in Morpho: the authorization was not granted, or was revoked.',
    'Send the calls of the batch in their order, the authorization first.',
  ),
  morpho(
    'insufficient collateral',
    'The position would end above its liquidation LTV.',
    'Ask for less debt or more collateral.',
  ),
  morphoCurable(
    'insufficient liquidity',
    'The market lends less than is borrowed.',
    'Build again for a reallocation, or ask for less.',
  ),
  morpho(
    'inconsistent input',
    'Both or neither of assets and shares were given, or there is no debt to repay.',
    'Read the position again.',
  ),
  morpho('zero assets', 'An amount is zero.', 'Send an amount above zero.'),
  morpho('zero address', 'An address is zero.', NEXT_STEPS.report),
  morpho('market not created', 'Morpho does not know the market.', 'Choose a strategy of this chain.'),
  morpho('position is healthy', 'The position cannot be liquidated.', 'Nothing to do.'),
  morpho('max uint128 exceeded', 'An amount is larger than Morpho takes.', 'Ask for less.'),
  morpho('already set', 'The authorization is set already.', 'Leave out the call that sets it.'),
  morphoCurable(
    'transfer reverted',
    'Morpho could not pay out: it holds less of the token than the amount, or the token refuses.',
    'Build again, or ask for less.',
  ),
  morphoCurable('transfer returned false', 'A token refused to be paid out.', 'Build again, or ask for less.'),
  morphoCurable(
    'transferFrom reverted',
    'Morpho could not collect its debt: the proceeds of a swap do not cover the debt and its flash loan, or a repayment is short of the debt and the deposit fee.',
    'Build again; if it stays, the position is worth less than its debt, or more has to be sent.',
  ),
  morphoCurable('transferFrom returned false', 'Morpho could not collect its debt.', NEXT_STEPS.again),
  allocator(
    'MarketNotEnabled',
    'The vault does not supply this market.',
    'Build again for another reallocation, or ask for less.',
  ),
  allocator('WithdrawZero', 'A reallocation of nothing.', NEXT_STEPS.report),
  allocator('InconsistentWithdrawals', 'The withdrawals are not sorted by market.', NEXT_STEPS.report),
  allocator('DepositMarketInWithdrawals', 'The market to fill is among those to take from.', NEXT_STEPS.report),
  allocatorCurable(
    'MaxOutflowExceeded',
    'The vault lets less out of a market than the reallocation takes.',
    NEXT_STEPS.again,
  ),
  allocatorCurable(
    'MaxInflowExceeded',
    'The vault lets less into the market than the reallocation brings.',
    NEXT_STEPS.again,
  ),
  allocatorCurable('NotEnoughSupply', 'The vault has less in a market than the reallocation takes.', NEXT_STEPS.again),
  allocatorCurable('IncorrectFee', 'The vault has changed its fee.', NEXT_STEPS.again),
  token(
    ['ERC20InsufficientBalance', 'ERC20: transfer amount exceeds balance', 'Dai/insufficient-balance'],
    'A balance is lower than the amount to send.',
    'Send less, or fund the wallet.',
  ),
  token(
    [
      'ERC20InsufficientAllowance',
      'ERC20: transfer amount exceeds allowance',
      'ERC20: insufficient allowance',
      'Dai/insufficient-allowance',
    ],
    'An allowance is lower than the amount to send.',
    'Sign the approvals first.',
  ),
  token('Pausable: paused', 'The token is paused by its issuer.', NEXT_STEPS.later),
  token(
    'Blacklistable: account is blacklisted',
    'The issuer of the token blocks an address.',
    'Use another wallet or token.',
  ),
  venue(
    ['Return amount is not enough', 'Min return not reached'],
    'The swap gives less than its minimum.',
    NEXT_STEPS.again,
  ),
  venue(
    ['Slippage: …', 'RouterInsufficientTokenOut', 'RouterInsufficientSyOut'],
    'The swap of a principal token gives less than its minimum.',
    NEXT_STEPS.again,
  ),
  venue('RouterInsufficientPtOut', 'The swap gives fewer principal tokens than its minimum.', NEXT_STEPS.again),
  venue('ApproxFail', 'The size of a swap of principal tokens could not be found.', NEXT_STEPS.again),
  matured(
    'MarketExpired',
    'The principal token has matured: its market is closed.',
    'Close the position; new ones are not opened.',
  ),
  language(
    'Panic',
    'A calculation failed in a contract: mostly an index that does not exist (0x32), or an amount below zero (0x11).',
    'Read the positions of the wallet again.',
  ),
].flat();

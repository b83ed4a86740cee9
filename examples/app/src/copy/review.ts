import type { Plan, PlanProof } from '../client.ts';
import { amount, fromUnits, ltv, percent } from './numbers.ts';
import { readable, stepName, symbolAt, tokenAt } from './words.ts';

type Proof = PlanProof;
type Verified = Proof['spendsAtMost'][number];

/** What a person has to know before he signs, from the proof of the plan. */
export interface Review {
  /** What the calls do. */
  readonly effects: readonly string[];
  readonly facts: readonly (readonly [string, string])[];
  /** Who may take what, and until when. */
  readonly permissions: readonly string[];
  /** Every sentence of the proof. */
  readonly proof: readonly string[];
}

export function reviewOf(proof: Proof): Review {
  const { chainId, owner } = proof;
  const text = ({ token, amount: units, text: exact }: Verified) => amountOf(chainId, token, units, exact);
  const sentences = proof.sentences.map((sentence) =>
    readable(sentence, chainId, owner).replaceAll('its owner', 'your wallet').replace(' of your wallet with', ' with'),
  );
  const { position, swapsLoseAtMost: loss, highCost } = proof;
  const row = (name: string, value: string | undefined): readonly (readonly [string, string])[] =>
    value === undefined ? [] : [[name, value]];
  return {
    effects: sentences.filter((sentence) => !ABOUT_ALL.test(sentence) && !ABOUT_RIGHTS.test(sentence)),
    facts: [
      ...(proof.spendsAtMost.length === 0
        ? row('Your wallet pays', 'nothing')
        : row('Your wallet pays at most', proof.spendsAtMost.map(text).join(' and '))),
      ...(proof.receivesAtLeast.length === 0
        ? []
        : row('Your wallet receives at least', proof.receivesAtLeast.map(text).join(' and '))),
      ...row('LTV at most', position && ltv(position.ltvAtMostPct)),
      ...row('Swaps lose at most', loss && `${text(loss.amount)}${shareOf(loss.ofEquityPct)}`),
      ...row('Expected cost is high', highCost && `${text(highCost.amount)}${shareOf(highCost.ofEquityPct)}`),
    ],
    permissions: rightsOf(proof),
    proof: sentences,
  };
}

const ABOUT_ALL =
  /^(It spends|The wallet receives|By your readings|The rights that|It authorizes|It acts for|It pays|It receives)/;
const ABOUT_RIGHTS = /^(Allows |Lets |Revokes |Takes the right)/;

const shareOf = (pct: string): string => (pct === 'unbounded' ? '' : ` (${percent(pct)} of your money)`);

function amountOf(chainId: number, address: string, units: bigint, exact: string): string {
  const token = tokenAt(chainId, address);
  return token === undefined ? readable(exact, chainId) : amount(fromUnits(units, token.decimals), token.symbol);
}

function rightsOf({ authorizes, chainId }: Proof): readonly string[] {
  if (authorizes.length === 0) return ['None: nobody may take anything of yours.'];
  return authorizes.map((right) => {
    const until =
      right.until === undefined ? 'the rest stays allowed' : `it ends with step ${right.until.callIndex + 1}`;
    if (right.kind === 'morpho') {
      return `${sentence(readable(right.authorized, chainId))} may act on your own lending position: ${until}.`;
    }
    const { token, amount: units, text } = right.amount;
    return `${sentence(readable(right.spender, chainId))} may take ${amountOf(chainId, token, units, text)}: ${until}.`;
  });
}

export const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const APPROVE = '0x095ea7b3';
const AUTHORIZE = '0xeecea000';
const REVOKED = /0{64}$/;

/** The calls of a plan, in the order in which they are signed. */
export function stepsOf(plan: Plan): readonly string[] {
  const calls = 'calls' in plan ? plan.calls : [...plan.approvals, plan.tx];
  return calls.map(({ to, data }) => {
    if (data.startsWith(APPROVE) && data.length === 138) {
      const units = BigInt(`0x${data.slice(74)}`);
      const token = tokenAt(plan.chainId, to);
      if (units === 0n) return `Take back the allowance of ${symbolAt(plan.chainId, to)}`;
      return token === undefined
        ? 'Allow the payment'
        : `Allow exactly ${amount(fromUnits(units, token.decimals), token.symbol)}`;
    }
    if (data.startsWith(AUTHORIZE))
      return REVOKED.test(data) ? 'Take the right of the router back' : 'Let the router act once';
    return stepName(plan.action);
  });
}

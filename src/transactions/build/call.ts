import type { Address, Hex } from '../../shared/ids.ts';
import type { BuiltCall } from '../types.ts';

/** Freeze one unsigned call with what it does in words. */
export function builtCall<const T extends string, A>(
  to: Address,
  data: Hex,
  value: bigint,
  type: T,
  args: A,
): BuiltCall<T, A> {
  return Object.freeze({ to, data, value, action: Object.freeze({ type, args: Object.freeze(args) as A }) });
}

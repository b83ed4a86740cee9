/**
 * A value that may have to be waited for. Most are there at once, and a promise for each would cost more than the value. A failure
 * is always a rejected promise.
 */
export type Awaitable<T> = T | Promise<T>;

/** Continue with a value: at once when it is there. */
export function andThen<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Values that may be there already, as waiting for one that is costs as much as a small statement of the database. */

/** A value, or the promise of one; `await` takes either. */
export type Soon<T> = T | Promise<T>

/** Gives a value to `use`, at once where it is there. */
export function whenThere<T, R>(value: Soon<T>, use: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(use) : use(value)
}

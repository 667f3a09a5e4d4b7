/** Requires that a record exists. */
import { notFound } from '../platform/errors.ts'

/** Returns the record, or throws not_found naming the requested id. */
export function requireRecord<T>(record: T | null, what: string, id: string): T {
  if (record === null) throw notFound(`There is no ${what} ${id}`)
  return record
}

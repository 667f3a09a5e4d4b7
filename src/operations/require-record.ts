/** A record that must exist. */
import { notFound } from '../errors.ts'

/** The record, or not_found naming what was asked for. */
export function requireRecord<T>(record: T | null, what: string, id: string): T {
  if (record === null) throw notFound(`There is no ${what} ${id}`)
  return record
}

/** The API's answer to a request that builds: unsigned transactions, and what is tracked once they are confirmed. */
import type { TrackedResource } from '../../src/api/payloads.ts'

/** One transaction, or several in the order in which they must be confirmed. */
export type BuiltTransactions = { tracked_resource?: TrackedResource | undefined } & (
  | { transaction: string }
  | { transactions: readonly string[] }
)

/** The `tracked_resource` field of a submitted body or a printed answer; omitted where nothing is tracked. */
export const trackedField = ({ tracked_resource }: { tracked_resource?: TrackedResource | undefined }) =>
  tracked_resource === undefined ? {} : { tracked_resource }

export const transactionsOf = (built: BuiltTransactions): readonly string[] =>
  'transactions' in built ? built.transactions : [built.transaction]

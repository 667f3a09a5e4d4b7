/** Describes the API's answer to a build: unsigned transactions, and what is tracked once they are confirmed. */
import type { ProposalCreation, TrackedResource } from '../../src/api/payloads.ts'
import type { ShownGuards } from './guard-lines.ts'
import type { PrintedLifetime } from './lifetime.ts'

/** One transaction, or several in the order in which they must be confirmed. */
export type BuiltTransactions = {
  tracked_resource?: TrackedResource | undefined
  /** Block height after which none of them can land. */
  last_valid_block_height?: number | undefined
  /** Generated keys, encrypted by the API, which signs with them again after a fresh blockhash. */
  generated_keys?: string | undefined
  guard?: ShownGuards['reported']
  /** If the vault of a multisig acts: the proposal of what was built. */
  proposal?: ProposalCreation | undefined
} & ({ transaction: string } | { transactions: readonly string[] })

/** The `tracked_resource` field of a submitted body or a printed answer; omitted if nothing is tracked. */
export const trackedField = ({ tracked_resource }: { tracked_resource?: TrackedResource | undefined }) =>
  tracked_resource === undefined ? {} : { tracked_resource }

/** The fields of a printed build that `svc tx refresh` and the text about its lifetime need. */
export const lifetimeFields = (
  { last_valid_block_height, generated_keys }: Partial<BuiltTransactions>,
  printed: PrintedLifetime = {},
) => ({
  ...(last_valid_block_height === undefined ? {} : { last_valid_block_height }),
  ...printed,
  ...(generated_keys === undefined ? {} : { generated_keys }),
})

/** An answer of which the transaction is a part, as one record. */
export type Flat<D extends { tx: object }> = D['tx'] & Omit<D, 'tx'>
export const flat = <D extends { tx: object }>({ data: { tx, ...data } }: { data: D }): { data: Flat<D> } => ({
  data: { ...tx, ...data },
})

export const transactionsOf = (built: BuiltTransactions): readonly string[] =>
  'transactions' in built ? built.transactions : [built.transaction]

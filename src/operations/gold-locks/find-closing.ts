/** Finds the transaction that closed a lock, so that its event is the same whoever observes it first. */
import type { Chain } from '../../chain/connection.ts'
import { NodeRefusal } from '../../chain/nodes/node-call.ts'
import { askNode } from '../../chain/nodes/rpc-faults.ts'
import { goldLockChangesIn } from '../../chain/programs/jupiter-lock/index.ts'
import type { ChainEvidence } from '../../following/chain-drafts.ts'
import { internal } from '../../platform/errors.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import type { Row } from '../../store/schema.ts'

/** Transactions that are examined, newest first. Few others concern a lock. */
const CLOSINGS_LOOKED_INTO = 5
const SIGNATURES_LISTED = 25
/** Error codes of nodes without this history: method not found, and codes of Agave. */
const WITHOUT_HISTORY = [-32601, -32010, -32011]
/** Agave's code for a transaction of a later version than the client reads. */
const UNSUPPORTED_VERSION = -32015
/** Latest version that `decodeWireTransaction` reads. */
const READ_VERSION = 1

interface ListedSignature {
  signature: string
  slot: number
  err: unknown
}

/**
 * Returns null if none of the latest transactions closed it by its own instruction. Throws internal_error when the
 * node fails, and if no readable transaction closed it but one has an unreadable version.
 */
export async function findClosing(
  chain: Chain,
  { escrow, slot }: Pick<Row<'gold_locks'>, 'escrow' | 'slot'>,
): Promise<ChainEvidence | null> {
  const options = { limit: SIGNATURES_LISTED, commitment: 'confirmed' }
  const listed = await askHistory<ListedSignature[]>(chain, 'getSignaturesForAddress', [escrow, options])
  if (!Array.isArray(listed)) return null
  const later = listed.filter((each) => each.err === null && each.slot > slot)
  // The oldest one counts, because newer ones belong to later locks.
  const unread: string[] = []
  for (const { slot, signature } of later.slice(-CLOSINGS_LOOKED_INTO).reverse()) {
    const isClosing = await closes(chain, signature, escrow)
    if (isClosing === true) return { slot: Number(slot), signature }
    if (isClosing === null) unread.push(signature)
  }
  if (unread.length === 0) return null
  throw internal(
    `The transaction that closed the lock ${escrow} is not known: ${unread.join(', ')} has a later version than ${READ_VERSION}, which this svc cannot read; update svc`,
  )
}

/** Returns null for a transaction of a version that the node does not show to this client. */
async function closes(chain: Chain, signature: string, escrow: string): Promise<boolean | null> {
  const options = { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: READ_VERSION }
  let found: { transaction?: [string]; meta?: { err?: unknown } | null } | null
  try {
    found = await askHistory(chain, 'getTransaction', [signature, options])
  } catch (error) {
    const { cause } = error as Error
    if (cause instanceof NodeRefusal && cause.code === UNSUPPORTED_VERSION) return null
    throw error
  }
  const bytes = found?.transaction?.[0]
  // A transaction in a block that failed, or was not executed at all (SIMD-0290), closed nothing.
  if (typeof bytes !== 'string' || (found?.meta?.err ?? null) !== null) return false
  const shown = decodeWireTransaction(Buffer.from(bytes, 'base64'))
  if (shown.signature !== signature) throw internal(`The RPC node answered with another transaction than ${signature}`)
  const changes = goldLockChangesIn(shown.message, undefined)
  return changes.some((change) => change.kind === 'unlocked' && change.escrow === escrow)
}

/** Returns null when the node has no such history. Temporary errors are thrown. */
function askHistory<T>(chain: Chain, method: string, params: readonly unknown[]): Promise<T | null> {
  return askNode('Reading the transactions of a gold lock', async () => {
    try {
      return await chain.call<T | null>(method, params)
    } catch (error) {
      if (error instanceof NodeRefusal && WITHOUT_HISTORY.includes(error.code)) return null
      throw error
    }
  })
}

/** Finds pending transactions of this service that concern an airdrop, by their tracked resource or their own bytes. */

import { type DistributorChange, distributorChangesIn } from '../../chain/programs/merkle-distributor/index.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { Reader } from '../../store/store.ts'
import { unconfirmedTransactions } from '../../store/transactions/transactions.ts'
import { keyBytesOf } from '../merkle-trees/open-tree.ts'

export interface Pending {
  signature: string
  tracked_id: string | null
  /** Time of submission in Unix milliseconds. */
  created_at: number
  /** Changes to airdrops by the transaction's own instructions. */
  changes: DistributorChange[]
}

/** Returns the transactions of one chain that were submitted after `since`, in Unix milliseconds. */
export async function pendingTransactions(reader: Reader, genesis: string, since: number): Promise<Pending[]> {
  const program = Buffer.from(keyBytesOf(PROGRAMS.distributor.id))
  const rows = await unconfirmedTransactions(reader, genesis, since)
  return rows.map(({ raw, ...row }) => {
    const changes = raw.includes(program) ? distributorChangesIn(decodeWireTransaction(raw).message) : []
    return { ...row, changes }
  })
}

/**
 * The tracked resource counts too, because the bytes show neither calls of other programs nor accounts from lookup
 * tables.
 */
export const isAbout = ({ tracked_id, changes }: Pending, id: string, distributor: string): boolean =>
  tracked_id === id || changes.some((change) => change.distributor === distributor)

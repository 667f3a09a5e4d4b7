/**
 * Proves that transactions are lost with their fork. A single node that does not know them may lag or keep no history.
 */
import type { Chain } from '../../chain/connection.ts'
import { readFirstBlock, readStatuses } from '../../chain/reads/statuses.ts'

/**
 * Slots after which a transaction that no node knows is lost. This exceeds the time to finality, because nodes may lag.
 */
export const GONE_SLOTS = 150
/** Calls of one proof to each node. */
export const PROOF_CALLS = 2

interface FoundRow {
  seq: number
  signature: string
  slot: number
}

/**
 * Returns the `seq` of the rows (at most 256) that no asked node knows, although each node is far enough and its
 * history begins before them. Two endpoints must agree; the only node of a cluster proves nothing. Throws
 * internal_error when the node fails.
 */
export async function goneAmong(
  chain: Pick<Chain, 'witnesses' | 'provesAbsence'>,
  rows: readonly FoundRow[],
): Promise<Set<number>> {
  if (!chain.provesAbsence) return new Set()
  const signatures = rows.map(({ signature }) => signature)
  const readings = await chain.witnesses(async (node) => {
    const historyStart = await readFirstBlock(node)
    return { historyStart, ...(await readStatuses(node, signatures, true)) }
  })
  const gone = rows.filter(
    (row, i) =>
      readings.length > 0 &&
      readings.every(
        ({ slot, statuses, historyStart }) =>
          statuses[i] === null && slot > row.slot + GONE_SLOTS && historyStart <= row.slot,
      ),
  )
  return new Set(gone.map(({ seq }) => seq))
}

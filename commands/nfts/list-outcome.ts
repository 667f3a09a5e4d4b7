/** The result of every row of a list, as records, as a table and as counts. */
import type { CommandOutcome } from '../command.ts'
import { EXIT } from '../ui/problem.ts'
import type { MintRow } from './list-plan.ts'
import type { MintList } from './mint-rows.ts'

/**
 * The most rows that a table lists; of a longer list only the counts are shown, unless JSON or plain output is
 * requested.
 */
const LISTED_ROWS = 40

export function mintListOutcome(
  rows: readonly MintRow[],
  list: MintList,
  journal: string,
  notes: readonly string[] = [],
): CommandOutcome {
  const count = (status: MintRow['status']) => rows.filter((row) => row.status === status).length
  const [minted, already, submitted, left] = [
    count('minted'),
    count('there already'),
    count('submitted'),
    count('to mint'),
  ]
  const failed = rows.filter(({ status }) => status === 'failed')
  const parts = [
    `${minted} minted`,
    ...(already === 0 ? [] : [`${already} there already`]),
    ...(submitted === 0 ? [] : [`${submitted} submitted and not waited for`]),
    ...(left === 0 ? [] : [`${left} to mint`]),
    ...(failed.length === 0 ? [] : [`${failed.length} failed: run the same command again for what is left`]),
  ]
  return {
    data: {
      collection: list.collection,
      journal,
      total: rows.length,
      minted,
      there_already: already,
      submitted,
      to_mint: left,
      failed: failed.length,
      nfts: rows.map(({ line, name, owner, status, error, ...row }) => ({
        line,
        name,
        owner,
        asset: addressIn(row, status),
        status,
        error,
      })),
    },
    rows: {
      columns: ['line', 'name', 'asset', 'status'],
      rows: rows.map(({ line, name, status, ...row }) => [line, name, addressIn(row, status), status]),
    },
    ...(rows.length > LISTED_ROWS ? { text: `${parts.join(', ')} of ${rows.length}` } : {}),
    notes: [
      ...failed.slice(0, LISTED_ROWS).map(({ line, error }) => `${list.file}:${line}:1: ${error}`),
      `${rows.length > LISTED_ROWS ? '' : `${parts.join(', ')} of ${rows.length}. `}Journal: ${journal}`,
      ...notes,
    ],
    exitCode: failed.length === 0 ? EXIT.done : EXIT.failed,
  }
}

/** The asset's address; null before it is minted, because the seed is final only once the journal is written. */
const addressIn = ({ asset }: Pick<MintRow, 'asset'>, status: MintRow['status']) =>
  status === 'to mint' ? null : asset

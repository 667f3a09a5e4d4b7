/** Converts rows of holder snapshots to the records of the API. */
import type { HolderSnapshot, SnapshotHolder } from '../../api/holder-snapshots.ts'
import { type HolderRows, holderAddress, holderAt, NO_PROGRAM } from '../../merkle/allocation/holder-rows.ts'
import { keyToBase58 } from '../../merkle/base58.ts'
import { isoTime } from '../../platform/timing.ts'
import type { HolderSnapshotRow } from '../../store/resources/holder-snapshots.ts'
import { fromJson, fromJsonOrNull, isoTimeOrNull } from '../api-records.ts'

export const holderSnapshotRecord = (row: HolderSnapshotRow): HolderSnapshot => ({
  id: row.id,
  mint: row.mint,
  collection: row.collection,
  token_program: row.token_program,
  decimals: row.decimals,
  slot: row.slot,
  block_time: isoTimeOrNull(row.block_time),
  supply: row.supply,
  accounts: row.accounts,
  holders: row.holders,
  withheld: row.withheld,
  confidential: row.confidential,
  owners: row.owners,
  kinds: fromJson(row.kinds_json),
  programs: fromJson(row.programs_json),
  pieces: row.pieces,
  holders_sha256: row.holders_sha256,
  external_uid: row.external_uid,
  metadata: fromJsonOrNull(row.metadata_json),
  created_at: isoTime(row.created_at),
})

/** The program is null if the owner is not a program's, or if the snapshot does not list that program. */
export function snapshotHolderRecord(rows: HolderRows, index: number, programs: readonly string[]): SnapshotHolder {
  const { amount, kind, program, isFrozen } = holderAt(rows, index)
  return {
    wallet: keyToBase58(holderAddress(rows, index)),
    amount: amount.toString(),
    kind,
    program: program >= NO_PROGRAM ? null : (programs[program] ?? null),
    frozen: isFrozen,
  }
}

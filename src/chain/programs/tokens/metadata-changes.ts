/**
 * Reads which Metaplex metadata a transaction makes immutable or gives to another authority, by instructions that name
 * the metadata but not always its mint.
 */
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { TOKEN_METADATA } from '../../../solana/programs/token-metadata.ts'

export interface MetadataChange {
  /** Address of the metadata. */
  metadata: string
  /** Whether it becomes immutable. Otherwise, it gets another update authority or other texts. */
  isFrozen: boolean
}

/** Returns the changes in the order of the instructions, whether or not the transaction succeeds. */
export function metadataChangesIn(message: DecodedMessage): MetadataChange[] {
  return TOKEN_METADATA.callsIn(message).flatMap((call): MetadataChange[] => {
    const { metadata } = call.accounts
    if (call.name === 'create_metadata_account_v3' || metadata === undefined || call.args === null) return []
    const changes = (call.name === 'update' ? call.args.update_args.value : call.args) as UpdatedParts
    const isFrozen = changes.is_mutable === false
    const isOther = changes.new_update_authority !== null || (changes.data ?? null) !== null
    return isFrozen || isOther ? [{ metadata, isFrozen }] : []
  })
}

/** The parts of both updates that count; null for one that stays. A delegate's update has no data. */
interface UpdatedParts {
  new_update_authority: string | null
  data?: object | null
  is_mutable: boolean | null
}

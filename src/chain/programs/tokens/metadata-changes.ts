/**
 * Reads which Metaplex metadata a transaction makes immutable or gives to another authority, by instructions that name
 * the metadata but not always its mint.
 */

import { borshReader } from '../../../solana/borsh.ts'
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { PROGRAMS } from '../../../solana/programs.ts'

/** First byte of the data (mpl-token-metadata, `MetadataInstruction`), and the place of the metadata account. */
const [UPDATE_METADATA_ACCOUNT_V2, UPDATE] = [15, 50]
const METADATA_PLACE: ReadonlyMap<number | undefined, number> = new Map([
  [UPDATE_METADATA_ACCOUNT_V2, 0],
  [UPDATE, 4],
])
/** Variants of `UpdateArgs` that can do either: V1, AsUpdateAuthorityV2, AsAuthorityItemDelegateV2. */
const AS_ITEM_DELEGATE = 2

export interface MetadataChange {
  /** Address of the metadata. */
  metadata: string
  /** Whether it becomes immutable. Otherwise, it gets another update authority or other texts. */
  isFrozen: boolean
}

/** Returns the changes in the order of the instructions, whether or not the transaction succeeds. */
export function metadataChangesIn({ keys, instructions }: DecodedMessage): MetadataChange[] {
  return instructions.flatMap(({ programIdIndex, accounts, data }) => {
    if (keys[programIdIndex] !== PROGRAMS.tokenMetadata.id) return []
    const metadata = keys[accounts[METADATA_PLACE.get(data[0]) ?? -1] ?? -1]
    const change = metadata === undefined ? null : changeIn(data)
    if (metadata === undefined || change === null || !(change.isFrozen || change.isHanded || change.isRenamed))
      return []
    return [{ metadata, isFrozen: change.isFrozen }]
  })
}

/** Null for data that the program would refuse. */
function changeIn(data: Uint8Array): { isFrozen: boolean; isHanded: boolean; isRenamed: boolean } | null {
  const fields = borshReader(data)
  let [isHanded, isRenamed] = [false, false]
  const option = (read: () => void): boolean => {
    const isSet = fields.u8() !== 0
    if (isSet) read()
    return isSet
  }
  const key = () => {
    isHanded = option(() => fields.take(32))
  }
  const texts = () => {
    isRenamed = true
    for (let n = 0; n < 3; n++) fields.string()
    fields.take(2)
    option(() => fields.take(fields.u32() * 34))
  }
  try {
    if (fields.u8() === UPDATE_METADATA_ACCOUNT_V2) {
      option(() => {
        texts()
        option(() => fields.take(33))
        option(() => fields.take(17))
      })
      key()
    } else {
      const variant = fields.u8()
      if (variant > AS_ITEM_DELEGATE) return null
      key()
      if (variant !== AS_ITEM_DELEGATE) option(texts)
    }
    // Whether the primary sale has happened comes before whether the metadata is mutable.
    option(() => fields.u8())
    return { isHanded, isRenamed, isFrozen: fields.u8() === 1 && fields.u8() === 0 }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

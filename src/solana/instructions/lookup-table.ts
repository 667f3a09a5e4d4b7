/** Instructions of the Address Lookup Table program. */
import type { InstructionDecoder } from './decoder.ts'

interface OfTable {
  lookupTableAccount: string
  lookupTableAuthority: string
}

export type LookupTableInstruction = OfTable &
  (
    | { type: 'createLookupTable'; payerAccount: string; systemProgram: string; recentSlot: bigint; bumpSeed: number }
    | { type: 'freezeLookupTable' | 'deactivateLookupTable' }
    // The payer is present only when the table's rent increases.
    | { type: 'extendLookupTable'; newAddresses: string[]; payerAccount?: string; systemProgram?: string }
    | { type: 'closeLookupTable'; recipient: string }
  )

/** Upper limit of decoded addresses, which is more than a table can hold. */
const MAX_TABLE_ADDRESSES = 256

export const decodeLookupTable: InstructionDecoder<LookupTableInstruction> = (reader, at, all) => {
  const tag = reader.u32()
  const table = () => ({ lookupTableAccount: at(0), lookupTableAuthority: at(1) })
  switch (tag) {
    case 0:
      return {
        type: 'createLookupTable',
        ...table(),
        payerAccount: at(2),
        systemProgram: at(3),
        recentSlot: reader.u64(),
        bumpSeed: reader.u8(),
      }
    case 1:
      return { type: 'freezeLookupTable', ...table() }
    case 2: {
      const newAddresses = Array.from({ length: Math.min(Number(reader.u64()), MAX_TABLE_ADDRESSES) }, reader.key)
      const payer = all.length >= 4 ? { payerAccount: at(2), systemProgram: at(3) } : {}
      return { type: 'extendLookupTable', ...table(), newAddresses, ...payer }
    }
    case 3:
      return { type: 'deactivateLookupTable', ...table() }
    case 4:
      return { type: 'closeLookupTable', ...table(), recipient: at(2) }
    default:
      return null
  }
}

/** Address lookup table instructions in jsonParsed form. */
import type { InstructionParser } from './parsed.ts'

export const parseLookupTable: InstructionParser = (reader, at, all) => {
  const table = () => ({ lookupTableAccount: at(0), lookupTableAuthority: at(1) })
  switch (reader.u32()) {
    case 0: {
      const info = {
        ...table(),
        payerAccount: at(2),
        systemProgram: at(3),
        recentSlot: reader.u64(),
        bumpSeed: reader.u8(),
      }
      return { type: 'createLookupTable', info }
    }
    case 1:
      return { type: 'freezeLookupTable', info: table() }
    case 2: {
      const newAddresses = Array.from({ length: Math.min(Number(reader.u64()), 256) }, reader.key)
      const payer = all.length >= 4 && { payerAccount: at(2), systemProgram: at(3) }
      return { type: 'extendLookupTable', info: { ...table(), newAddresses, ...payer } }
    }
    case 3:
      return { type: 'deactivateLookupTable', info: table() }
    case 4:
      return { type: 'closeLookupTable', info: { ...table(), recipient: at(2) } }
    default:
      return null
  }
}

/** The Address Lookup Table program (solana-address-lookup-table-interface). */
import { addressOf } from '../addresses.ts'
import { KEY_BYTES } from '../constants.ts'
import { LOOKUP_TABLE_PROGRAM } from '../program-ids.ts'
import { programTable } from './table.ts'

/** Bytes of a table before its addresses. */
const HEADER = 56

const TABLE = 'lookupTableAccount:w lookupTableAuthority:s'

export const LOOKUP_TABLE = programTable(LOOKUP_TABLE_PROGRAM, {
  instructions: {
    createLookupTable: [
      '00000000',
      'lookupTableAccount:w lookupTableAuthority payerAccount:sw systemProgram',
      'recentSlot:u64 bumpSeed:u8',
    ],
    freezeLookupTable: ['01000000', TABLE, ''],
    // The payer is present only if the rent of the table increases.
    extendLookupTable: ['02000000', `${TABLE} payerAccount:swo systemProgram:o`, 'newAddresses:*64pubkey'],
    deactivateLookupTable: ['03000000', TABLE, ''],
    closeLookupTable: ['04000000', `${TABLE} recipient:w`, ''],
  },
  accounts: {
    uninitialized: ['00000000', ''],
    table: [
      '01000000',
      'deactivationSlot:u64 lastExtendedSlot:u64 lastExtendedSlotStartIndex:u8 authority:?pubkey',
      HEADER,
    ],
  },
})

/** How many addresses a table has room for; a fraction for data that is cut off. */
export const addressCount = (table: Uint8Array): number => (table.length - HEADER) / KEY_BYTES

export const addressAt = (table: Uint8Array, index: number): string => {
  const at = HEADER + index * KEY_BYTES
  return addressOf(table.subarray(at, at + KEY_BYTES))
}

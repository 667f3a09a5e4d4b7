/** The Address Lookup Table program (solana-address-lookup-table-interface). */
import { LOOKUP_TABLE_PROGRAM } from '../program-ids.ts'
import { programTable } from './table.ts'

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
})

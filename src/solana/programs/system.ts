/** The System program (solana-system-interface); accounts and fields have the names that validators show. */
import { SYSTEM_PROGRAM } from '../program-ids.ts'
import { type FlatCall, programTable } from './table.ts'

const TERMS = 'lamports:u64 space:u64 owner:pubkey'
const SEED = 'base:pubkey seed:string64'

export const SYSTEM = programTable(SYSTEM_PROGRAM, {
  instructions: {
    createAccount: ['00000000', 'source:sw newAccount:sw', TERMS],
    assign: ['01000000', 'account:sw', 'owner:pubkey'],
    transfer: ['02000000', 'source:sw destination:w', 'lamports:u64'],
    createAccountWithSeed: ['03000000', 'source:sw newAccount:w', `${SEED} ${TERMS}`],
    advanceNonce: ['04000000', 'nonceAccount:w recentBlockhashesSysvar nonceAuthority:s', ''],
    withdrawFromNonce: [
      '05000000',
      'nonceAccount:w destination:w recentBlockhashesSysvar rentSysvar nonceAuthority:s',
      'lamports:u64',
    ],
    initializeNonce: ['06000000', 'nonceAccount:w recentBlockhashesSysvar rentSysvar', 'nonceAuthority:pubkey'],
    authorizeNonce: ['07000000', 'nonceAccount:w nonceAuthority:s', 'newAuthorized:pubkey'],
    allocate: ['08000000', 'account:sw', 'space:u64'],
    allocateWithSeed: ['09000000', 'account:w', `${SEED} space:u64 owner:pubkey`],
    assignWithSeed: ['0a000000', 'account:w', `${SEED} owner:pubkey`],
    transferWithSeed: [
      '0b000000',
      'source:w sourceBase:s destination:w',
      'lamports:u64 sourceSeed:string64 sourceOwner:pubkey',
    ],
    upgradeNonce: ['0c000000', 'nonceAccount:w', ''],
  },
  accounts: {
    /** Version 0 is one that cannot be used any more, and state 0 that of a nonce without an authority. */
    nonce: ['', 'version:u32 state:u32 authority:pubkey value:pubkey lamportsPerSignature:u64'],
  },
})

export type SystemInstruction = FlatCall<typeof SYSTEM.rows.instructions>

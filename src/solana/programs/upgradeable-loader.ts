/** BPF upgradeable loader (solana-loader-v3-interface), whose instructions may be in what others ask to sign. */
import { UPGRADEABLE_LOADER } from '../program-ids.ts'
import { programTable } from './table.ts'

/** Bytes before a program's binary, with room for an authority that nobody may have. */
export const PROGRAM_DATA_HEADER = 45

export const LOADER = programTable(UPGRADEABLE_LOADER, {
  instructions: {
    initialize_buffer: ['00000000', 'buffer:w authority', ''],
    write: ['01000000', 'buffer:w authority:s', 'offset:u32 bytes:bytes64'],
    deploy_with_max_data_len: [
      '02000000',
      'payer:sw program_data:w program:w buffer:w rent_sysvar clock_sysvar system_program authority:s',
      'max_data_len:u64',
    ],
    upgrade: ['03000000', 'program_data:w program:w buffer:w spill:w rent_sysvar clock_sysvar authority:s', ''],
    set_authority: ['04000000', 'account:w authority:s new_authority:o', ''],
    close: ['05000000', 'account:w recipient:w authority:so program:wo', ''],
    extend_program: ['06000000', 'program_data:w program:w system_program:o payer:swo', 'additional_bytes:u32'],
    set_authority_checked: ['07000000', 'account:w authority:s new_authority:s', ''],
  },
  accounts: {
    uninitialized: ['00000000', ''],
    buffer: ['01000000', 'authority:?pubkey'],
    program: ['02000000', 'program_data:pubkey'],
    program_data: ['03000000', 'slot:u64 authority:?pubkey'],
  },
})

/** Layouts of the instructions of programs without an IDL in their SDK. */
import { createHash } from 'node:crypto'
import type { InstructionTable } from './layout.ts'

/** First eight bytes of the SHA-256 of a name, as Anchor and the interfaces of the token programs name instructions. */
const named = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 16)

/** Metaplex Token Metadata (metaplex-foundation/mpl-token-metadata). */
const SHARED =
  'creators:?*{address:pubkey,verified:bool,share:u8},collection:?{verified:bool,key:pubkey},uses:?{use_method:<Burn,Multiple,Single>,remaining:u64,total:u64}'

export const TOKEN_METADATA_INSTRUCTIONS: InstructionTable = {
  '0f': [
    'update_metadata_account_v2',
    'metadata update_authority',
    `data:?{name:string,symbol:string,uri:string,seller_fee_basis_points:u16,${SHARED}} new_update_authority:?pubkey primary_sale_happened:?bool is_mutable:?bool`,
  ],
  '21': [
    'create_metadata_account_v3',
    'metadata mint mint_authority payer update_authority system_program',
    `name:string symbol:string uri:string seller_fee_basis_points:u16 ${SHARED.replace(/,(?=collection|uses)/g, ' ')} is_mutable:bool collection_details:?<V1{size:u64},V2{padding:hex8}>`,
  ],
}

/** The metadata of Token-2022 mints (spl-token-metadata-interface), beside the instructions of all token programs. */
export const TOKEN_EXTENSION_INSTRUCTIONS: InstructionTable = {
  [named('spl_token_metadata_interface:initialize_account')]: [
    'initialize_token_metadata',
    'metadata update_authority mint mint_authority',
    'name:string symbol:string uri:string',
  ],
  [named('spl_token_metadata_interface:updating_field')]: [
    'update_token_metadata_field',
    'metadata update_authority',
    'field:<Name,Symbol,Uri,Key(string)> value:string',
  ],
  [named('spl_token_metadata_interface:remove_key_ix')]: [
    'remove_token_metadata_key',
    'metadata update_authority',
    'idempotent:bool key:string',
  ],
  [named('spl_token_metadata_interface:update_the_authority')]: [
    'update_token_metadata_authority',
    'metadata update_authority',
    'new_authority:pubkey',
  ],
}

/** Stake program (solana-stake-interface). */
const LOCKUP = 'unix_timestamp:?i64 epoch:?u64 custodian:?pubkey'
const WHICH = 'stake_authorize:u32'
export const STAKE_INSTRUCTIONS: InstructionTable = {
  '00000000': [
    'initialize',
    'stake rent_sysvar',
    'staker:pubkey withdrawer:pubkey unix_timestamp:i64 epoch:u64 custodian:pubkey',
  ],
  '01000000': ['authorize', 'stake clock_sysvar authority custodian', `new_authority:pubkey ${WHICH}`],
  '02000000': ['delegate_stake', 'stake vote clock_sysvar stake_history config authority', ''],
  '03000000': ['split', 'stake new_stake authority', 'lamports:u64'],
  '04000000': ['withdraw', 'stake recipient clock_sysvar stake_history authority custodian', 'lamports:u64'],
  '05000000': ['deactivate', 'stake clock_sysvar authority', ''],
  '06000000': ['set_lockup', 'stake authority', LOCKUP],
  '07000000': ['merge', 'stake source_stake clock_sysvar stake_history authority', ''],
  '08000000': [
    'authorize_with_seed',
    'stake authority_base clock_sysvar custodian',
    `new_authority:pubkey ${WHICH} authority_seed:string64 authority_owner:pubkey`,
  ],
  '09000000': ['initialize_checked', 'stake rent_sysvar staker withdrawer', ''],
  '0a000000': ['authorize_checked', 'stake clock_sysvar authority new_authority custodian', WHICH],
  '0b000000': [
    'authorize_checked_with_seed',
    'stake authority_base clock_sysvar new_authority custodian',
    `${WHICH} authority_seed:string64 authority_owner:pubkey`,
  ],
  '0c000000': ['set_lockup_checked', 'stake authority custodian', 'unix_timestamp:?i64 epoch:?u64'],
  '10000000': ['move_stake', 'stake destination_stake authority', 'lamports:u64'],
  '11000000': ['move_lamports', 'stake destination_stake authority', 'lamports:u64'],
}

/** BPF upgradeable loader (solana-loader-v3-interface). */
export const LOADER_INSTRUCTIONS: InstructionTable = {
  '00000000': ['initialize_buffer', 'buffer authority', ''],
  '01000000': ['write', 'buffer authority', 'offset:u32 bytes:bytes64'],
  '02000000': [
    'deploy_with_max_data_len',
    'payer program_data program buffer rent_sysvar clock_sysvar system_program authority',
    'max_data_len:u64',
  ],
  '03000000': ['upgrade', 'program_data program buffer spill rent_sysvar clock_sysvar authority', ''],
  '04000000': ['set_authority', 'account authority new_authority', ''],
  '05000000': ['close', 'account recipient authority program', ''],
  '06000000': ['extend_program', 'program_data program system_program payer', 'additional_bytes:u32'],
  '07000000': ['set_authority_checked', 'account authority new_authority', ''],
}

/** Layouts of the instructions of programs without an IDL in their SDK. */
import { createHash } from 'node:crypto'
import type { InstructionTable } from './layout.ts'

/** First eight bytes of the SHA-256 of a name, as Anchor and the interfaces of the token programs name instructions. */
const named = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 16)

const [PLACES, END] = ['payer authority', 'system_program log_wrapper']
const [OF_ASSET, OF_COLLECTION] = [`asset collection ${PLACES} ${END}`, `collection ${PLACES} ${END}`]
const NEW_ASSET = `asset collection authority payer owner update_authority ${END}`
const NEW_COLLECTION = 'collection update_authority payer system_program'
const RULE_SET = '<None,ProgramAllowList(*pubkey),ProgramDenyList(*pubkey)>'
/** Each plugin in the order of the program, with what it holds. */
const PLUGINS = [
  ['Royalties', `{basis_points:u16,creators:*{address:pubkey,percentage:u8},rule_set:${RULE_SET}}`],
  ['FreezeDelegate', '{frozen:bool}'],
  ['BurnDelegate', ''],
  ['TransferDelegate', ''],
  ['UpdateDelegate', '{additional_delegates:*pubkey}'],
  ['PermanentFreezeDelegate', '{frozen:bool}'],
  ['Attributes', '{attributes:*{key:string,value:string}}'],
  ['PermanentTransferDelegate', ''],
  ['PermanentBurnDelegate', ''],
  ['Edition', '{number:u32}'],
  ['MasterEdition', '{max_supply:?u32,name:?string,uri:?string}'],
  ['AddBlocker', ''],
  ['ImmutableMetadata', ''],
  ['VerifiedCreators', '{signatures:*{address:pubkey,verified:bool}}'],
  ['Autograph', '{signatures:*{address:pubkey,message:string}}'],
  ['BubblegumV2', ''],
  ['FreezeExecute', '{frozen:bool}'],
  ['PermanentFreezeExecute', '{frozen:bool}'],
  ['Groups', '{groups:*pubkey}'],
] as const
const PLUGIN = `plugin:<${PLUGINS.map((each) => each.join(''))}>`
const PLUGIN_TYPE = `plugin_type:<${PLUGINS.map(([name]) => name)}>`
const AUTHORITY = '<None,Owner,UpdateAuthority,Address{address:pubkey}>'
const NEW_PLUGIN = `${PLUGIN} init_authority:?${AUTHORITY}`
const STARTS_WITH = `plugins:?*{${PLUGIN},authority:?${AUTHORITY}}`
const STATE = 'data_state:<AccountState,LedgerState>'
const UPDATE = 'new_name:?string new_uri:?string new_update_authority:?<None,Address(pubkey),Collection(pubkey)>'
/** Compressed assets and plugins of other programs do not occur: what has one is shown as bytes. */
const [PROOF, ADAPTERS] = ['compression_proof:?bytes_as_they_are', 'external_plugin_adapters:?*bytes_as_they_are']

/** Metaplex Core (metaplex-foundation/mpl-core). An account that is left out is the program itself. */
export const CORE_INSTRUCTIONS: InstructionTable = {
  '00': ['create_v1', NEW_ASSET, `${STATE} name:string uri:string ${STARTS_WITH}`],
  '01': ['create_collection_v1', NEW_COLLECTION, `name:string uri:string ${STARTS_WITH}`],
  '02': ['add_plugin_v1', OF_ASSET, NEW_PLUGIN],
  '03': ['add_collection_plugin_v1', OF_COLLECTION, NEW_PLUGIN],
  '04': ['remove_plugin_v1', OF_ASSET, PLUGIN_TYPE],
  '05': ['remove_collection_plugin_v1', OF_COLLECTION, PLUGIN_TYPE],
  '06': ['update_plugin_v1', OF_ASSET, PLUGIN],
  '07': ['update_collection_plugin_v1', OF_COLLECTION, PLUGIN],
  '08': ['approve_plugin_authority_v1', OF_ASSET, `${PLUGIN_TYPE} new_authority:${AUTHORITY}`],
  '09': ['approve_collection_plugin_authority_v1', OF_COLLECTION, `${PLUGIN_TYPE} new_authority:${AUTHORITY}`],
  '0a': ['revoke_plugin_authority_v1', OF_ASSET, PLUGIN_TYPE],
  '0b': ['revoke_collection_plugin_authority_v1', OF_COLLECTION, PLUGIN_TYPE],
  '0c': ['burn_v1', OF_ASSET, PROOF],
  '0d': ['burn_collection_v1', 'collection payer authority log_wrapper', PROOF],
  '0e': ['transfer_v1', `asset collection ${PLACES} new_owner ${END}`, PROOF],
  '0f': ['update_v1', OF_ASSET, UPDATE],
  '10': [
    'update_collection_v1',
    `collection ${PLACES} new_update_authority ${END}`,
    'new_name:?string new_uri:?string',
  ],
  '14': ['create_v2', NEW_ASSET, `${STATE} name:string uri:string ${STARTS_WITH} ${ADAPTERS}`],
  '15': ['create_collection_v2', NEW_COLLECTION, `name:string uri:string ${STARTS_WITH} ${ADAPTERS}`],
  '1e': ['update_v2', `asset collection ${PLACES} new_collection ${END}`, UPDATE],
  '1f': ['execute_v1', `asset collection asset_signer ${PLACES} system_program program_id`, 'instruction_data:bytes'],
}

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

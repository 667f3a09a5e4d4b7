/** Metaplex Core (metaplex-foundation/mpl-core): assets and their collections. Its SDK builds what svc sends. */
import { SYSTEM_PROGRAM } from '../program-ids.ts'
import { PROGRAMS } from '../programs.ts'
import { programTable } from './table.ts'

const END = 'system_program log_wrapper:o'
const PLACES = 'payer:sw authority:so'
const OF_ASSET = `asset:w collection:wo ${PLACES} ${END}` as const
const OF_COLLECTION = `collection:w ${PLACES} ${END}` as const
const NEW_ASSET = `asset:sw collection:wo authority:so payer:sw owner:o update_authority:o ${END}` as const
const NEW_COLLECTION = 'collection:sw update_authority:o payer:sw system_program'
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
const PLUGIN = `plugin:<${PLUGINS.map((each) => each.join('')).join(',')}>` as const
const PLUGIN_TYPE = `plugin_type:<${PLUGINS.map(([name]) => name).join(',')}>` as const
const AUTHORITY = '<None,Owner,UpdateAuthority,Address{address:pubkey}>'
const NEW_PLUGIN = `${PLUGIN} init_authority:?${AUTHORITY}` as const
const STARTS_WITH = `plugins:?*{${PLUGIN},authority:?${AUTHORITY}}` as const
const TEXTS = 'name:string uri:string'
const STATE = 'data_state:<AccountState,LedgerState>'
/** Who may change an asset: nobody, an address, or the one who may change its collection. */
export const UPDATE_AUTHORITY = '<None,Address(pubkey),Collection(pubkey)>'
const UPDATE = `new_name:?string new_uri:?string new_update_authority:?${UPDATE_AUTHORITY}` as const
/** Compressed assets and plugins of other programs do not occur: what has one is shown as bytes. */
const PROOF = 'compression_proof:?bytes_as_they_are'
const ADAPTERS = 'external_plugin_adapters:?*bytes_as_they_are'

export const METAPLEX_CORE = programTable(PROGRAMS.core.id, {
  fixed: { system_program: SYSTEM_PROGRAM },
  instructions: {
    create_v1: ['00', NEW_ASSET, `${STATE} ${TEXTS} ${STARTS_WITH}`],
    create_collection_v1: ['01', NEW_COLLECTION, `${TEXTS} ${STARTS_WITH}`],
    add_plugin_v1: ['02', OF_ASSET, NEW_PLUGIN],
    add_collection_plugin_v1: ['03', OF_COLLECTION, NEW_PLUGIN],
    remove_plugin_v1: ['04', OF_ASSET, PLUGIN_TYPE],
    remove_collection_plugin_v1: ['05', OF_COLLECTION, PLUGIN_TYPE],
    update_plugin_v1: ['06', OF_ASSET, PLUGIN],
    update_collection_plugin_v1: ['07', OF_COLLECTION, PLUGIN],
    approve_plugin_authority_v1: ['08', OF_ASSET, `${PLUGIN_TYPE} new_authority:${AUTHORITY}`],
    approve_collection_plugin_authority_v1: ['09', OF_COLLECTION, `${PLUGIN_TYPE} new_authority:${AUTHORITY}`],
    revoke_plugin_authority_v1: ['0a', OF_ASSET, PLUGIN_TYPE],
    revoke_collection_plugin_authority_v1: ['0b', OF_COLLECTION, PLUGIN_TYPE],
    burn_v1: ['0c', `asset:w collection:wo ${PLACES} system_program:o log_wrapper:o`, PROOF],
    burn_collection_v1: ['0d', 'collection:w payer:sw authority:swo log_wrapper:o', PROOF],
    transfer_v1: ['0e', `asset:w collection:o ${PLACES} new_owner system_program:o log_wrapper:o`, PROOF],
    update_v1: ['0f', `asset:w collection:o ${PLACES} ${END}`, UPDATE],
    update_collection_v1: [
      '10',
      `collection:w ${PLACES} new_update_authority:o ${END}`,
      'new_name:?string new_uri:?string',
    ],
    create_v2: ['14', NEW_ASSET, `${STATE} ${TEXTS} ${STARTS_WITH} ${ADAPTERS}`],
    create_collection_v2: ['15', NEW_COLLECTION, `${TEXTS} ${STARTS_WITH} ${ADAPTERS}`],
    update_v2: ['1e', `asset:w collection:wo ${PLACES} new_collection:wo ${END}`, UPDATE],
    execute_v1: [
      '1f',
      `asset:w collection:wo asset_signer ${PLACES} system_program program_id`,
      'instruction_data:bytes',
    ],
  },
  accounts: {
    asset: ['01', `owner:pubkey update_authority:${UPDATE_AUTHORITY} ${TEXTS}`],
    hashed_asset: ['02', 'hash:hex32'],
    /** The counters change whenever anybody mints or burns. */
    collection: ['05', `update_authority:pubkey ${TEXTS} num_minted:u32 current_size:u32`],
  },
})

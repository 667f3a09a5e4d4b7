/** Layouts of the instructions of programs without an IDL in their SDK. */
import { createHash } from 'node:crypto'
import { LOCK_INSTRUCTIONS } from '../programs/jupiter-lock/program.ts'
import type { InstructionTable } from './layout.ts'

/** First eight bytes of the SHA-256 of a name, as Anchor and the interfaces of the token programs name instructions. */
const named = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 16)

/** Jito's merkle distributor (jito-foundation/distributor). */
export const JITO_INSTRUCTIONS: InstructionTable = {
  [named('global:new_distributor')]: [
    'new_distributor',
    'distributor clawback_receiver mint token_vault admin system_program associated_token_program token_program',
    'version:u64 root:hash max_total_claim:u64 max_num_nodes:u64 start_vesting_ts:i64 end_vesting_ts:i64 clawback_start_ts:i64',
  ],
  [named('global:new_claim')]: [
    'new_claim',
    'distributor claim_status from to claimant token_program system_program',
    'amount_unlocked:u64 amount_locked:u64',
  ],
  [named('global:claim_locked')]: ['claim_locked', 'distributor claim_status from to claimant token_program', ''],
  [named('global:clawback')]: ['clawback', 'distributor from to claimant system_program token_program', ''],
}

/** Jupiter Lock (jup-ag/jup-lock). */
export const JUPITER_LOCK_INSTRUCTIONS: InstructionTable = {
  [LOCK_INSTRUCTIONS.create]: [
    'create_vesting_escrow_v2',
    'base escrow token_mint escrow_token sender sender_token recipient token_program system_program event_authority program',
    'vesting_start_time:u64 cliff_time:u64 frequency:u64 cliff_unlock_amount:u64 amount_per_period:u64 number_of_period:u64 update_recipient_mode:u8 cancel_mode:u8',
  ],
  [LOCK_INSTRUCTIONS.claim]: [
    'claim_v2',
    'escrow token_mint escrow_token recipient recipient_token memo_program token_program event_authority program',
    'max_amount:u64',
  ],
  [LOCK_INSTRUCTIONS.entitle]: [
    'create_vesting_escrow_metadata',
    'escrow creator escrow_metadata payer system_program',
    'name:string description:string creator_email:string recipient_email:string',
  ],
  [LOCK_INSTRUCTIONS.cancel]: [
    'cancel_vesting_escrow',
    'escrow token_mint escrow_token creator_token recipient_token rent_receiver signer memo_program token_program event_authority program',
    '',
  ],
  [LOCK_INSTRUCTIONS.changeRecipient]: [
    'update_vesting_escrow_recipient',
    'escrow escrow_metadata signer system_program event_authority program',
    'new_recipient:pubkey',
  ],
  [LOCK_INSTRUCTIONS.close]: [
    'close_vesting_escrow',
    'escrow escrow_metadata token_mint escrow_token creator_token creator token_program memo_program event_authority program',
    '',
  ],
}

const [PLUGIN, ASSET_END] = ['asset collection payer authority', 'system_program log_wrapper']
const NEW_ASSET = `asset collection authority payer owner update_authority ${ASSET_END}`

/** Metaplex Core (metaplex-foundation/mpl-core). An account that is left out is the program itself. */
export const CORE_INSTRUCTIONS: InstructionTable = {
  '00': ['create_v1', NEW_ASSET, 'data_state:u8 name:string uri:string'],
  '01': ['create_collection_v1', 'collection update_authority payer system_program', 'name:string uri:string'],
  '02': ['add_plugin_v1', `${PLUGIN} ${ASSET_END}`, ''],
  '04': ['remove_plugin_v1', `${PLUGIN} ${ASSET_END}`, ''],
  '06': ['update_plugin_v1', `${PLUGIN} ${ASSET_END}`, ''],
  '0c': ['burn_v1', `${PLUGIN} ${ASSET_END}`, ''],
  '0e': ['transfer_v1', `${PLUGIN} new_owner ${ASSET_END}`, ''],
  '10': ['update_collection_v1', 'collection payer authority new_update_authority system_program log_wrapper', ''],
  '14': ['create_v2', NEW_ASSET, 'data_state:u8 name:string uri:string'],
  '15': ['create_collection_v2', 'collection update_authority payer system_program', 'name:string uri:string'],
}

/** Metaplex Token Metadata (metaplex-foundation/mpl-token-metadata). */
export const TOKEN_METADATA_INSTRUCTIONS: InstructionTable = {
  '0f': ['update_metadata_account_v2', 'metadata update_authority', ''],
  '21': [
    'create_metadata_account_v3',
    'metadata mint mint_authority payer update_authority system_program',
    'name:string symbol:string uri:string',
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
    '',
  ],
  [named('spl_token_metadata_interface:remove_key_ix')]: [
    'remove_token_metadata_key',
    'metadata update_authority',
    'idempotent:u8 key:string',
  ],
  [named('spl_token_metadata_interface:update_the_authority')]: [
    'update_token_metadata_authority',
    'metadata update_authority',
    'new_authority:pubkey',
  ],
}

/** Squads v4 (Squads-Protocol/v4): multisigs, whose vaults execute what enough members have approved. */

import { SYSTEM_PROGRAM } from '../program-ids.ts'
import { PROGRAMS, SQUADS_SETTINGS } from '../programs.ts'
import { programTable } from './table.ts'

const MEMO = 'memo:?string'
const PAID = 'rent_payer:sw system_program'
const CONFIG = 'multisig:w config_authority:s rent_payer:swo system_program:o'
const CREATE = `multisig:w transaction:w creator:s ${PAID}`
const VOTE = 'multisig member:sw proposal:w'
const CLOSED = 'rent_collector:w system_program'
const BUFFER = 'multisig transaction_buffer:w creator:s'
/** Bits of a member's permissions. */
export const RIGHTS = { initiate: 1, vote: 2, execute: 4 } as const
const MEMBER = '{key:pubkey,permissions:{mask:u8}}'
const PERIOD = 'period:<OneTime,Day,Week,Month>'
const LIMIT = `{create_key:pubkey,vault_index:u8,mint:pubkey,amount:u64,${PERIOD},members:*pubkey,destinations:*pubkey}`
const ACTIONS = `actions:*<AddMember{new_member:${MEMBER}},RemoveMember{old_member:pubkey},ChangeThreshold{new_threshold:u16},SetTimeLock{new_time_lock:u32},AddSpendingLimit${LIMIT},RemoveSpendingLimit{spending_limit:pubkey},SetRentCollector{new_rent_collector:?pubkey}>`
const STATUS =
  'status:<Draft{timestamp:i64},Active{timestamp:i64},Rejected{timestamp:i64},Approved{timestamp:i64},Executing,Executed{timestamp:i64},Cancelled{timestamp:i64}>'
const STORED = 'vault_index:u8 ephemeral_signers:u8 transaction_message:bytes'
const OWNED = 'multisig:pubkey creator:pubkey'
const OF_VAULT = 'vault_index:u8 vault_bump:u8'

/** The message of a vault transaction; its lists, bytes and data are counted in one, two or four bytes. */
const message = (list: '*8' | '*', bytes: 'bytes8' | 'bytes', data: 'bytes16' | 'bytes') =>
  `{signers:u8,writableSigners:u8,writableOthers:u8,keys:${list}pubkey,instructions:${list}{programIdIndex:u8,accounts:${bytes},data:${data}},lookups:${list}{table:pubkey,writable:${bytes},readonly:${bytes}}}`

/** The message as instructions and buffers have it. */
export const COMPACT_MESSAGE = message('*8', 'bytes8', 'bytes16')
/** The message as the account of the transaction has it. */
export const STORED_MESSAGE = message('*', 'bytes', 'bytes')

export const SQUADS = programTable(PROGRAMS.squads.id, {
  fixed: { program_config: SQUADS_SETTINGS, system_program: SYSTEM_PROGRAM },
  instructions: {
    program_config_init: [
      'b8bcc6c3cd7c75d8',
      'program_config:w initializer:sw system_program',
      'authority:pubkey multisig_creation_fee:u64 treasury:pubkey',
    ],
    program_config_set_authority: ['eef224b5208fd84b', 'program_config:w authority:s', 'new_authority:pubkey'],
    program_config_set_multisig_creation_fee: [
      '65a0f93f9ad7990d',
      'program_config:w authority:s',
      'new_multisig_creation_fee:u64',
    ],
    program_config_set_treasury: ['6f2ef37590bca26b', 'program_config:w authority:s', 'new_treasury:pubkey'],
    multisig_create: ['7a4d509f54585ac5', 'null', ''],
    multisig_create_v2: [
      '32ddc75d28f58be9',
      'program_config treasury:w multisig:w create_key:s creator:sw system_program',
      `config_authority:?pubkey threshold:u16 members:*${MEMBER} time_lock:u32 rent_collector:?pubkey ${MEMO}`,
    ],
    multisig_add_member: ['01dbd76cb8e5d608', CONFIG, `key:pubkey mask:u8 ${MEMO}`],
    multisig_remove_member: ['d975b1d2b691da48', CONFIG, `old_member:pubkey ${MEMO}`],
    multisig_set_time_lock: ['949a794dd4fe9b48', CONFIG, `time_lock:u32 ${MEMO}`],
    multisig_change_threshold: ['8d2a0f7ea95c3eb5', CONFIG, `new_threshold:u16 ${MEMO}`],
    multisig_set_config_authority: ['8f5dc78f5ca9c1e8', CONFIG, `config_authority:pubkey ${MEMO}`],
    multisig_set_rent_collector: ['30cc4139d2469c4a', CONFIG, `rent_collector:?pubkey ${MEMO}`],
    multisig_add_spending_limit: [
      '0bf29f2a56c55973',
      `multisig config_authority:s spending_limit:w ${PAID}`,
      `create_key:pubkey vault_index:u8 mint:pubkey amount:u64 ${PERIOD} members:*pubkey destinations:*pubkey ${MEMO}`,
    ],
    multisig_remove_spending_limit: [
      'e4c6886f7b04b271',
      'multisig config_authority:s spending_limit:w rent_collector:w',
      MEMO,
    ],
    config_transaction_create: ['9bec57e4894b5127', CREATE, `${ACTIONS} ${MEMO}`],
    config_transaction_execute: [
      '7292f4bdfc8c2428',
      'multisig:w member:s proposal:w transaction rent_payer:swo system_program:o',
      '',
    ],
    vault_transaction_create: ['30fa4ea8d0e2dad3', CREATE, `${STORED} ${MEMO}`],
    transaction_buffer_create: [
      'f5c9716c253f1d59',
      `${BUFFER} ${PAID}`,
      'buffer_index:u8 vault_index:u8 final_buffer_hash:hex32 final_buffer_size:u16 buffer:bytes',
    ],
    transaction_buffer_close: ['11b6d0e48818b266', BUFFER, ''],
    transaction_buffer_extend: ['e69d433805eef592', BUFFER, 'buffer:bytes'],
    vault_transaction_create_from_buffer: [
      'de36954457f630e7',
      `${CREATE} transaction_buffer:w buffer_creator:sw`,
      `${STORED} ${MEMO}`,
    ],
    // The accounts of the message follow: its lookup tables, its keys, then the addresses of the tables.
    vault_transaction_execute: ['c208a15799a419ab', 'multisig proposal:w transaction member:s', ''],
    batch_create: ['c28e8d1137b914f8', `multisig:w batch:w creator:s ${PAID}`, `vault_index:u8 ${MEMO}`],
    batch_add_transaction: [
      '5964e0124546364c',
      `multisig proposal batch:w transaction:w member:s ${PAID}`,
      'ephemeral_signers:u8 transaction_message:bytes',
    ],
    batch_execute_transaction: ['ac2cb398157feab4', 'multisig member:s proposal:w batch:w transaction', ''],
    proposal_create: ['dc3c49e01e6c4f9f', `multisig proposal:w creator:s ${PAID}`, 'transaction_index:u64 draft:bool'],
    proposal_activate: ['0b225cf89a1b336a', VOTE, ''],
    proposal_approve: ['9025a488bcd82af8', VOTE, MEMO],
    proposal_reject: ['f33e869ce66af687', VOTE, MEMO],
    proposal_cancel: ['1b2a7fed26a354cb', VOTE, MEMO],
    // It also works after the members have changed.
    proposal_cancel_v2: ['cd29c23ddc8b10f7', `${VOTE} system_program`, MEMO],
    spending_limit_use: [
      '1039827fc1149b86',
      'multisig member:s spending_limit:w vault:w destination:w system_program:o mint:o vault_token_account:wo destination_token_account:wo token_program:o',
      `amount:u64 decimals:u8 ${MEMO}`,
    ],
    config_transaction_accounts_close: ['50cb54359770bbba', `multisig proposal:w transaction:w ${CLOSED}`, ''],
    vault_transaction_accounts_close: ['c447bbb00223aaa5', `multisig proposal:w transaction:w ${CLOSED}`, ''],
    vault_batch_transaction_account_close: [
      '8612136a814461f7',
      `multisig proposal batch:w transaction:w ${CLOSED}`,
      '',
    ],
    batch_accounts_close: ['dac407af82660bff', `multisig proposal:w batch:w ${CLOSED}`, ''],
  },
  accounts: {
    multisig: [
      'e07479ba44a14fec',
      `create_key:pubkey config_authority:pubkey threshold:u16 time_lock:u32 transaction_index:u64 stale_transaction_index:u64 rent_collector:?pubkey bump:u8 members:*${MEMBER}`,
    ],
    proposal: [
      '1a5ebdbb74883521',
      `multisig:pubkey transaction_index:u64 ${STATUS} bump:u8 approved:*pubkey rejected:*pubkey cancelled:*pubkey`,
    ],
    vault_transaction: [
      'a8faa264510ea2cf',
      `${OWNED} index:u64 bump:u8 ${OF_VAULT} ephemeral_signer_bumps:bytes message:${STORED_MESSAGE}`,
    ],
    config_transaction: ['5e080423718b8b70', `${OWNED} index:u64 bump:u8 ${ACTIONS}`],
    batch: ['9cc2462c1658892c', `${OWNED} index:u64 bump:u8 ${OF_VAULT} size:u32 executed_transaction_index:u32`],
    transaction_buffer: [
      '5a2423db5de16e60',
      `${OWNED} buffer_index:u8 vault_index:u8 final_buffer_hash:hex32 final_buffer_size:u16 buffer:bytes`,
    ],
    program_config: ['c4d25ae790958c3f', 'authority:pubkey multisig_creation_fee:u64 treasury:pubkey reserved:hex64'],
  },
})

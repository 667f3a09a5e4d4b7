/** Instructions of Squads v4; generated from its SDK by `npm run docs`. */
import type { InstructionTable } from '../layout.ts'

export const SQUADS_INSTRUCTIONS: InstructionTable = {
  b8bcc6c3cd7c75d8: [
    'program_config_init',
    'program_config initializer system_program',
    'authority:pubkey multisig_creation_fee:u64 treasury:pubkey',
  ],
  eef224b5208fd84b: ['program_config_set_authority', 'program_config authority', 'new_authority:pubkey'],
  '65a0f93f9ad7990d': [
    'program_config_set_multisig_creation_fee',
    'program_config authority',
    'new_multisig_creation_fee:u64',
  ],
  '6f2ef37590bca26b': ['program_config_set_treasury', 'program_config authority', 'new_treasury:pubkey'],
  '7a4d509f54585ac5': ['multisig_create', 'null', ''],
  '32ddc75d28f58be9': [
    'multisig_create_v2',
    'program_config treasury multisig create_key creator system_program',
    'config_authority:?pubkey threshold:u16 members:*{key:pubkey,permissions:{mask:u8}} time_lock:u32 rent_collector:?pubkey memo:?string',
  ],
  '01dbd76cb8e5d608': [
    'multisig_add_member',
    'multisig config_authority rent_payer system_program',
    'key:pubkey mask:u8 memo:?string',
  ],
  d975b1d2b691da48: [
    'multisig_remove_member',
    'multisig config_authority rent_payer system_program',
    'old_member:pubkey memo:?string',
  ],
  '949a794dd4fe9b48': [
    'multisig_set_time_lock',
    'multisig config_authority rent_payer system_program',
    'time_lock:u32 memo:?string',
  ],
  '8d2a0f7ea95c3eb5': [
    'multisig_change_threshold',
    'multisig config_authority rent_payer system_program',
    'new_threshold:u16 memo:?string',
  ],
  '8f5dc78f5ca9c1e8': [
    'multisig_set_config_authority',
    'multisig config_authority rent_payer system_program',
    'config_authority:pubkey memo:?string',
  ],
  '30cc4139d2469c4a': [
    'multisig_set_rent_collector',
    'multisig config_authority rent_payer system_program',
    'rent_collector:?pubkey memo:?string',
  ],
  '0bf29f2a56c55973': [
    'multisig_add_spending_limit',
    'multisig config_authority spending_limit rent_payer system_program',
    'create_key:pubkey vault_index:u8 mint:pubkey amount:u64 period:<OneTime,Day,Week,Month> members:*pubkey destinations:*pubkey memo:?string',
  ],
  e4c6886f7b04b271: [
    'multisig_remove_spending_limit',
    'multisig config_authority spending_limit rent_collector',
    'memo:?string',
  ],
  '9bec57e4894b5127': [
    'config_transaction_create',
    'multisig transaction creator rent_payer system_program',
    'actions:*<AddMember{new_member:{key:pubkey,permissions:{mask:u8}}},RemoveMember{old_member:pubkey},ChangeThreshold{new_threshold:u16},SetTimeLock{new_time_lock:u32},AddSpendingLimit{create_key:pubkey,vault_index:u8,mint:pubkey,amount:u64,period:<OneTime,Day,Week,Month>,members:*pubkey,destinations:*pubkey},RemoveSpendingLimit{spending_limit:pubkey},SetRentCollector{new_rent_collector:?pubkey}> memo:?string',
  ],
  '7292f4bdfc8c2428': [
    'config_transaction_execute',
    'multisig member proposal transaction rent_payer system_program',
    '',
  ],
  '30fa4ea8d0e2dad3': [
    'vault_transaction_create',
    'multisig transaction creator rent_payer system_program',
    'vault_index:u8 ephemeral_signers:u8 transaction_message:bytes memo:?string',
  ],
  f5c9716c253f1d59: [
    'transaction_buffer_create',
    'multisig transaction_buffer creator rent_payer system_program',
    'buffer_index:u8 vault_index:u8 final_buffer_hash:hex32 final_buffer_size:u16 buffer:bytes',
  ],
  '11b6d0e48818b266': ['transaction_buffer_close', 'multisig transaction_buffer creator', ''],
  e69d433805eef592: ['transaction_buffer_extend', 'multisig transaction_buffer creator', 'buffer:bytes'],
  de36954457f630e7: [
    'vault_transaction_create_from_buffer',
    'multisig transaction creator rent_payer system_program transaction_buffer creator',
    'vault_index:u8 ephemeral_signers:u8 transaction_message:bytes memo:?string',
  ],
  c208a15799a419ab: ['vault_transaction_execute', 'multisig proposal transaction member', ''],
  c28e8d1137b914f8: ['batch_create', 'multisig batch creator rent_payer system_program', 'vault_index:u8 memo:?string'],
  '5964e0124546364c': [
    'batch_add_transaction',
    'multisig proposal batch transaction member rent_payer system_program',
    'ephemeral_signers:u8 transaction_message:bytes',
  ],
  ac2cb398157feab4: ['batch_execute_transaction', 'multisig member proposal batch transaction', ''],
  dc3c49e01e6c4f9f: [
    'proposal_create',
    'multisig proposal creator rent_payer system_program',
    'transaction_index:u64 draft:bool',
  ],
  '0b225cf89a1b336a': ['proposal_activate', 'multisig member proposal', ''],
  '9025a488bcd82af8': ['proposal_approve', 'multisig member proposal', 'memo:?string'],
  f33e869ce66af687: ['proposal_reject', 'multisig member proposal', 'memo:?string'],
  '1b2a7fed26a354cb': ['proposal_cancel', 'multisig member proposal', 'memo:?string'],
  cd29c23ddc8b10f7: ['proposal_cancel_v2', 'multisig member proposal system_program', 'memo:?string'],
  '1039827fc1149b86': [
    'spending_limit_use',
    'multisig member spending_limit vault destination system_program mint vault_token_account destination_token_account token_program',
    'amount:u64 decimals:u8 memo:?string',
  ],
  '50cb54359770bbba': [
    'config_transaction_accounts_close',
    'multisig proposal transaction rent_collector system_program',
    '',
  ],
  c447bbb00223aaa5: [
    'vault_transaction_accounts_close',
    'multisig proposal transaction rent_collector system_program',
    '',
  ],
  '8612136a814461f7': [
    'vault_batch_transaction_account_close',
    'multisig proposal batch transaction rent_collector system_program',
    '',
  ],
  dac407af82660bff: ['batch_accounts_close', 'multisig proposal batch rent_collector system_program', ''],
}

/** Lighthouse: instructions that fail a transaction unless accounts are as they say (its IDL, github.com/Jac0xb/lighthouse). */
import { PROGRAMS } from '../programs.ts'
import { programTable } from './table.ts'

const INTEGER =
  '<equal,not_equal,greater_than,less_than,greater_than_or_equal,less_than_or_equal,contains,does_not_contain>'
const EQUATABLE = '<equal,not_equal>'
const number = <T extends string>(type: T) => `{value:${type},operator:${INTEGER}}` as const
const equal = <T extends string>(type: T) => `{value:${type},operator:${EQUATABLE}}` as const

const LOG = 'log_level:<silent,plaintext,encoded,encoded_noop,failed_plaintext,failed_encoded,failed_encoded_noop>'
const KNOWN_PROGRAM = '<system,token,token_2022,rent,stake,vote,bpf_loader,upgradeable_loader,sysvar_config>'
const CLOCK_FIELDS = ['slot', 'epoch_start_timestamp', 'epoch', 'leader_schedule_epoch', 'unix_timestamp'] as const

const ACCOUNT_INFO = `<lamports${number('u64')},data_length${number('u64')},owner${equal('pubkey')},known_owner${equal(KNOWN_PROGRAM)},rent_epoch${number('u64')},is_signer${equal('bool')},is_writable${equal('bool')},executable${equal('bool')},data_hash{hash:hex32,start:uleb128,length:uleb128}>`
const DATA = `{offset:uleb128,assertion:<bool${equal('bool')},u8${number('u8')},i8${number('i8')},u16${number('u16')},i16${number('i16')},u32${number('u32')},i32${number('i32')},u64${number('u64')},i64${number('i64')},u128${number('u128')},i128${number('i128')},bytes${equal('bytes_leb128')},pubkey${equal('pubkey')}>}`
const DELTA = `<account_info{a_offset:uleb128,assertion:<lamports${number('i128')},data_length${number('i128')},owner{operator:${EQUATABLE}},rent_epoch${number('i128')}>},data{a_offset:uleb128,b_offset:uleb128,assertion:<u8${number('i16')},i8${number('i16')},u16${number('i32')},i16${number('i32')},u32${number('i64')},i32${number('i64')},u64${number('i128')},i64${number('i128')},bytes{length:u16,operator:${EQUATABLE}}>}>`
const MINT = `<mint_authority${equal('?pubkey')},supply${number('u64')},decimals${number('u8')},is_initialized${equal('bool')},freeze_authority${equal('?pubkey')}>`
const TOKEN_ACCOUNT = `<mint${equal('pubkey')},owner${equal('pubkey')},amount${number('u64')},delegate${equal('?pubkey')},state${number('u8')},is_native${equal('?u64')},delegated_amount${number('u64')},close_authority${equal('?pubkey')},owner_is_derived>`
const STAKE = `<state${equal('u8')},meta<rent_exempt_reserve${number('u64')},authorized_staker${equal('pubkey')},authorized_withdrawer${equal('pubkey')},lockup_unix_timestamp${number('i64')},lockup_epoch${number('u64')},lockup_custodian${equal('pubkey')}>,stake<voter${equal('pubkey')},stake${number('u64')},activation_epoch${number('u64')},deactivation_epoch${number('u64')},credits_observed${number('u64')}>,flags${number('u8')}>`
const LOADER = `<state${equal('u8')},buffer<authority${equal('?pubkey')}>,program<program_data${equal('pubkey')}>,program_data<upgrade_authority${equal('?pubkey')},slot${number('u64')}>>`
const CLOCK = `<${CLOCK_FIELDS.map((name) => `${name}${number(name.endsWith('timestamp') ? 'i64' : 'u64')}`).join(',')}>`
const TREE_CONFIG = `<tree_creator${equal('pubkey')},tree_delegate${equal('pubkey')},total_mint_capacity${number('u64')},num_minted${number('u64')},is_public${equal('bool')},is_decompressible${equal('u8')}>`
const WRITE =
  'write_type:<account_data{offset:u16,data_length:u16},account_info<key,lamports,data_length,owner,rent_epoch,executable>,value<bool(bool),u8(u8),i8(i8),u16(u16),i16(i16),u32(u32),i32(i32),u64(u64),i64(i64),u128(u128),i128(i128),bytes(bytes_leb128),pubkey(pubkey)>,clock<slot,epoch_start_timestamp,epoch,leader_schedule_epoch,unix_timestamp>>'

/** Lists and bytes have their length in LEB128, which is one byte below 128. */
export const LIGHTHOUSE = programTable(PROGRAMS.lighthouse.id, {
  instructions: {
    memory_write: [
      '00',
      'program system_program payer:sw memory:w source_account',
      `memory_id:u8 memory_bump:u8 write_offset:uleb128 ${WRITE}`,
    ],
    memory_close: ['01', 'program payer:sw memory:w', 'memory_id:u8 memory_bump:u8'],
    assert_account_data: ['02', 'target_account', `${LOG} assertion:${DATA}`],
    assert_account_data_multi: ['03', 'target_account', `${LOG} assertions:*leb128${DATA}`],
    assert_account_delta: ['04', 'account_a account_b', `${LOG} assertion:${DELTA}`],
    assert_account_info: ['05', 'target_account', `${LOG} assertion:${ACCOUNT_INFO}`],
    assert_account_info_multi: ['06', 'target_account', `${LOG} assertions:*leb128${ACCOUNT_INFO}`],
    assert_mint_account: ['07', 'target_account', `${LOG} assertion:${MINT}`],
    assert_mint_account_multi: ['08', 'target_account', `${LOG} assertions:*leb128${MINT}`],
    assert_token_account: ['09', 'target_account', `${LOG} assertion:${TOKEN_ACCOUNT}`],
    assert_token_account_multi: ['0a', 'target_account', `${LOG} assertions:*leb128${TOKEN_ACCOUNT}`],
    assert_stake_account: ['0b', 'target_account', `${LOG} assertion:${STAKE}`],
    assert_stake_account_multi: ['0c', 'target_account', `${LOG} assertions:*leb128${STAKE}`],
    assert_upgradeable_loader_account: ['0d', 'target_account', `${LOG} assertion:${LOADER}`],
    assert_upgradeable_loader_account_multi: ['0e', 'target_account', `${LOG} assertions:*leb128${LOADER}`],
    assert_sysvar_clock: ['0f', '', `${LOG} assertion:${CLOCK}`],
    assert_merkle_tree_account: [
      '10',
      'target_merkle_tree root spl_account_compression proof:*',
      `${LOG} assertion:<verify_leaf{leaf_index:u32,leaf_hash:hex32}>`,
    ],
    assert_bubblegum_tree_config_account: ['11', 'target_account', `${LOG} assertion:${TREE_CONFIG}`],
  },
})

/** Meteora DBC: all its instructions, and the accounts and events that svc reads without the SDK, as in its IDL. */
import { PROGRAMS } from '../programs.ts'
import { programTable } from './table.ts'

const CURVE =
  'last_update_timestamp:u64 padding:hex8 sqrt_price_reference:u128 volatility_accumulator:u128 volatility_reference:u128 config:pubkey creator:pubkey base_mint:pubkey base_vault:pubkey quote_vault:pubkey base_reserve:u64 quote_reserve:u64 protocol_base_fee:u64 protocol_quote_fee:u64 partner_base_fee:u64 partner_quote_fee:u64 sqrt_price:u128 activation_point:u64 pool_type:u8 is_migrated:u8 is_partner_withdraw_surplus:u8 is_protocol_withdraw_surplus:u8 migration_progress:u8 is_withdraw_leftover:u8 is_creator_withdraw_surplus:u8 migration_fee_withdraw_status:u8 total_protocol_base_fee:u64 total_protocol_quote_fee:u64 total_trading_base_fee:u64 total_trading_quote_fee:u64 finish_curve_timestamp:u64 creator_base_fee:u64 creator_quote_fee:u64 legacy_creation_fee_bits:u8 creation_fee_bits:u8 has_swap:u8 _padding_0:hex5 protocol_liquidity_migration_fee_bps:u16 _padding_1:hex6 protocol_migration_base_fee_amount:u64 protocol_migration_quote_fee_amount:u64 _padding_2:hex24'

const CONFIG =
  'cliff_fee_numerator:u64 first_factor:u16 second_factor:u64 third_factor:u64 base_fee_mode:u8 pool_fees_dynamic_fee:?{bin_step:u16,bin_step_u128:u128,filter_period:u16,decay_period:u16,reduction_factor:u16,max_volatility_accumulator:u32,variable_fee_control:u32} collect_fee_mode:u8 migration_option:u8 activation_type:u8 token_type:u8 token_decimal:u8 partner_liquidity_percentage:u8 partner_permanent_locked_liquidity_percentage:u8 creator_liquidity_percentage:u8 creator_permanent_locked_liquidity_percentage:u8 migration_quote_threshold:u64 sqrt_start_price:u128 amount_per_period:u64 locked_vesting_cliff_duration_from_migration_time:u64 locked_vesting_frequency:u64 locked_vesting_number_of_period:u64 cliff_unlock_amount:u64 migration_fee_option:u8 token_supply:?{pre_migration_token_supply:u64,post_migration_token_supply:u64} creator_trading_fee_percentage:u8 token_update_authority:u8 fee_percentage:u8 creator_fee_percentage:u8 migrated_pool_fee_collect_fee_mode:u8 migrated_pool_fee_dynamic_fee:u8 pool_fee_bps:u16 pool_creation_fee:u64 partner_liquidity_vesting_info_vesting_percentage:u8 partner_liquidity_vesting_info_bps_per_period:u16 partner_liquidity_vesting_info_number_of_periods:u16 partner_liquidity_vesting_info_cliff_duration_from_migration_time:u32 partner_liquidity_vesting_info_frequency:u32 creator_liquidity_vesting_info_vesting_percentage:u8 creator_liquidity_vesting_info_bps_per_period:u16 creator_liquidity_vesting_info_number_of_periods:u16 creator_liquidity_vesting_info_cliff_duration_from_migration_time:u32 creator_liquidity_vesting_info_frequency:u32 migrated_pool_base_fee_mode:u8 migrated_pool_market_cap_fee_scheduler_params_number_of_period:u16 sqrt_price_step_bps:u16 scheduler_expiration_duration:u32 reduction_factor:u64 enable_first_swap_with_min_fee:bool compounding_fee_bps:u16 padding:hex2 curve:*{sqrt_price:u128,liquidity:u128}'

const SWAPPED =
  'pool:pubkey config:pubkey trade_direction:u8 has_referral:bool amount_0:u64 amount_1:u64 swap_mode:u8 included_fee_input_amount:u64 excluded_fee_input_amount:u64 amount_left:u64 output_amount:u64 next_sqrt_price:u128 trading_fee:u64 protocol_fee:u64 referral_fee:u64 quote_reserve_amount:u64 migration_threshold:u64 current_timestamp:u64'

export const DBC = programTable(PROGRAMS.dbc.id, {
  fixed: {
    pool_authority: 'FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM',
    treasury: '6aYhxiNGmG8AyU25rh2R7iFu4pBrqnQHpNUGhmsEXRcm',
    locker_program: 'LocpQgucEQHbqNABEYvBvwoxCPsSbG91A1QaQhQQqjn',
    event_authority: '8Ks12pbrD6PXxfty1hVQiE9sc289zgU1zHkvXhrSdriF',
    program: 'dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN',
  },
  instructions: {
    claim_creator_trading_fee: [
      '52dcfabd03556b2d',
      'pool_authority pool:w token_a_account:w token_b_account:w base_vault:w quote_vault:w base_mint quote_mint creator:s token_base_program token_quote_program event_authority program',
      'max_base_amount:u64 max_quote_amount:u64',
    ],
    claim_creator_trading_fee2: [
      'eef7d55e6e91588e',
      'pool_authority pool:w token_a_account:w token_b_account:w base_vault:w quote_vault:w base_mint quote_mint creator:s token_base_program token_quote_program event_authority program',
      'max_base_amount:u64 max_quote_amount:u64 slices:*{accounts_type:<TransferHookBase,TransferHookBaseReferral>,length:u8}',
    ],
    claim_partner_pool_creation_fee: [
      'faee1a048b0a65f8',
      'config pool:w fee_claimer:s fee_receiver:w event_authority program',
      '',
    ],
    claim_protocol_fee2: [
      'ebc23645410aec70',
      'receiver_token_account:w base_mint quote_mint token_base_program token_quote_program config pool:w base_vault:w quote_vault:w pool_authority signer:s',
      'max_amount:u64',
    ],
    claim_protocol_pool_creation_fee: [
      '72cd53bcf0991936',
      'config pool:w operator signer:s treasury:w event_authority program',
      '',
    ],
    claim_trading_fee: [
      '08ec5931987db151',
      'pool_authority config pool:w token_a_account:w token_b_account:w base_vault:w quote_vault:w base_mint quote_mint fee_claimer:s token_base_program token_quote_program event_authority program',
      'max_amount_a:u64 max_amount_b:u64',
    ],
    claim_trading_fee2: [
      '54bf473209a237c1',
      'pool_authority config pool:w token_a_account:w token_b_account:w base_vault:w quote_vault:w base_mint quote_mint fee_claimer:s token_base_program token_quote_program event_authority program',
      'max_amount_a:u64 max_amount_b:u64 slices:*{accounts_type:<TransferHookBase,TransferHookBaseReferral>,length:u8}',
    ],
    close_claim_protocol_fee_operator: [
      '082957235030791a',
      'claim_fee_operator:w rent_receiver:w signer:s event_authority program',
      '',
    ],
    close_operator_account: ['ab09d54a7817031d', 'operator:w signer:s rent_receiver:w', ''],
    close_token_badge: [
      '6c92566eb3fe0a68',
      'token_badge:w operator signer:s rent_receiver:w event_authority program',
      '',
    ],
    create_config: [
      'c9cff3724b6f2fbd',
      'config:sw fee_claimer leftover_receiver quote_mint payer:sw system_program event_authority program',
      CONFIG,
    ],
    create_config_with_transfer_hook: [
      'd825013958e21929',
      'config:sw fee_claimer leftover_receiver quote_mint transfer_hook_program payer:sw system_program event_authority program',
      CONFIG,
    ],
    create_locker: [
      'a75a899a4b2f1154',
      'virtual_pool:w config pool_authority:w base_vault:w base_mint:w base:w creator escrow:w escrow_token:w payer:sw token_program locker_program locker_event_authority system_program',
      '',
    ],
    create_operator_account: [
      'dd40f695f099e5a3',
      'operator:w whitelisted_address signer:s payer:sw system_program event_authority program',
      'permission:u128',
    ],
    create_partner_metadata: [
      'c0a8eabfbce2e3ff',
      'partner_metadata:w payer:sw fee_claimer:s system_program event_authority program',
      'padding:hex96 name:string website:string logo:string',
    ],
    create_token_badge: [
      '58ce005b3caf9776',
      'token_badge:w token_mint operator signer:s payer:sw system_program event_authority program',
      '',
    ],
    create_virtual_pool_metadata: [
      '2d61bb67fe6d7c86',
      'virtual_pool virtual_pool_metadata:w creator:s payer:sw system_program event_authority program',
      'padding:hex96 name:string website:string logo:string',
    ],
    creator_withdraw_surplus: [
      'a50389071c864c50',
      'pool_authority config virtual_pool:w token_quote_account:w quote_vault:w quote_mint creator:s token_quote_program event_authority program',
      '',
    ],
    initialize_virtual_pool_with_spl_token: [
      '8c55d7b06636684f',
      'config pool_authority creator:s base_mint:sw quote_mint pool:w base_vault:w quote_vault:w mint_metadata:w metadata_program payer:sw token_quote_program token_program system_program event_authority program',
      'name:string symbol:string uri:string',
    ],
    initialize_virtual_pool_with_token2022: [
      'a976334e916edc9b',
      'config pool_authority creator:s base_mint:sw quote_mint pool:w base_vault:w quote_vault:w payer:sw token_quote_program token_program system_program event_authority program',
      'name:string symbol:string uri:string',
    ],
    initialize_virtual_pool_with_token2022_transfer_hook: [
      'b60de9b12a918702',
      'config pool_authority creator:s base_mint:sw quote_mint pool:w base_vault:w quote_vault:w transfer_hook_program payer:sw token_quote_program token_program system_program event_authority program',
      'name:string symbol:string uri:string',
    ],
    migrate_meteora_damm: [
      '1b013016b43f76d9',
      'virtual_pool:w migration_metadata:w config pool_authority:w pool:w damm_config lp_mint:w token_a_mint:w token_b_mint a_vault:w b_vault:w a_token_vault:w b_token_vault:w a_vault_lp_mint:w b_vault_lp_mint:w a_vault_lp:w b_vault_lp:w base_vault:w quote_vault:w virtual_pool_lp:w protocol_token_a_fee:w protocol_token_b_fee:w payer:sw rent mint_metadata:w metadata_program amm_program vault_program token_program associated_token_program system_program',
      '',
    ],
    migrate_meteora_damm_claim_lp_token: [
      '8b85021e5b917f9a',
      'virtual_pool migration_metadata:w pool_authority:w lp_mint source_token:w destination_token:w owner sender:s token_program',
      '',
    ],
    migrate_meteora_damm_lock_lp_token: [
      'b137ee9dfb58a52a',
      'virtual_pool migration_metadata:w pool_authority:w pool:w lp_mint lock_escrow:w owner source_tokens:w escrow_vault:w amm_program a_vault b_vault a_vault_lp b_vault_lp a_vault_lp_mint b_vault_lp_mint token_program',
      '',
    ],
    migration_damm_v2: [
      '9ca9e66735e45040',
      'virtual_pool:w migration_metadata config pool_authority:w pool:w first_position_nft_mint:sw first_position_nft_account:w first_position:w second_position_nft_mint:swo second_position_nft_account:wo second_position:wo damm_pool_authority amm_program base_mint:w quote_mint:w token_a_vault:w token_b_vault:w base_vault:w quote_vault:w payer:sw token_base_program token_quote_program token_2022_program damm_event_authority system_program',
      '',
    ],
    migration_damm_v2_create_metadata: [
      '6dbd1324c3b7de52',
      'virtual_pool config migration_metadata payer system_program event_authority program',
      '',
    ],
    migration_meteora_damm_create_metadata: [
      '2f5e7e73dde2c285',
      'virtual_pool config migration_metadata:w payer:sw system_program event_authority program',
      '',
    ],
    partner_withdraw_surplus: [
      'a8ad4864c962265c',
      'pool_authority config virtual_pool:w token_quote_account:w quote_vault:w quote_mint fee_claimer:s token_quote_program event_authority program',
      '',
    ],
    swap: [
      'f8c69e91e17587c8',
      'pool_authority config pool:w input_token_account:w output_token_account:w base_vault:w quote_vault:w base_mint quote_mint payer:s token_base_program token_quote_program referral_token_account:wo event_authority program',
      'amount_in:u64 minimum_amount_out:u64',
    ],
    swap2: [
      '414b3f4ceb5b5b88',
      'pool_authority config pool:w input_token_account:w output_token_account:w base_vault:w quote_vault:w base_mint quote_mint payer:s token_base_program token_quote_program referral_token_account:wo event_authority program',
      'amount_0:u64 amount_1:u64 swap_mode:u8',
    ],
    swap2_with_transfer_hook: [
      'b75d992818e6c297',
      'pool_authority config pool:w input_token_account:w output_token_account:w base_vault:w quote_vault:w base_mint:w quote_mint payer:s token_base_program token_quote_program referral_token_account:wo event_authority program',
      'amount_0:u64 amount_1:u64 swap_mode:u8 slices:*{accounts_type:<TransferHookBase,TransferHookBaseReferral>,length:u8}',
    ],
    transfer_pool_creator: [
      '1407a9213a93a621',
      'virtual_pool:w config creator:s new_creator event_authority program',
      '',
    ],
    withdraw_leftover: [
      '14c6caedebf3b742',
      'pool_authority config virtual_pool:w token_base_account:w base_vault:w base_mint leftover_receiver token_base_program event_authority program',
      '',
    ],
    withdraw_migration_fee: [
      'ed8e2d178106dea2',
      'pool_authority config virtual_pool:w token_quote_account:w quote_vault:w quote_mint sender:s token_quote_program event_authority program',
      'flag:u8',
    ],
  },
  accounts: {
    virtual_pool: ['d5e005d16245775c', CURVE],
    // A curve whose token has a transfer hook.
    transfer_hook_pool: ['eddbb8172abda923', CURVE],
    token_badge: ['74dbcce5f974ff96', 'token_mint:pubkey _padding:hex128'],
  },
  events: {
    evt_swap2: ['bd4233a826507599', SWAPPED],
    evt_swap2_with_transfer_hook: ['863ba8785e3372e7', SWAPPED],
    evt_claim_trading_fee: ['1a5375f05cca70fe', 'pool:pubkey token_base_amount:u64 token_quote_amount:u64'],
    evt_claim_creator_trading_fee: ['9ae4d7ca859bd68a', 'pool:pubkey token_base_amount:u64 token_quote_amount:u64'],
  },
})

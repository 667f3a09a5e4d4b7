/** Instructions of Meteora DBC; generated from its SDK by `npm run docs`. */
import type { InstructionTable } from '../layout.ts'

export const DBC_INSTRUCTIONS: InstructionTable = {
  '52dcfabd03556b2d': [
    'claim_creator_trading_fee',
    'pool_authority pool token_a_account token_b_account base_vault quote_vault base_mint quote_mint creator token_base_program token_quote_program event_authority program',
    'max_base_amount:u64 max_quote_amount:u64',
  ],
  eef7d55e6e91588e: [
    'claim_creator_trading_fee2',
    'pool_authority pool token_a_account token_b_account base_vault quote_vault base_mint quote_mint creator token_base_program token_quote_program event_authority program',
    'max_base_amount:u64 max_quote_amount:u64 slices:*{accounts_type:<TransferHookBase,TransferHookBaseReferral>,length:u8}',
  ],
  faee1a048b0a65f8: [
    'claim_partner_pool_creation_fee',
    'config pool fee_claimer fee_receiver event_authority program',
    '',
  ],
  ebc23645410aec70: [
    'claim_protocol_fee2',
    'receiver_token_account base_mint quote_mint token_base_program token_quote_program config pool base_vault quote_vault pool_authority signer',
    'max_amount:u64',
  ],
  '72cd53bcf0991936': [
    'claim_protocol_pool_creation_fee',
    'config pool operator signer treasury event_authority program',
    '',
  ],
  '08ec5931987db151': [
    'claim_trading_fee',
    'pool_authority config pool token_a_account token_b_account base_vault quote_vault base_mint quote_mint fee_claimer token_base_program token_quote_program event_authority program',
    'max_amount_a:u64 max_amount_b:u64',
  ],
  '54bf473209a237c1': [
    'claim_trading_fee2',
    'pool_authority config pool token_a_account token_b_account base_vault quote_vault base_mint quote_mint fee_claimer token_base_program token_quote_program event_authority program',
    'max_amount_a:u64 max_amount_b:u64 slices:*{accounts_type:<TransferHookBase,TransferHookBaseReferral>,length:u8}',
  ],
  '082957235030791a': [
    'close_claim_protocol_fee_operator',
    'claim_fee_operator rent_receiver signer event_authority program',
    '',
  ],
  ab09d54a7817031d: ['close_operator_account', 'operator signer rent_receiver', ''],
  '6c92566eb3fe0a68': ['close_token_badge', 'token_badge operator signer rent_receiver event_authority program', ''],
  c9cff3724b6f2fbd: [
    'create_config',
    'config fee_claimer leftover_receiver quote_mint payer system_program event_authority program',
    'cliff_fee_numerator:u64 first_factor:u16 second_factor:u64 third_factor:u64 base_fee_mode:u8 dynamic_fee:?{bin_step:u16,bin_step_u128:u128,filter_period:u16,decay_period:u16,reduction_factor:u16,max_volatility_accumulator:u32,variable_fee_control:u32} collect_fee_mode:u8 migration_option:u8 activation_type:u8 token_type:u8 token_decimal:u8 partner_liquidity_percentage:u8 partner_permanent_locked_liquidity_percentage:u8 creator_liquidity_percentage:u8 creator_permanent_locked_liquidity_percentage:u8 migration_quote_threshold:u64 sqrt_start_price:u128 amount_per_period:u64 cliff_duration_from_migration_time:u64 frequency:u64 number_of_period:u64 cliff_unlock_amount:u64 migration_fee_option:u8 token_supply:?{pre_migration_token_supply:u64,post_migration_token_supply:u64} creator_trading_fee_percentage:u8 token_update_authority:u8 fee_percentage:u8 creator_fee_percentage:u8 collect_fee_mode:u8 dynamic_fee:u8 pool_fee_bps:u16 pool_creation_fee:u64 vesting_percentage:u8 bps_per_period:u16 number_of_periods:u16 cliff_duration_from_migration_time:u32 frequency:u32 vesting_percentage:u8 bps_per_period:u16 number_of_periods:u16 cliff_duration_from_migration_time:u32 frequency:u32 migrated_pool_base_fee_mode:u8 number_of_period:u16 sqrt_price_step_bps:u16 scheduler_expiration_duration:u32 reduction_factor:u64 enable_first_swap_with_min_fee:bool compounding_fee_bps:u16 padding:hex2 curve:*{sqrt_price:u128,liquidity:u128}',
  ],
  d825013958e21929: [
    'create_config_with_transfer_hook',
    'config fee_claimer leftover_receiver quote_mint transfer_hook_program payer system_program event_authority program',
    'cliff_fee_numerator:u64 first_factor:u16 second_factor:u64 third_factor:u64 base_fee_mode:u8 dynamic_fee:?{bin_step:u16,bin_step_u128:u128,filter_period:u16,decay_period:u16,reduction_factor:u16,max_volatility_accumulator:u32,variable_fee_control:u32} collect_fee_mode:u8 migration_option:u8 activation_type:u8 token_type:u8 token_decimal:u8 partner_liquidity_percentage:u8 partner_permanent_locked_liquidity_percentage:u8 creator_liquidity_percentage:u8 creator_permanent_locked_liquidity_percentage:u8 migration_quote_threshold:u64 sqrt_start_price:u128 amount_per_period:u64 cliff_duration_from_migration_time:u64 frequency:u64 number_of_period:u64 cliff_unlock_amount:u64 migration_fee_option:u8 token_supply:?{pre_migration_token_supply:u64,post_migration_token_supply:u64} creator_trading_fee_percentage:u8 token_update_authority:u8 fee_percentage:u8 creator_fee_percentage:u8 collect_fee_mode:u8 dynamic_fee:u8 pool_fee_bps:u16 pool_creation_fee:u64 vesting_percentage:u8 bps_per_period:u16 number_of_periods:u16 cliff_duration_from_migration_time:u32 frequency:u32 vesting_percentage:u8 bps_per_period:u16 number_of_periods:u16 cliff_duration_from_migration_time:u32 frequency:u32 migrated_pool_base_fee_mode:u8 number_of_period:u16 sqrt_price_step_bps:u16 scheduler_expiration_duration:u32 reduction_factor:u64 enable_first_swap_with_min_fee:bool compounding_fee_bps:u16 padding:hex2 curve:*{sqrt_price:u128,liquidity:u128}',
  ],
  a75a899a4b2f1154: [
    'create_locker',
    'virtual_pool config pool_authority base_vault base_mint base creator escrow escrow_token payer token_program locker_program locker_event_authority system_program',
    '',
  ],
  dd40f695f099e5a3: [
    'create_operator_account',
    'operator whitelisted_address signer payer system_program event_authority program',
    'permission:u128',
  ],
  c0a8eabfbce2e3ff: [
    'create_partner_metadata',
    'partner_metadata payer fee_claimer system_program event_authority program',
    'padding:hex96 name:string website:string logo:string',
  ],
  '58ce005b3caf9776': [
    'create_token_badge',
    'token_badge token_mint operator signer payer system_program event_authority program',
    '',
  ],
  '2d61bb67fe6d7c86': [
    'create_virtual_pool_metadata',
    'virtual_pool virtual_pool_metadata creator payer system_program event_authority program',
    'padding:hex96 name:string website:string logo:string',
  ],
  a50389071c864c50: [
    'creator_withdraw_surplus',
    'pool_authority config virtual_pool token_quote_account quote_vault quote_mint creator token_quote_program event_authority program',
    '',
  ],
  '8c55d7b06636684f': [
    'initialize_virtual_pool_with_spl_token',
    'config pool_authority creator base_mint quote_mint pool base_vault quote_vault mint_metadata metadata_program payer token_quote_program token_program system_program event_authority program',
    'name:string symbol:string uri:string',
  ],
  a976334e916edc9b: [
    'initialize_virtual_pool_with_token2022',
    'config pool_authority creator base_mint quote_mint pool base_vault quote_vault payer token_quote_program token_program system_program event_authority program',
    'name:string symbol:string uri:string',
  ],
  b60de9b12a918702: [
    'initialize_virtual_pool_with_token2022_transfer_hook',
    'config pool_authority creator base_mint quote_mint pool base_vault quote_vault transfer_hook_program payer token_quote_program token_program system_program event_authority program',
    'name:string symbol:string uri:string',
  ],
  '1b013016b43f76d9': [
    'migrate_meteora_damm',
    'virtual_pool migration_metadata config pool_authority pool damm_config lp_mint token_a_mint token_b_mint a_vault b_vault a_token_vault b_token_vault a_vault_lp_mint b_vault_lp_mint a_vault_lp b_vault_lp base_vault quote_vault virtual_pool_lp protocol_token_a_fee protocol_token_b_fee payer rent mint_metadata metadata_program amm_program vault_program token_program associated_token_program system_program',
    '',
  ],
  '8b85021e5b917f9a': [
    'migrate_meteora_damm_claim_lp_token',
    'virtual_pool migration_metadata pool_authority lp_mint source_token destination_token owner sender token_program',
    '',
  ],
  b137ee9dfb58a52a: [
    'migrate_meteora_damm_lock_lp_token',
    'virtual_pool migration_metadata pool_authority pool lp_mint lock_escrow owner source_tokens escrow_vault amm_program a_vault b_vault a_vault_lp b_vault_lp a_vault_lp_mint b_vault_lp_mint token_program',
    '',
  ],
  '9ca9e66735e45040': [
    'migration_damm_v2',
    'virtual_pool migration_metadata config pool_authority pool first_position_nft_mint first_position_nft_account first_position second_position_nft_mint second_position_nft_account second_position damm_pool_authority amm_program base_mint quote_mint token_a_vault token_b_vault base_vault quote_vault payer token_base_program token_quote_program token_2022_program damm_event_authority system_program',
    '',
  ],
  '6dbd1324c3b7de52': [
    'migration_damm_v2_create_metadata',
    'virtual_pool config migration_metadata payer system_program event_authority program',
    '',
  ],
  '2f5e7e73dde2c285': [
    'migration_meteora_damm_create_metadata',
    'virtual_pool config migration_metadata payer system_program event_authority program',
    '',
  ],
  a8ad4864c962265c: [
    'partner_withdraw_surplus',
    'pool_authority config virtual_pool token_quote_account quote_vault quote_mint fee_claimer token_quote_program event_authority program',
    '',
  ],
  f8c69e91e17587c8: [
    'swap',
    'pool_authority config pool input_token_account output_token_account base_vault quote_vault base_mint quote_mint payer token_base_program token_quote_program referral_token_account event_authority program',
    'amount_in:u64 minimum_amount_out:u64',
  ],
  '414b3f4ceb5b5b88': [
    'swap2',
    'pool_authority config pool input_token_account output_token_account base_vault quote_vault base_mint quote_mint payer token_base_program token_quote_program referral_token_account event_authority program',
    'amount_0:u64 amount_1:u64 swap_mode:u8',
  ],
  b75d992818e6c297: [
    'swap2_with_transfer_hook',
    'pool_authority config pool input_token_account output_token_account base_vault quote_vault base_mint quote_mint payer token_base_program token_quote_program referral_token_account event_authority program',
    'amount_0:u64 amount_1:u64 swap_mode:u8 slices:*{accounts_type:<TransferHookBase,TransferHookBaseReferral>,length:u8}',
  ],
  '1407a9213a93a621': ['transfer_pool_creator', 'virtual_pool config creator new_creator event_authority program', ''],
  '14c6caedebf3b742': [
    'withdraw_leftover',
    'pool_authority config virtual_pool token_base_account base_vault base_mint leftover_receiver token_base_program event_authority program',
    '',
  ],
  ed8e2d178106dea2: [
    'withdraw_migration_fee',
    'pool_authority config virtual_pool token_quote_account quote_vault quote_mint sender token_quote_program event_authority program',
    'flag:u8',
  ],
}

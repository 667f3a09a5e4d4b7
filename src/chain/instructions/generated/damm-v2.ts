/** Instructions of Meteora DAMM v2; generated from its SDK by `npm run docs`. */
import type { InstructionTable } from '../layout.ts'

export const DAMM_V2_INSTRUCTIONS: InstructionTable = {
  b59d59438fb63448: [
    'add_liquidity',
    'pool position token_a_account token_b_account token_a_vault token_b_vault token_a_mint token_b_mint position_nft_account signer token_a_program token_b_program event_authority program',
    'liquidity_delta:u128 token_a_amount_threshold:u64 token_b_amount_threshold:u64',
  ],
  b4269a118521a2d3: [
    'claim_position_fee',
    'pool_authority pool position token_a_account token_b_account token_a_vault token_b_vault token_a_mint token_b_mint position_nft_account signer token_a_program token_b_program event_authority program',
    '',
  ],
  ebc23645410aec70: [
    'claim_protocol_fee2',
    'receiver_token_account token_a_mint token_b_mint token_a_program token_b_program pool token_a_vault token_b_vault pool_authority signer',
    'max_amount:u64',
  ],
  '955fb5f25e5a9ea2': [
    'claim_reward',
    'pool_authority pool position reward_vault reward_mint user_token_account position_nft_account signer token_program event_authority program',
    'reward_index:u8 skip_reward:u8',
  ],
  '9109489d5f7d3d55': ['close_config', 'config operator signer rent_receiver event_authority program', ''],
  ab09d54a7817031d: ['close_operator_account', 'operator signer rent_receiver event_authority program', ''],
  '7b86510031446262': [
    'close_position',
    'position_nft_mint position_nft_account pool position pool_authority rent_receiver owner token_program event_authority program',
    '',
  ],
  '6c92566eb3fe0a68': ['close_token_badge', 'token_badge operator signer rent_receiver event_authority program', ''],
  c9cff3724b6f2fbd: [
    'create_config',
    'config operator signer payer system_program event_authority program',
    'index:u64 data:hex27 compounding_fee_bps:u16 padding:u8 dynamic_fee:?{bin_step:u16,bin_step_u128:u128,filter_period:u16,decay_period:u16,reduction_factor:u16,max_volatility_accumulator:u32,variable_fee_control:u32} sqrt_min_price:u128 sqrt_max_price:u128 vault_config_key:pubkey pool_creator_authority:pubkey activation_type:u8 collect_fee_mode:u8 permission:u128',
  ],
  '51fb7a4e4239d052': [
    'create_dynamic_config',
    'config operator signer payer system_program event_authority program',
    'index:u64 pool_creator_authority:pubkey permission:u128',
  ],
  dd40f695f099e5a3: [
    'create_operator_account',
    'operator whitelisted_address signer payer system_program event_authority program',
    'permission:u128',
  ],
  '30d7c59960cbb485': [
    'create_position',
    'owner position_nft_mint position_nft_account pool position pool_authority payer token_program system_program event_authority program',
    '',
  ],
  '58ce005b3caf9776': [
    'create_token_badge',
    'token_badge token_mint operator signer payer system_program event_authority program',
    '',
  ],
  ea5fb0b9072a239f: [
    'dummy_ix',
    'pod_aligned_fee_time_scheduler pod_aligned_fee_rate_limiter pod_aligned_fee_market_cap_scheduler',
    'cliff_fee_numerator:u64 number_of_period:u16 period_frequency:u64 reduction_factor:u64 base_fee_mode:u8 cliff_fee_numerator:u64 fee_increment_bps:u16 max_limiter_duration:u32 max_fee_bps:u32 reference_amount:u64 base_fee_mode:u8 cliff_fee_numerator:u64 number_of_period:u16 sqrt_price_step_bps:u32 scheduler_expiration_duration:u32 reduction_factor:u64 base_fee_mode:u8',
  ],
  '261ed851fab1f3fe': ['fix_config_fee_params', 'config operator signer', 'data:hex27'],
  '846251c42c3a78c1': ['fix_pool_fee_params', 'pool operator signer', 'data:hex27'],
  a69e452351a7c8d7: ['fix_pool_layout_version', 'pool operator signer', ''],
  bc32f9a55d97263f: [
    'fund_reward',
    'pool reward_vault reward_mint funder_token_account funder token_program event_authority program',
    'reward_index:u8 amount:u64 carry_forward:bool',
  ],
  '14a1f118bdddb402': [
    'initialize_customizable_pool',
    'creator position_nft_mint position_nft_account payer pool_authority pool position token_a_mint token_b_mint token_a_vault token_b_vault payer_token_a payer_token_b token_a_program token_b_program token_2022_program system_program event_authority program',
    'data:hex27 compounding_fee_bps:u16 padding:u8 dynamic_fee:?{bin_step:u16,bin_step_u128:u128,filter_period:u16,decay_period:u16,reduction_factor:u16,max_volatility_accumulator:u32,variable_fee_control:u32} sqrt_min_price:u128 sqrt_max_price:u128 has_alpha_vault:bool liquidity:u128 sqrt_price:u128 activation_type:u8 collect_fee_mode:u8 activation_point:?u64',
  ],
  '5fb40aac54aee828': [
    'initialize_pool',
    'creator position_nft_mint position_nft_account payer config pool_authority pool position token_a_mint token_b_mint token_a_vault token_b_vault payer_token_a payer_token_b token_a_program token_b_program token_2022_program system_program event_authority program',
    'liquidity:u128 sqrt_price:u128 activation_point:?u64',
  ],
  '955248c5fdfc440f': [
    'initialize_pool_with_dynamic_config',
    'creator position_nft_mint position_nft_account payer pool_creator_authority config pool_authority pool position token_a_mint token_b_mint token_a_vault token_b_vault payer_token_a payer_token_b token_a_program token_b_program token_2022_program system_program event_authority program',
    'data:hex27 compounding_fee_bps:u16 padding:u8 dynamic_fee:?{bin_step:u16,bin_step_u128:u128,filter_period:u16,decay_period:u16,reduction_factor:u16,max_volatility_accumulator:u32,variable_fee_control:u32} sqrt_min_price:u128 sqrt_max_price:u128 has_alpha_vault:bool liquidity:u128 sqrt_price:u128 activation_type:u8 collect_fee_mode:u8 activation_point:?u64',
  ],
  '5f87c0c4f281e644': [
    'initialize_reward',
    'pool_authority pool reward_vault reward_mint signer payer token_program system_program event_authority program',
    'reward_index:u8 reward_duration:u64 funder:pubkey',
  ],
  '481331cc127a175a': [
    'lock_inner_position',
    'pool position position_nft_account signer event_authority program',
    'cliff_point:?u64 period_frequency:u64 cliff_unlock_liquidity:u128 liquidity_per_period:u128 number_of_period:u16',
  ],
  e33e02fcf70aabb9: [
    'lock_position',
    'pool position vesting position_nft_account signer payer system_program event_authority program',
    'cliff_point:?u64 period_frequency:u64 cliff_unlock_liquidity:u128 liquidity_per_period:u128 number_of_period:u16',
  ],
  a5b07d06e7abbad5: [
    'permanent_lock_position',
    'pool position position_nft_account signer event_authority program',
    'permanent_lock_liquidity:u128',
  ],
  '095ed80e74ccf700': ['refresh_vesting', 'pool position position_nft_account owner', ''],
  '0a333d2370691855': [
    'remove_all_liquidity',
    'pool_authority pool position token_a_account token_b_account token_a_vault token_b_vault token_a_mint token_b_mint position_nft_account signer token_a_program token_b_program event_authority program',
    'token_a_amount_threshold:u64 token_b_amount_threshold:u64',
  ],
  '5055d14818ceb16c': [
    'remove_liquidity',
    'pool_authority pool position token_a_account token_b_account token_a_vault token_b_vault token_a_mint token_b_mint position_nft_account signer token_a_program token_b_program event_authority program',
    'liquidity_delta:u128 token_a_amount_threshold:u64 token_b_amount_threshold:u64',
  ],
  '705787df53cc8435': ['set_pool_status', 'pool operator signer event_authority program', 'status:u8'],
  acf1dd8aa11dfd2a: [
    'split_position',
    'pool first_position first_position_nft_account second_position second_position_nft_account first_owner second_owner event_authority program',
    'unlocked_liquidity_percentage:u8 permanent_locked_liquidity_percentage:u8 fee_a_percentage:u8 fee_b_percentage:u8 reward_0_percentage:u8 reward_1_percentage:u8 inner_vesting_liquidity_percentage:u8 padding:hex15',
  ],
  dd93e4cf8cd41177: [
    'split_position2',
    'pool first_position first_position_nft_account second_position second_position_nft_account first_owner second_owner event_authority program',
    'numerator:u32',
  ],
  f8c69e91e17587c8: [
    'swap',
    'pool_authority pool input_token_account output_token_account token_a_vault token_b_vault token_a_mint token_b_mint payer token_a_program token_b_program referral_token_account event_authority program',
    'amount_in:u64 minimum_amount_out:u64',
  ],
  '414b3f4ceb5b5b88': [
    'swap2',
    'pool_authority pool input_token_account output_token_account token_a_vault token_b_vault token_a_mint token_b_mint payer token_a_program token_b_program referral_token_account event_authority program',
    'amount_0:u64 amount_1:u64 swap_mode:u8',
  ],
  afa5384000fb592f: [
    'update_delegate_permission',
    'position position_nft_account owner event_authority program',
    'permission:u32',
  ],
  '76d9cbb33c084659': [
    'update_pool_fees',
    'pool operator signer event_authority program',
    'cliff_fee_numerator:?u64 dynamic_fee:?{bin_step:u16,bin_step_u128:u128,filter_period:u16,decay_period:u16,reduction_factor:u16,max_volatility_accumulator:u32,variable_fee_control:u32} compounding_fee_bps:?u16',
  ],
  '8aaec4a9d5ebfe6b': [
    'update_reward_duration',
    'pool signer event_authority program',
    'reward_index:u8 new_duration:u64',
  ],
  d31c3020d7a02317: [
    'update_reward_funder',
    'pool signer event_authority program',
    'reward_index:u8 new_funder:pubkey',
  ],
  '7963e05bb20e1684': [
    'withdraw_dead_liquidity_reward',
    'pool_authority pool reward_vault reward_mint funder_token_account funder token_program event_authority program',
    'reward_index:u8',
  ],
  '94ce2ac3f7316708': [
    'withdraw_ineligible_reward',
    'pool_authority pool reward_vault reward_mint funder_token_account funder token_program event_authority program',
    'reward_index:u8',
  ],
}

/** Meteora DAMM v2 (cp_amm): all its instructions, and the accounts that svc reads without the SDK, as in its IDL. */
import { PROGRAMS } from '../programs.ts'
import { programTable } from './table.ts'

export const DAMM_V2 = programTable(PROGRAMS.dammV2.id, {
  fixed: {
    pool_authority: 'HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC',
    system_program: '11111111111111111111111111111111',
    token_2022_program: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
    event_authority: '3rmHSu74h1ZcmAisVcWerTCiRDQbUrBKmcwptYGjHfet',
    program: 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG',
  },
  instructions: {
    add_liquidity: [
      'b59d59438fb63448',
      'pool:w position:w token_a_account:w token_b_account:w token_a_vault:w token_b_vault:w token_a_mint token_b_mint position_nft_account signer:s token_a_program token_b_program event_authority program',
      'liquidity_delta:u128 token_a_amount_threshold:u64 token_b_amount_threshold:u64',
    ],
    claim_position_fee: [
      'b4269a118521a2d3',
      'pool_authority pool position:w token_a_account:w token_b_account:w token_a_vault:w token_b_vault:w token_a_mint token_b_mint position_nft_account signer:s token_a_program token_b_program event_authority program',
      '',
    ],
    claim_protocol_fee2: [
      'ebc23645410aec70',
      'receiver_token_account:w token_a_mint token_b_mint token_a_program token_b_program pool:w token_a_vault:w token_b_vault:w pool_authority signer:s',
      'max_amount:u64',
    ],
    claim_reward: [
      '955fb5f25e5a9ea2',
      'pool_authority pool:w position:w reward_vault:w reward_mint user_token_account:w position_nft_account signer:s token_program event_authority program',
      'reward_index:u8 skip_reward:u8',
    ],
    close_config: ['9109489d5f7d3d55', 'config:w operator signer:s rent_receiver:w event_authority program', ''],
    close_operator_account: ['ab09d54a7817031d', 'operator:w signer:s rent_receiver:w event_authority program', ''],
    close_position: [
      '7b86510031446262',
      'position_nft_mint:w position_nft_account:w pool:w position:w pool_authority rent_receiver:w owner:s token_program event_authority program',
      '',
    ],
    close_token_badge: [
      '6c92566eb3fe0a68',
      'token_badge:w operator signer:s rent_receiver:w event_authority program',
      '',
    ],
    create_config: [
      'c9cff3724b6f2fbd',
      'config:w operator signer:s payer:sw system_program event_authority program',
      'index:u64 data:hex27 compounding_fee_bps:u16 padding:u8 dynamic_fee:?{bin_step:u16,bin_step_u128:u128,filter_period:u16,decay_period:u16,reduction_factor:u16,max_volatility_accumulator:u32,variable_fee_control:u32} sqrt_min_price:u128 sqrt_max_price:u128 vault_config_key:pubkey pool_creator_authority:pubkey activation_type:u8 collect_fee_mode:u8 permission:u128',
    ],
    create_dynamic_config: [
      '51fb7a4e4239d052',
      'config:w operator signer:s payer:sw system_program event_authority program',
      'index:u64 pool_creator_authority:pubkey permission:u128',
    ],
    create_operator_account: [
      'dd40f695f099e5a3',
      'operator:w whitelisted_address signer:s payer:sw system_program event_authority program',
      'permission:u128',
    ],
    create_position: [
      '30d7c59960cbb485',
      'owner position_nft_mint:sw position_nft_account:w pool:w position:w pool_authority payer:sw token_program system_program event_authority program',
      '',
    ],
    create_token_badge: [
      '58ce005b3caf9776',
      'token_badge:w token_mint operator signer:s payer:sw system_program event_authority program',
      '',
    ],
    dummy_ix: [
      'ea5fb0b9072a239f',
      'pod_aligned_fee_time_scheduler pod_aligned_fee_rate_limiter pod_aligned_fee_market_cap_scheduler',
      'borsh_fee_time_scheduler_params_cliff_fee_numerator:u64 borsh_fee_time_scheduler_params_number_of_period:u16 period_frequency:u64 borsh_fee_time_scheduler_params_reduction_factor:u64 borsh_fee_time_scheduler_params_base_fee_mode:u8 borsh_fee_rate_limiter_params_cliff_fee_numerator:u64 fee_increment_bps:u16 max_limiter_duration:u32 max_fee_bps:u32 reference_amount:u64 borsh_fee_rate_limiter_params_base_fee_mode:u8 borsh_fee_market_cap_scheduler_params_cliff_fee_numerator:u64 borsh_fee_market_cap_scheduler_params_number_of_period:u16 sqrt_price_step_bps:u32 scheduler_expiration_duration:u32 borsh_fee_market_cap_scheduler_params_reduction_factor:u64 borsh_fee_market_cap_scheduler_params_base_fee_mode:u8',
    ],
    fix_config_fee_params: ['261ed851fab1f3fe', 'config:w operator signer:s', 'data:hex27'],
    fix_pool_fee_params: ['846251c42c3a78c1', 'pool:w operator signer:s', 'data:hex27'],
    fix_pool_layout_version: ['a69e452351a7c8d7', 'pool:w operator signer:s', ''],
    fund_reward: [
      'bc32f9a55d97263f',
      'pool:w reward_vault:w reward_mint funder_token_account:w funder:s token_program event_authority program',
      'reward_index:u8 amount:u64 carry_forward:bool',
    ],
    initialize_customizable_pool: [
      '14a1f118bdddb402',
      'creator position_nft_mint:sw position_nft_account:w payer:sw pool_authority pool:w position:w token_a_mint token_b_mint token_a_vault:w token_b_vault:w payer_token_a:w payer_token_b:w token_a_program token_b_program token_2022_program system_program event_authority program',
      'data:hex27 compounding_fee_bps:u16 padding:u8 dynamic_fee:?{bin_step:u16,bin_step_u128:u128,filter_period:u16,decay_period:u16,reduction_factor:u16,max_volatility_accumulator:u32,variable_fee_control:u32} sqrt_min_price:u128 sqrt_max_price:u128 has_alpha_vault:bool liquidity:u128 sqrt_price:u128 activation_type:u8 collect_fee_mode:u8 activation_point:?u64',
    ],
    initialize_pool: [
      '5fb40aac54aee828',
      'creator position_nft_mint:sw position_nft_account:w payer:sw config pool_authority pool:w position:w token_a_mint token_b_mint token_a_vault:w token_b_vault:w payer_token_a:w payer_token_b:w token_a_program token_b_program token_2022_program system_program event_authority program',
      'liquidity:u128 sqrt_price:u128 activation_point:?u64',
    ],
    initialize_pool_with_dynamic_config: [
      '955248c5fdfc440f',
      'creator position_nft_mint:sw position_nft_account:w payer:sw pool_creator_authority:s config pool_authority pool:w position:w token_a_mint token_b_mint token_a_vault:w token_b_vault:w payer_token_a:w payer_token_b:w token_a_program token_b_program token_2022_program system_program event_authority program',
      'data:hex27 compounding_fee_bps:u16 padding:u8 dynamic_fee:?{bin_step:u16,bin_step_u128:u128,filter_period:u16,decay_period:u16,reduction_factor:u16,max_volatility_accumulator:u32,variable_fee_control:u32} sqrt_min_price:u128 sqrt_max_price:u128 has_alpha_vault:bool liquidity:u128 sqrt_price:u128 activation_type:u8 collect_fee_mode:u8 activation_point:?u64',
    ],
    initialize_reward: [
      '5f87c0c4f281e644',
      'pool_authority pool:w reward_vault:w reward_mint signer:s payer:sw token_program system_program event_authority program',
      'reward_index:u8 reward_duration:u64 funder:pubkey',
    ],
    lock_inner_position: [
      '481331cc127a175a',
      'pool position:w position_nft_account signer:s event_authority program',
      'cliff_point:?u64 period_frequency:u64 cliff_unlock_liquidity:u128 liquidity_per_period:u128 number_of_period:u16',
    ],
    lock_position: [
      'e33e02fcf70aabb9',
      'pool position:w vesting:sw position_nft_account signer:s payer:sw system_program event_authority program',
      'cliff_point:?u64 period_frequency:u64 cliff_unlock_liquidity:u128 liquidity_per_period:u128 number_of_period:u16',
    ],
    permanent_lock_position: [
      'a5b07d06e7abbad5',
      'pool:w position:w position_nft_account signer:s event_authority program',
      'permanent_lock_liquidity:u128',
    ],
    refresh_vesting: ['095ed80e74ccf700', 'pool position:w position_nft_account owner', ''],
    remove_all_liquidity: [
      '0a333d2370691855',
      'pool_authority pool:w position:w token_a_account:w token_b_account:w token_a_vault:w token_b_vault:w token_a_mint token_b_mint position_nft_account signer:s token_a_program token_b_program event_authority program',
      'token_a_amount_threshold:u64 token_b_amount_threshold:u64',
    ],
    remove_liquidity: [
      '5055d14818ceb16c',
      'pool_authority pool:w position:w token_a_account:w token_b_account:w token_a_vault:w token_b_vault:w token_a_mint token_b_mint position_nft_account signer:s token_a_program token_b_program event_authority program',
      'liquidity_delta:u128 token_a_amount_threshold:u64 token_b_amount_threshold:u64',
    ],
    set_pool_status: ['705787df53cc8435', 'pool:w operator signer:s event_authority program', 'status:u8'],
    split_position: [
      'acf1dd8aa11dfd2a',
      'pool:w first_position:w first_position_nft_account second_position:w second_position_nft_account first_owner:s second_owner:s event_authority program',
      'unlocked_liquidity_percentage:u8 permanent_locked_liquidity_percentage:u8 fee_a_percentage:u8 fee_b_percentage:u8 reward_0_percentage:u8 reward_1_percentage:u8 inner_vesting_liquidity_percentage:u8 padding:hex15',
    ],
    split_position2: [
      'dd93e4cf8cd41177',
      'pool:w first_position:w first_position_nft_account second_position:w second_position_nft_account first_owner:s second_owner:s event_authority program',
      'numerator:u32',
    ],
    swap: [
      'f8c69e91e17587c8',
      'pool_authority pool:w input_token_account:w output_token_account:w token_a_vault:w token_b_vault:w token_a_mint token_b_mint payer:s token_a_program token_b_program referral_token_account:wo event_authority program',
      'amount_in:u64 minimum_amount_out:u64',
    ],
    swap2: [
      '414b3f4ceb5b5b88',
      'pool_authority pool:w input_token_account:w output_token_account:w token_a_vault:w token_b_vault:w token_a_mint token_b_mint payer:s token_a_program token_b_program referral_token_account:wo event_authority program',
      'amount_0:u64 amount_1:u64 swap_mode:u8',
    ],
    update_delegate_permission: [
      'afa5384000fb592f',
      'position:w position_nft_account owner:s event_authority program',
      'permission:u32',
    ],
    update_pool_fees: [
      '76d9cbb33c084659',
      'pool:w operator signer:s event_authority program',
      'cliff_fee_numerator:?u64 dynamic_fee:?{bin_step:u16,bin_step_u128:u128,filter_period:u16,decay_period:u16,reduction_factor:u16,max_volatility_accumulator:u32,variable_fee_control:u32} compounding_fee_bps:?u16',
    ],
    update_reward_duration: [
      '8aaec4a9d5ebfe6b',
      'pool:w signer:s event_authority program',
      'reward_index:u8 new_duration:u64',
    ],
    update_reward_funder: [
      'd31c3020d7a02317',
      'pool:w signer:s event_authority program',
      'reward_index:u8 new_funder:pubkey',
    ],
    withdraw_dead_liquidity_reward: [
      '7963e05bb20e1684',
      'pool_authority pool:w reward_vault:w reward_mint funder_token_account:w funder:s token_program event_authority program',
      'reward_index:u8',
    ],
    withdraw_ineligible_reward: [
      '94ce2ac3f7316708',
      'pool_authority pool:w reward_vault:w reward_mint funder_token_account:w funder:s token_program event_authority program',
      'reward_index:u8',
    ],
  },
  accounts: {
    pool: [
      'f19a6d0411b16dbc',
      'data:hex32 base_fee_padding_1:u64 protocol_fee_percent:u8 pool_fees_padding_0:u8 referral_fee_percent:u8 pool_fees_padding_1:hex3 compounding_fee_bps:u16 initialized:u8 dynamic_fee_padding:hex7 max_volatility_accumulator:u32 variable_fee_control:u32 bin_step:u16 filter_period:u16 decay_period:u16 reduction_factor:u16 last_update_timestamp:u64 bin_step_u128:u128 sqrt_price_reference:u128 volatility_accumulator:u128 volatility_reference:u128 init_sqrt_price:u128 token_a_mint:pubkey token_b_mint:pubkey token_a_vault:pubkey token_b_vault:pubkey whitelisted_vault:pubkey padding_0:hex32 liquidity:u128 padding_1:u128 protocol_a_fee:u64 protocol_b_fee:u64 dead_liquidity_fee_checkpoint:u64 padding_2:hex8 sqrt_min_price:u128 sqrt_max_price:u128 sqrt_price:u128 activation_point:u64 activation_type:u8 pool_status:u8 token_a_flag:u8 token_b_flag:u8 collect_fee_mode:u8 pool_type:u8 fee_version:u8 padding_3:u8 fee_a_per_liquidity:hex32 fee_b_per_liquidity:hex32 permanent_lock_liquidity:u128 total_lp_a_fee:u128 total_lp_b_fee:u128 total_protocol_a_fee:u64 total_protocol_b_fee:u64 metrics_padding_0:hex16 total_position:u64 metrics_padding:u64 creator:pubkey token_a_amount:u64 token_b_amount:u64 layout_version:u8 padding_4:hex7 padding_5:hex24 reward_infos:hex384',
    ],
    position: [
      'aabc8fe47a40f7d0',
      'pool:pubkey nft_mint:pubkey fee_a_per_token_checkpoint:hex32 fee_b_per_token_checkpoint:hex32 fee_a_pending:u64 fee_b_pending:u64 unlocked_liquidity:u128 vested_liquidity:u128 permanent_locked_liquidity:u128 total_claimed_a_fee:u64 total_claimed_b_fee:u64 reward_infos:hex96 cliff_point:u64 period_frequency:u64 cliff_unlock_liquidity:u128 liquidity_per_period:u128 total_released_liquidity:u128 number_of_period:u16 inner_vesting_padding:hex14 delegate_permission:u32 padding:hex12',
    ],
    vesting: [
      '6495428a5fc880f1',
      'position:pubkey cliff_point:u64 period_frequency:u64 cliff_unlock_liquidity:u128 liquidity_per_period:u128 total_released_liquidity:u128 number_of_period:u16 padding:hex14 padding2:hex64',
    ],
  },
  events: {
    evt_swap2: [
      'bd4233a826507599',
      'pool:pubkey trade_direction:u8 collect_fee_mode:u8 has_referral:bool amount_0:u64 amount_1:u64 swap_mode:u8 included_fee_input_amount:u64 excluded_fee_input_amount:u64 amount_left:u64 output_amount:u64 next_sqrt_price:u128 claiming_fee:u64 protocol_fee:u64 compounding_fee:u64 referral_fee:u64 included_transfer_fee_amount_in:u64 included_transfer_fee_amount_out:u64 excluded_transfer_fee_amount_out:u64 current_timestamp:u64 reserve_a_amount:u64 reserve_b_amount:u64',
    ],
  },
})

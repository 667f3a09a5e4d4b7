/**
 * Meteora Presale: its instructions and accounts, and the events that say what moved, as in its IDL. Modes of a creation
 * have names, for people who approve it. Amounts are raw units, times Unix seconds.
 */
import { addressBytes } from '../addresses.ts'
import { utf8 } from '../bytes.ts'
import { MEMO_PROGRAM, SYSTEM_PROGRAM } from '../program-ids.ts'
import { PRESALE_AUTHORITY, PROGRAMS } from '../programs.ts'
import { fieldType } from './field-types.ts'
import { programTable } from './table.ts'

const END = 'event_authority program'
/** Accounts after the named ones, for transfer hooks. */
const OTHERS = 'slices:*{accounts_type:<TransferHookBase,TransferHookQuote>,length:u8}'
const PAYOUT = `owner:s token_program memo_program ${END}`
const QUOTE = 'quote_token_vault:w quote_mint'
const REGISTRY =
  '{buyer_minimum_deposit_cap:u64,buyer_maximum_deposit_cap:u64,presale_supply:u64,deposit_fee_bps:u16,padding:hex32}'

export const PRESALE = programTable(PROGRAMS.presale.id, {
  fixed: {
    presale_authority: PRESALE_AUTHORITY,
    event_authority: '7fPLVKP7zpTimvPZpVyVtwSk6Pjg894ESYfashmS48C8',
    program: PROGRAMS.presale.id,
    system_program: SYSTEM_PROGRAM,
    memo_program: MEMO_PROGRAM,
  },
  instructions: {
    claim: [
      '3ec6d6c1d59f6cd2',
      `presale:w base_token_vault:w base_mint presale_authority escrow:w owner_base_token:w ${PAYOUT}`,
      OTHERS,
    ],
    close_escrow: ['8bab5e92bf5b9032', `presale:w escrow:w owner:s rent_receiver:w ${END}`, ''],
    close_fixed_price_presale_args: ['7d4146f763c82ae1', `fixed_price_presale_args:w owner:sw ${END}`, ''],
    close_merkle_root_config: ['9dae26c1ccfd030c', `presale merkle_root_config:w rent_receiver:w creator:s ${END}`, ''],
    close_permissioned_server_metadata: [
      'e20293dc26f78a5f',
      `presale permissioned_server_metadata:w rent_receiver:w owner:s ${END}`,
      '',
    ],
    create_merkle_root_config: [
      '37f3fdf04ebae8a6',
      `presale merkle_root_config:w creator:sw system_program ${END}`,
      'root:hex32 version:u64',
    ],
    create_operator: ['9128ee4bb5fc3b0b', `operator:w operator_owner creator:sw system_program ${END}`, ''],
    create_permissioned_escrow_with_creator: [
      '83821a27c82612ad',
      `presale:w escrow:w owner operator operator_owner:s payer:sw system_program ${END}`,
      'registry_index:u8 deposit_cap:u64 padding:hex32',
    ],
    create_permissioned_escrow_with_merkle_proof: [
      '3ec836913bef5b05',
      `presale:w escrow:w owner merkle_root_config payer:sw system_program ${END}`,
      'proof:*hex32 registry_index:u8 deposit_cap:u64 padding:hex32',
    ],
    create_permissioned_server_metadata: [
      '8b0d789112d1b9b4',
      `presale permissioned_server_metadata:w owner:sw system_program ${END}`,
      'server_url:string',
    ],
    create_permissionless_escrow: ['f11a091af8c99700', `presale:w escrow:w owner payer:sw system_program ${END}`, ''],
    creator_collect_fee: [
      '09d73e9740a39607',
      `presale:w presale_authority ${QUOTE} fee_receiving_account:w ${PAYOUT}`,
      OTHERS,
    ],
    // The vault that pays follows the accounts of the IDL: the quote's, or the base's if the raise has failed.
    creator_withdraw: [
      '5c75cefeae6c256a',
      `presale:w presale_authority owner_token:w ${PAYOUT} token_vault:w token_mint`,
      OTHERS,
    ],
    deposit: [
      'f223c68952e1f2b6',
      `presale:w ${QUOTE} escrow:w payer_quote_token:w payer:s token_program ${END}`,
      `max_amount:u64 ${OTHERS}`,
    ],
    initialize_fixed_price_presale_args: [
      'e0507fc1cc8ff3c2',
      `fixed_price_presale_params:w owner payer:sw system_program ${END}`,
      'presale:pubkey disable_withdraw:bool q_price:u128 padding1:hex64',
    ],
    // At a fixed price, its arguments follow the accounts of the IDL.
    initialize_presale: [
      '09ae0c7e96774464',
      `presale_mint presale:w presale_authority quote_token_mint presale_vault:w quote_token_vault:w payer_presale_token:w creator base:s payer:sw base_token_program quote_token_program system_program ${END} fixed_price_presale_args:w*`,
      `presale_maximum_cap:u64 presale_minimum_cap:u64 presale_start_time:u64 presale_end_time:u64 whitelist_mode:<none,merkle,operator> presale_mode:<fixed_price,pro_rata,first_come> unsold_token_action:<return,burn> disable_earlier_presale_end_once_cap_reached:bool presale_params_padding:hex30 immediately_release_bps:u16 lock_duration:u64 vest_duration:u64 immediate_release_timestamp:u64 locked_vesting_params_padding:hex24 padding:hex32 presale_registries:*${REGISTRY} ${OTHERS}`,
    ],
    perform_unsold_base_token_action: [
      '658d0841b0e12f6e',
      `presale:w base_token_vault:w base_mint:w presale_authority creator_base_token:w token_program memo_program ${END}`,
      OTHERS,
    ],
    refresh_escrow: ['44ed11ed93c91ba9', `presale escrow:w ${END}`, ''],
    revoke_operator: ['b919574d58081eaf', `operator:w creator:sw ${END}`, ''],
    withdraw: [
      'b712469c946da122',
      `presale:w ${QUOTE} presale_authority escrow:w owner_quote_token:w ${PAYOUT}`,
      `amount:u64 ${OTHERS}`,
    ],
    withdraw_remaining_quote: [
      '36fdbc2264913b7f',
      `presale:w ${QUOTE} presale_authority escrow:w owner_quote_token:w ${PAYOUT}`,
      OTHERS,
    ],
  },
  accounts: {
    escrow: [
      '1fd57bbbba16da9b',
      'presale:pubkey owner:pubkey total_deposit:u64 total_claimed_token:u64 is_remaining_quote_withdrawn:u8 registry_index:u8 padding0:hex6 pending_claim_token:u64 deposit_max_cap:u64 created_at:u64 total_deposit_fee:u64 last_refreshed_at:u64 padding:hex64',
    ],
    fixed_price_presale_extra_args: [
      '4b8bc6948436bf53',
      'padding0:hex15 disable_withdraw:u8 q_price:u128 owner:pubkey presale:pubkey padding1:hex64',
    ],
    merkle_root_config: ['6702ded94932bb27', 'root:hex32 padding0:u64 presale:pubkey version:u64 padding1:hex64'],
    operator: ['db1fbc91458bcc75', 'owner:pubkey creator:pubkey padding:hex64'],
    permissioned_server_metadata: ['82f26014938a4bf6', 'presale:pubkey padding:hex128 server_url:string'],
    presale: [
      '26d7de0e73dc34a8',
      'owner:pubkey quote_mint:pubkey base_mint:pubkey base_token_vault:pubkey quote_token_vault:pubkey base:pubkey padding0:u8 presale_mode:u8 whitelist_mode:u8 padding1:hex5 presale_maximum_cap:u64 presale_minimum_cap:u64 presale_start_time:u64 presale_end_time:u64 presale_supply:u64 total_deposit:u64 total_escrow:u64 created_at:u64 lock_duration:u64 vest_duration:u64 immediate_release_timestamp:u64 padding2:u64 vesting_start_time:u64 vesting_end_time:u64 total_claimed_token:u64 total_refunded_quote_token:u64 total_deposit_fee:u64 deposit_fee_collected:u8 padding3:hex7 has_creator_withdrawn:u8 base_token_program_flag:u8 quote_token_program_flag:u8 total_presale_registry_count:u8 unsold_token_action:u8 is_unsold_token_action_performed:u8 immediate_release_bps:u16 presale_mode_raw_data:hex48 padding4:hex64 presale_registries:hex800',
    ],
  },
  events: {
    evt_deposit: [
      'f50763ad98da42a8',
      'presale:pubkey escrow:pubkey deposit_amount:u64 escrow_total_deposit_amount:u64 presale_total_deposit_amount:u64 owner:pubkey deposit_fee:u64',
    ],
  },
})

/** Bytes of the server metadata in front of its URL. */
export const SERVER_METADATA_BYTES = 172

const seeds = (name: string, ...parts: (string | Uint8Array)[]): Uint8Array[] => [
  utf8(name),
  ...parts.map((part) => (typeof part === 'string' ? addressBytes(part) : part)),
]

/** The seeds of the program's accounts, from addresses. */
export const PRESALE_SEEDS = {
  presale: (base: string, mint: string, quoteMint: string) => seeds('presale', base, mint, quoteMint),
  baseVault: (presale: string) => seeds('base_vault', presale),
  quoteVault: (presale: string) => seeds('quote_vault', presale),
  fixedPriceArgs: (presale: string) => seeds('fixed_price_param', presale),
  serverMetadata: (presale: string) => seeds('server_metadata', presale),
  /** `round` is the index of the registry, 0 to 4. */
  escrow: (presale: string, owner: string, round: number) => seeds('escrow', presale, owner, Uint8Array.of(round)),
  merkleRoot: (presale: string, version: bigint) => seeds('merkle_root', presale, fieldType('u64').write(version)),
  operator: (creator: string, operator: string) => seeds('operator', creator, operator),
}

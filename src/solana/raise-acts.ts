/**
 * The instructions of a raise, one for each act, from addresses alone, so that browsers build them, too. `from` and `to`
 * are token accounts of the mint that the act moves; all must exist.
 */
import { PRESALE } from './programs/presale.ts'
import type { Raise, RaiseAddresses, RaiseState, RaiseTerms } from './raises.ts'
import { tokenProgramOf } from './token-programs.ts'

const NO_HOOKS = { slices: [] }
const zeros = (length: number) => new Uint8Array(length)
const named = (name: string) => ({ name, value: null })

/** Addresses of a raise that is to be created; `chain/programs/presale` derives them. */
export interface RaisePlace extends RaiseAddresses {
  fixedPriceArgs: string
}

export interface RaiseCreation extends Omit<RaiseTerms, 'withdrawable' | 'supply'> {
  creator: string
  /** Signs, and pays tokens from `from`, and rents. */
  payer: string
  from: string
}

interface Payer {
  payer: string
}

/** The price of a raise at a fixed price, which its creation reads; the owner may close the account later. */
export const fixedPriceInstruction = (
  { address: presale, fixedPriceArgs }: RaisePlace,
  args: Payer & { owner?: string; price: bigint; withdrawable: boolean },
) =>
  PRESALE.instruction(
    'initialize_fixed_price_presale_args',
    { fixed_price_presale_params: fixedPriceArgs, owner: args.owner ?? args.payer, payer: args.payer },
    { presale, disable_withdraw: !args.withdrawable, q_price: args.price, padding1: zeros(64) },
  )

/** Creates the raise; the tokens of all rounds leave `from`. The base and the payer sign, and the creator does not. */
export function creationInstruction(place: RaisePlace, creation: RaiseCreation) {
  const accounts = {
    presale_mint: place.mint,
    presale: place.address,
    quote_token_mint: place.quoteMint,
    presale_vault: place.baseVault,
    quote_token_vault: place.quoteVault,
    payer_presale_token: creation.from,
    creator: creation.creator,
    base: place.base,
    payer: creation.payer,
    base_token_program: tokenProgramOf(place.tokenProgram),
    quote_token_program: tokenProgramOf(place.quoteTokenProgram),
    fixed_price_presale_args: creation.price === null ? [] : [place.fixedPriceArgs],
  }
  return PRESALE.instruction('initialize_presale', accounts, {
    presale_maximum_cap: creation.maximum,
    presale_minimum_cap: creation.minimum,
    presale_start_time: creation.startsAt,
    presale_end_time: creation.endsAt,
    whitelist_mode: named(creation.allowlist),
    presale_mode: named(creation.mode),
    unsold_token_action: named(creation.unsold),
    disable_earlier_presale_end_once_cap_reached: !creation.earlyEnd,
    presale_params_padding: zeros(30),
    immediately_release_bps: creation.releaseBps,
    lock_duration: creation.lockSeconds,
    vest_duration: creation.vestingSeconds,
    immediate_release_timestamp: creation.releaseAt,
    locked_vesting_params_padding: zeros(24),
    padding: zeros(32),
    presale_registries: creation.rounds.map(({ supply, buyerMin, buyerMax, feeBps }) => ({
      buyer_minimum_deposit_cap: buyerMin,
      buyer_maximum_deposit_cap: buyerMax,
      presale_supply: supply,
      deposit_fee_bps: feeBps,
      padding: zeros(32),
    })),
    ...NO_HOOKS,
  })
}

/** Returns the rent of the price's account to its owner, who signs; right after the creation, too. */
export const closeFixedPriceInstruction = (fixed_price_presale_args: string, owner: string) =>
  PRESALE.instruction('close_fixed_price_presale_args', { fixed_price_presale_args, owner }, {})

// The allowlist.

interface Root {
  creator: string
  /** Address of its account. */
  config: string
  root: Uint8Array
  version: bigint
}

/** Opens an allowlist to the wallets of a tree. The creator signs and pays; a raise can have several roots. */
export const rootInstruction = (presale: string, { creator, config, root, version }: Root) =>
  PRESALE.instruction('create_merkle_root_config', { presale, merkle_root_config: config, creator }, { root, version })

/** `metadata` is the address of the account. */
type ServerMetadata = Record<'creator' | 'metadata', string>

/** Writes where clients get proofs: they ask for `url/PRESALE/ROUND/WALLET`. The creator signs and pays. */
export const serverMetadataInstruction = (
  presale: string,
  { creator: owner, metadata: permissioned_server_metadata, url: server_url }: ServerMetadata & { url: string },
) =>
  PRESALE.instruction(
    'create_permissioned_server_metadata',
    { presale, permissioned_server_metadata, owner },
    { server_url },
  )

/** Closes that account, for example to write another URL; its rent goes to the creator, who signs. */
export const closeServerMetadataInstruction = (presale: string, { creator, metadata }: ServerMetadata) =>
  PRESALE.instruction(
    'close_permissioned_server_metadata',
    { presale, permissioned_server_metadata: metadata, rent_receiver: creator, owner: creator },
    {},
  )

// The buyer.

type EscrowPlace = Record<'escrow' | 'owner', string>

/** Opens the escrow of a wallet in a raise without an allowlist, whose only round is 0. Anyone may pay. */
export const escrowInstruction = (presale: string, { escrow, owner, payer }: EscrowPlace & Payer) =>
  PRESALE.instruction('create_permissionless_escrow', { presale, escrow, owner, payer }, {})

/** What the allowlist says about a wallet, with the siblings from its leaf to the root. */
export interface ProvenCap {
  round: number
  cap: bigint
  proof: readonly Uint8Array[]
  /** Address of the root's account. */
  config: string
}

/** Opens the escrow of a wallet in the allowlist. Anyone may pay. */
export const provenEscrowInstruction = (
  presale: string,
  { escrow, owner, payer }: EscrowPlace & Payer,
  { round, cap, proof, config }: ProvenCap,
) =>
  PRESALE.instruction(
    'create_permissioned_escrow_with_merkle_proof',
    { presale, escrow, owner, merkle_root_config: config, payer },
    { proof, registry_index: round, deposit_cap: cap, padding: zeros(32) },
  )

/** The accounts of a raise by their roles, and the token program of the side that an act moves. */
const rolesOf = (raise: RaiseAddresses, moved: 'quote' | 'token') => ({
  presale: raise.address,
  base_token_vault: raise.baseVault,
  base_mint: raise.mint,
  quote_token_vault: raise.quoteVault,
  quote_mint: raise.quoteMint,
  token_program: tokenProgramOf(moved === 'quote' ? raise.quoteTokenProgram : raise.tokenProgram),
})

/**
 * Deposits at most `amount`, and the fee on top, from a token account of the payer, who signs: the owner or anyone else.
 * The program takes less if less is left.
 */
export const depositInstruction = (
  raise: RaiseAddresses,
  { escrow, payer, from, amount }: Payer & { escrow: string; from: string; amount: bigint },
) => {
  const accounts = { ...rolesOf(raise, 'quote'), escrow, payer, payer_quote_token: from }
  return PRESALE.instruction('deposit', accounts, { max_amount: amount, ...NO_HOOKS })
}

/** The owner signs, and gets it in a token account of its choice. */
type Payout = EscrowPlace & { to: string }

/** Takes back a deposit, without its fee, before the end. */
export function withdrawalInstruction(raise: RaiseAddresses, { escrow, owner, to }: Payout, amount: bigint) {
  const accounts = { ...rolesOf(raise, 'quote'), escrow, owner, owner_quote_token: to }
  return PRESALE.instruction('withdraw', accounts, { amount, ...NO_HOOKS })
}

/** Pays the refund of a failed raise, or of what exceeds the maximum of a pro rata raise. */
export function refundInstruction(raise: RaiseAddresses, { escrow, owner, to }: Payout) {
  const accounts = { ...rolesOf(raise, 'quote'), escrow, owner, owner_quote_token: to }
  return PRESALE.instruction('withdraw_remaining_quote', accounts, NO_HOOKS)
}

/** Pays the tokens that are released; nothing, without an error, if there are none. */
export const claimInstruction = (raise: RaiseAddresses, { escrow, owner, to }: Payout) =>
  PRESALE.instruction('claim', { ...rolesOf(raise, 'token'), escrow, owner, owner_base_token: to }, NO_HOOKS)

/** Closes an escrow that has nothing left; the owner signs. */
export const closeEscrowInstruction = (presale: string, { escrow, owner }: EscrowPlace, rent_receiver = owner) =>
  PRESALE.instruction('close_escrow', { presale, escrow, owner, rent_receiver }, {})

// The creator.

type CreatorsRaise = RaiseAddresses & Pick<Raise, 'creator'>

/** Pays the creator what is raised, once; all tokens if the raise failed. `to` is of the mint that it pays. */
export function creatorWithdrawalInstruction(
  raise: CreatorsRaise,
  state: Extract<RaiseState, 'completed' | 'failed'>,
  to: string,
) {
  const roles = rolesOf(raise, state === 'completed' ? 'quote' : 'token')
  const [token_vault, token_mint] =
    state === 'completed' ? [raise.quoteVault, raise.quoteMint] : [raise.baseVault, raise.mint]
  const accounts = { ...roles, owner: raise.creator, owner_token: to, token_vault, token_mint }
  return PRESALE.instruction('creator_withdraw', accounts, NO_HOOKS)
}

/** Pays the creator the deposit fees, once, if the raise is completed. */
export function feeInstruction(raise: CreatorsRaise, to: string) {
  const accounts = { ...rolesOf(raise, 'quote'), fee_receiving_account: to, owner: raise.creator }
  return PRESALE.instruction('creator_collect_fee', accounts, NO_HOOKS)
}

/** Returns the unsold tokens to the creator's associated token account, which must exist, or burns them; by anyone. */
export function unsoldInstruction(raise: RaiseAddresses, creatorsAccount: string) {
  const accounts = { ...rolesOf(raise, 'token'), creator_base_token: creatorsAccount }
  return PRESALE.instruction('perform_unsold_base_token_action', accounts, NO_HOOKS)
}

/** Reads the changes that a transaction makes to raises, by its own instructions. */
import { hexOf } from '../../../solana/bytes.ts'
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { PRESALE } from '../../../solana/programs/presale.ts'

/** Amounts are raw units; null if neither the instruction nor an event behind it in the message says them. */
export type PresaleChange = { raise: string } & (
  | { kind: 'created'; mint: string; quoteMint: string; creator: string; payer: string; base: string }
  /** A root of the allowlist in hex without a prefix, and the address of its account. */
  | { kind: 'opened'; creator: string; config: string; root: string; version: bigint }
  /** Where clients get proofs from. */
  | { kind: 'served'; creator: string; url: string }
  | { kind: 'joined'; owner: string; payer: string; escrow: string }
  /** `most` may be more than the program takes. */
  | { kind: 'deposited'; escrow: string; payer: string; most: bigint }
  | { kind: 'withdrawn'; escrow: string; owner: string; amount: bigint }
  | { kind: 'refunded' | 'claimed' | 'left'; escrow: string; owner: string }
  /** The creator takes what is raised, or all tokens if the raise failed: `vault` is the one that pays. */
  | { kind: 'creator_withdrawn'; creator: string; vault: string; to: string }
  | { kind: 'fees_collected'; creator: string; to: string }
  | { kind: 'unsold_settled' }
)

type Call = ReturnType<typeof PRESALE.callsIn>[number]

/**
 * Returns one change per instruction, in order, whether or not the transaction succeeds. Calls between programs and
 * accounts from lookup tables are not included.
 */
export const presaleChangesIn = (message: DecodedMessage): PresaleChange[] =>
  PRESALE.callsIn(message).flatMap((call) => {
    const change = changeOf(call)
    return change === null || Object.values(change).includes(undefined) ? [] : [change as PresaleChange]
  })

/** An address that is in a table which was not read is undefined. */
function changeOf(call: Call): object | null {
  if (call.args === null || !('presale' in call.accounts)) return null
  const { presale: raise } = call.accounts
  switch (call.name) {
    case 'initialize_presale': {
      const { presale_mint: mint, quote_token_mint: quoteMint, creator, payer, base } = call.accounts
      return { kind: 'created', raise, mint, quoteMint, creator, payer, base }
    }
    case 'create_merkle_root_config': {
      const { creator, merkle_root_config: config } = call.accounts
      return { kind: 'opened', raise, creator, config, root: hexOf(call.args.root), version: call.args.version }
    }
    case 'create_permissioned_server_metadata':
      return { kind: 'served', raise, creator: call.accounts.owner, url: call.args.server_url }
    case 'create_permissionless_escrow':
    case 'create_permissioned_escrow_with_merkle_proof':
    case 'create_permissioned_escrow_with_creator': {
      const { owner, payer, escrow } = call.accounts
      return { kind: 'joined', raise, owner, payer, escrow }
    }
    case 'deposit': {
      const { escrow, payer } = call.accounts
      return { kind: 'deposited', raise, escrow, payer, most: call.args.max_amount }
    }
    case 'withdraw': {
      const { escrow, owner } = call.accounts
      return { kind: 'withdrawn', raise, escrow, owner, amount: call.args.amount }
    }
    case 'withdraw_remaining_quote':
    case 'claim':
    case 'close_escrow': {
      const { escrow, owner } = call.accounts
      return { kind: OF_OWNER[call.name], raise, escrow, owner }
    }
    case 'creator_withdraw': {
      const { owner: creator, token_vault: vault, owner_token: to } = call.accounts
      return { kind: 'creator_withdrawn', raise, creator, vault, to }
    }
    case 'creator_collect_fee': {
      const { owner: creator, fee_receiving_account: to } = call.accounts
      return { kind: 'fees_collected', raise, creator, to }
    }
    case 'perform_unsold_base_token_action':
      return { kind: 'unsold_settled', raise }
    default:
      return null
  }
}

const OF_OWNER = { withdraw_remaining_quote: 'refunded', claim: 'claimed', close_escrow: 'left' } as const

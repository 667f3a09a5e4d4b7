/** Reads the changes that a transaction makes to raises, by its own instructions. */
import { hexOf } from '../../../solana/bytes.ts'
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { PRESALE } from '../../../solana/programs/presale.ts'

const { events: EVENTS } = PRESALE.rows
type EventName = keyof typeof EVENTS

/**
 * Returns one change per instruction, in order, whether or not the transaction succeeds. Accounts from lookup tables
 * that were not read are not included. `amount` is what moved, in raw units, by the program's event: of a deposit without
 * the fee, of a refund with it. It is null if the message has no calls between programs (`executionOrder`).
 */
export function presaleChangesIn(message: DecodedMessage) {
  const next = eventsIn(message)
  return PRESALE.callsIn(message).flatMap((call) => {
    const change = changeOf(call, next)
    return change === null || Object.values(change).includes(undefined) ? [] : [change as Changed]
  })
}

/** Each act emits one event, so that the n-th event of a name belongs to the n-th act of its kind. */
function eventsIn({ keys, instructions }: DecodedMessage) {
  const own = instructions.filter(({ programIdIndex }) => keys[programIdIndex] === PRESALE.id)
  const left = new Map<EventName, unknown[]>()
  return <N extends EventName>(name: N) => {
    const events = left.get(name) ?? own.flatMap(({ data }) => PRESALE.event(name, data) ?? [])
    left.set(name, events)
    return (events.shift() ?? null) as ReturnType<typeof PRESALE.event<N>>
  }
}

type Call = ReturnType<typeof PRESALE.callsIn>[number]
type Changed = NonNullable<ReturnType<typeof changeOf>> & { raise: string }

function changeOf(call: Call, next: ReturnType<typeof eventsIn>) {
  if (call.name === 'initialize_presale') {
    const { presale: raise, presale_mint: mint, quote_token_mint: quoteMint, creator, payer, base } = call.accounts
    return { kind: 'created', raise, mint, quoteMint, creator, payer, base }
  }
  if (call.args === null || !('presale' in call.accounts)) return null
  const { presale: raise } = call.accounts
  switch (call.name) {
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
      const event = next('evt_deposit')
      const moved = { amount: event?.deposit_amount ?? null, fee: event?.deposit_fee ?? null }
      return { kind: 'deposited', raise, escrow, payer, most: call.args.max_amount, ...moved }
    }
    case 'withdraw':
      return { kind: 'withdrawn', raise, ...buyerOf(call), amount: next('evt_withdraw')?.withdraw_amount ?? null }
    case 'withdraw_remaining_quote': {
      const amount = next('evt_withdraw_remaining_quote')?.amount_refunded ?? null
      return { kind: 'refunded', raise, ...buyerOf(call), amount }
    }
    case 'claim':
      return { kind: 'claimed', raise, ...buyerOf(call), amount: next('evt_claim')?.claim_amount ?? null }
    case 'close_escrow':
      return { kind: 'left', raise, ...buyerOf(call) }
    case 'creator_withdraw': {
      const { owner: creator, token_vault: vault, owner_token: to } = call.accounts
      const amount = next('evt_creator_withdraw')?.amount ?? null
      return { kind: 'creator_withdrawn', raise, creator, vault, to, amount }
    }
    case 'creator_collect_fee': {
      const { owner: creator, fee_receiving_account: to } = call.accounts
      const amount = next('evt_creator_collect_fee')?.total_collected_fee ?? null
      return { kind: 'fees_collected', raise, creator, to, amount }
    }
    case 'perform_unsold_base_token_action': {
      const amount = next('evt_perform_unsold_base_token_action')?.total_token_unsold ?? null
      return { kind: 'unsold_settled', raise, amount }
    }
    default:
      return null
  }
}

const buyerOf = ({ accounts }: { accounts: { escrow?: string; owner?: string } }) => ({
  escrow: accounts.escrow,
  owner: accounts.owner,
})

/** Reads from executed instructions what moved between the vaults of raises and wallets, act by act. */
import type { LedgerParty } from '../../api/ledger-names.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { decodeInstruction } from '../../solana/instructions.ts'
import { PRESALE } from '../../solana/programs/presale.ts'

/** The detail of entries, and the party of the wallet, by the instruction. */
const ACTS = {
  initialize_presale: ['funding', 'creator'],
  deposit: ['deposit', 'trader'],
  withdraw: ['withdrawal', 'trader'],
  withdraw_remaining_quote: ['refund', 'trader'],
  claim: ['claim', 'trader'],
  creator_withdraw: ['creator_withdrawal', 'creator'],
  creator_collect_fee: ['deposit_fee', 'creator'],
  perform_unsold_base_token_action: ['unsold', 'creator'],
} as const satisfies Record<string, readonly [string, LedgerParty]>

export interface RaiseMove {
  raise: string
  detail: string
  /** Token accounts; one of them is a vault. */
  from: string
  to: string
  amount: bigint
  /** Who signs for the token account that is no vault; null if nobody does. */
  wallet: string | null
  party: LedgerParty
}

/**
 * Returns the token transfers of each act, in order. A deposit is divided into what counts and the fee, as its event
 * says. The instructions of `message` include the calls between programs.
 */
export function raiseMovesIn(message: DecodedMessage): RaiseMove[] {
  const { keys, instructions } = message
  const moves: RaiseMove[] = []
  let act: Pick<RaiseMove, 'raise' | 'detail' | 'wallet' | 'party'> | null = null
  for (const instruction of instructions) {
    const program = keys[instruction.programIdIndex] ?? ''
    if (program === PRESALE.id) {
      const paid = PRESALE.event('evt_deposit', instruction.data)
      const last = moves.at(-1)
      if (paid !== null && last?.detail === 'deposit' && paid.deposit_fee > 0n && paid.deposit_fee <= last.amount) {
        last.amount -= paid.deposit_fee
        moves.push({ ...last, detail: 'deposit_fee', amount: paid.deposit_fee })
      }
      // The event of an act is the last of its calls.
      act = actOf({ ...message, instructions: [instruction] })
      continue
    }
    const named = Array.from(instruction.accounts, (index) => keys[index] ?? '')
    const decoded = act && decodeInstruction(program, named, instruction.data)
    if (act === null || decoded?.program !== 'token') continue
    const { instruction: moving } = decoded
    if (moving.type !== 'transfer' && moving.type !== 'transferChecked') continue
    moves.push({ ...act, from: moving.source, to: moving.destination, amount: moving.amount })
  }
  return moves
}

function actOf(message: DecodedMessage): Pick<RaiseMove, 'raise' | 'detail' | 'wallet' | 'party'> | null {
  const [call] = PRESALE.callsIn(message)
  const named = call && ACTS[call.name as keyof typeof ACTS]
  if (call === undefined || named === undefined) return null
  const { presale: raise, payer, owner } = call.accounts as Record<string, string | undefined>
  if (raise === undefined) return null
  return { raise, detail: named[0], party: named[1], wallet: payer ?? owner ?? null }
}

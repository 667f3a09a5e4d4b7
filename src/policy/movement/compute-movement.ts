/** Computes what a transaction would really move out of a wallet: from a run of it, never from what it claims to do. */
import type { ChainAccount } from '../../solana/accounts.ts'
import type { DecodedMessage } from '../../solana/messages.ts'
import { accountOpenings } from './account-openings.ts'
import { balanceFlows } from './balance-flows.ts'
import { accountClosings, authorityChanges, delegations } from './control-changes.ts'
import {
  type ExecutedInstruction,
  inExecutionOrder,
  innerInstructions,
  messageInstructions,
} from './executed-instructions.ts'
import { type AssetRelease, withoutReleased } from './freeze-release.ts'
import { instructionEffects } from './instruction-effects.ts'
import type { InvokedProgram, Movement, SimulationFailure } from './movement.ts'
import { touchedAccounts } from './touched-accounts.ts'
import { confidentialBalances, foreignNonce } from './unread-parts.ts'

/** A simulation of the very message, whether it succeeded or failed. */
export interface SimulatedMessage {
  wallet: string
  message: DecodedMessage
  /** The message's own keys and the addresses that it loads from lookup tables, in the order that instructions count them. */
  keys: readonly string[]
  slot: number
  /** Lamports that the wallet pays; 0 where another pays. */
  fee: bigint
  /** False where the accounts kept changing between the readings before and after the simulation. */
  stable: boolean
}

/** What a simulation that succeeded shows of the accounts that the message may write to. */
export interface SimulatedEffects {
  addresses: readonly string[]
  /** In the order of `addresses`, null where no account is. */
  before: readonly (ChainAccount | null)[]
  after: readonly (ChainAccount | null)[]
  /** Inner instructions as the node shows them. */
  inner: unknown
  /** The asset of Metaplex Core that the transaction may release, if any: losing its freeze authority is then no loss. */
  release: AssetRelease | null
}

/** The movement of a simulation that succeeded. */
export function movementOf(simulated: SimulatedMessage, effects: SimulatedEffects): Movement {
  const { wallet, message, fee, stable } = simulated
  const own = messageInstructions(message, simulated.keys)
  const inner = innerInstructions(effects.inner)
  const all = [...own, ...(inner ?? [])]
  const { addresses, before, after, release } = effects
  const touched = touchedAccounts(wallet, addresses, before, after, accountOpenings(all))
  const accounts = release === null ? touched : withoutReleased(wallet, release, message, touched)
  const instructed = instructionEffects(wallet, inExecutionOrder(own, inner ?? []), accounts)
  const flows = balanceFlows(wallet, accounts, instructed, fee)
  const unread = [
    ...(inner === null ? [{ where: 'the RPC node', reason: 'does not show inner instructions' }] : []),
    ...instructed.unread,
    ...confidentialBalances(wallet, accounts),
    ...foreignNonce(message, wallet, accounts),
  ]
  return {
    ...commonOf(simulated),
    err: null,
    logs: [],
    stable: stable && unread.length === 0,
    unread,
    programs: invokedPrograms(all, wallet),
    ...flows,
    authority_changes: authorityChanges(wallet, accounts, instructed),
    delegates: delegations(wallet, accounts),
    closes: accountClosings(wallet, accounts, instructed, flows.destinations),
  }
}

/** The movement of a simulation that failed, of which the policy allows none. */
export function failedMovement(simulated: SimulatedMessage, err: SimulationFailure, logs: string[]): Movement {
  const { wallet, message, keys, stable } = simulated
  const programs = invokedPrograms(messageInstructions(message, keys), wallet)
  return { ...commonOf(simulated), ...NO_MOVEMENT, err, logs, stable, programs }
}

const NO_MOVEMENT = {
  unread: [],
  lamports_out: 0n,
  lamports_to_others: 0n,
  tokens_out: [],
  tokens_to_others: [],
  destinations: [],
  authority_changes: [],
  delegates: [],
  closes: [],
} satisfies Partial<Movement>

/** The first key of a message pays its fee. Throws where it has none, which no decoded message does. */
export function feePayerOf({ keys: [feePayer] }: DecodedMessage): string {
  if (feePayer === undefined) throw new Error('a message without keys has no fee payer')
  return feePayer
}

const commonOf = ({ wallet, slot, message, fee }: SimulatedMessage) => ({
  wallet,
  slot,
  signers: message.keys.slice(0, message.signers),
  fee_payer: feePayerOf(message),
  fee,
})

const invokedPrograms = (instructions: readonly ExecutedInstruction[], wallet: string): InvokedProgram[] =>
  instructions.map(({ program, depth, where, accounts }) => ({
    program,
    depth,
    where,
    wallet: accounts.includes(wallet),
  }))

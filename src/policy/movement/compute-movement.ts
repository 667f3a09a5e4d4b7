/** Computes the movement of a transaction out of a wallet from its simulation. */

import type { ChainAccount } from '../../solana/accounts.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import type { RentRate } from '../../solana/rent.ts'
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
import { powerUses } from './holder-powers.ts'
import { instructionEffects } from './instruction-effects.ts'
import type { InvokedProgram, Movement, SimulationFailure } from './movement.ts'
import { touchedAccounts } from './touched-accounts.ts'
import { confidentialBalances, foreignNonce } from './unread-parts.ts'

/** A simulation of exactly this message, whether it succeeded or failed. */
export interface SimulatedMessage {
  wallet: string
  message: DecodedMessage
  /** The message's own keys and the addresses loaded from lookup tables, in the order of instruction indexes. */
  keys: readonly string[]
  slot: number
  /** Lamports that the wallet pays as fee, or 0 when another account pays. */
  fee: bigint
  /** Whether the accounts were the same before and after the simulation. */
  stable: boolean
}

/** The accounts that the message may write to, as a successful simulation shows them. */
export interface SimulatedEffects {
  addresses: readonly string[]
  /** Accounts in the order of `addresses`, with null for an address without an account. */
  before: readonly (ChainAccount | null)[]
  after: readonly (ChainAccount | null)[]
  /** Inner instructions in the form that the node returns. */
  inner: unknown
  /**
   * The asset of Metaplex Core that the transaction may release, if any. The loss of its freeze authority is then
   * permitted.
   */
  release: AssetRelease | null
  /** The cluster's rent. */
  minimumOf: RentRate
}

/** Returns the movement of a simulation that succeeded. */
export function movementOf(simulated: SimulatedMessage, effects: SimulatedEffects): Movement {
  const { wallet, message, fee, stable } = simulated
  const own = messageInstructions(message, simulated.keys)
  const inner = innerInstructions(effects.inner)
  const all = [...own, ...(inner ?? [])]
  const { addresses, before, after, release, minimumOf } = effects
  const touched = touchedAccounts(wallet, addresses, before, after, accountOpenings(all), minimumOf)
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
    powers: powerUses(wallet, accounts, instructed),
    closes: accountClosings(wallet, accounts, instructed, flows.destinations),
  }
}

/** Returns the movement of a simulation that failed. No policy permits it. */
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
  powers: [],
  closes: [],
} satisfies Partial<Movement>

/** Returns the first key of a message, which pays its fee. Throws without keys, but every decoded message has one. */
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
  instructions.map(({ program, depth, where, accounts, call }) => ({
    program,
    depth,
    where,
    call,
    first: accounts[0] ?? null,
    wallet: accounts.includes(wallet),
  }))

/** Makes the message of a vault transaction from a built transaction that the vault pays for, and compares the two. */
import type { DecodedMessage } from '../decoded-message.ts'
import { guardsOfMessage } from '../guards.ts'
import { lifetimeOf } from '../lifetimes.ts'
import { type LoadedAddresses, loadedCount } from '../lookup-tables.ts'
import type { DecodedTransaction } from '../messages.ts'
import { COMPUTE_BUDGET_PROGRAM } from '../program-ids.ts'
import {
  addressesOf,
  isWritablePlace,
  NOTHING_LOADED,
  type PinnedMessage,
  pinMessage,
  SquadsFault,
  type SquadsMessage,
  storedMessage,
} from './message.ts'

export interface Wrapping {
  /** The vault, which pays and signs inside. */
  vault: string
  /** Ephemeral signers of the transaction that will be created, by their places. */
  ephemeral?: readonly string[] | undefined
  /** Wallets that will sign the execution beside its member. */
  cosigners?: readonly string[] | undefined
  /** The addresses that the transaction loads from lookup tables, if it uses any. */
  loaded?: LoadedAddresses | undefined
}

/**
 * A transaction of version 1 has room for larger messages; its version is not kept. Compute limits and prices are left out, because they belong to the transaction that executes. Throws SquadsFault for a
 * transaction that the vault cannot execute: another payer, a durable nonce, or a signer that cannot sign then.
 */
export function innerMessageOf(
  { message }: Pick<DecodedTransaction, 'message'>,
  { vault, ephemeral = [], cosigners = [], loaded = NOTHING_LOADED }: Wrapping,
): PinnedMessage {
  const { keys, signers } = message
  if (keys[0] !== vault)
    throw new SquadsFault(`The vault ${vault} must pay, but ${keys[0]} does: build it for the vault`)
  if (lifetimeOf(message).nonceAccount !== null) {
    throw new SquadsFault('A vault transaction cannot use a durable nonce: build it with a recent blockhash')
  }
  const stranger = keys.slice(1, signers).find((key) => !ephemeral.includes(key) && !cosigners.includes(key))
  if (stranger !== undefined) {
    throw new SquadsFault(
      `${stranger} must sign, but is neither the vault ${vault} nor one of its ephemeral signers: build it with the vault in this role`,
    )
  }
  const wrapped = withoutUnused(message, [...keys, ...loaded.writable, ...loaded.readonly])
  if (wrapped.instructions.length === 0) throw new SquadsFault('The transaction has no instruction for the vault')
  return pinMessage(wrapped, loaded)
}

/**
 * Without compute budget instructions, and without guards, which fail inside an execution and are put around it. Keys
 * that only they use are left out; the order of the others stays. `addresses` are those of all places.
 */
function withoutUnused(message: DecodedMessage, addresses: readonly string[]): SquadsMessage {
  const { keys, signers, readonlySigners, readonlyOthers, lookups } = message
  const { places: guards } = guardsOfMessage(message, addresses)
  const instructions = message.instructions.filter(
    ({ programIdIndex }, i) => keys[programIdIndex] !== COMPUTE_BUDGET_PROGRAM && !guards.includes(i),
  )
  const used = new Set([0, ...instructions.flatMap(({ programIdIndex, accounts }) => [programIdIndex, ...accounts])])
  const kept = [...keys.keys()].filter((place) => used.has(place))
  const order = [...kept, ...Array.from({ length: loadedCount(message) }, (_, i) => keys.length + i)]
  const placeOf = new Map(order.map((old, place) => [old, place]))
  const moved = (place: number) => placeOf.get(place) ?? 0
  const below = (end: number) => kept.filter((place) => place < end).length
  return {
    signers: below(signers),
    writableSigners: below(signers - readonlySigners),
    writableOthers: below(keys.length - readonlyOthers) - below(signers),
    keys: kept.map((place) => keys[place] ?? ''),
    instructions: instructions.map(({ programIdIndex, accounts, data }) => ({
      programIdIndex: moved(programIdIndex),
      accounts: accounts.map(moved),
      data,
    })),
    lookups,
  }
}

/**
 * Compares what two messages do: programs, accounts with their rights, and data, wherever each lists an address. A
 * message that takes more signatures differs. Returns null, or a sentence about the first difference.
 */
export function storedActDifference(expected: PinnedMessage, stored: PinnedMessage): string | null {
  const signers = (message: PinnedMessage) => message.keys.slice(0, message.signers).toSorted()
  if (!sameTexts(signers(expected), signers(stored))) return 'The stored transaction takes other signatures.'
  return instructionDifference(expected, stored)
}

/**
 * Compares what was planned with what the chain stores, byte for byte and with the addresses of lookup tables. Returns
 * null if they are the same, or a sentence about the first difference.
 */
export function storedMessageDifference(expected: PinnedMessage, stored: PinnedMessage): string | null {
  const [planned, found] = [addressesOf(expected), addressesOf(stored)]
  if (Buffer.from(storedMessage(expected)).equals(storedMessage(stored)) && sameTexts(planned, found)) return null
  return (
    instructionDifference(expected, stored) ??
    'The stored transaction has the same instructions, but lists its accounts in another way.'
  )
}

function instructionDifference(expected: PinnedMessage, stored: PinnedMessage): string | null {
  const [planned, found] = [addressesOf(expected), addressesOf(stored)]
  const [count, other] = [expected.instructions.length, stored.instructions.length]
  if (count !== other) return `The stored transaction has ${numbered(other, 'instruction')} instead of ${count}.`
  for (const [i, own] of expected.instructions.entries()) {
    const its = stored.instructions[i] ?? own
    const place = `Instruction ${i + 1} of the stored transaction`
    const [program, otherProgram] = [planned[own.programIdIndex], found[its.programIdIndex]]
    if (program !== otherProgram) return `${place} calls ${otherProgram} instead of ${program}.`
    if (own.accounts.length !== its.accounts.length) {
      return `${place} has ${numbered(its.accounts.length, 'account')} instead of ${own.accounts.length}.`
    }
    for (const [j, account] of own.accounts.entries()) {
      const theirs = its.accounts[j] ?? 0
      if (planned[account] !== found[theirs]) {
        return `${place} has the account ${found[theirs]} in place ${j + 1} instead of ${planned[account]}.`
      }
      const flags = [flagsOf(expected, account), flagsOf(stored, theirs)]
      if (flags[0] !== flags[1])
        return `${place} has the account ${found[theirs]} as ${flags[1]} instead of ${flags[0]}.`
    }
    if (!Buffer.from(own.data).equals(its.data)) return `${place} has other data: its amounts or terms were changed.`
  }
  return null
}

const sameTexts = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((text, i) => text === b[i])

const numbered = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

const flagsOf = (message: PinnedMessage, place: number) =>
  `${isWritablePlace(message, place) ? 'writable' : 'read-only'}${place < message.signers ? ' signer' : ''}`

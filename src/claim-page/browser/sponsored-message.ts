/** Checks a transaction that a sponsor offers: it may only claim for the wallet at the sponsor's cost. */
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import type { PlainInstruction } from '../../solana/programs/table.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { equalBytes, readU32 } from './bytes.ts'
import { claimOpening, firstClaimInstruction, vestedClaimInstruction } from './claim-instructions.ts'
import type { RowState } from './claim-state.ts'
import { base58Of, keyOfAddress } from './program-addresses.ts'

/**
 * Throws if a message does more than claim for the wallet. It may set the budget, lend the rent, open the token
 * account at the sponsor's cost, and claim exactly the leaf that the page has proven.
 */
export function requireHonest(message: Uint8Array, claimer: string, state: RowState): void {
  const { keys, signers, instructions } = readMessage(message)
  const payer = keys[0]
  const refuse = () => new Error('the transaction does something else')
  if (payer === undefined || payer === claimer || signers !== 2 || keys[1] !== claimer) throw refuse()
  const opening = claimOpening(state.accounts)
  const expected = [
    { ...opening, accounts: [{ address: payer, isSigner: true, isWritable: true }, ...opening.accounts.slice(1)] },
    firstClaimInstruction(state.accounts, state.row),
    vestedClaimInstruction(state.accounts),
  ]
  const seen = new Set<PlainInstruction | string>()
  for (const { program, accounts, data } of instructions) {
    if (program === COMPUTE_BUDGET_PROGRAM || isGuard(program, accounts, data, payer)) continue
    const isLoan = program === SYSTEM_PROGRAM && data.length === 12 && readU32(data, 0) === 2
    const known = isLoan && accounts[0] === payer && accounts[1] === claimer
    const match = known ? 'loan' : expected.find((each) => isSame(each, program, accounts, data))
    if (match === undefined || seen.has(match)) throw refuse()
    seen.add(match)
  }
  if (!seen.has(expected[1] as PlainInstruction) && !seen.has(expected[2] as PlainInstruction)) throw refuse()
}

/** Guards can only fail the transaction. Those that write lend rent, which must be the sponsor's. */
const isGuard = (program: string, accounts: readonly string[], [kind = 0]: Uint8Array, payer: string): boolean =>
  program === PROGRAMS.lighthouse.id && (kind > 1 || accounts[kind === 0 ? 2 : 1] === payer)

const isSame = (each: PlainInstruction, program: string, accounts: readonly string[], data: Uint8Array) =>
  each.program === program &&
  each.accounts.length === accounts.length &&
  each.accounts.every(({ address }, n) => address === accounts[n]) &&
  equalBytes(each.data, data)

interface ReadMessage {
  keys: string[]
  signers: number
  instructions: { program: string; accounts: string[]; data: Uint8Array }[]
}

/** Reads a message of version 0 without lookup tables. Throws an Error for any other. */
function readMessage(bytes: Uint8Array): ReadMessage {
  let at = 0
  const take = (length: number) => {
    if (at + length > bytes.length) throw new Error('the message is cut off')
    at += length
    return bytes.subarray(at - length, at)
  }
  const byte = () => take(1)[0] ?? 0
  const length = () => {
    const low = byte()
    return low < 0x80 ? low : (low & 0x7f) | (byte() << 7)
  }
  if (byte() !== 0x80) throw new Error('not of version 0')
  const signers = byte()
  take(2)
  const keys = Array.from({ length: length() }, () => base58Of(take(32)))
  take(32)
  const keyAt = (place: number) => {
    const key = keys[place]
    if (key === undefined || keyOfAddress(key) === null) throw new Error('no such account')
    return key
  }
  const instructions = Array.from({ length: length() }, () => {
    const program = keyAt(byte())
    const accounts = Array.from(take(length()), keyAt)
    return { program, accounts, data: take(length()) }
  })
  if (length() !== 0 || at !== bytes.length) throw new Error('the message has more')
  return { keys, signers, instructions }
}

/** Explains why a guard stopped a transaction: the error codes of Lighthouse, what had to hold, and what it found. */
import { solText } from '../../solana/amounts.ts'
import { type ReadInstruction, readGuards } from '../../solana/guards.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { LIGHTHOUSE } from '../../solana/programs/lighthouse.ts'
import { SQUADS } from '../../solana/programs/squads.ts'
import { programName } from '../../solana/programs.ts'
import { type Condition, conditionsOf, conditionWords } from '../instructions/conditions.ts'
import { rawText } from '../instructions/guard-words.ts'
import type { ErrorTable } from './types.ts'

const FAILED = 6001
/** The first assertion of several has this code, the next one the next code. */
const FAILED_OF_SEVERAL = 6400
const MOST_ASSERTIONS = 255
/** The account is too short, of another program, or was never created. */
const CLOSED: readonly number[] = [6005, 6009, 6011]

export const LIGHTHOUSE_CODES: ErrorTable = {
  6000: ['InvalidInstructionData', 'the assertion cannot be read'],
  [FAILED]: ['AssertionFailed', 'an account is not as the transaction requires'],
  6002: ['NotEnoughAccounts', 'the assertion names too few accounts'],
  6003: ['BumpNotFound', 'the address of the memory account has another bump'],
  6004: ['AccountBorrowFailed', 'an account is in use'],
  6005: ['RangeOutOfBounds', 'an account has less data than the assertion reads'],
  6006: ['IndexOutOfBounds', 'an account has no such index'],
  6007: ['FailedToDeserialize', 'an account cannot be read'],
  6008: ['FailedToSerialize', 'a value cannot be written'],
  6009: ['AccountOwnerMismatch', 'an account belongs to another program than the assertion reads'],
  6010: ['AccountKeyMismatch', 'an account is another one than the assertion reads'],
  6011: ['AccountNotInitialized', 'an account is not initialized'],
  6012: ['AccountOwnerValidationFailed', 'an account belongs to another program'],
  6013: ['AccountFundedValidationFailed', 'an account has no SOL'],
  6014: ['AccountDiscriminatorValidationFailed', 'an account is of another kind'],
  6015: ['AccountValidationFailed', 'an account is not as it has to be'],
  6016: ['CrossProgramInvokeViolation', 'the memory of guards cannot be used by another program, such as a multisig'],
  ...Object.fromEntries(
    Array.from({ length: MOST_ASSERTIONS }, (_, i) => [
      FAILED_OF_SEVERAL + i,
      ['AssertionFailed', `an account is not as assertion ${i} requires`] as const,
    ]),
  ),
}

/** Where the fee payer could not lend the guards the rent of their memory. */
export const LENDER_HINT = {
  [`${SYSTEM_PROGRAM} 1`]:
    'the fee payer lends the guards the rent of their memory until the transaction ends: send SOL to it, or build without guards (`--guard off`)',
}

const OVER = 'the act is over, and at most its fee was spent: make it again, which shows what it takes now'
const STAYS =
  'at most the fee was spent; the proposal stays approved and may still be executed: look at what it takes now, or cancel it'

/** What a failed guard says, by the instruction that failed; null if neither it nor the log can be read. */
export function stoppedByGuard(
  payer: string | undefined,
  all: readonly ReadInstruction[],
  { index, code, lines }: { index: number; code: number; lines: readonly string[] },
): { message: string; hint: string } | null {
  const failed = all[index]
  const isOwn = payer !== undefined && readGuards(payer, all).places.includes(index)
  const why = failed?.program === LIGHTHOUSE.id ? stopWords(failed, { code, lines, isOwn }) : insideWords(lines)
  if (why === null) return null
  const isExecution = all.some(({ program, data }) => program === SQUADS.id && isExecuting(SQUADS.nameOf(data)))
  return { message: why, hint: isExecution ? STAYS : OVER }
}

/** A guard in a message that a multisig executes: what it says is known only from its log. */
function insideWords(lines: readonly string[]): string | null {
  const [, found, operator, wanted] = lines.map((line) => FAILED_RESULT.exec(line)).find((each) => each !== null) ?? []
  return found === undefined ? null : `a guard inside of it stopped it: ${found} ${operator} ${wanted} does not hold`
}

const FAILED_RESULT = /^Result \(Failed\): Some\((-?\d+)\) (\S+) Some\((-?\d+)\)$/

const isExecuting = (name: string | null): boolean => name !== null && /_transaction_execute|execute_/.test(name)

interface Failure {
  code: number
  /** What the program logged. */
  lines: readonly string[]
  /** Whether the instruction is part of guards as svc writes them. */
  isOwn: boolean
}

function stopWords(failed: ReadInstruction, { code, lines, isOwn }: Failure): string | null {
  const stopped = (address: string, why: string) => `the guard of ${address} stopped it: ${why}`
  const gone = CLOSED.includes(code) ? 'it was closed meanwhile' : null
  if (LIGHTHOUSE.nameOf(failed.data) === 'memory_write') {
    const source = failed.accounts[4]
    return gone === null || source === undefined ? null : stopped(source, gone)
  }
  const conditions = conditionsOf(failed)
  const [first] = conditions
  const condition = code === FAILED ? first : conditions[code - FAILED_OF_SEVERAL]
  const address = first?.address ?? null
  if (address === null) return null
  if (gone !== null) return stopped(address, gone)
  return condition === undefined ? null : stopped(address, breachWords(condition, foundIn(lines), isOwn))
}

/** The value that the program compared, as it logs it; null if it did not, and `none` for nothing. */
function foundIn(lines: readonly string[]): string | null {
  const at = lines.findLastIndex((line) => line.startsWith('Result'))
  const value = /^Result(?: \(Failed\))?: (?:Some\((-?\w+)\)|(None)\b)?/.exec(lines[at] ?? '')
  if (value === null) return null
  const found = value[1] ?? value[2] ?? lines[at + 1] ?? null
  return found === 'None' ? 'none' : found
}

function breachWords(condition: Condition, found: string | null, isOwn: boolean): string {
  const { path, less, value, operator } = condition
  const field = path.at(-1) ?? ''
  const number = found !== null && /^-?\d+$/.test(found) ? BigInt(found) : null
  if (isOwn && less !== null)
    return flowWords(BigInt(value as bigint), number, field === 'lamports' ? solText : rawText)
  if (isOwn && (field === 'amount' || field === 'delegated_amount')) {
    const [bound, now] = [rawText(BigInt(value as bigint)), number === null ? null : rawText(number)]
    if (field === 'delegated_amount')
      return `its delegate could take ${now ?? 'more'} meanwhile, at most ${bound} may be`
    return now === null ? `it would hold less than ${bound}` : `it would hold ${now}, at least ${bound} must be there`
  }
  const now = found === null ? '' : found === 'none' ? ' to nobody' : ` to ${programName(found) ?? found}`
  if (field === 'owner_is_derived') return 'its owner changed meanwhile'
  if (operator === 'equal') {
    if (field in CHANGED) return `its ${CHANGED[field]} changed meanwhile${now}`
    if (isOwn && field === 'state') return `it was ${value === 1 ? 'frozen' : 'thawed'} meanwhile`
    if (field === 'data_length' && value === 0n) return 'it got data meanwhile'
  }
  const there = field === 'lamports' && number !== null ? solText(number) : found
  return `the transaction requires that ${conditionWords(condition)}${there === null ? '' : `, and it is ${there}`}`
}

const CHANGED: Readonly<Record<string, string>> = {
  owner: 'owner',
  mint: 'mint',
  known_owner: 'program',
  delegate: 'delegate',
  close_authority: 'close authority',
}

/** `least` is the change that is allowed, negative for what may leave. */
function flowWords(least: bigint, change: bigint | null, text: (amount: bigint) => string): string {
  if (least > 0n) return `${change === null ? 'less' : text(change)} would have come in, at least ${text(least)} must`
  if (change === null) return `more than ${text(-least)} would have left`
  return `${text(-change)} would have left, at most ${text(-least)} may`
}

/** Compares what an API built with what was requested, only by its bytes: every call must be a requested one. */
import { hexOf } from '../../src/solana/bytes.ts'
import { MAX_COMPUTE_UNITS } from '../../src/solana/constants.ts'
import { priorityFee } from '../../src/solana/fees.ts'
import { decodeInstruction, PLAIN_TABLES } from '../../src/solana/instructions.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  INSTRUCTIONS_SYSVAR,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../src/solana/program-ids.ts'
import { COMPUTE_BUDGET } from '../../src/solana/programs/compute-budget.ts'
import { SYSTEM } from '../../src/solana/programs/system.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { solOf } from '../cli/amounts.ts'
import { type Call, type Demand, unexpectedBuild, type Wanted } from './demanded-calls.ts'
import { guardsIn } from './guards.ts'
import type { DescribedContent } from './wallet.ts'

type BuiltInstruction = DescribedContent['instructions'][number]

/**
 * Throws a failure that names the first difference. The calls may be spread over the transactions in any way. With
 * `isPart`, some may be missing because they have landed already.
 */
export function requireCalls(
  contents: readonly DescribedContent[],
  { payer, calls, inOrder }: Demand,
  { isPart }: { isPart: boolean },
): void {
  const used = new Map<Call, number>()
  let place = 0
  for (const content of contents) {
    if (content.fee_payer !== payer) throw unexpectedBuild(`${content.fee_payer} would pay its fee, not ${payer}`)
    requireBoundedFee(content)
    // Guards can only make the transaction fail; instructions that are not as svc writes them are not requested.
    const { places: guards } = guardsIn(content)
    for (const [i, instruction] of content.instructions.entries()) {
      if (instruction.program === COMPUTE_BUDGET_PROGRAM || guards.includes(i)) continue
      const call = callOf(instruction, calls, used)
      if (!isPart && call.after !== undefined && !used.has(call.after)) {
        throw unexpectedBuild(`its ${call.call} comes before its ${call.after.call}`)
      }
      used.set(call, (used.get(call) ?? 0) + 1)
      if (inOrder && calls.indexOf(call) < place) throw unexpectedBuild(`its ${call.call} comes in another order`)
      place = calls.indexOf(call)
    }
  }
  const missing = isPart ? undefined : calls.find((call) => madeOf(call, calls, used) < (call.least ?? 1))
  if (missing !== undefined) throw unexpectedBuild(`it lacks the ${missing.call} that was requested`)
}

/** How often a call or another one of its group was made. */
const madeOf = (call: Call, calls: readonly Call[], used: ReadonlyMap<Call, number>) =>
  calls.reduce((sum, each) => sum + (isAlternative(each, call) ? (used.get(each) ?? 0) : 0), 0)

const isAlternative = (one: Call, other: Call) =>
  one === other || (one.group !== undefined && one.group === other.group)

/** The requested call that this instruction is; throws a failure that names what differs. */
function callOf(instruction: BuiltInstruction, calls: readonly Call[], used: ReadonlyMap<Call, number>): Call {
  const { program, name, data } = instruction
  const accounts = namedAccounts(instruction, calls)
  // The content of a lookup table is not known here.
  if (accounts.some(({ address }) => address.includes('['))) throw unexpectedBuild('a lookup table hides an account')
  const passed = accounts.find(({ role, address }) => /program$/i.test(role ?? '') && !isPassable(address, instruction))
  if (passed !== undefined) throw unexpectedBuild(`it passes ${passed.address} as ${passed.role}`)
  const strange = accounts.find(({ role, address }) => role === null && address !== INSTRUCTIONS_SYSVAR)
  // A migration names the config of the new pool last; the program accepts only that of the curve's own terms.
  const needsOthers = program === MEMO_PROGRAM || isOfDbc(instruction, 'migration_damm_v2') || isReference(instruction)
  if (strange !== undefined && !needsOthers)
    throw unexpectedBuild(`it passes ${strange.address}, which it does not need`)
  const { called, fields } = readCall(instruction, accounts)
  const alike = calls.filter((call) => call.call === called && isWanted(program, call.program))
  if (alike.length === 0) {
    const what = called === null ? 'something that svc does not know' : called
    throw unexpectedBuild(`it calls ${what} of ${name ?? program}, which was not requested`)
  }
  let difference: string | null = null
  for (const call of alike) {
    const found = differenceOf(call, fields, data)
    const { most = 1, mostOfGroup = most } = call
    const mayBeMade = (used.get(call) ?? 0) < most && madeOf(call, calls, used) < mostOfGroup
    if (found === null && mayBeMade) return call
    difference ??= found
  }
  throw unexpectedBuild(
    difference === null ? `it makes more than one ${called}` : `its ${called} has another ${difference}`,
  )
}

/**
 * The name of the call, and its fields by the decoder of its program, otherwise by its roles and arguments. The data of
 * a token program says what its accounts are, so that a call which the decoder refuses is none that is known.
 */
function readCall(instruction: BuiltInstruction, accounts: BuiltInstruction['accounts']) {
  const { program, data } = instruction
  const bytes = Buffer.from(data, 'hex')
  const addresses = accounts.map(({ address }) => address)
  const decoded = decodeInstruction(program, addresses, bytes)?.instruction
  if (decoded !== undefined) return { called: decoded.type, fields: decoded as unknown as Record<string, unknown> }
  const isPlain = PLAIN_TABLES.some((table) => table.id === program && table.nameOf(bytes) !== null)
  return isPlain ? { called: null, fields: {} } : { called: instruction.instruction, fields: fieldsOf(instruction) }
}

/** Whether the transactions make every call that the demand needs, each by an instruction of its own; others may be there. */
export function containCalls(contents: readonly DescribedContent[], { calls }: Pick<Demand, 'calls'>): boolean {
  const free = contents.flatMap(({ instructions }) =>
    instructions.map((each) => ({ ...each, ...readCall(each, each.accounts) })),
  )
  return calls.every((call) => {
    if (call.least === 0) return true
    const alternatives = calls.filter((other) => isAlternative(other, call))
    const place = free.findIndex((each) => alternatives.some((one) => isCall(each, one)))
    // Another call of the group may have taken it before.
    const isOfGroup = call.group !== undefined && call !== alternatives.find(({ least }) => least !== 0)
    if (place !== -1 && !isOfGroup) free.splice(place, 1)
    return place !== -1 || isOfGroup
  })
}

const isCall = (
  { program, called, fields, data }: BuiltInstruction & ReturnType<typeof readCall>,
  call: Call,
): boolean => called === call.call && isWanted(program, call.program) && differenceOf(call, fields, data) === null

/** The accounts without those that a requested call lists after them. Throws a failure if these are others. */
function namedAccounts(
  { program, instruction, accounts }: BuiltInstruction,
  calls: readonly Call[],
): BuiltInstruction['accounts'] {
  const others = calls.find(({ call, program: of }) => call === instruction && isWanted(program, of))?.others
  if (others === undefined) return accounts
  const named = accounts.filter(({ role }) => role !== null)
  const found = accounts.slice(named.length)
  const place = found.findIndex(({ address }, i) => ![others[i]].flat().includes(address))
  const strange = found[place]
  if (strange !== undefined) throw unexpectedBuild(`it passes ${strange.address}, which the plan does not have there`)
  if (found.length < others.length)
    throw unexpectedBuild(`it lacks the account ${[others[found.length]].flat()[0]} of the plan`)
  return named
}

/** Hex of the System program's transfer of 0 lamports. */
const TRANSFER_OF_NOTHING = hexOf(SYSTEM.data('transfer', { lamports: 0n }))

/** A transfer of 0 to itself that names one more account, by which Solana Pay finds a payment; it changes nothing. */
function isReference({ program, data, accounts }: BuiltInstruction): boolean {
  const [from, to, reference] = accounts
  if (program !== SYSTEM_PROGRAM || data !== TRANSFER_OF_NOTHING || accounts.length !== 3) return false
  return from?.address === to?.address && reference?.signer === false && reference.writable === false
}

/**
 * Programs to which a call may pass the signature. For an optional account that is left out, Anchor writes the called
 * program itself.
 */
const PASSED_PROGRAMS: readonly string[] = [
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAM,
  PROGRAMS.tokenMetadata.id,
]
const isOfDbc = ({ program, instruction }: BuiltInstruction, call: string) =>
  program === PROGRAMS.dbc.id && instruction === call
/** A migration passes one more program on; the curve's program itself accepts no other in its place. */
const isPassable = (address: string, instruction: BuiltInstruction) =>
  address === instruction.program ||
  PASSED_PROGRAMS.includes(address) ||
  (address === PROGRAMS.dammV2.id && isOfDbc(instruction, 'migration_damm_v2')) ||
  (address === PROGRAMS.lock.id && isOfDbc(instruction, 'create_locker'))

const fieldsOf = ({ args, accounts }: BuiltInstruction): Record<string, unknown> =>
  Object.fromEntries([
    ...args.map(({ name, value }) => [name, value]),
    ...accounts.flatMap(({ role, address }) => (role === null ? [] : [[role, address]])),
  ])

/** Names a field that differs from the requested one, and its value. */
function differenceOf({ fields, data }: Call, found: Record<string, unknown>, hex: string): string | null {
  for (const [name, wanted] of Object.entries(fields)) {
    const value = found[name]
    if (value === undefined || !isWanted(value === null ? null : String(value), wanted)) {
      return `${name.replaceAll('_', ' ')}, ${value ?? 'none'}`
    }
  }
  return data === undefined || isWanted(hex, data) ? null : 'content'
}

function isWanted(value: string | null, wanted: Wanted): boolean {
  if (typeof wanted === 'function') return value !== null && wanted(value)
  if (Array.isArray(wanted)) return value !== null && wanted.includes(value)
  return wanted === null ? value === null : value === String(wanted)
}

const FEE_CALLS: readonly string[] = ['setComputeUnitLimit', 'setComputeUnitPrice']
/** The most lamports that one transaction pays as priority fee. */
const MOST_PRIORITY_FEE = 10_000_000n

export function requireBoundedFee(content: DescribedContent): void {
  if (priorityFeeOf(content) <= MOST_PRIORITY_FEE) return
  throw unexpectedBuild(`its priority fee is more than ${solOf(MOST_PRIORITY_FEE)} SOL`)
}

/** In a transaction of version 1, the message sets the fee, and budget instructions have no effect (SIMD-0385). */
export const priorityFeeOf = ({ config, instructions }: DescribedContent): bigint =>
  config === null ? budgetFeeOf(instructions) : BigInt(config.priority_fee ?? 0)

/**
 * The priority fee in lamports. A build with a price and no limit counts with the largest limit, because the runtime's
 * default depends on the instructions.
 */
function budgetFeeOf(instructions: readonly Pick<BuiltInstruction, 'program' | 'data'>[]): bigint {
  let [units, microLamports]: [bigint | null, bigint | null] = [null, null]
  for (const { program, data } of instructions) {
    if (program !== COMPUTE_BUDGET_PROGRAM) continue
    const bytes = Buffer.from(data, 'hex')
    const budget = COMPUTE_BUDGET.flatCall(program, [], bytes)
    if (budget === null && FEE_CALLS.includes(COMPUTE_BUDGET.nameOf(bytes) ?? ''))
      throw unexpectedBuild('its priority fee cannot be read')
    if (budget?.type === 'setComputeUnitLimit') units ??= BigInt(budget.units)
    if (budget?.type === 'setComputeUnitPrice') microLamports ??= budget.microLamports
  }
  return priorityFee(units ?? BigInt(MAX_COMPUTE_UNITS), microLamports ?? 0n)
}

/**
 * Guards: instructions of Lighthouse around those of a transaction, without which it would do more than was judged. They
 * remember balances at the start and fail the transaction at its end, whatever has changed on chain since.
 */
import { addressBytes } from './addresses.ts'
import { utf8 } from './bytes.ts'
import { type Added, insertInstructions } from './compiling.ts'
import type { DecodedMessage } from './decoded-message.ts'
import type { LoadedAddresses } from './lookup-tables.ts'
import { decodeWireTransaction, keyAt } from './messages.ts'
import { deriveAddress } from './program-addresses.ts'
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from './program-ids.ts'
import { LIGHTHOUSE } from './programs/lighthouse.ts'
import { SYSTEM } from './programs/system.ts'
import type { PlainInstruction } from './programs/table.ts'
import { TOKEN_AMOUNT_OFFSET } from './token-accounts.ts'

/** A wallet stays one of the System program without data, and its lamports change by no less than `change`. */
export interface WalletGuard {
  kind: 'wallet'
  address: string
  /** Lamports from the first to the last instruction, so without the fee; negative for what may leave. */
  change: bigint
}

/** Who controls a token account stays as it is, and its amount changes by no less than `change`. */
export interface TokenGuard {
  kind: 'token'
  address: string
  /** Raw units; null for an account that the transaction opens. */
  change: bigint | null
  /** The least amount of an account that the transaction opens, in raw units. */
  least: bigint
  /** Its owner; null for the associated account of its owner, which no instruction can give away unnoticed. */
  owner: string | null
  /** Null with the owner: the associated account of another mint has another address. */
  mint: string | null
  delegate: string | null
  /** The most that the delegate may take, in raw units. */
  delegated: bigint
  closeAuthority: string | null
  isFrozen: boolean
}

export type Guard = WalletGuard | TokenGuard

/** The guard of an associated account without a delegate, of which nothing may leave. */
export const tokenGuard = (address: string, more: Partial<TokenGuard> = {}): TokenGuard => ({
  ...{ kind: 'token', address, change: 0n, least: 0n },
  ...{ owner: null, mint: null, delegate: null, delegated: 0n, closeAuthority: null, isFrozen: false },
  ...more,
})

/** Number of the payer's memory account that guards use; others may be used by other programs. */
const MEMORY_ID = 0x73
const SLOT_BYTES = 8
const U64_BYTES = 8
const FROZEN = 2
const INITIALIZED = 1

/** The account in which Lighthouse keeps balances during the transaction; the payer lends its rent. */
export const guardMemory = (payer: string) =>
  deriveAddress(LIGHTHOUSE.id, utf8('memory'), addressBytes(payer), Uint8Array.of(MEMORY_ID))

/** Bytes of the memory account of these guards. */
export const memoryBytes = (guards: readonly Guard[]): number =>
  SLOT_BYTES * guards.filter(({ change }) => change !== null).length

const variant = (name: string, value: unknown = null) => ({ name, value })
const is = (name: string, value: unknown) => variant(name, { value, operator: variant('equal') })
const atLeast = (name: string, value: bigint) => variant(name, { value, operator: variant('greater_than_or_equal') })
const atMost = (name: string, value: bigint) => variant(name, { value, operator: variant('less_than_or_equal') })
/** What the node logs if a guard fails: the value and its bound. */
const LOG_LEVEL = variant('failed_plaintext')

/** The instructions before and after those of the transaction. Nothing may follow the last ones. */
export function guardInstructions(
  payer: string,
  guards: readonly Guard[],
): { first: PlainInstruction[]; last: PlainInstruction[] } {
  const { address: memory, bump } = guardMemory(payer)
  const place = { memory_id: MEMORY_ID, memory_bump: bump }
  const relative = guards.filter(({ change }) => change !== null)
  const offsetOf = (guard: Guard) => SLOT_BYTES * relative.indexOf(guard)
  // The last place comes first: it makes the account as large as all need, before the payer's lamports are read.
  const first = [...relative]
    .reverse()
    .map((guard) =>
      LIGHTHOUSE.instruction(
        'memory_write',
        { program: LIGHTHOUSE.id, system_program: SYSTEM_PROGRAM, payer, memory, source_account: guard.address },
        { ...place, write_offset: offsetOf(guard), write_type: sourceOf(guard) },
      ),
    )
  const last = guards.flatMap((guard) => [
    ...(guard.change === null ? [] : [deltaOf(guard, guard.change, { memory, offset: offsetOf(guard) })]),
    guard.kind === 'wallet' ? walletAssertion(guard) : tokenAssertion(guard),
  ])
  const close = LIGHTHOUSE.instruction('memory_close', { program: LIGHTHOUSE.id, payer, memory }, place)
  return { first, last: relative.length === 0 ? last : [...last, close] }
}

const sourceOf = ({ kind }: Guard) =>
  kind === 'wallet'
    ? variant('account_info', variant('lamports'))
    : variant('account_data', { offset: TOKEN_AMOUNT_OFFSET, data_length: U64_BYTES })

function deltaOf({ kind, address }: Guard, change: bigint, { memory, offset }: { memory: string; offset: number }) {
  const assertion =
    kind === 'wallet'
      ? variant('account_info', { a_offset: offset, assertion: atLeast('lamports', change) })
      : variant('data', { a_offset: offset, b_offset: TOKEN_AMOUNT_OFFSET, assertion: atLeast('u64', change) })
  return LIGHTHOUSE.instruction(
    'assert_account_delta',
    { account_a: memory, account_b: address },
    { log_level: LOG_LEVEL, assertion },
  )
}

const walletAssertion = ({ address }: WalletGuard) =>
  LIGHTHOUSE.instruction(
    'assert_account_info_multi',
    { target_account: address },
    {
      log_level: LOG_LEVEL,
      assertions: [is('known_owner', variant('system')), is('data_length', 0n)],
    },
  )

/** Its mint is compared too, because programs can close the account and open it for another one. */
const tokenAssertion = ({ address, owner, mint, delegate, delegated, closeAuthority, isFrozen, least }: TokenGuard) =>
  LIGHTHOUSE.instruction(
    'assert_token_account_multi',
    { target_account: address },
    {
      log_level: LOG_LEVEL,
      assertions: [
        owner === null ? variant('owner_is_derived') : is('owner', owner),
        ...(mint === null ? [] : [is('mint', mint)]),
        is('delegate', delegate),
        ...(delegate === null ? [] : [atMost('delegated_amount', delegated)]),
        is('state', isFrozen ? FROZEN : INITIALIZED),
        is('close_authority', closeAuthority),
        ...(least === 0n ? [] : [atLeast('amount', least)]),
      ],
    },
  )

/** The account has at least these lamports: an absolute bound, which also holds in a call of another program. */
export const lamportsFloor = (address: string, lamports: bigint): PlainInstruction =>
  LIGHTHOUSE.instruction(
    'assert_account_info',
    { target_account: address },
    { log_level: LOG_LEVEL, assertion: atLeast('lamports', lamports) },
  )

/** Whether it is an assertion about the account itself, which can only make the transaction fail. */
export const isAccountAssertion = ({ program, data }: Pick<ReadInstruction, 'program' | 'data'>): boolean =>
  program === LIGHTHOUSE.id && LIGHTHOUSE.argsOf('assert_account_info', data) !== null

/** The transaction with these guards, unsigned. It may be larger than the chain takes. */
export function withGuards(transaction: Uint8Array, guards: readonly Guard[], loaded?: LoadedAddresses): Uint8Array {
  if (guards.length === 0) return transaction
  const { message } = decodeWireTransaction(transaction)
  const { first, last } = guardInstructions(keyAt(message, 0), guards)
  const added: Added = { first, last, place: instructionsBefore(message) }
  return insertInstructions(message, added, loaded)
}

/** Instructions that must stay at the beginning: a durable nonce, and limits of version 0. */
function instructionsBefore({ instructions, keys }: DecodedMessage): number {
  const place = instructions.findIndex(
    ({ programIdIndex, data }, i) => !staysBefore({ program: keys[programIdIndex] ?? '', data }, i),
  )
  return place === -1 ? instructions.length : place
}

const staysBefore = ({ program, data }: Pick<ReadInstruction, 'program' | 'data'>, place: number): boolean =>
  program === COMPUTE_BUDGET_PROGRAM ||
  (place === 0 && program === SYSTEM_PROGRAM && SYSTEM.nameOf(data) === 'advanceNonce')

/** An instruction by the addresses of its accounts. */
export interface ReadInstruction {
  program: string
  accounts: readonly string[]
  data: Uint8Array
}

/** Guards as they are read, and the places of their instructions. */
export interface FoundGuards {
  guards: readonly Guard[]
  places: readonly number[]
}

const NO_GUARDS: FoundGuards = { guards: [], places: [] }

/**
 * The guards of a transaction, if they are as `withGuards` writes them, to the byte. None if it has any other
 * instruction of Lighthouse.
 */
export function readGuards(payer: string, all: readonly ReadInstruction[]): FoundGuards {
  const places = all.flatMap(({ program }, i) => (program === LIGHTHOUSE.id ? [i] : []))
  const own = places.map((place) => all[place] as ReadInstruction)
  const guards = guardsEndedBy(own)
  if (guards.length === 0) return NO_GUARDS
  const { first, last } = guardInstructions(payer, guards)
  const wanted = [...first, ...last]
  if (wanted.length !== own.length) return NO_GUARDS
  const isSame = wanted.every((each, i) => isInstruction(own[i] as ReadInstruction, each))
  const [start = 0] = places
  const isAtStart = first.every((_, i) => places[i] === start + i)
  const isAtEnd = last.every((_, i) => places[first.length + i] === all.length - last.length + i)
  const isFirst = first.length === 0 || all.slice(0, start).every(staysBefore)
  return isSame && isAtStart && isAtEnd && isFirst ? { guards, places } : NO_GUARDS
}

/** The guards by their last instructions, each after the one about its amount. */
function guardsEndedBy(own: readonly ReadInstruction[]): Guard[] {
  const guards: Guard[] = []
  let change: bigint | null = null
  for (const each of own) {
    if (LIGHTHOUSE.nameOf(each.data) === 'assert_account_delta') change = boundIn(each)
    const guard = guardIn(each, change)
    if (guard === null) continue
    guards.push(guard)
    change = null
  }
  return guards
}

/** The same of a message; `addresses` are its keys and those that it loads from lookup tables. */
export const guardsOfMessage = (
  { keys, instructions }: Pick<DecodedMessage, 'keys' | 'instructions'>,
  addresses: readonly string[] = keys,
): FoundGuards =>
  readGuards(
    addresses[0] ?? '',
    instructions.map(({ programIdIndex, accounts, data }) => ({
      program: addresses[programIdIndex] ?? '',
      accounts: Array.from(accounts, (place) => addresses[place] ?? ''),
      data,
    })),
  )

const isInstruction = (found: ReadInstruction, wanted: PlainInstruction): boolean =>
  Buffer.from(found.data).equals(wanted.data) &&
  found.accounts.length === wanted.accounts.length &&
  wanted.accounts.every(({ address }, i) => address === found.accounts[i])

interface Assertion {
  name: string
  value: { value?: unknown; assertion?: Assertion } | null
}

function boundIn({ data }: ReadInstruction): bigint | null {
  const delta = LIGHTHOUSE.argsOf('assert_account_delta', data)?.assertion as Assertion | undefined
  const value = delta?.value?.assertion?.value?.value
  return typeof value === 'bigint' ? value : null
}

/** The guard that this instruction ends; what it does not say is found by writing it anew. */
function guardIn({ accounts: [address = ''], data }: ReadInstruction, change: bigint | null): Guard | null {
  if (LIGHTHOUSE.argsOf('assert_account_info_multi', data) !== null) {
    return change === null ? null : { kind: 'wallet', address, change }
  }
  const args = LIGHTHOUSE.argsOf('assert_token_account_multi', data)
  if (args === null) return null
  const said = new Map((args.assertions as readonly Assertion[]).map(({ name, value }) => [name, value?.value]))
  return {
    kind: 'token',
    address,
    change,
    least: (said.get('amount') as bigint | undefined) ?? 0n,
    owner: (said.get('owner') as string | undefined) ?? null,
    mint: (said.get('mint') as string | undefined) ?? null,
    delegate: (said.get('delegate') as string | null | undefined) ?? null,
    delegated: (said.get('delegated_amount') as bigint | undefined) ?? 0n,
    closeAuthority: (said.get('close_authority') as string | null | undefined) ?? null,
    isFrozen: said.get('state') === FROZEN,
  }
}

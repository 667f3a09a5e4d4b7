/**
 * Names instructions with the roles of their accounts and with their arguments, from the bytes alone: every account and
 * every byte of the data is in the answer.
 */
import { ByteReader, ShortData } from '../../solana/byte-reader.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import type { DescribedInstruction, InstructionArgument } from '../../solana/described-instructions.ts'
import { decodeComputeBudget } from '../../solana/instructions/compute-budget.ts'
import { readInstruction } from '../../solana/instructions/index.ts'
import { AUTHORITY_TYPE_NAMES } from '../../solana/instructions/token.ts'
import { instructionsIn } from '../../solana/message-instructions.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  WRAPPED_SOL,
} from '../../solana/program-ids.ts'
import { DAMM_V2 } from '../../solana/programs/damm-v2.ts'
import { DBC } from '../../solana/programs/dbc.ts'
import { fieldType, shownAs } from '../../solana/programs/field-types.ts'
import { JUPITER_LOCK } from '../../solana/programs/jupiter-lock.ts'
import { MERKLE_DISTRIBUTOR } from '../../solana/programs/merkle-distributor.ts'
import { METAPLEX_CORE } from '../../solana/programs/metaplex-core.ts'
import { SQUADS } from '../../solana/programs/squads.ts'
import { STAKE } from '../../solana/programs/stake.ts'
import { TOKEN_METADATA } from '../../solana/programs/token-metadata.ts'
import { TOKEN_METADATA_INTERFACE } from '../../solana/programs/token-metadata-interface.ts'
import { LOADER } from '../../solana/programs/upgradeable-loader.ts'
import { loadedPlaces, type PlaceAddresses, proposedMessage, unwrapMessage } from '../../solana/squads/index.ts'
import { controlWords } from './control-words.ts'

export interface ReadInstruction {
  /** Null for an unknown instruction. */
  instruction: string | null
  /** The roles of the accounts, in their order; null for an unknown role. */
  roles: (string | null)[]
  args: InstructionArgument[]
  /** The data in hex from the first byte that no argument explains; empty if all are explained. */
  rest: string
}

const TABLES = [
  DAMM_V2,
  DBC,
  JUPITER_LOCK,
  LOADER,
  MERKLE_DISTRIBUTOR,
  METAPLEX_CORE,
  SQUADS,
  STAKE,
  TOKEN_METADATA,
  TOKEN_METADATA_INTERFACE,
]
/** Tables by the address of their program. */
export const LAYOUTS = new Map(TABLES.map(({ id, layout }) => [id, layout]))

/** The instructions of a message, whole. An account of a lookup table is `TABLE[place]`, unless `places` has its address. */
export function describeMessage(message: DecodedMessage, places: PlaceAddresses = new Map()): DescribedInstruction[] {
  return withMints(
    instructionsIn(message, loadedPlaces(message, places)).map(({ accounts, ...own }) => {
      const data = Buffer.from(own.data, 'hex')
      const addresses = accounts.map(({ address }) => address)
      const { roles, ...read } = describeInstruction(own.program, addresses, data)
      const inner = proposedMessage(own.program, data)
      const described = {
        ...own,
        ...read,
        accounts: accounts.map((account, i) => ({ ...account, role: roles[i] ?? null })),
        ...(inner === null
          ? {}
          : { inner: describeMessage(unwrapMessage({ ...inner, loaded: loadedPlaces(inner, places) }), places) }),
      }
      return { ...described, control: controlWords(described) }
    }),
  )
}

/**
 * Adds the mint and decimals of an amount if another instruction shows them: one that opens the token account, or
 * names the mint's decimals. If they were wrong, the transaction would fail on chain. An account that is closed can be
 * opened again for another mint, so what is shown counts only until then; an amount of such an account of which nothing
 * is shown stays in raw units, of no mint.
 */
function withMints(instructions: DescribedInstruction[]): DescribedInstruction[] {
  const changes = changesOf(instructions)
  /** The address within the instructions between which it stays what it is. */
  const during = (address: string, place: number) =>
    `${address} ${(changes.get(address) ?? []).filter((change) => change < place).length}`
  const mints = new Map<string, Set<string>>()
  const decimals = new Map<string, Set<number>>()
  // The address of an associated account has one mint for good.
  const lasting = new Map<string, string>()
  for (const [place, { program, accounts, args }] of instructions.entries()) {
    if (!TELLING.includes(program)) continue
    const at = roleIn(accounts)
    const mint = at('mint')
    if (mint === undefined) continue
    const account = at('account')
    if (program === ASSOCIATED_TOKEN_PROGRAM) {
      if (account !== undefined) lasting.set(account, mint)
      continue
    }
    for (const holder of [account, at('source'), at('destination')]) {
      if (holder !== undefined) addTo(mints, during(holder, place), mint)
    }
    const own = args.find(({ name }) => name === 'decimals')?.value
    if (own !== undefined) addTo(decimals, during(mint, place), Number(own))
  }
  return instructions.map((instruction, place) => ({
    ...instruction,
    args: instruction.args.map((arg) => {
      const { of } = arg
      if (arg.unit !== 'tokens' || of === null) return arg
      const isMint = of === WRAPPED_SOL || decimals.has(during(of, place))
      const mint = lasting.get(of) ?? onlyOf(mints.get(during(of, place))) ?? (isMint ? of : null)
      if (mint === null && changes.has(of)) return { ...arg, of: null, mint }
      const own = mint === null ? null : onlyOf(decimals.get(during(mint, place)))
      return { ...arg, mint, decimals: arg.decimals ?? own }
    }),
  }))
}

const TELLING: readonly string[] = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM, ASSOCIATED_TOKEN_PROGRAM]

const roleIn = (accounts: DescribedInstruction['accounts']) => (role: string) =>
  accounts.find((account) => account.role === role)?.address

/**
 * Where each account can become one of another mint, or a mint of other decimals: half a place before or after an
 * instruction. That takes one that closes it and one that opens it, or one that does not say what it does with it.
 */
function changesOf(instructions: readonly DescribedInstruction[]): Map<string, number[]> {
  const [opened, closed, unknown] = [0, 0, 0].map(() => new Map<string, Set<number>>()) as [Places, Places, Places]
  for (const [place, { program, instruction, accounts }] of instructions.entries()) {
    const at = roleIn(accounts)
    const call = isTokenProgram(program) ? (instruction ?? '') : ''
    const made = OPENS_ACCOUNT.test(call) ? at('account') : OPENS_MINT.test(call) ? at('mint') : undefined
    if (made !== undefined) addTo(opened, made, place - 0.5)
    const ended = call === 'closeAccount' ? at('account') : undefined
    if (ended !== undefined) addTo(closed, ended, place + 0.5)
    for (const { address, writable, role } of accounts) {
      if (writable && role === null) addTo(unknown, address, place + 0.5)
    }
  }
  const changes = new Map<string, number[]>()
  for (const address of new Set([...closed.keys(), ...unknown.keys()])) {
    if (!unknown.has(address) && !opened.has(address)) continue
    changes.set(
      address,
      [opened, closed, unknown].flatMap((places) => [...(places.get(address) ?? [])]),
    )
  }
  return changes
}

type Places = Map<string, Set<number>>
const OPENS_ACCOUNT = /^initializeAccount[23]?$/
const OPENS_MINT = /^initializeMint2?$/

function addTo<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const known = sets.get(key)
  if (known === undefined) sets.set(key, new Set([value]))
  else known.add(value)
}

/** The only value; null if there are others, or none. */
function onlyOf<V>(values: ReadonlySet<V> | undefined): V | null {
  const [first = null, ...others] = values ?? []
  return others.length === 0 ? first : null
}

/** Describes an instruction by its program, the addresses of its accounts and its data, all of which may be hostile. */
export function describeInstruction(program: string, accounts: readonly string[], data: Uint8Array): ReadInstruction {
  const reader = new ByteReader(data)
  const read = budget(program, accounts, reader, data) ?? ofSolanaProgram(program, accounts, reader)
  if (read !== null) return { ...read, rest: hexFrom(data, reader.position) }
  return (
    byLayout(program, accounts, data) ?? {
      instruction: null,
      roles: accounts.map(() => null),
      args: [],
      rest: hexFrom(data, 0),
    }
  )
}

const hexFrom = (data: Uint8Array, position: number) => Buffer.from(data.subarray(position)).toString('hex')

type Read = Omit<ReadInstruction, 'rest'>

function budget(program: string, accounts: readonly string[], reader: ByteReader, data: Uint8Array): Read | null {
  const decoded = program === COMPUTE_BUDGET_PROGRAM ? decodeComputeBudget(data, reader) : null
  if (decoded === null) return null
  const { type, ...values } = decoded
  const args = Object.entries(values).map(([name, value]) => plain(name, String(value)))
  return { instruction: type, roles: accounts.map(() => null), args }
}

const plain = (name: string, value: string): InstructionArgument => ({
  name,
  value,
  unit: null,
  of: null,
  decimals: null,
})

/** Stands for the account at a place while an instruction is decoded. No text in the data can be one: it is half a letter. */
const PLACE = '\ud800'
const placeOf = (value: unknown): number | null =>
  typeof value === 'string' && value.startsWith(PLACE) ? Number(value.slice(PLACE.length)) : null

/** System, token, associated token, lookup table and memo program, whose decoders name every account. */
function ofSolanaProgram(program: string, accounts: readonly string[], reader: ByteReader): Read | null {
  const decoded = readInstruction(
    program,
    accounts.map((_, i) => `${PLACE}${i}`),
    reader,
  )
  if (decoded === null) return null
  const { type, ...values } = decoded.instruction as { type: string } & Record<string, unknown>
  const roles: (string | null)[] = accounts.map(() => null)
  const decimals = typeof values.decimals === 'number' && type.endsWith('Checked') ? values.decimals : null
  const holder = [values.mint, values.source, values.account].map(placeOf).find((place) => place !== null)
  const args = Object.entries(values).flatMap(([name, value]): InstructionArgument[] => {
    const all: unknown[] = Array.isArray(value) ? value : [value]
    const places = all.map(placeOf)
    // The signing members of a multisig stay without a role.
    for (const place of places) if (place !== null && name !== 'signers') roles[place] = name
    const own = all.filter((_, i) => places[i] === null)
    if (own.length === 0) return []
    if (value === null) return [plain(name, 'none')]
    if (name === 'lamports') return [{ ...plain(name, String(value)), unit: 'lamports' }]
    if (type === 'setAuthority' && name === 'kind')
      return [plain(name, AUTHORITY_TYPE_NAMES[Number(value)] ?? String(value))]
    if (name !== 'amount' || !isTokenProgram(program)) return [plain(name, own.join(', '))]
    const of = holder === undefined || holder === null ? null : (accounts[holder] ?? null)
    return [{ name, value: String(value), unit: 'tokens', of, decimals }]
  })
  return { instruction: type, roles, args }
}

const isTokenProgram = (program: string) => program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM

function byLayout(program: string, accounts: readonly string[], data: Uint8Array): ReadInstruction | null {
  const layout = LAYOUTS.get(program)
  if (layout === undefined || data.length < layout.prefixBytes) return null
  const prefix = hexFrom(data.subarray(0, layout.prefixBytes), 0)
  const row = Object.hasOwn(layout.table, prefix) ? layout.table[prefix] : undefined
  if (row === undefined) return null
  const [instruction, names, fields] = row
  // Behind a name, a table says how the account is used, which the message itself shows.
  const roleNames = wordsOf(names).map((word) => word.replace(/:.*/, ''))
  const roles = accounts.map((_, i) => roleNames[i] ?? null)
  const holders = new Map(roleNames.map((role, i) => [role, accounts[i]]))
  const { args, end } = readArgs(wordsOf(fields), new ByteReader(data, layout.prefixBytes), holders)
  return { instruction, roles, args, rest: hexFrom(data, end) }
}

const wordsOf = (text: string): string[] => (text === '' ? [] : text.split(' '))

/** Reads the arguments one after another, up to the first that the data does not hold whole. */
function readArgs(
  fields: readonly string[],
  reader: ByteReader,
  holders: ReadonlyMap<string, string | undefined>,
): { args: InstructionArgument[]; end: number } {
  const args: InstructionArgument[] = []
  let end = reader.position
  try {
    for (const field of fields) {
      const colon = field.indexOf(':')
      const [name, type] = [field.slice(0, colon), field.slice(colon + 1)]
      const value = shownAs(type, fieldType(type).read(reader))
      const roles = type === 'u64' && Object.hasOwn(HOLDERS, name) ? HOLDERS[name] : undefined
      const of = roles?.map((role) => holders.get(role)).find((address) => address !== undefined)
      args.push({ ...plain(name, value), ...(roles === undefined ? {} : { unit: 'tokens', of: of ?? null }) })
      end = reader.position
    }
  } catch (error) {
    // TextDecoder throws a TypeError for text that is not UTF-8.
    if (!(error instanceof ShortData || error instanceof TypeError)) throw error
  }
  return { args: withSwapMode(args, holders), end }
}

const [PAID, RECEIVED] = [['input_token_account'], ['output_token_account']]
const [BASE, QUOTE] = [
  ['base_mint', 'token_a_mint'],
  ['quote_mint', 'token_b_mint'],
]
/**
 * Arguments that are raw units, and the accounts that identify their mint: the mint itself, or an account that holds
 * them.
 */
const HOLDERS: Readonly<Record<string, readonly string[]>> = {
  amount_in: PAID,
  amount_0: PAID,
  minimum_amount_out: RECEIVED,
  amount_1: RECEIVED,
  max_amount_a: BASE,
  max_base_amount: BASE,
  token_a_amount_threshold: BASE,
  max_amount_b: QUOTE,
  max_quote_amount: QUOTE,
  token_b_amount_threshold: QUOTE,
  amount_unlocked: ['to'],
  amount_locked: ['to'],
  max_total_claim: ['mint'],
  cliff_unlock_amount: ['token_mint'],
  amount_per_period: ['token_mint'],
  max_amount: ['token_mint'],
}

/**
 * Mode 2 of `swap2` has the received amount first, then the most that is paid (`SwapMode` of both Meteora
 * programs).
 */
function withSwapMode(
  args: InstructionArgument[],
  holders: ReadonlyMap<string, string | undefined>,
): InstructionArgument[] {
  if (args.find(({ name }) => name === 'swap_mode')?.value !== '2') return args
  const [paid, received] = [PAID, RECEIVED].map(([role = '']) => holders.get(role) ?? null)
  return args.map((arg) =>
    arg.name === 'amount_0'
      ? { ...arg, of: received ?? null }
      : arg.name === 'amount_1'
        ? { ...arg, of: paid ?? null }
        : arg,
  )
}

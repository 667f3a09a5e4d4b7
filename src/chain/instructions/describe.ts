/**
 * Names instructions with the roles of their accounts and with their arguments, from the bytes alone: every account and
 * every byte of the data is in the answer.
 */
import { groupedDecimalOf } from '../../solana/amounts.ts'
import { ByteReader, ShortData } from '../../solana/byte-reader.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import type { DescribedInstruction, InstructionArgument } from '../../solana/described-instructions.ts'
import { PLAIN_TABLES } from '../../solana/instructions.ts'
import { bareInstruction, instructionsIn } from '../../solana/message-instructions.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  WRAPPED_SOL,
} from '../../solana/program-ids.ts'
import { COMPUTE_BUDGET } from '../../solana/programs/compute-budget.ts'
import { DAMM_V2 } from '../../solana/programs/damm-v2.ts'
import { DBC } from '../../solana/programs/dbc.ts'
import { fieldType, shownAs } from '../../solana/programs/field-types.ts'
import { JUPITER_LOCK } from '../../solana/programs/jupiter-lock.ts'
import { LIGHTHOUSE } from '../../solana/programs/lighthouse.ts'
import { MERKLE_DISTRIBUTOR } from '../../solana/programs/merkle-distributor.ts'
import { METAPLEX_CORE } from '../../solana/programs/metaplex-core.ts'
import { PRESALE } from '../../solana/programs/presale.ts'
import { SQUADS } from '../../solana/programs/squads.ts'
import { STAKE } from '../../solana/programs/stake.ts'
import { byFirstBytes, rolesOf } from '../../solana/programs/table.ts'
import { AUTHORITY_TYPE_NAMES, TOKEN_2022 } from '../../solana/programs/token.ts'
import { TOKEN_METADATA } from '../../solana/programs/token-metadata.ts'
import { TOKEN_METADATA_INTERFACE } from '../../solana/programs/token-metadata-interface.ts'
import { LOADER } from '../../solana/programs/upgradeable-loader.ts'
import { loadedPlaces, type PlaceAddresses, proposedMessage, unwrapMessage } from '../../solana/squads/index.ts'
import { controlWords } from './control-words.ts'
import { conditionTexts, rawText } from './guard-words.ts'

interface ReadInstruction {
  /** Null for an unknown instruction. */
  instruction: string | null
  /** The roles of the accounts, in their order; null for an unknown role. */
  roles: (string | null)[]
  args: InstructionArgument[]
  /** The data in hex from the first byte that no argument explains; empty if all are explained. */
  rest: string
}

const TABLES = [
  ...PLAIN_TABLES,
  COMPUTE_BUDGET,
  DAMM_V2,
  DBC,
  JUPITER_LOCK,
  LIGHTHOUSE,
  LOADER,
  MERKLE_DISTRIBUTOR,
  METAPLEX_CORE,
  PRESALE,
  SQUADS,
  STAKE,
  TOKEN_METADATA,
]
/** Name, accounts and arguments of instructions by their first bytes in hex. */
interface Layout {
  table: Readonly<Record<string, readonly [name: string, accounts: string, args: string]>>
}
/** Tables by the address of their program. */
export const LAYOUTS: ReadonlyMap<string, Layout> = new Map<string, Layout>([
  ...TABLES.map(({ id, layout }) => [id, layout] as const),
  [TOKEN_2022.id, { table: { ...TOKEN_2022.layout.table, ...TOKEN_METADATA_INTERFACE.layout.table } }],
])

/** The instructions of a message, whole. An account of a lookup table is `TABLE[place]`, unless `places` has its address. */
export function describeMessage(message: DecodedMessage, places: PlaceAddresses = new Map()): DescribedInstruction[] {
  const all = instructionsIn(message, loadedPlaces(message, places))
  const bare = all.map(bareInstruction)
  const described = withMints(
    all.map(({ accounts, ...own }, i) => {
      const { program, accounts: addresses, data } = bare[i] as (typeof bare)[number]
      const { roles, ...read } = describeInstruction(program, addresses, data)
      const inner = proposedMessage(program, data)
      const described = {
        ...own,
        ...read,
        accounts: accounts.map((account, i) => ({ ...account, role: roles[i] ?? null })),
        ...(inner === null
          ? {}
          : { inner: describeMessage(unwrapMessage({ ...inner, loaded: loadedPlaces(inner, places) }), places) }),
      }
      return { ...described, control: controlWords(described), conditions: [] }
    }),
  )
  const conditions = conditionTexts(message.keys[0] ?? '', bare, amountsIn(described))
  return described.map((each, place) => ({ ...each, conditions: conditions[place] ?? [] }))
}

/** Shows raw units of a token account as an amount of its mint, if an instruction that names it proves the decimals. */
function amountsIn(described: readonly DescribedInstruction[]) {
  const known = new Map<string, Set<string>>()
  for (const { program, accounts, args } of described)
    for (const { mint, decimals } of isTokenProgram(program) ? args : []) {
      if (!mint || decimals === null) continue
      for (const { address, role } of accounts)
        if (role !== null && TOKEN_ACCOUNT_ROLES.includes(role)) addTo(known, address, `${decimals} ${mint}`)
    }
  return (units: bigint, account: string): string => {
    const [decimals, mint] = (onlyOf(known.get(account)) ?? '').split(' ')
    return mint === undefined ? rawText(units) : `${groupedDecimalOf(units, Number(decimals))} of ${mint}`
  }
}

/** Roles of the accounts whose tokens an instruction of a token program counts. */
const TOKEN_ACCOUNT_ROLES: readonly string[] = ['source', 'destination', 'account']

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
  const { table } = LAYOUTS.get(program) ?? { table: {} }
  const found = byFirstBytes((prefix) => (Object.hasOwn(table, prefix) ? table[prefix] : undefined), data)
  if (found === null) {
    return { instruction: null, roles: accounts.map(() => null), args: [], rest: hexFrom(data, 0) }
  }
  const [instruction, names, fields] = found.row
  const { values, end } = readArgs(fields, new ByteReader(data, found.size))
  // The signing members of a multisig stay without a role.
  const roles = rolesOf(names, accounts.length, Object.fromEntries(values.map(({ name, value }) => [name, value]))).map(
    (role) => (role === null || (role.isList && role.name === 'signers') ? null : role.name),
  )
  const holders = new Map(roles.map((role, i) => [role, accounts[i]]))
  const args = values.map((each) => argument(each, { program, instruction, holders }))
  return { instruction, roles, args: withDecimals(withSwapMode(args, holders), instruction), rest: hexFrom(data, end) }
}

const hexFrom = (data: Uint8Array, position: number) => Buffer.from(data.subarray(position)).toString('hex')

const isTokenProgram = (program: string) => program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM

interface FieldValue {
  name: string
  type: string
  value: unknown
}

/** Reads the arguments one after another, up to the first that the data does not hold whole. */
function readArgs(fields: string, reader: ByteReader): { values: FieldValue[]; end: number } {
  const values: FieldValue[] = []
  let end = reader.position
  try {
    for (const field of fields === '' ? [] : fields.split(' ')) {
      const colon = field.indexOf(':')
      const [name, type] = [field.slice(0, colon), field.slice(colon + 1)]
      values.push({ name, type, value: fieldType(type).read(reader) })
      end = reader.position
    }
  } catch (error) {
    // TextDecoder throws a TypeError for text that is not UTF-8.
    if (!(error instanceof ShortData || error instanceof TypeError)) throw error
  }
  return { values, end }
}

interface Called {
  program: string
  instruction: string
  /** The addresses by their roles. */
  holders: ReadonlyMap<string | null, string | undefined>
}

function argument({ name, type, value }: FieldValue, { program, instruction, holders }: Called): InstructionArgument {
  const plain = { name, value: shownAs(type, value), unit: null, of: null, decimals: null }
  if (program === SYSTEM_PROGRAM && name === 'lamports') return { ...plain, unit: 'lamports' }
  if (isTokenProgram(program) && instruction === 'setAuthority' && name === 'kind')
    return { ...plain, value: AUTHORITY_TYPE_NAMES[Number(value)] ?? plain.value }
  const isTokens = (isTokenProgram(program) || program === PRESALE.id) && name === 'amount'
  const named = type === 'u64' && Object.hasOwn(HOLDERS, name) ? HOLDERS[name] : undefined
  const roles = isTokens ? ['mint', 'source', 'account', 'quote_mint'] : named
  if (roles === undefined) return plain
  const of = roles.map((role) => holders.get(role)).find((address) => address !== undefined)
  return { ...plain, unit: 'tokens', of: of ?? null }
}

/** Instructions of the token programs that check the decimals of the mint. */
function withDecimals(args: InstructionArgument[], instruction: string): InstructionArgument[] {
  const own = instruction.endsWith('Checked') ? args.find(({ name }) => name === 'decimals') : undefined
  if (own === undefined) return args
  return args.map((arg) => (arg.unit === 'tokens' ? { ...arg, decimals: Number(own.value) } : arg))
}

const PAID = ['input_token_account']
const RECEIVED = ['output_token_account']
const BASE = ['base_mint', 'token_a_mint']
const QUOTE = ['quote_mint', 'token_b_mint']
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
  max_amount: ['token_mint', 'quote_mint'],
  presale_maximum_cap: ['quote_token_mint'],
  presale_minimum_cap: ['quote_token_mint'],
}

/**
 * Mode 2 of `swap2` has the received amount first, then the most that is paid (`SwapMode` of both Meteora
 * programs).
 */
function withSwapMode(args: InstructionArgument[], holders: Called['holders']): InstructionArgument[] {
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

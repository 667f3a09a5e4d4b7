/** Names instructions with the roles of their accounts and with their amounts, from the bytes alone. */
import { ByteReader, ShortData } from '../../solana/byte-reader.ts'
import { decodeComputeBudget } from '../../solana/instructions/compute-budget.ts'
import { decodeInstruction } from '../../solana/instructions/index.ts'
import { COMPUTE_BUDGET_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { DAMM_V2_INSTRUCTIONS } from './generated/damm-v2.ts'
import { DBC_INSTRUCTIONS } from './generated/dbc.ts'
import { SQUADS_INSTRUCTIONS } from './generated/squads.ts'
import type { ProgramLayout } from './layout.ts'
import {
  CORE_INSTRUCTIONS,
  JITO_INSTRUCTIONS,
  JUPITER_LOCK_INSTRUCTIONS,
  TOKEN_EXTENSION_INSTRUCTIONS,
  TOKEN_METADATA_INSTRUCTIONS,
} from './tables.ts'

/** One argument. Texts come from the transaction and are unchecked. */
export interface InstructionArgument {
  name: string
  value: string
  /** What the value counts; null for anything else. */
  unit: 'lamports' | 'tokens' | null
  /** For tokens: their mint, or an account that holds them; null if the instruction names none. */
  of: string | null
  /** For tokens: the decimals that the instruction names; null if it does not. */
  decimals: number | null
}

export interface DescribedInstruction {
  /** Null for an unknown instruction. */
  instruction: string | null
  /** The roles of the accounts, in their order; null for an unknown role. */
  roles: (string | null)[]
  args: InstructionArgument[]
}

const ANCHOR_PREFIX = 8
const LAYOUTS: ReadonlyMap<string, ProgramLayout> = new Map<string, ProgramLayout>([
  [PROGRAMS.dbc.id, { table: DBC_INSTRUCTIONS, prefixBytes: ANCHOR_PREFIX }],
  [PROGRAMS.dammV2.id, { table: DAMM_V2_INSTRUCTIONS, prefixBytes: ANCHOR_PREFIX }],
  [PROGRAMS.distributor.id, { table: JITO_INSTRUCTIONS, prefixBytes: ANCHOR_PREFIX }],
  [PROGRAMS.lock.id, { table: JUPITER_LOCK_INSTRUCTIONS, prefixBytes: ANCHOR_PREFIX }],
  [PROGRAMS.core.id, { table: CORE_INSTRUCTIONS, prefixBytes: 1 }],
  [PROGRAMS.tokenMetadata.id, { table: TOKEN_METADATA_INSTRUCTIONS, prefixBytes: 1 }],
  [PROGRAMS.squads.id, { table: SQUADS_INSTRUCTIONS, prefixBytes: ANCHOR_PREFIX }],
  [TOKEN_2022_PROGRAM, { table: TOKEN_EXTENSION_INSTRUCTIONS, prefixBytes: ANCHOR_PREFIX }],
])

/** Describes an instruction by its program, the addresses of its accounts and its data, all of which may be hostile. */
export function describeInstruction(
  program: string,
  accounts: readonly string[],
  data: Uint8Array,
): DescribedInstruction {
  return (
    budget(program, accounts, data) ??
    ofSolanaProgram(program, accounts, data) ??
    byLayout(program, accounts, data) ?? { instruction: null, roles: accounts.map(() => null), args: [] }
  )
}

function budget(program: string, accounts: readonly string[], data: Uint8Array): DescribedInstruction | null {
  const decoded = program === COMPUTE_BUDGET_PROGRAM ? decodeComputeBudget(data) : null
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

/** System, token, associated token, lookup table and memo program, whose decoders name every account. */
function ofSolanaProgram(program: string, accounts: readonly string[], data: Uint8Array): DescribedInstruction | null {
  const decoded = decodeInstruction(program, accounts, data)
  if (decoded === null) return null
  const { type, ...values } = decoded.instruction as { type: string } & Record<string, unknown>
  const fields = Object.entries(values)
  // An address with two roles has them in the order of the decoder's fields.
  const roles = accounts.map((address, i) => {
    const own = fields.filter(([name, value]) => isRole(name, value, address)).map(([name]) => name)
    const before = accounts.slice(0, i).filter((earlier) => earlier === address).length
    return own[before] ?? own.at(-1) ?? null
  })
  const decimals = typeof values.decimals === 'number' && type.endsWith('Checked') ? values.decimals : null
  const holder = [values.mint, values.source, values.account].find((value) => typeof value === 'string')
  const args = fields.flatMap(([name, value]): InstructionArgument[] => {
    if (typeof value === 'string' && accounts.includes(value)) return []
    if (Array.isArray(value)) return value.every((one) => accounts.includes(one)) ? [] : [plain(name, value.join(', '))]
    if (value === null) return [plain(name, 'none')]
    if (name === 'lamports') return [{ ...plain(name, String(value)), unit: 'lamports' }]
    if (name !== 'amount' || !isTokenProgram(program)) return [plain(name, String(value))]
    return [{ name, value: String(value), unit: 'tokens', of: (holder as string | undefined) ?? null, decimals }]
  })
  return { instruction: type, roles, args }
}

/** The accounts of a list have its name; the signing members of a multisig stay without a role. */
const isRole = (name: string, value: unknown, address: string) =>
  value === address || (name !== 'signers' && Array.isArray(value) && value.includes(address))

const isTokenProgram = (program: string) => program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM

function byLayout(program: string, accounts: readonly string[], data: Uint8Array): DescribedInstruction | null {
  const layout = LAYOUTS.get(program)
  if (layout === undefined || data.length < layout.prefixBytes) return null
  const prefix = Buffer.from(data.subarray(0, layout.prefixBytes)).toString('hex')
  const row = Object.hasOwn(layout.table, prefix) ? layout.table[prefix] : undefined
  if (row === undefined) return null
  const [instruction, names, args] = row
  const roleNames = wordsOf(names)
  const roles = accounts.map((_, i) => roleNames[i] ?? null)
  const holders = new Map(roleNames.map((role, i) => [role, accounts[i]]))
  return { instruction, roles, args: readArgs(wordsOf(args), new ByteReader(data, layout.prefixBytes), holders) }
}

const wordsOf = (text: string): string[] => (text === '' ? [] : text.split(' '))

/** Reads the arguments one after another, and stops where the data ends early. */
function readArgs(
  args: readonly string[],
  reader: ByteReader,
  holders: ReadonlyMap<string, string | undefined>,
): InstructionArgument[] {
  const read: InstructionArgument[] = []
  try {
    for (const arg of args) {
      const [name = '', type = ''] = arg.split(':')
      const value = readValue(type, reader)
      const roles = type === 'u64' && Object.hasOwn(HOLDERS, name) ? HOLDERS[name] : undefined
      const of = roles?.map((role) => holders.get(role)).find((address) => address !== undefined)
      read.push({ ...plain(name, value), ...(roles === undefined ? {} : { unit: 'tokens', of: of ?? null }) })
    }
  } catch (error) {
    // TextDecoder throws a TypeError for text that is not UTF-8.
    if (!(error instanceof ShortData || error instanceof TypeError)) throw error
  }
  return withSwapMode(read, holders)
}

const readers: Readonly<Record<string, (reader: ByteReader) => string>> = {
  u8: (reader) => String(reader.u8()),
  u16: (reader) => String(reader.u16()),
  u32: (reader) => String(reader.u32()),
  u64: (reader) => String(reader.u64()),
  u128: (reader) => String(reader.u64() + (reader.u64() << 64n)),
  i64: (reader) => String(reader.i64()),
  bool: (reader) => String(reader.bool()),
  string: (reader) => reader.text(reader.u32()),
  pubkey: (reader) => reader.key(),
  hash: (reader) => Buffer.from(reader.take(32)).toString('hex'),
}

function readValue(type: string, reader: ByteReader): string {
  const read = readers[type]
  if (read === undefined) throw new ShortData()
  return read(reader)
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

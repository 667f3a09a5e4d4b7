/** Decodes token accounts and mints of both token programs, and makes plain ones for chains in memory. */
import type { ChainAccount } from './accounts.ts'
import { addressBytes } from './addresses.ts'
import { ByteReader } from './byte-reader.ts'
import { TOKEN_2022_PROGRAM } from './program-ids.ts'
import { isTokenProgram } from './token-programs.ts'

export const TOKEN_ACCOUNT_SIZE = 165
/** Place of the amount, a u64, in a token account. */
export const TOKEN_AMOUNT_OFFSET = 64
export const MINT_SIZE = 82
export const MULTISIG_SIZE = 355
const STATES = ['uninitialized', 'initialized', 'frozen'] as const

export interface TokenAccountState {
  mint: string
  owner: string
  amount: bigint
  delegate: string | null
  state: (typeof STATES)[number]
  /** Lamports reserved for rent in a wrapped-SOL account; null for any other mint. */
  nativeReserve: bigint | null
  delegatedAmount: bigint
  closeAuthority: string | null
}

export interface MintState {
  mintAuthority: string | null
  supply: bigint
  decimals: number
  isInitialized: boolean
  freezeAuthority: string | null
}

/** Size of each base layout, and the value of byte 165 in Token-2022 accounts with extensions. */
const LAYOUTS = { mint: { size: MINT_SIZE, tag: 1 }, account: { size: TOKEN_ACCOUNT_SIZE, tag: 2 } } as const

/** Whether an account of a token program has the layout of a mint or a token account, initialized or not. */
export function hasTokenLayout({ owner, data }: ChainAccount, kind: keyof typeof LAYOUTS): boolean {
  if (!isTokenProgram(owner)) return false
  const { size, tag } = LAYOUTS[kind]
  if (data.length === size) return true
  if (owner !== TOKEN_2022_PROGRAM || data.length === MULTISIG_SIZE) return false
  return data.length > TOKEN_ACCOUNT_SIZE && data[TOKEN_ACCOUNT_SIZE] === tag
}

/** Decodes a token account; null for anything else, including uninitialized ones. */
export function readTokenAccount(account: ChainAccount): TokenAccountState | null {
  if (!hasTokenLayout(account, 'account')) return null
  const reader = new ByteReader(account.data)
  const mint = reader.key()
  const owner = reader.key()
  const amount = reader.u64()
  const delegate = reader.optionKey()
  const state = STATES[reader.u8()]
  const native = reader.u32() === 1
  const reserve = reader.u64()
  const delegatedAmount = reader.u64()
  const closeAuthority = reader.optionKey()
  if (!state || state === 'uninitialized') return null
  return {
    mint,
    owner,
    amount,
    delegate,
    state,
    nativeReserve: native ? reserve : null,
    delegatedAmount,
    closeAuthority,
  }
}

/** Decodes a mint; null for anything else. */
export function readMint(account: ChainAccount): MintState | null {
  if (!hasTokenLayout(account, 'mint')) return null
  const reader = new ByteReader(account.data)
  const mintAuthority = reader.optionKey()
  const supply = reader.u64()
  const decimals = reader.u8()
  const isInitialized = reader.bool()
  const freezeAuthority = reader.optionKey()
  return isInitialized ? { mintAuthority, supply, decimals, isInitialized, freezeAuthority } : null
}

const [SUPPLY_OFFSET, DECIMALS_OFFSET, INITIALIZED_OFFSET] = [36, 44, 45]
const [OWNER_OFFSET, STATE_OFFSET] = [32, 108]

/** Returns the data of a mint without authorities and extensions; `supply` in raw units. */
export function plainMint(decimals: number, supply = 0n): Uint8Array {
  const data = Buffer.alloc(MINT_SIZE)
  data.writeBigUInt64LE(supply, SUPPLY_OFFSET)
  data[DECIMALS_OFFSET] = decimals
  data[INITIALIZED_OFFSET] = 1
  return data
}

/** Returns the data of an initialized token account without a delegate and extensions; `amount` in raw units. */
export function plainTokenAccount({
  mint,
  owner,
  amount,
}: {
  mint: string
  owner: string
  amount: bigint
}): Uint8Array {
  const data = Buffer.alloc(TOKEN_ACCOUNT_SIZE)
  data.set(addressBytes(mint))
  data.set(addressBytes(owner), OWNER_OFFSET)
  data.writeBigUInt64LE(amount, TOKEN_AMOUNT_OFFSET)
  data[STATE_OFFSET] = STATES.indexOf('initialized')
  return data
}

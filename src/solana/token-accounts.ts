/** Decodes token accounts and mints of both token programs, and makes plain ones for chains in memory. */
import type { ChainAccount } from './accounts.ts'
import { TOKEN_2022_PROGRAM } from './program-ids.ts'
import type { Fields } from './programs/table.ts'
import { EXTENDED_KINDS, TOKEN, TOKEN_2022 } from './programs/token.ts'
import { isTokenProgram } from './token-programs.ts'

export const TOKEN_ACCOUNT_SIZE = TOKEN.sizeOf('account')
/** Place of the amount, a u64, in a token account. */
export const TOKEN_AMOUNT_OFFSET = TOKEN.offsetOf('account', 'amount')
export const MINT_SIZE = TOKEN.sizeOf('mint')
export const MULTISIG_SIZE = TOKEN.sizeOf('multisig')
/** Place of the kind of a Token-2022 account with extensions, and of the extensions behind it. */
const TOKEN_KIND_OFFSET = TOKEN.offsetOf('extended', 'kind')
export const EXTENSIONS_OFFSET = TOKEN.sizeOf('extended')

type TokenAccounts = typeof TOKEN.rows.accounts
export type MintState = Fields<TokenAccounts['mint'][1]>
export interface TokenAccountState extends Omit<Fields<TokenAccounts['account'][1]>, 'state'> {
  state: 'initialized' | 'frozen'
}
type Account = Pick<ChainAccount, 'owner' | 'data'>

/** Whether an account of a token program has the layout of a mint or a token account, initialized or not. */
export function hasTokenLayout({ owner, data }: Account, kind: 'mint' | 'account'): boolean {
  if (!isTokenProgram(owner)) return false
  if (data.length === (kind === 'mint' ? MINT_SIZE : TOKEN_ACCOUNT_SIZE)) return true
  return owner === TOKEN_2022_PROGRAM && data.length !== MULTISIG_SIZE && hasTokenKind(data, kind)
}

/** Whether a Token-2022 account with extensions is a mint or a token account. */
export const hasTokenKind = (data: Uint8Array, kind: 'mint' | 'account'): boolean =>
  data[TOKEN_KIND_OFFSET] === KIND_NUMBERS[kind]

const KIND_NUMBERS = { mint: EXTENDED_KINDS.indexOf('mint'), account: EXTENDED_KINDS.indexOf('account') }

const decoded = <N extends 'mint' | 'account'>(kind: N, account: Account) =>
  hasTokenLayout(account, kind) ? tableOf(account.owner).decode(kind, account) : null

const tableOf = (program: string) => (program === TOKEN_2022_PROGRAM ? TOKEN_2022 : TOKEN)

/** Decodes a token account; null for anything else, including uninitialized ones. */
export function readTokenAccount(account: Account): TokenAccountState | null {
  const read = decoded('account', account)
  if (read === null || read.state.name === 'uninitialized') return null
  return { ...read, state: read.state.name as TokenAccountState['state'] }
}

/** Decodes a mint; null for anything else. */
export function readMint(account: Account): MintState | null {
  const read = decoded('mint', account)
  return read?.isInitialized ? read : null
}

/** Returns the data of a mint without authorities and extensions; `supply` in raw units. */
export const plainMint = (decimals: number, supply = 0n): Uint8Array =>
  TOKEN.accountData('mint', { mintAuthority: null, supply, decimals, isInitialized: true, freezeAuthority: null })

/** Returns the data of an initialized token account without a delegate and extensions; `amount` in raw units. */
export const plainTokenAccount = (own: { mint: string; owner: string; amount: bigint }): Uint8Array =>
  TOKEN.accountData('account', {
    ...own,
    delegate: null,
    state: { name: 'initialized', value: null },
    nativeReserve: null,
    delegatedAmount: 0n,
    closeAuthority: null,
  })

/** Tokens by their accounts on chain: what the API tells of a token is a metadata provider's word where one is set. */
import type { Account } from '../src/api/accounts.ts'
import type { Session } from './command.ts'
import { orNull, Problem } from './ui/problem.ts'

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'

const MINT_SIZE = 82
const ACCOUNT_SIZE = 165
const MULTISIG_SIZE = 355
/** Byte after the base of a Token-2022 account with extensions: what it is. */
const MINT_KIND = 1
const DECIMALS_AT = 44
const MINT_INITIALIZED_AT = 45
const AMOUNT_AT = 64
const ACCOUNT_STATE_AT = 108

export interface MintState {
  decimals: number
  isToken2022: boolean
}

/** Throws not_found where no mint is. */
export async function mintState(session: Session, mint: string): Promise<MintState> {
  const account = await accountAt(session, mint)
  const data = Buffer.from(account?.data ?? '', 'base64')
  const isToken2022 = account?.owner === TOKEN_2022_PROGRAM
  const isMint =
    data.length === MINT_SIZE ||
    (isToken2022 && data.length > ACCOUNT_SIZE && data.length !== MULTISIG_SIZE && data[ACCOUNT_SIZE] === MINT_KIND)
  const isOfTokens = isToken2022 || account?.owner === TOKEN_PROGRAM
  if (!isOfTokens || !isMint || data[MINT_INITIALIZED_AT] === 0) {
    throw new Problem('not_found', `there is no token mint at ${mint}`)
  }
  return { decimals: data[DECIMALS_AT]!, isToken2022 }
}

/** Raw units in a token account of SPL Token; 0 where none is open, as where somebody sent lamports to its address. */
export async function tokenBalance(session: Session, address: string): Promise<bigint> {
  const account = await accountAt(session, address)
  const data = Buffer.from(account?.data ?? '', 'base64')
  const isOpen = account?.owner === TOKEN_PROGRAM && data.length === ACCOUNT_SIZE && data[ACCOUNT_STATE_AT] !== 0
  return isOpen ? data.readBigUInt64LE(AMOUNT_AT) : 0n
}

/** Null where there is none. */
async function accountAt({ client }: Session, address: string): Promise<Account | null> {
  return (await orNull(client.accounts.get({ address })))?.data ?? null
}

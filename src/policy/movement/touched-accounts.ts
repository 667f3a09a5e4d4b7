/** The accounts that a transaction writes to, before and after it ran, and which of them are the wallet's. */
import type { ChainAccount } from '../../solana/accounts.ts'
import { addressBytes, addressOf } from '../../solana/addresses.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { type MintState, readMint, readTokenAccount, type TokenAccountState } from '../../solana/token-accounts.ts'
import { isTokenProgram } from '../../solana/token-programs.ts'
import type { AccountOpening, AccountOpenings } from './account-openings.ts'

/** A durable nonce: version, state, authority, blockhash and fee (solana-nonce, `Versions`). */
const NONCE_ACCOUNT_BYTES = 80
export const NONCE_AUTHORITY_OFFSET = 8

/** What stands at an address; each part is null where there is no such thing. */
export interface AccountSnapshot {
  account: ChainAccount | null
  token: TokenAccountState | null
  mint: MintState | null
}

export interface TouchedAccount {
  address: string
  before: AccountSnapshot
  after: AccountSnapshot
  /** Where the wallet's address stands in the data before. */
  offsets: number[]
  /** How it is opened within the transaction. */
  openings: readonly AccountOpening[]
  /** Whoever owns it as a token account: before, at any time within the transaction, or afterwards. */
  owners: ReadonlySet<string>
  /** The mints that it is a token account of, at the same times. */
  mints: ReadonlySet<string>
  /** The wallet is among its owners. */
  isOwnToken: boolean
  /** Afterwards the wallet alone can take what is in there, or the account was the wallet's alone and ends. */
  isSafe: boolean
}

/** Each account that the message may write to, by its address. */
export type TouchedAccounts = ReadonlyMap<string, TouchedAccount>

/** `before` and `after` are in the order of `addresses`, null where no account is. */
export function touchedAccounts(
  wallet: string,
  addresses: readonly string[],
  before: readonly (ChainAccount | null)[],
  after: readonly (ChainAccount | null)[],
  opened: AccountOpenings,
): TouchedAccounts {
  return new Map(
    addresses.map((address, i) => {
      const [from, to] = [snapshotOf(before[i] ?? null), snapshotOf(after[i] ?? null)]
      const openings = opened.get(address) ?? []
      const tokens = [from.token, to.token, ...openings]
      const owners = new Set(tokens.flatMap((token) => token?.owner ?? []))
      const endsOwn = to.account === null && owners.size === 1 && owners.has(wallet)
      const touched: TouchedAccount = {
        address,
        before: from,
        after: to,
        offsets: address === wallet || from.account === null ? [] : offsetsOf(from.account.data, addressBytes(wallet)),
        openings,
        owners,
        mints: new Set(tokens.flatMap((token) => token?.mint ?? [])),
        isOwnToken: owners.has(wallet),
        isSafe: address === wallet || endsOwn || isOwnSafe(to.token, wallet) || nonceAuthority(to.account) === wallet,
      }
      return [address, touched]
    }),
  )
}

/** Authority of a nonce account; null for anything else. */
export function nonceAuthority(account: ChainAccount | null): string | null {
  if (account === null || account.owner !== SYSTEM_PROGRAM || account.data.length !== NONCE_ACCOUNT_BYTES) return null
  return addressOf(account.data.subarray(NONCE_AUTHORITY_OFFSET, NONCE_AUTHORITY_OFFSET + 32))
}

/** Token programs and the System program hold what a key, not a program's own rules, gives away. */
export const isPlainProgram = (program: string | undefined): boolean =>
  program === SYSTEM_PROGRAM || isTokenProgram(program)

/** Whether the address stands in the data at the offset. */
export function holdsAddressAt({ data }: ChainAccount, offset: number, address: Uint8Array): boolean {
  return data.length >= offset + 32 && Buffer.compare(data.subarray(offset, offset + 32), address) === 0
}

/** Each offset at which the address stands in the data. */
export function offsetsOf(data: Uint8Array, address: Uint8Array): number[] {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const offsets: number[] = []
  for (let at = bytes.indexOf(address); at !== -1; at = bytes.indexOf(address, at + 1)) offsets.push(at)
  return offsets
}

function isOwnSafe(token: TokenAccountState | null, wallet: string): boolean {
  const isMine = (key: string | null) => key === null || key === wallet
  return token !== null && token.owner === wallet && isMine(token.closeAuthority) && isMine(token.delegate)
}

/** Nodes show an account that ended within the transaction as one without lamports. */
function snapshotOf(shown: ChainAccount | null): AccountSnapshot {
  const account = shown === null || shown.lamports === 0n ? null : shown
  return { account, token: account && readTokenAccount(account), mint: account && readMint(account) }
}

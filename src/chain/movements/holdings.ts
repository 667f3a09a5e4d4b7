/** The accounts of a run as they were and will be, and which of them are the wallet's. */

import type { ChainAccount } from '../../solana/accounts.ts'
import { addressBytes, addressOf } from '../../solana/addresses.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { type MintState, readMint } from '../../solana/token-accounts.ts'
import { isTokenProgram } from '../../solana/token-programs.ts'
import { decodeTokenAccount, type TokenAccountState } from '../balance-changes.ts'
import type { Account } from '../runs.ts'
import type { Opening, Openings } from './openings.ts'

const NONCE_BYTES = 80
const NONCE_AUTHORITY = 8

export interface Side {
  account: ChainAccount | null
  token: TokenAccountState | null
  mint: MintState | null
}

export interface Holding {
  address: string
  before: Side
  after: Side
  /** Where the wallet's address stands in the data before. */
  offsets: number[]
  /** How it is opened within the transaction. */
  openings: readonly Opening[]
  /** Of whom it is a token account: before, at any time within, or afterwards. */
  owners: ReadonlySet<string>
  /** The same for the mints that it holds. */
  mints: ReadonlySet<string>
  /** Among its owners is the wallet. */
  isOwnToken: boolean
  /** Afterwards the wallet alone can take what is in there, or the account was the wallet's alone and ends. */
  isSafe: boolean
}

export type Holdings = ReadonlyMap<string, Holding>

export function holdingsOf(
  wallet: string,
  addresses: readonly string[],
  before: readonly Account[],
  after: readonly Account[],
  opened: Openings,
): Holdings {
  return new Map(
    addresses.map((address, i) => {
      const [from, to] = [sideOf(before[i] ?? null), sideOf(after[i] ?? null)]
      const openings = opened.get(address) ?? []
      const tokens = [from.token, to.token, ...openings]
      const owners = new Set(tokens.flatMap((token) => token?.owner ?? []))
      const endsOwn = to.account === null && owners.size === 1 && owners.has(wallet)
      const holding: Holding = {
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
      return [address, holding]
    }),
  )
}

/** Authority of a nonce account; null for anything else. */
export function nonceAuthority(account: Account): string | null {
  if (account === null || account.owner !== SYSTEM_PROGRAM || account.data.length !== NONCE_BYTES) return null
  return addressOf(account.data.subarray(NONCE_AUTHORITY, NONCE_AUTHORITY + 32))
}

/** Token programs and the System program hold what a key, not a program's own rules, gives away. */
export const isPlain = (program: string | undefined): boolean => program === SYSTEM_PROGRAM || isTokenProgram(program)

/** Whether the address stands in the data at the offset. */
export function holdsAt({ data }: ChainAccount, offset: number, key: Uint8Array): boolean {
  return data.length >= offset + 32 && Buffer.compare(data.subarray(offset, offset + 32), key) === 0
}

function isOwnSafe(token: TokenAccountState | null, wallet: string): boolean {
  const mine = (key: string | null) => key === null || key === wallet
  return token !== null && token.owner === wallet && mine(token.closeAuthority) && mine(token.delegate)
}

/** Nodes show an account that ended within the run as one without lamports. */
function sideOf(shown: Account): Side {
  const account = shown === null || shown.lamports === 0n ? null : shown
  return { account, token: account && decodeTokenAccount(account), mint: account && readMint(account) }
}

/** Where the key stands in the data. */
export function offsetsOf(data: Uint8Array, key: Uint8Array): number[] {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const found: number[] = []
  for (let at = bytes.indexOf(key); at !== -1; at = bytes.indexOf(key, at + 1)) found.push(at)
  return found
}

/** Describes the accounts that a transaction writes to, before and after, and which of them belong to the wallet. */
import type { ChainAccount } from '../../solana/accounts.ts'
import { addressBytes } from '../../solana/addresses.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { SYSTEM } from '../../solana/programs/system.ts'
import type { RentRate } from '../../solana/rent.ts'
import { type MintState, readMint, readTokenAccount, type TokenAccountState } from '../../solana/token-accounts.ts'
import { isTokenProgram } from '../../solana/token-programs.ts'
import type { AccountOpening, AccountOpenings } from './account-openings.ts'

/** The account at an address and its decoded forms. Each part is null when it does not exist. */
export interface AccountSnapshot {
  account: ChainAccount | null
  token: TokenAccountState | null
  mint: MintState | null
}

export interface TouchedAccount {
  address: string
  before: AccountSnapshot
  after: AccountSnapshot
  /** Offsets of the wallet's address in the data before the transaction. */
  offsets: number[]
  /** Openings of the account within the transaction. */
  openings: readonly AccountOpening[]
  /** Every owner of the token account: before, within or after the transaction. */
  owners: ReadonlySet<string>
  /** Every mint of the token account: before, within or after the transaction. */
  mints: ReadonlySet<string>
  /** Whether the wallet is among the owners. */
  isOwnToken: boolean
  /**
   * Whether only the wallet can take the contents afterwards, or the account belonged only to the wallet and is
   * closed.
   */
  isSafe: boolean
  /** Rent minimum in lamports of the account as it is afterwards, or 0 without one. */
  minimum: bigint
}

/** Each account that the message may write to, by address. */
export type TouchedAccounts = ReadonlyMap<string, TouchedAccount>

/**
 * `before` and `after` are in the order of `addresses`, with null for an address without an account. Without the
 * cluster's rent every minimum is 0. `memory` is the account to which the wallet lends its rent for guards.
 */
export function touchedAccounts(
  wallet: string,
  addresses: readonly string[],
  before: readonly (ChainAccount | null)[],
  after: readonly (ChainAccount | null)[],
  opened: AccountOpenings,
  { minimumOf = () => 0n, memory }: { minimumOf?: RentRate; memory?: string | undefined } = {},
): TouchedAccounts {
  return new Map(
    addresses.map((address, i) => {
      const [from, to] = [snapshotOf(before[i] ?? null), snapshotOf(after[i] ?? null)]
      const openings = opened.get(address) ?? []
      const tokens = [from.token, to.token, ...openings]
      const owners = new Set(tokens.flatMap((token) => token?.owner ?? []))
      const endsOwn = to.account === null && ((owners.size === 1 && owners.has(wallet)) || address === memory)
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
        minimum: to.account === null ? 0n : minimumOf(to.account.data.length),
      }
      return [address, touched]
    }),
  )
}

/** Returns the authority of a nonce account, or null for any other account. */
export function nonceAuthority(account: ChainAccount | null): string | null {
  const nonce = SYSTEM.decode('nonce', account)
  return nonce?.state === 1 ? nonce.authority : null
}

/** A key, not the rules of a program, controls accounts of the token programs and the System program. */
export const isPlainProgram = (program: string | undefined): boolean =>
  program === SYSTEM_PROGRAM || isTokenProgram(program)

/** Whether the data has the address at the offset. */
export function holdsAddressAt({ data }: ChainAccount, offset: number, address: Uint8Array): boolean {
  return data.length >= offset + 32 && Buffer.compare(data.subarray(offset, offset + 32), address) === 0
}

/** Returns each offset at which the data has the address. */
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

/** Nodes show an account that was closed within the transaction as one without lamports. */
function snapshotOf(shown: ChainAccount | null): AccountSnapshot {
  const account = shown === null || shown.lamports === 0n ? null : shown
  return { account, token: account && readTokenAccount(account), mint: account && readMint(account) }
}

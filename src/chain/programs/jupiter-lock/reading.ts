/** Reads locks from the chain, each time together with the chain's clock, so that both are of one slot. */
import type { Connection } from '@solana/web3.js'
import type { ChainAccount } from '../../../solana/accounts.ts'
import { CLOCK_SYSVAR, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../solana/program-ids.ts'
import { readMint } from '../../../solana/token-accounts.ts'
import { decodeTokenAccount, type TokenAccountState } from '../../balance-changes.ts'
import { type ChainMoment, momentOf } from '../../chain-clock.ts'
import { accountsAt } from '../../runs.ts'
import type { TokenProgram } from '../tokens/index.ts'
import { decodeEscrow, type Escrow } from './escrow.ts'
import { escrowAddress, lockAccounts } from './program.ts'

/** Accounts of one getMultipleAccounts, less the clock. */
export const LOCKS_PER_CALL = 99

export interface LocksAt {
  at: ChainMoment
  /** One for each address that was asked for, in its order; null where no lock is. */
  escrows: (Escrow | null)[]
}

/** Reads at most 99 locks in one call, and the clock alone where none is asked for. Throws internal_error where the node fails. */
export async function readLocks(connection: Connection, addresses: readonly string[]): Promise<LocksAt> {
  const [clock, ...accounts] = await accountsAt(connection, [CLOCK_SYSVAR, ...addresses])
  return {
    at: await momentOf(clock ?? null),
    escrows: addresses.map((address, i) => decodeEscrow(address, accounts[i] ?? null)),
  }
}

/** The lock of a wallet. */
export async function readLockOf(
  connection: Connection,
  user: string,
): Promise<{ at: ChainMoment; address: string; escrow: Escrow | null }> {
  const address = await escrowAddress(user)
  const { at, escrows } = await readLocks(connection, [address])
  return { at, address, escrow: escrows[0] ?? null }
}

/** A token account on the way of an unlocking; `state` is null where none is open. */
export interface WayStation {
  address: string
  state: TokenAccountState | null
}

export interface UnlockWay {
  lock: WayStation
  wallet: WayStation
  /** The mint's freeze authority; null where nobody can freeze or thaw any more. */
  freezeAuthority: string | null
}

/** What the tokens of a lock pass through when it is unlocked, in one call. Throws internal_error where the node fails. */
export async function readUnlockWay(
  connection: Connection,
  { base: user, mint, tokenProgram }: Pick<Escrow, 'base' | 'mint' | 'tokenProgram'>,
): Promise<UnlockWay> {
  const { escrowToken, userToken } = await lockAccounts({ user, mint, tokenProgram })
  const addresses = [escrowToken.toBase58(), userToken.toBase58()]
  const [token, ...accounts] = await accountsAt(connection, [mint, ...addresses])
  const [lock, wallet] = addresses.map((address, i) => {
    const account = accounts[i] ?? null
    return { address, state: account === null ? null : decodeTokenAccount(account) }
  }) as [WayStation, WayStation]
  return { lock, wallet, freezeAuthority: token ? (readMint(token)?.freezeAuthority ?? null) : null }
}

/** A mint that can be locked, or `obstacles`: the names of its extensions that gold locks cannot take. */
export interface LockableToken {
  mint: string
  tokenProgram: TokenProgram
  decimals: number
  obstacles: string[]
}

/** What the wallet's associated token account holds. */
export interface GoldHolding {
  address: string
  /** Raw units. */
  amount: bigint
  isFrozen: boolean
}

export interface BeforeLock {
  at: ChainMoment
  address: string
  escrow: Escrow | null
  /** Null where there is no such mint. */
  token: LockableToken | null
  /** Null where the wallet has no such account, or it is another's by now. */
  holding: GoldHolding | null
}

/** Everything that decides whether a wallet can lock, in one call. Throws internal_error where the node fails. */
export async function readBeforeLock(
  connection: Connection,
  { user, mint }: { user: string; mint: string },
): Promise<BeforeLock> {
  const [spl, token2022] = await Promise.all([
    lockAccounts({ user, mint, tokenProgram: 'spl' }),
    lockAccounts({ user, mint, tokenProgram: 'token2022' }),
  ])
  const address = await escrowAddress(user)
  const places = { spl: spl.userToken.toBase58(), token2022: token2022.userToken.toBase58() }
  const accounts = await accountsAt(connection, [CLOCK_SYSVAR, address, mint, places.spl, places.token2022])
  const token = await decodeGoldToken(mint, accounts[2] ?? null)
  const held = token?.tokenProgram === 'token2022' ? accounts[4] : accounts[3]
  return {
    at: await momentOf(accounts[0] ?? null),
    address,
    escrow: decodeEscrow(address, accounts[1] ?? null),
    token,
    holding: token && holdingOf(places[token.tokenProgram], held ?? null, { user, mint }),
  }
}

/** Throws internal_error where the node fails; null where there is no such mint. */
export async function readGoldToken(connection: Connection, mint: string): Promise<LockableToken | null> {
  const [account] = await accountsAt(connection, [mint])
  return decodeGoldToken(mint, account ?? null)
}

/**
 * Extensions that leave amounts and transfers as they are. A transfer fee would take of what is locked, a hook needs
 * accounts of its own, and what starts frozen cannot be paid out; the program itself refuses the rest.
 */
const HARMLESS = [
  'MintCloseAuthority',
  'PermanentDelegate',
  'MetadataPointer',
  'TokenMetadata',
  'GroupPointer',
  'GroupMemberPointer',
]

async function decodeGoldToken(mint: string, account: ChainAccount | null): Promise<LockableToken | null> {
  const [{ PublicKey }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  if (account === null || (account.owner !== TOKEN_PROGRAM && account.owner !== TOKEN_2022_PROGRAM)) return null
  const owner = new PublicKey(account.owner)
  try {
    const info = { ...account, owner, data: Buffer.from(account.data), lamports: 0 }
    const state = spl.unpackMint(new PublicKey(mint), info, owner)
    if (!state.isInitialized) return null
    const names = spl.getExtensionTypes(state.tlvData).map((type) => spl.ExtensionType[type] ?? `number ${type}`)
    return {
      mint,
      tokenProgram: account.owner === TOKEN_PROGRAM ? 'spl' : 'token2022',
      decimals: state.decimals,
      obstacles: names.filter((name) => !HARMLESS.includes(name)),
    }
  } catch {
    // An account of a token program, but no mint.
    return null
  }
}

function holdingOf(
  address: string,
  account: ChainAccount | null,
  { user, mint }: { user: string; mint: string },
): GoldHolding | null {
  const state = account === null ? null : decodeTokenAccount(account)
  if (state === null || state.owner !== user || state.mint !== mint) return null
  return { address, amount: state.amount, isFrozen: state.state === 'frozen' }
}

/** Reads locks together with the chain's clock, so that both are from one slot. */
import { turnsOf } from '../../../platform/timing.ts'
import type { ChainAccount } from '../../../solana/accounts.ts'
import { totalOf } from '../../../solana/lock-schedule.ts'
import { CLOCK_SYSVAR } from '../../../solana/program-ids.ts'
import {
  decodeEscrow,
  ESCROW_BYTES,
  type Escrow,
  JUPITER_LOCK,
  type LockTexts,
} from '../../../solana/programs/jupiter-lock.ts'
import { readTokenAccount, type TokenAccountState } from '../../../solana/token-accounts.ts'
import type { Chain } from '../../connection.ts'
import { scanDecoded } from '../../holders/scan.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { askNode } from '../../nodes/rpc-faults.ts'
import { type ChainTime, chainTimeOf } from '../../reads/chain-clock.ts'
import { accountsAt } from '../../sending/runs.ts'
import { associatedAccounts } from '../derived-addresses.ts'
import { decodeTokenState, type OnChainToken, type TokenProgram } from '../tokens/index.ts'
import { escrowAddress, textsAddress } from './acts.ts'

/** Accounts in one getMultipleAccounts, without the clock. */
export const LOCKS_PER_CALL = 99

interface LocksAt {
  at: ChainTime
  /** Locks in the order of the addresses, with null for an address without a lock. */
  escrows: (Escrow | null)[]
}

/**
 * Reads at most 99 locks in one call, or only the clock without addresses. Throws internal_error when the node fails.
 */
export async function readLocks(node: NodeCalls, addresses: readonly string[]): Promise<LocksAt> {
  const [clock, ...accounts] = await accountsAt(node, [CLOCK_SYSVAR, ...addresses])
  return {
    at: await chainTimeOf(clock ?? null),
    escrows: addresses.map((address, i) => decodeEscrow(address, accounts[i] ?? null)),
  }
}

/** Reads one lock. Throws internal_error when the node fails. */
export async function readLock(node: NodeCalls, address: string): Promise<{ at: ChainTime; escrow: Escrow | null }> {
  const { at, escrows } = await readLocks(node, [address])
  return { at, escrow: escrows[0] ?? null }
}

/** Bytes of the account with these texts: discriminator, lock, and four texts of which two are empty. */
export const textsBytes = ({ title, description }: LockTexts): number =>
  8 + 32 + 4 * 4 + Buffer.byteLength(title) + Buffer.byteLength(description)

/** A lock with the texts of its creator and the state of its token account, read with the clock. */
export interface LockWithTexts {
  at: ChainTime
  escrow: Escrow | null
  /** Null without texts, and for texts that cannot be read. */
  texts: LockTexts | null
  /** Whether there is an account for texts, also if they cannot be read. */
  hasTexts: boolean
}

/** Reads one lock with its texts in one call. Throws internal_error when the node fails. */
export async function readLockWithTexts(node: NodeCalls, address: string): Promise<LockWithTexts> {
  const metadata = await textsAddress(address)
  const [clock, account, texts] = await accountsAt(node, [CLOCK_SYSVAR, address, metadata])
  const written = JUPITER_LOCK.decode('escrow_metadata', texts ?? null)
  return {
    at: await chainTimeOf(clock ?? null),
    escrow: decodeEscrow(address, account ?? null),
    texts: written && { title: written.name, description: written.description },
    hasTexts: texts?.owner === JUPITER_LOCK.id,
  }
}

export type LockFilter = Partial<Record<'recipient' | 'mint' | 'creator', string | undefined>>
/** Most locks of one list. Anybody can make locks of a mint or for a recipient. */
const LIST_LIMITS = { accounts: 100_000, milliseconds: 30_000 }
/** Most locks of one mint that are read whole. */
const MINT_LIMITS = { accounts: 2_000, milliseconds: 20_000 }

/** The accounts of locks with these fields. Texts of the same size are found too. */
const withFields = ({ mint, ...filter }: LockFilter) => ({
  program: JUPITER_LOCK.id,
  filters: JUPITER_LOCK.filtersOf('escrow', { ...filter, token_mint: mint }),
})

/**
 * Returns the addresses of all locks with these fields, whoever made them, sorted, as of `minSlot` or later. Throws
 * internal_error when the node fails, does not list the accounts of programs, or shows more than 100,000.
 */
export async function findLocks(
  chain: Pick<Chain, 'callLarge'>,
  filter: LockFilter,
  minSlot: number,
): Promise<string[]> {
  const asked = { what: 'Looking for locks', minSlot, limits: LIST_LIMITS, bytes: 0, ...withFields(filter) }
  return (await askNode(asked.what, () => scanDecoded(chain, asked, (_, address) => address))).sort()
}

/** A lock that is neither paid out nor cancelled. */
export interface UnpaidLock {
  escrow: Escrow
  /** Raw units in its token account, but at most what it owes. */
  held: bigint
}

/**
 * Returns the locks of a mint that are neither paid out nor cancelled, in the node's order. Throws internal_error when the node
 * fails, does not list the accounts of programs, or shows more than are read.
 */
export async function unpaidLocksOfMint(
  chain: Pick<Chain, 'call' | 'callLarge'>,
  mint: string,
  minSlot: number,
): Promise<UnpaidLock[]> {
  const asked = { what: `Listing the locks of ${mint}`, minSlot, limits: MINT_LIMITS, bytes: ESCROW_BYTES }
  const escrows = await scanDecoded(chain, { ...asked, ...withFields({ mint }) }, (account, address) => {
    const escrow = decodeEscrow(address, account)
    return escrow?.mint === mint && escrow.cancelledAt === 0n && owedBy(escrow) > 0n ? escrow : null
  })
  const held = await tokensHeld(chain, escrows)
  return escrows.map((escrow, i) => {
    const [owed, has] = [owedBy(escrow), held[i] ?? 0n]
    return { escrow, held: has < owed ? has : owed }
  })
}

/** Raw units that a lock has not paid out yet. */
const owedBy = (escrow: Escrow): bigint => totalOf(escrow) - escrow.claimed

/** Milliseconds of searching for addresses after which other requests get their turn. */
const TURN_MS = 8

/** A permanent delegate or a transfer fee leaves less in the token account than the lock says. */
async function tokensHeld(chain: Pick<Chain, 'call'>, escrows: readonly Escrow[]): Promise<bigint[]> {
  const nextTurn = turnsOf(TURN_MS)
  const addresses: string[] = []
  for (const escrow of escrows) {
    addresses.push(associatedAccounts(escrow).accountOf(escrow.address))
    await nextTurn()
  }
  const accounts = await accountsAt(chain, addresses)
  return accounts.map((account) => (account === null ? 0n : (readTokenAccount(account)?.amount ?? 0n)))
}

/** A token account that an unlocking passes through. `state` is null when none is open. */
export interface UnlockAccount {
  address: string
  state: TokenAccountState | null
}

export interface AroundLock {
  at: ChainTime
  /** The mint, or null when it no longer exists. */
  token: OnChainToken | null
  lock: UnlockAccount
  wallets: UnlockAccount[]
  /** Lamports that closing the lock returns to its creator. */
  rent: bigint
}

/**
 * Reads the token account of a lock, those through which it pays wallets, and its mint in one call. Throws
 * internal_error when the node fails.
 */
export async function readAroundLock(
  node: NodeCalls,
  lock: Pick<Escrow, 'address' | 'mint' | 'tokenProgram'>,
  wallets: readonly string[] = [],
): Promise<AroundLock> {
  const { accountOf } = associatedAccounts(lock)
  const tokens = [lock.address, ...wallets].map(accountOf)
  const places = [CLOCK_SYSVAR, lock.mint, lock.address, textsAddress(lock.address), ...tokens]
  const [clock, mint, escrow, metadata, ...accounts] = await accountsAt(node, places)
  const [held, ...paid] = tokens.map((address, i): UnlockAccount => {
    const account = accounts[i] ?? null
    return { address, state: account && readTokenAccount(account) }
  })
  return {
    at: await chainTimeOf(clock ?? null),
    token: await decodeTokenState(lock.mint, mint ?? null, null),
    lock: held as UnlockAccount,
    wallets: paid,
    rent: [escrow, metadata, accounts[0]].reduce((sum, account) => sum + (account?.lamports ?? 0n), 0n),
  }
}

/** The balance of the creator's associated token account. */
export interface LockHolding {
  address: string
  /** Balance in raw units. */
  amount: bigint
  isFrozen: boolean
}

export interface BeforeLock {
  at: ChainTime
  address: string
  escrow: Escrow | null
  /** The mint, or null when it does not exist. */
  token: OnChainToken | null
  /** The account's balance, or null when the wallet has no such account or another owns it now. */
  holding: LockHolding | null
}

/**
 * Reads everything that decides whether a wallet can lock, in one call: `user` is the creator, and `base` gives the
 * lock its address. Throws internal_error when the node fails.
 */
export async function readBeforeLock(
  node: NodeCalls,
  { user, mint, base = user }: { user: string; mint: string; base?: string },
): Promise<BeforeLock> {
  const address = escrowAddress(base)
  const accountIn = (tokenProgram: TokenProgram) => associatedAccounts({ mint, tokenProgram }).accountOf(user)
  const places = { spl: accountIn('spl'), token2022: accountIn('token2022') }
  const accounts = await accountsAt(node, [CLOCK_SYSVAR, address, mint, places.spl, places.token2022])
  const token = await decodeTokenState(mint, accounts[2] ?? null, null)
  const held = token?.tokenProgram === 'token2022' ? accounts[4] : accounts[3]
  return {
    at: await chainTimeOf(accounts[0] ?? null),
    address,
    escrow: decodeEscrow(address, accounts[1] ?? null),
    token,
    holding: token && holdingOf(places[token.tokenProgram], held ?? null, { user, mint }),
  }
}

function holdingOf(
  address: string,
  account: ChainAccount | null,
  { user, mint }: { user: string; mint: string },
): LockHolding | null {
  const state = account === null ? null : readTokenAccount(account)
  if (state === null || state.owner !== user || state.mint !== mint) return null
  return { address, amount: state.amount, isFrozen: state.state === 'frozen' }
}

/** Reads locks together with the chain's clock, so that both are from one slot. */

import type { ChainAccount } from '../../../solana/accounts.ts'
import { CLOCK_SYSVAR, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../solana/program-ids.ts'
import { readMint } from '../../../solana/token-accounts.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { type ChainTime, chainTimeOf } from '../../reads/chain-clock.ts'
import { decodeTokenAccount, type TokenAccountState } from '../../sending/balance-changes.ts'
import { accountsAt } from '../../sending/runs.ts'
import type { TokenProgram } from '../tokens/index.ts'
import { decodeEscrow, type Escrow } from './escrow.ts'
import { escrowAddress, lockAccounts } from './program.ts'

/** Accounts in one getMultipleAccounts, without the clock. */
export const LOCKS_PER_CALL = 99

export interface LocksAt {
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

/** Reads the lock of a wallet. */
export async function readLockOf(
  node: NodeCalls,
  user: string,
): Promise<{ at: ChainTime; address: string; escrow: Escrow | null }> {
  const address = await escrowAddress(user)
  const { at, escrows } = await readLocks(node, [address])
  return { at, address, escrow: escrows[0] ?? null }
}

/** A token account that an unlocking passes through. `state` is null when none is open. */
export interface UnlockAccount {
  address: string
  state: TokenAccountState | null
}

export interface UnlockAccounts {
  lock: UnlockAccount
  wallet: UnlockAccount
  /** The mint's freeze authority, or null when accounts can no longer be frozen or thawed. */
  freezeAuthority: string | null
}

/** Reads the accounts that an unlocking passes through, in one call. Throws internal_error when the node fails. */
export async function readUnlockAccounts(
  node: NodeCalls,
  { base: user, mint, tokenProgram }: Pick<Escrow, 'base' | 'mint' | 'tokenProgram'>,
): Promise<UnlockAccounts> {
  const { escrowToken, userToken } = await lockAccounts({ user, mint, tokenProgram })
  const addresses = [escrowToken.toBase58(), userToken.toBase58()]
  const [token, ...accounts] = await accountsAt(node, [mint, ...addresses])
  const [lock, wallet] = addresses.map((address, i) => {
    const account = accounts[i] ?? null
    return { address, state: account === null ? null : decodeTokenAccount(account) }
  }) as [UnlockAccount, UnlockAccount]
  return { lock, wallet, freezeAuthority: token ? (readMint(token)?.freezeAuthority ?? null) : null }
}

/** A mint that can be locked, or the names of its extensions that gold locks do not support, in `obstacles`. */
export interface LockableToken {
  mint: string
  tokenProgram: TokenProgram
  decimals: number
  obstacles: string[]
}

/** The balance of the wallet's associated token account. */
export interface GoldHolding {
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
  token: LockableToken | null
  /** The account's balance, or null when the wallet has no such account or another owns it now. */
  holding: GoldHolding | null
}

/** Reads everything that decides whether a wallet can lock, in one call. Throws internal_error when the node fails. */
export async function readBeforeLock(
  node: NodeCalls,
  { user, mint }: { user: string; mint: string },
): Promise<BeforeLock> {
  const [spl, token2022] = await Promise.all([
    lockAccounts({ user, mint, tokenProgram: 'spl' }),
    lockAccounts({ user, mint, tokenProgram: 'token2022' }),
  ])
  const address = await escrowAddress(user)
  const places = { spl: spl.userToken.toBase58(), token2022: token2022.userToken.toBase58() }
  const accounts = await accountsAt(node, [CLOCK_SYSVAR, address, mint, places.spl, places.token2022])
  const token = await decodeGoldToken(mint, accounts[2] ?? null)
  const held = token?.tokenProgram === 'token2022' ? accounts[4] : accounts[3]
  return {
    at: await chainTimeOf(accounts[0] ?? null),
    address,
    escrow: decodeEscrow(address, accounts[1] ?? null),
    token,
    holding: token && holdingOf(places[token.tokenProgram], held ?? null, { user, mint }),
  }
}

/** Throws internal_error when the node fails. Returns null when the mint does not exist. */
export async function readGoldToken(node: NodeCalls, mint: string): Promise<LockableToken | null> {
  const [account] = await accountsAt(node, [mint])
  return decodeGoldToken(mint, account ?? null)
}

/**
 * Extensions that change neither amounts nor transfers. A transfer fee would reduce the locked amount, a hook requires
 * extra accounts, and frozen accounts cannot be paid. The program itself refuses all others.
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
    // The account belongs to a token program, but is not a mint.
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

/** Reads locks together with the chain's clock, so that both are from one slot. */

import type { ChainAccount } from '../../../solana/accounts.ts'
import { CLOCK_SYSVAR, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../solana/program-ids.ts'
import { ESCROW_BYTES, JUPITER_LOCK } from '../../../solana/programs/jupiter-lock.ts'
import { readMint } from '../../../solana/token-accounts.ts'
import { type MintExtensions, readMintExtensions } from '../../../solana/token-extensions.ts'
import type { Chain } from '../../connection.ts'
import { scanAccounts } from '../../holders/scan.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { askNode } from '../../nodes/rpc-faults.ts'
import { type ChainTime, chainTimeOf } from '../../reads/chain-clock.ts'
import { decodeTokenAccount, type TokenAccountState } from '../../sending/balance-changes.ts'
import { accountsAt } from '../../sending/runs.ts'
import { addressOfKey, openDeriver } from '../derived-addresses.ts'
import type { TokenProgram } from '../tokens/index.ts'
import { decodeEscrow, decodeLockTexts, type Escrow, type LockTexts } from './escrow.ts'
import { escrowAddress, lockPlaces, textsAddress } from './program.ts'

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

/** A lock with the texts of its creator and the state of its token account, read with the clock. */
export interface LockWithTexts {
  at: ChainTime
  escrow: Escrow | null
  texts: LockTexts | null
  /** Whether there is an account for texts, also if they cannot be read. */
  hasTexts: boolean
}

/** Reads one lock with its texts in one call. Throws internal_error when the node fails. */
export async function readLockWithTexts(node: NodeCalls, address: string): Promise<LockWithTexts> {
  const metadata = addressOfKey(await textsAddress(address))
  const [clock, account, texts] = await accountsAt(node, [CLOCK_SYSVAR, address, metadata])
  return {
    at: await chainTimeOf(clock ?? null),
    escrow: decodeEscrow(address, account ?? null),
    texts: decodeLockTexts(texts ?? null),
    hasTexts: texts?.owner === JUPITER_LOCK.id,
  }
}

/** Returns the lamports that closing a lock returns to its creator. */
export async function readLockRent(
  node: NodeCalls,
  { address: escrow, mint, tokenProgram }: Pick<Escrow, 'address' | 'mint' | 'tokenProgram'>,
): Promise<bigint> {
  const { escrowToken, escrowMetadata } = await lockPlaces({ escrow, mint, tokenProgram })
  const accounts = await accountsAt(node, [escrow, addressOfKey(escrowToken), addressOfKey(escrowMetadata)])
  return accounts.reduce((sum, account) => sum + (account?.lamports ?? 0n), 0n)
}

/** Places of the fields by which locks are found. */
const FIELD_OFFSETS = {
  recipient: JUPITER_LOCK.offsetOf('escrow', 'recipient'),
  mint: JUPITER_LOCK.offsetOf('escrow', 'token_mint'),
  creator: JUPITER_LOCK.offsetOf('escrow', 'creator'),
} as const
export type LockFilter = { [Field in keyof typeof FIELD_OFFSETS]?: string | undefined }
/** Most locks of one list. Anybody can make locks of a mint or for a recipient. */
const LIST_LIMITS = { accounts: 100_000, milliseconds: 30_000 }

/**
 * Returns the addresses of all locks with these fields, whoever made them, sorted, as of `minSlot` or later. Throws
 * internal_error when the node fails, does not list the accounts of programs, or shows more than 100,000.
 */
export async function findLocks(
  chain: Pick<Chain, 'callLarge'>,
  filter: LockFilter,
  minSlot: number,
): Promise<string[]> {
  // Nodes take at most four filters. Texts of this size are found too, and are no locks once they are read.
  const filters = [
    { dataSize: ESCROW_BYTES },
    ...Object.entries(filter).flatMap(([field, bytes]) =>
      bytes === undefined ? [] : [{ memcmp: { offset: FIELD_OFFSETS[field as keyof LockFilter], bytes } }],
    ),
  ]
  const what = 'Looking for locks'
  const found: string[] = []
  await askNode(what, () =>
    scanAccounts(
      chain,
      {
        ...{ what, program: JUPITER_LOCK.id, filters, minSlot, limits: LIST_LIMITS },
        ...{ dataSlice: { offset: 0, length: 0 }, commitment: 'confirmed' },
      },
      ({ address }) => found.push(address),
    ),
  )
  return found.sort()
}

/** A token account that an unlocking passes through. `state` is null when none is open. */
export interface UnlockAccount {
  address: string
  state: TokenAccountState | null
}

export interface UnlockAccounts {
  at: ChainTime
  lock: UnlockAccount
  wallet: UnlockAccount
  /** The mint's freeze authority, or null when accounts can no longer be frozen or thawed. */
  freezeAuthority: string | null
  /** The mint, or null when it no longer exists. */
  token: LockableToken | null
}

/**
 * Reads the accounts through which a lock pays a wallet, by default its recipient, in one call. Throws internal_error
 * when the node fails.
 */
export async function readUnlockAccounts(
  node: NodeCalls,
  { address: escrow, recipient, mint, tokenProgram }: Pick<Escrow, 'address' | 'recipient' | 'mint' | 'tokenProgram'>,
  paid = recipient,
): Promise<UnlockAccounts> {
  const [{ PublicKey }, { escrowToken, accountOf }] = await Promise.all([
    import('@solana/web3.js'),
    lockPlaces({ escrow, mint, tokenProgram }),
  ])
  const addresses = [escrowToken, accountOf(new PublicKey(paid))].map(addressOfKey)
  const [token, clock, ...accounts] = await accountsAt(node, [mint, CLOCK_SYSVAR, ...addresses])
  const [lock, wallet] = addresses.map((place, i) => {
    const account = accounts[i] ?? null
    return { address: place, state: account === null ? null : decodeTokenAccount(account) }
  }) as [UnlockAccount, UnlockAccount]
  return {
    at: await chainTimeOf(clock ?? null),
    lock,
    wallet,
    freezeAuthority: token ? (readMint(token)?.freezeAuthority ?? null) : null,
    token: await decodeLockableToken(mint, token ?? null),
  }
}

/** A mint, and the names of its Token-2022 extensions. */
export interface LockableToken {
  mint: string
  tokenProgram: TokenProgram
  decimals: number
  names: string[]
  /** Null for a mint of SPL Token. */
  extensions: MintExtensions | null
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
  token: LockableToken | null
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
  const [{ PublicKey }, deriver] = await Promise.all([import('@solana/web3.js'), openDeriver()])
  const address = await escrowAddress(base)
  const accountOf = (program: string) =>
    addressOfKey(deriver.tokenAccount(new PublicKey(mint), new PublicKey(user), new PublicKey(program)))
  const places = { spl: accountOf(TOKEN_PROGRAM), token2022: accountOf(TOKEN_2022_PROGRAM) }
  const accounts = await accountsAt(node, [CLOCK_SYSVAR, address, mint, places.spl, places.token2022])
  const token = await decodeLockableToken(mint, accounts[2] ?? null)
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
export async function readLockableToken(node: NodeCalls, mint: string): Promise<LockableToken | null> {
  const [account] = await accountsAt(node, [mint])
  return decodeLockableToken(mint, account ?? null)
}

async function decodeLockableToken(mint: string, account: ChainAccount | null): Promise<LockableToken | null> {
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
      names,
      extensions: account.owner === TOKEN_PROGRAM ? null : readMintExtensions(account.data),
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
): LockHolding | null {
  const state = account === null ? null : decodeTokenAccount(account)
  if (state === null || state.owner !== user || state.mint !== mint) return null
  return { address, amount: state.amount, isFrozen: state.state === 'frozen' }
}

/**
 * In-memory index of accounts with balances, owners and token holdings: the used accounts, and all from the first
 * listing on.
 */
import type { ChainAccount } from '../solana/accounts.ts'
import { addressOf } from '../solana/addresses.ts'
import { KEY_BYTES } from '../solana/constants.ts'
import { TOKEN } from '../solana/programs/token.ts'
import { hasTokenLayout } from '../solana/token-accounts.ts'

export interface AccountEntry {
  lamports: bigint
  owner: string
  token: TokenHolding | null
  /** Decimals of a mint; null for other accounts. */
  decimals: number | null
  /** Bytes of its data. */
  space: number
}

/** Returns the index entry of an account. */
export function entryOf(account: ChainAccount): AccountEntry {
  const { lamports, owner, data } = account
  return { lamports, owner, token: tokenHoldingOf(account), decimals: mintDecimalsOf(account), space: data.length }
}

/** Reads the accounts that the index does not have yet. */
export interface AccountReader {
  /** Returns one account; null when it does not exist. */
  get(address: string): ChainAccount | null
  /** Returns all accounts. Those already in the index may be missing, or in an earlier state. */
  all(): Iterable<readonly [address: string, account: ChainAccount]>
}

/**
 * Absent addresses that are remembered, more than the accounts that one durable write can remove: until it is done, the
 * reader still has them.
 */
const MAX_ABSENT = 16_384

type AddressSets = Map<string, Set<string>>

export class AccountIndex {
  readonly #entries = new Map<string, AccountEntry>()
  readonly #byOwner: AddressSets = new Map()
  readonly #byWallet: AddressSets = new Map()
  readonly #byMint: AddressSets = new Map()
  readonly #accounts: AccountReader
  /** Latest addresses known to have no account; null once the index has all accounts. */
  #absent: Set<string> | null = new Set()

  constructor(accounts: AccountReader) {
    this.#accounts = accounts
  }

  get size(): number {
    this.#complete()
    return this.#entries.size
  }

  /** Returns a copy of all current addresses. */
  addresses(): Set<string> {
    this.#complete()
    return new Set(this.#entries.keys())
  }

  get(address: string): AccountEntry | undefined {
    const known = this.#entries.get(address)
    if (known !== undefined || this.#absent === null || this.#absent.has(address)) return known
    this.update(address, this.#accounts.get(address))
    return this.#entries.get(address)
  }

  /** Stores an account's new state; null when it no longer exists. */
  update(address: string, account: ChainAccount | null): void {
    const before = this.#entries.get(address)
    if (account === null) {
      if (before !== undefined) this.#unlink(address, before)
      this.#entries.delete(address)
      this.#noteAbsent(address)
      return
    }
    this.#absent?.delete(address)
    const after = entryOf(account)
    // An unchanged owner keeps its string, because most accounts share few owners.
    if (before?.owner === after.owner) after.owner = before.owner
    this.#entries.set(address, after)
    if (before !== undefined && hasSameLinks(before, after)) return
    if (before !== undefined) this.#unlink(address, before)
    this.#link(address, after)
  }

  /** Returns a copy of the current addresses, so that changes during an iteration have no effect. */
  ownedBy(program: string): string[] {
    this.#complete()
    return [...(this.#byOwner.get(program) ?? [])]
  }

  ofWallet(wallet: string): string[] {
    this.#complete()
    return [...(this.#byWallet.get(wallet) ?? [])]
  }

  ofMint(mint: string): string[] {
    this.#complete()
    return [...(this.#byMint.get(mint) ?? [])]
  }

  /** Without a limit, a client that asks for ever new addresses would fill the memory. */
  #noteAbsent(address: string): void {
    const absent = this.#absent
    if (absent === null) return
    absent.delete(address)
    absent.add(address)
    const [oldest] = absent
    if (absent.size > MAX_ABSENT && oldest !== undefined) absent.delete(oldest)
  }

  #complete(): void {
    const absent = this.#absent
    if (absent === null) return
    this.#absent = null
    for (const [address, account] of this.#accounts.all()) {
      if (!this.#entries.has(address) && !absent.has(address)) this.update(address, account)
    }
  }

  #link(address: string, { owner, token }: AccountEntry): void {
    add(this.#byOwner, owner, address)
    if (token === null) return
    add(this.#byWallet, token.wallet, address)
    add(this.#byMint, token.mint, address)
  }

  #unlink(address: string, { owner, token }: AccountEntry): void {
    remove(this.#byOwner, owner, address)
    if (token === null) return
    remove(this.#byWallet, token.wallet, address)
    remove(this.#byMint, token.mint, address)
  }
}

function hasSameLinks(a: AccountEntry, b: AccountEntry): boolean {
  return a.owner === b.owner && a.token?.wallet === b.token?.wallet && a.token?.mint === b.token?.mint
}

function add(sets: AddressSets, key: string, address: string): void {
  const set = sets.get(key)
  if (set === undefined) sets.set(key, new Set([address]))
  else set.add(address)
}

function remove(sets: AddressSets, key: string, address: string): void {
  const set = sets.get(key)
  set?.delete(address)
  if (set?.size === 0) sets.delete(key)
}

/** Read field by field, because a listing reads every account of the chain. */
const ACCOUNT = {
  mint: TOKEN.offsetOf('account', 'mint'),
  wallet: TOKEN.offsetOf('account', 'owner'),
  amount: TOKEN.offsetOf('account', 'amount'),
  state: TOKEN.offsetOf('account', 'state'),
}
const MINT = { decimals: TOKEN.offsetOf('mint', 'decimals'), isInitialized: TOKEN.offsetOf('mint', 'isInitialized') }

interface TokenHolding {
  mint: string
  wallet: string
  /** Amount in raw units. */
  amount: bigint
}

/** Reads mint, wallet and amount of a token account; null for anything else. */
function tokenHoldingOf(account: ChainAccount): TokenHolding | null {
  const { data } = account
  if (!hasTokenLayout(account, 'account') || data[ACCOUNT.state] === 0) return null
  return {
    mint: addressOf(data.subarray(ACCOUNT.mint, ACCOUNT.mint + KEY_BYTES)),
    wallet: addressOf(data.subarray(ACCOUNT.wallet, ACCOUNT.wallet + KEY_BYTES)),
    amount: new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(ACCOUNT.amount, true),
  }
}

/** Reads the decimals of a mint; null for anything else. */
function mintDecimalsOf(account: ChainAccount): number | null {
  if (!hasTokenLayout(account, 'mint') || account.data[MINT.isInitialized] === 0) return null
  return account.data[MINT.decimals] ?? null
}

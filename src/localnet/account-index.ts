/** In-memory index of every account with its balance, owner and token holdings, which avoids queries to the runtime. */

import type { ChainAccount } from '../solana/accounts.ts'
import { mintDecimalsOf, type TokenHolding, tokenHoldingOf } from './tokens.ts'

export interface AccountEntry {
  lamports: bigint
  owner: string
  token: TokenHolding | null
  /** Decimals of a mint; null for other accounts. */
  decimals: number | null
}

type AddressSets = Map<string, Set<string>>

export class AccountIndex {
  readonly #entries = new Map<string, AccountEntry>()
  readonly #byOwner: AddressSets = new Map()
  readonly #byWallet: AddressSets = new Map()
  readonly #byMint: AddressSets = new Map()

  get size(): number {
    return this.#entries.size
  }

  get(address: string): AccountEntry | undefined {
    return this.#entries.get(address)
  }

  /** Returns a copy of all current addresses. */
  addresses(): Set<string> {
    return new Set(this.#entries.keys())
  }

  /** Stores an account's new state; null when it no longer exists. */
  update(address: string, account: ChainAccount | null): void {
    const before = this.#entries.get(address)
    if (account === null) {
      if (before !== undefined) this.#unlink(address, before)
      this.#entries.delete(address)
      return
    }
    const after: AccountEntry = {
      lamports: account.lamports,
      owner: before?.owner === account.owner ? before.owner : account.owner,
      token: tokenHoldingOf(account),
      decimals: mintDecimalsOf(account),
    }
    this.#entries.set(address, after)
    if (before !== undefined && hasSameLinks(before, after)) return
    if (before !== undefined) this.#unlink(address, before)
    this.#link(address, after)
  }

  /** Returns a copy of the current addresses, so that changes during an iteration have no effect. */
  ownedBy(program: string): string[] {
    return [...(this.#byOwner.get(program) ?? [])]
  }

  ofWallet(wallet: string): string[] {
    return [...(this.#byWallet.get(wallet) ?? [])]
  }

  ofMint(mint: string): string[] {
    return [...(this.#byMint.get(mint) ?? [])]
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

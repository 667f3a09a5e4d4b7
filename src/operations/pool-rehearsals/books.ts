/** Keeps the balances of a rehearsal: what each party gained or lost by its transactions, in SOL, quote and token. */
import type { RehearsalRole } from '../../api/index.ts'
import type { CopyLanding } from '../../chain/copied-chain.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'

export interface BookAmounts {
  sol: bigint
  quote: bigint
  base: bigint
}

export interface BookTerms {
  /** The parties by the addresses of their wallets. */
  wallets: ReadonlyMap<string, RehearsalRole>
  /** The role of a token account whose owner is not a party, and of an account that is not a token account. */
  accounts: ReadonlyMap<string, RehearsalRole>
  quoteMint: string
  baseMint: string
}

/** A party's key: the address of a wallet, or a role. */
export type Books = Map<string, { party: RehearsalRole; address: string | null } & BookAmounts>

/**
 * Adds up the changes of every account. Lamports of a token account that are not wrapped SOL are rent and count for
 * `accounts`. Each column, with `network` and `supply`, adds up to zero.
 */
export function booksOf(landed: readonly CopyLanding[], terms: BookTerms): Books {
  const books: Books = new Map()
  const { wallets, accounts, quoteMint, baseMint } = terms
  const add = (address: string | null, role: RehearsalRole, column: keyof BookAmounts, amount: bigint) => {
    if (amount === 0n) return
    const key = address ?? role
    const book = books.get(key) ?? { party: role, address, sol: 0n, quote: 0n, base: 0n }
    book[column] += amount
    books.set(key, book)
  }
  const addTo = (wallet: string, account: string, column: keyof BookAmounts, amount: bigint) => {
    const role = wallets.get(wallet)
    if (role !== undefined) add(wallet, role, column, amount)
    else add(null, accounts.get(account) ?? accounts.get(wallet) ?? 'others', column, amount)
  }
  for (const transaction of landed) {
    add(null, 'network', 'sol', transaction.fee)
    const tokens = tokenChanges(transaction)
    for (const { account, owner, mint, change } of tokens) {
      if (mint === WRAPPED_SOL) addTo(owner, account, 'sol', change)
      else if (mint === quoteMint) addTo(owner, account, 'quote', change)
      else if (mint === baseMint) {
        addTo(owner, account, 'base', change)
        add(null, 'supply', 'base', -change)
      }
    }
    for (const [i, account] of transaction.accountKeys.entries()) {
      const wrapped = tokens.find((token) => token.account === account && token.mint === WRAPPED_SOL)?.change ?? 0n
      const change = (transaction.postBalances[i] ?? 0n) - (transaction.preBalances[i] ?? 0n) - wrapped
      const role = wallets.get(account)
      if (role !== undefined) add(account, role, 'sol', change)
      else
        add(
          null,
          tokens.some((token) => token.account === account) ? 'accounts' : (accounts.get(account) ?? 'accounts'),
          'sol',
          change,
        )
    }
  }
  return books
}

interface TokenChange {
  account: string
  owner: string
  mint: string
  change: bigint
}

/** Returns the changes of a transaction's token accounts, by mint and owner. */
function tokenChanges({ accountKeys, preTokenBalances, postTokenBalances }: CopyLanding): TokenChange[] {
  const changes = new Map<string, TokenChange>()
  const count = (balances: CopyLanding['preTokenBalances'], sign: bigint) => {
    for (const { accountIndex, owner, mint, amount } of balances) {
      const account = accountKeys[accountIndex] ?? ''
      const key = `${account} ${mint} ${owner}`
      const known = changes.get(key) ?? { account, owner, mint, change: 0n }
      changes.set(key, { ...known, change: known.change + sign * amount })
    }
  }
  count(preTokenBalances, -1n)
  count(postTokenBalances, 1n)
  return [...changes.values()]
}

/** Compares the lamports and tokens of accounts before and after a run. */

import type { Simulation } from '../../api/index.ts'
import {
  readTokenAccount as decodeTokenAccount,
  readMint,
  type TokenAccountState,
} from '../../solana/token-accounts.ts'
import { withheldFee } from '../../solana/token-extensions.ts'
import type { MaybeAccount } from '../reads/node-reads.ts'

/**
 * The state has owner, delegate and close authority: the addresses that may move the tokens or the lamports below them.
 */
export { decodeTokenAccount, type TokenAccountState }

export type BalanceChange = Simulation['balance_changes'][number]

/**
 * Returns a row for each address whose lamports differ and another if its tokens differ (SPL Token and Token-2022), in
 * the order of `addresses`. `before` and `after` have the same order, with null for no account. Decimals are null
 * unless the mint is among the accounts.
 */
export function balanceChanges(
  addresses: readonly string[],
  before: readonly MaybeAccount[],
  after: readonly MaybeAccount[],
): BalanceChange[] {
  const decimals = new Map<string, number>()
  for (const accounts of [before, after]) {
    for (const [i, address] of addresses.entries()) {
      const account = existing(accounts[i])
      const mint = account && readMint(account)
      if (mint) decimals.set(address, mint.decimals)
    }
  }
  return addresses.flatMap((address, i) => {
    const [from, to] = [existing(before[i]), existing(after[i])]
    const space = to?.data.length ?? 0
    const ends = { created: from === null, closed: to === null, space }
    const lamports = { address, mint: null, owner: null, decimals: null, ...ends }
    return [
      ...changedBalance(lamports, from?.lamports ?? 0n, to?.lamports ?? 0n),
      ...tokenRows({ address, space }, holdingIn(from), holdingIn(to), decimals),
    ]
  })
}

type Holding = TokenAccountState & {
  /** Transfer fees that are held back in the account, which `amount` does not include. */
  withheld: bigint
}

function holdingIn(account: MaybeAccount): Holding | null {
  const state = account && decodeTokenAccount(account)
  return state && { ...state, withheld: withheldFee(account.data) }
}

/** There are two rows when an account was closed and opened again for another mint. */
function tokenRows(
  { address, space }: Pick<BalanceChange, 'address' | 'space'>,
  from: Holding | null,
  to: Holding | null,
  decimals: ReadonlyMap<string, number>,
): BalanceChange[] {
  return [...new Set([from, to].flatMap((state) => state?.mint ?? []))].flatMap((mint) => {
    const [old, now] = [from?.mint === mint ? from : null, to?.mint === mint ? to : null]
    const owner = (now ?? old)?.owner ?? null
    const ends = { created: old === null, closed: now === null, space }
    const row = { address, mint, owner, decimals: decimals.get(mint) ?? null, ...ends }
    const withheld = (now?.withheld ?? 0n) - (old?.withheld ?? 0n)
    return changedBalance(row, old?.amount ?? 0n, now?.amount ?? 0n, withheld)
  })
}

function changedBalance(
  row: Omit<BalanceChange, 'before' | 'after' | 'change'>,
  before: bigint,
  after: bigint,
  withheld = 0n,
): BalanceChange[] {
  if (before === after) return []
  const { created, closed, space, ...rest } = row
  const amounts = { before: `${before}`, after: `${after}`, change: `${after - before}` }
  return [{ ...rest, ...amounts, ...(withheld > 0n ? { withheld: `${withheld}` } : {}), created, closed, space }]
}

/** Nodes show an account that was closed within the run as one without lamports. */
const existing = (account: MaybeAccount | undefined): MaybeAccount =>
  account === undefined || account === null || account.lamports === 0n ? null : account

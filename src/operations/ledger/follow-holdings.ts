/** Follows the balances of a platform wallet's token accounts, including closed ones, some in each step. */
import type { LedgerVerification } from '../../api/index.ts'
import { readHoldings } from '../../chain/programs/tokens/index.ts'
import type { Context } from '../../context.ts'
import { firstSlot } from '../../following/reconciliation/beginning.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { followedHoldings } from '../../store/following/followed-accounts.ts'
import { tokensOfAccount } from '../../store/ledger/ledger.ts'
import { PROJECTIONS } from '../projections.ts'
import { followBalance, readFinalBalances } from './follow-balance.ts'
import { SOL } from './postings.ts'

const ACCOUNTS_PER_STEP = 10

/**
 * Goes through the accounts in the order of their addresses. `from` names the last finished account, or an unfinished
 * one and the place in it. Adds the findings to `step`. Returns the place to continue from, or null at the end.
 */
export async function followHoldings(
  context: Context,
  { genesis, wallet, from: [last = '', ...within] }: { genesis: string; wallet: string; from: readonly string[] },
  step: LedgerVerification,
): Promise<readonly string[] | null> {
  const isBehind = (account: string) => (within.length > 0 ? account >= last : account > last)
  const all = await readLedgerAccounts(context, genesis, wallet)
  const chosen = [...all].filter(([account]) => isBehind(account)).sort(([one], [other]) => (one < other ? -1 : 1))
  const part = chosen.slice(0, ACCOUNTS_PER_STEP).map(([account, token]) => ({ account, token }))
  const balances = part.length === 0 ? [] : await readFinalBalances(context.chain, part)
  const since = await firstSlot({ ...context, projections: PROJECTIONS }, genesis)
  let place: readonly string[] = within
  for (const [i, each] of part.entries()) {
    const followed = { genesis, ...each, balance: balances[i] ?? 0n, since }
    const next = await followBalance(context, followed, place, step)
    if (next !== null) return [each.account, ...next]
    place = []
  }
  const end = part.at(-1)
  return end === undefined || chosen.length === part.length ? null : [end.account]
}

/**
 * Returns the wallet's token accounts, each with the followed token. Wrapped SOL is followed as lamports, as in the
 * ledger.
 */
export async function readLedgerAccounts(
  { store, chain }: Context,
  genesis: string,
  wallet: string,
): Promise<Map<string, string>> {
  const { holdings } = await readHoldings(chain, { wallet })
  const tokens = new Map(holdings.map(({ account, mint }) => [account, mint === WRAPPED_SOL ? SOL : mint]))
  for (const account of await followedHoldings(store.db, genesis, wallet)) {
    if (tokens.has(account)) continue
    const booked = await tokensOfAccount(store.db, genesis, account)
    tokens.set(account, booked.find((token) => token !== SOL) ?? SOL)
  }
  return tokens
}

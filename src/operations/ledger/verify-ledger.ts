/** Compares the ledger with the chain, one bounded step at a time: first every transaction, then the platform wallets and their token accounts. */
import type { Api, LedgerVerification } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import { countUnledgered, unledgered } from '../../store/ledger/ledger.ts'
import { catchUp } from './catch-up.ts'
import { compareTransactions } from './compare-transactions.ts'
import { followBalance, readFinalBalances } from './follow-balance.ts'
import { followHoldings } from './follow-holdings.ts'
import { platformWallets } from './known-addresses.ts'
import { SOL } from './postings.ts'

type VerifyLedgerRoute = Api['ledger']['verify']

const MOST_COUNTED = 1_000
/** A stored transaction is final and in the ledger within this time, unless the ledger is behind. */
const BEHIND_MS = 10 * MINUTE_MS

/** Throws internal_error when the node fails. */
export async function verifyLedger(
  context: Context,
  { cursor }: Input<VerifyLedgerRoute>,
): Promise<Result<VerifyLedgerRoute>> {
  if (cursor === undefined) await catchUp(context)
  const genesis = await context.chain.genesisHash()
  const [phase = 'transactions', place = '0', ...rest] = cursor?.split('.') ?? []
  const step: LedgerVerification = {
    transactions: 0,
    entries: 0,
    faults: [],
    unread: [],
    waiting: 0,
    not_final: 0,
    accounts: [],
    next_cursor: null,
  }
  if (phase === 'transactions') {
    const next = await compareTransactions(context, { genesis, after: Number(place) }, step)
    return { ...step, next_cursor: next === null ? 'accounts.0' : `transactions.${next}` }
  }
  // While older transactions are missing between newer ones, a balance cannot be followed.
  const [oldest] = await unledgered(context.store.db, { genesis, limit: 1 })
  const isBehind = oldest !== undefined && context.clock.now() - oldest.created_at > BEHIND_MS
  const wallet = isBehind ? undefined : (await platformWallets(context))[Number(place)]
  if (wallet === undefined) return { ...step, waiting: await countUnledgered(context.store.db, genesis, MOST_COUNTED) }
  if (phase === 'holdings') {
    const next = await followHoldings(context, { genesis, wallet, from: rest }, step)
    return { ...step, next_cursor: next === null ? `accounts.${Number(place) + 1}` : [phase, place, ...next].join('.') }
  }
  const [balance = 0n] = await readFinalBalances(context.chain, [{ account: wallet, token: SOL }])
  const next = await followBalance(context, { genesis, account: wallet, token: SOL, balance }, rest, step)
  return { ...step, next_cursor: next === null ? `holdings.${place}` : [phase, place, ...next].join('.') }
}

/** Writes what the ledger lacks, one bounded step at a time: first what was unread, then the histories of the platform wallets and their token accounts. */
import type { Api, LedgerRepair } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { listSignatures } from '../../chain/reads/history.ts'
import type { Context } from '../../context.ts'
import { createBudget } from '../../following/budget.ts'
import { firstSlot } from '../../following/reconciliation/beginning.ts'
import { readAgain } from '../../following/reconciliation/repair.ts'
import { ledgered, unreadAfter } from '../../store/ledger/ledger.ts'
import { PROJECTIONS } from '../projections.ts'
import { catchUp } from './catch-up.ts'
import { holdingsOf } from './follow-holdings.ts'
import { platformWallets } from './known-addresses.ts'
import { writeListed } from './write-ledger.ts'

type RepairLedgerRoute = Api['ledger']['repair']

/** Transactions that one step reads. */
const READ_PER_STEP = 24
/** Calls for their records: each is read, and so are the accounts that its projections need. */
const RECORD_CALLS = 48

/** Throws internal_error when the node fails. */
export async function repairLedger(
  context: Context,
  { cursor }: Input<RepairLedgerRoute>,
): Promise<Result<RepairLedgerRoute>> {
  if (cursor === undefined) await catchUp(context)
  const genesis = await context.chain.genesisHash()
  const [phase = 'unread', place = '', before] = cursor?.split('.') ?? []
  const step: LedgerRepair = { transactions: 0, repaired: [], unread: [], next_cursor: null }
  const next =
    phase === 'unread'
      ? await readUnread(context, { genesis, after: Number(place) }, step)
      : await readHistory(context, { genesis, place, before }, step)
  return { ...step, next_cursor: next }
}

async function readUnread(
  context: Context,
  { genesis, after }: { genesis: string; after: number },
  step: LedgerRepair,
): Promise<string> {
  const unread = await unreadAfter(context.store.db, { genesis, after, limit: READ_PER_STEP })
  await writeAndTell(context, genesis, unread, step)
  const last = unread.at(-1)
  return last === undefined || unread.length < READ_PER_STEP ? 'history' : `unread.${last.seq}`
}

/** `place` is the account that comes next, in the order of addresses. Returns the next place, or null at the end. */
async function readHistory(
  context: Context,
  { genesis, place, before }: { genesis: string; place: string; before: string | undefined },
  step: LedgerRepair,
): Promise<string | null> {
  const wallets = await platformWallets(context)
  const [account, following] = (await accountsOf(context, genesis, wallets)).filter((address) => address >= place)
  if (account === undefined) return null
  const services = { ...context, projections: PROJECTIONS, booked: new Set(wallets) }
  const beginning = await firstSlot(services, genesis)
  const page = await listSignatures(context.chain, account, account === place ? { before } : {})
  const isOwn = wallets.includes(account)
  // A failed transaction cost the wallet its fee, and changed no token account.
  const final = page.filter((each) => each.isFinal && each.slot >= beginning && (isOwn || !each.isFailed))
  const written = await ledgered(
    context.store.db,
    genesis,
    final.map(({ signature }) => signature),
    'written',
  )
  const unknown = final.filter(({ signature }) => !written.has(signature))
  const part = unknown.slice(0, READ_PER_STEP)
  const options = { genesis, address: account, budget: createBudget(RECORD_CALLS), signal: context.ending }
  await writeAndTell(context, genesis, await readAgain(services, part, options), step)
  const last = part.length < unknown.length ? part.at(-1) : page.at(-1)
  if (last !== undefined && (part.length < unknown.length || last.slot >= beginning))
    return `history.${account}.${last.signature}`
  return following === undefined ? null : `history.${following}`
}

async function accountsOf(context: Context, genesis: string, wallets: readonly string[]): Promise<string[]> {
  const accounts = new Set(wallets)
  for (const wallet of wallets) {
    for (const account of (await holdingsOf(context, genesis, wallet)).keys()) accounts.add(account)
  }
  return [...accounts].sort()
}

/** Writes the transactions into the ledger, and adds to `step` which it has now and which no node shows. */
async function writeAndTell(
  context: Context,
  genesis: string,
  listed: readonly { signature: string; slot: number | null }[],
  step: LedgerRepair,
): Promise<void> {
  await writeListed(context, genesis, listed)
  const signatures = listed.map(({ signature }) => signature)
  const written = await ledgered(context.store.db, genesis, signatures, 'written')
  step.transactions += listed.length
  step.repaired.push(...signatures.filter((signature) => written.has(signature)))
  step.unread.push(...signatures.filter((signature) => !written.has(signature)))
}

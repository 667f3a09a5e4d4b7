/** Followed accounts: which ones are due for a look, and how far their histories were listed. */
import type { Row } from '../schema.ts'
import type { Reader, Store, Tx } from '../store.ts'

export type FollowedAccount = Row<'followed_accounts'>

export interface NewFollowedAccount extends Pick<FollowedAccount, 'address' | 'kind' | 'watch'> {
  beside?: string
  about?: string
  history_of?: string
}

/** Rows of one insert, below SQLite's limit of variables. */
const ACCOUNTS_PER_INSERT = 500

/** Follows the accounts from a slot on. Already followed ones are unchanged. Returns the number of new ones. */
export async function followAccounts(
  tx: Tx,
  accounts: readonly NewFollowedAccount[],
  { genesis, from, now }: { genesis: string; from: number; now: number },
): Promise<number> {
  let added = 0n
  for (let at = 0; at < accounts.length; at += ACCOUNTS_PER_INSERT) {
    const rows = accounts
      .slice(at, at + ACCOUNTS_PER_INSERT)
      .map(({ address, kind, watch, beside = null, about = null, history_of = null }) => {
        const what = { genesis, address, kind, watch, beside, about, history_of }
        return { ...what, seen_slot: from, next_look_at: now, created_at: now }
      })
    const inserted = tx.insertInto('followed_accounts').values(rows)
    const result = await inserted.onConflict((conflict) => conflict.doNothing()).executeTakeFirstOrThrow()
    added += result.numInsertedOrUpdatedRows ?? 0n
  }
  return Number(added)
}

/**
 * Follows the accounts that are not followed yet, some hundred per write. Writes nothing if there are none. Throws the
 * signal's reason between two steps.
 */
export async function followMissing(
  store: Store,
  accounts: readonly NewFollowedAccount[],
  { signal, ...options }: { genesis: string; from: number; now: number; signal?: AbortSignal | undefined },
): Promise<void> {
  for (let at = 0; at < accounts.length; at += ACCOUNTS_PER_INSERT) {
    signal?.throwIfAborted()
    const part = accounts.slice(at, at + ACCOUNTS_PER_INSERT)
    const rows = store.db.selectFrom('followed_accounts').select(['address', 'kind'])
    const addresses = part.map(({ address }) => address)
    const known = await rows.where('genesis', '=', options.genesis).where('address', 'in', addresses).execute()
    const reasons = new Set(known.map(({ address, kind }) => `${kind} ${address}`))
    const missing = part.filter(({ address, kind }) => !reasons.has(`${kind} ${address}`))
    if (missing.length > 0) await store.write((tx) => followAccounts(tx, missing, options))
  }
}

interface DueQuery extends Pick<FollowedAccount, 'genesis' | 'watch'> {
  /** Only accounts that are followed for one of these reasons. */
  kinds?: readonly string[]
  now: number
  limit: number
}

/** Returns accounts of one chain that are due for a look, the longest overdue first. */
export function dueAccounts(
  reader: Reader,
  { genesis, watch, kinds, now, limit }: DueQuery,
): Promise<FollowedAccount[]> {
  const rows = reader.selectFrom('followed_accounts').selectAll().where('genesis', '=', genesis)
  const due = kinds === undefined ? rows : rows.where('kind', 'in', kinds)
  return due.where('watch', '=', watch).where('next_look_at', '<=', now).orderBy('next_look_at').limit(limit).execute()
}

/** The slot up to which an account's own history was listed; null if it is not followed. */
export async function listedUpTo(
  reader: Reader,
  { genesis, address }: Pick<FollowedAccount, 'genesis' | 'address'>,
): Promise<number | null> {
  const rows = reader.selectFrom('followed_accounts').select('seen_slot').where('genesis', '=', genesis)
  const own = rows.where('address', '=', address).where('history_of', 'is', null).where('watch', '!=', 'source')
  return (await own.orderBy('seen_slot').limit(1).executeTakeFirst())?.seen_slot ?? null
}

/** Returns accounts of one chain in the order in which they were first followed, after the one numbered `after`. */
export function accountsAfter(
  reader: Reader,
  { genesis, after, limit }: { genesis: string; after: number; limit: number },
): Promise<FollowedAccount[]> {
  const rows = reader.selectFrom('followed_accounts').selectAll().where('genesis', '=', genesis)
  return rows.where('seq', '>', after).orderBy('seq').limit(limit).execute()
}

/** Reason for following the token accounts of a platform wallet. Their `about` is the wallet. */
export const HOLDING_KIND = 'holding'

/** Returns the addresses of a wallet's followed token accounts, including closed ones. */
export async function followedHoldings(reader: Reader, genesis: string, wallet: string): Promise<string[]> {
  const rows = reader.selectFrom('followed_accounts').select('address').where('genesis', '=', genesis)
  const held = await rows.where('kind', '=', HOLDING_KIND).where('about', '=', wallet).execute()
  return held.map(({ address }) => address)
}

/** Returns the number of the last followed account, or 0 before the first. */
export async function lastFollowed(reader: Reader): Promise<number> {
  const last = reader.selectFrom('followed_accounts').select('seq').orderBy('seq', 'desc').limit(1)
  return (await last.executeTakeFirst())?.seq ?? 0
}

/** Whether an earlier account is followed by the same history, or is itself that history's account. */
export async function isHistoryFollowedBefore(
  reader: Reader,
  { seq, genesis, history_of }: Pick<FollowedAccount, 'seq' | 'genesis' | 'history_of'>,
): Promise<boolean> {
  if (history_of === null) return false
  const rows = () => reader.selectFrom('followed_accounts').select('seq').where('genesis', '=', genesis)
  const before = await rows().where('history_of', '=', history_of).where('seq', '<', seq).limit(1).executeTakeFirst()
  if (before !== undefined) return true
  const itself = rows().where('address', '=', history_of).where('watch', '=', 'history')
  return (await itself.limit(1).executeTakeFirst()) !== undefined
}

/** Counts the accounts of one chain by the way in which they are watched. */
export async function countAccounts(
  reader: Reader,
  genesis: string,
): Promise<Record<FollowedAccount['watch'], number>> {
  const rows = await reader
    .selectFrom('followed_accounts')
    .select((of) => ['watch', of.fn.countAll().as('count')])
    .where('genesis', '=', genesis)
    .groupBy('watch')
    .execute()
  const of = (watch: string) => Number(rows.find((row) => row.watch === watch)?.count ?? 0)
  return { state: of('state'), history: of('history'), source: of('source') }
}

export async function isFollowed(reader: Reader, genesis: string, address: string): Promise<boolean> {
  const row = reader.selectFrom('followed_accounts').select('seq').where('genesis', '=', genesis)
  return (await row.where('address', '=', address).executeTakeFirst()) !== undefined
}

/** Whether an account is followed for this reason. */
export async function isFollowedAs(reader: Reader, genesis: string, address: string, kind: string): Promise<boolean> {
  const row = reader.selectFrom('followed_accounts').select('seq').where('genesis', '=', genesis)
  return (await row.where('address', '=', address).where('kind', '=', kind).executeTakeFirst()) !== undefined
}

/** Returns the address of the record for which an account is followed, or null if it is followed for its own. */
export async function followedAbout(reader: Reader, genesis: string, address: string): Promise<string | null> {
  const row = reader.selectFrom('followed_accounts').select('about').where('genesis', '=', genesis)
  return (await row.where('address', '=', address).where('about', 'is not', null).executeTakeFirst())?.about ?? null
}

export type AccountMove = Partial<
  Pick<
    FollowedAccount,
    | 'state_hash'
    | 'seen_slot'
    | 'seen_signature'
    | 'head_slot'
    | 'head_signature'
    | 'before_signature'
    | 'listed'
    | 'quiet'
    | 'next_look_at'
  >
>

/**
 * Updates the account. Returns false and changes nothing if another process has moved its listing since it was read.
 */
export async function moveAccount(
  tx: Tx,
  { seq, seen_slot, before_signature }: Pick<FollowedAccount, 'seq' | 'seen_slot' | 'before_signature'>,
  move: AccountMove,
): Promise<boolean> {
  const moved = tx.updateTable('followed_accounts').set(move).where('seq', '=', seq).where('seen_slot', '=', seen_slot)
  const { numUpdatedRows } = await moved
    .where((is) =>
      before_signature === null ? is('before_signature', 'is', null) : is('before_signature', '=', before_signature),
    )
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/**
 * Plans the next look at unchanged accounts, and counts another quiet look. Their data proves that nothing happened up
 * to the slot `provenTo`, so later listings need not go further back.
 */
export async function postponeQuiet(
  tx: Tx,
  seqs: readonly number[],
  { next, provenTo }: { next: number; provenTo?: number },
): Promise<void> {
  if (seqs.length === 0) return
  await tx
    .updateTable('followed_accounts')
    .set((of) => ({ next_look_at: next, quiet: of('quiet', '+', 1) }))
    .where('seq', 'in', seqs)
    .execute()
  if (provenTo === undefined) return
  await tx
    .updateTable('followed_accounts')
    .set({ seen_slot: provenTo, seen_signature: null })
    .where('seq', 'in', seqs)
    .where('before_signature', 'is', null)
    .where('seen_slot', '<', provenTo)
    .execute()
}

/** Stores that accounts without a listing have no history yet, so that their first change is listed. */
export async function beginWithNothing(tx: Tx, seqs: readonly number[], nothing: string): Promise<void> {
  if (seqs.length === 0) return
  const begun = tx.updateTable('followed_accounts').set({ state_hash: nothing }).where('seq', 'in', seqs)
  await begun.where('state_hash', 'is', null).execute()
}

/** Plans the next look at an account. */
export async function planLook(tx: Tx, seq: number, next_look_at: number): Promise<void> {
  await tx.updateTable('followed_accounts').set({ next_look_at }).where('seq', '=', seq).execute()
}

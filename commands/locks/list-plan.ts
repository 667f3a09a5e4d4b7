/** Plans which rows of a list are locked: their keys, their state on chain, and rows that an earlier run has begun. */
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { Session } from '../cli/session.ts'
import { patiently } from '../lists/patience.ts'
import { SIGNED_EXPIRY_MS } from '../lists/until-ended.ts'
import { nullIfNotFound, usage } from '../ui/problem.ts'
import { goneRows, type KeyedRow, keyRows, type LockJournal } from './list-journal.ts'
import type { LockRow } from './list-rows.ts'

export interface PlannedRow extends KeyedRow {
  /** Address of the lock, which follows from the key. */
  lock: string
  base: string
  secretKey: number[]
  status: 'to lock' | 'locked' | 'there already' | 'submitted' | 'failed'
  error: string | null
}

/** The most addresses in one request. */
const ADDRESSES_PER_REQUEST = 100
const MOST_FAULTS = 100

/**
 * The rows with their state. A row that the journal has as made is not looked at again, because its lock may be closed.
 * Throws a usage problem if a row that was begun has been changed or removed, because it would be locked again.
 */
export async function planLocks(
  session: Session,
  journal: LockJournal,
  { listed, before = [] }: { listed: readonly LockRow[]; before?: readonly PlannedRow[] },
): Promise<PlannedRow[]> {
  const keyed = keyRows(journal, listed)
  await refuseGone(session, journal, keyed)
  const rows = await Promise.all(
    keyed.map(async (row, i): Promise<PlannedRow> => {
      const known = before[i]
      const isMade = journal.entries.get(row.id)?.isMade === true
      const { address: base, secretKey } = await session.wallet.derive(row.baseSeed)
      const lock = known?.lock ?? (await session.wallet.lockAddress(base))
      return { ...row, base, secretKey, lock, status: isMade ? 'there already' : 'to lock', error: null }
    }),
  )
  const open = rows.filter(({ status }) => status === 'to lock')
  const made = await madeOf(session, journal, open)
  for (const row of open) if (made.has(row.lock)) row.status = 'there already'
  return rows
}

async function refuseGone(session: Session, journal: LockJournal, rows: readonly KeyedRow[]): Promise<void> {
  const gone = goneRows(journal, rows)
  const made = gone.filter(({ isMade }) => isMade)
  for (const row of gone.filter(({ isMade }) => !isMade)) {
    const lock = await session.wallet.lockAddress((await session.wallet.derive(row.baseSeed)).address)
    if (await isLocked(session, { lock, signature: row.signature })) made.push(row)
  }
  const [one, ...others] = made
  if (one !== undefined) {
    const more = others.length === 0 ? '' : `, and ${others.length} more`
    throw usage(`the lock for ${one.wallet} was made${more}, and the CSV has no such row any more`, {
      param: '--from',
      next: `put the row back as it was; rows may be added. They are all in ${journal.file}. To lock a list as a new one, name another --journal`,
    })
  }
  const now = session.clock.now()
  const [latest] = gone.toSorted((a, b) => b.at - a.at)
  if (latest === undefined || latest.at + SIGNED_EXPIRY_MS <= now) return
  throw usage(`a row for ${latest.wallet} of an earlier run is not in the CSV any more, and may still be locked`, {
    param: '--from',
    next: `put the row back as it was, or run it again in ${Math.ceil((latest.at + SIGNED_EXPIRY_MS - now) / 1000)} seconds`,
  })
}

/** Throws a usage problem that names the rows whose recipients are not wallets, before any row is locked. */
export async function refuseRecipients(
  session: Session,
  { file, allow_programs }: { file: string; allow_programs: boolean },
  rows: readonly LockRow[],
): Promise<void> {
  const lines: string[] = []
  // The module decodes addresses, and help must not load base58.
  const { recipientFault } = await import('../../src/solana/recipients.ts')
  for (let at = 0; at < rows.length; at += ADDRESSES_PER_REQUEST) {
    const part = rows.slice(at, at + ADDRESSES_PER_REQUEST)
    const accounts = await accountsOf(
      session,
      part.map(({ wallet }) => wallet),
    )
    for (const [i, { wallet, line }] of part.entries()) {
      const account = accounts[i] ?? null
      const kind = account && { ...account, hasData: account.space > 0 }
      const reason = recipientFault(wallet, kind, { allowsPrograms: allow_programs })
      if (reason !== null) lines.push(`${file}:${line}: ${wallet} is not a wallet (${reason})`)
    }
  }
  if (lines.length === 0) return
  const count = `${lines.length} of ${rows.length} recipients are not wallets`
  throw usage(`${lines[0]}; ${count}`, {
    param: '--from',
    lines: [...lines.slice(0, MOST_FAULTS), count],
    next: 'name the owners of token accounts instead; if a vault of a program is meant, add --allow-programs',
  })
}

async function accountsOf(session: Session, addresses: string[]) {
  return (await patiently(session, () => session.client.accounts.batchFetch({ addresses }))).data.accounts
}

/** The locks of these rows that the chain has, or had: a run that was killed could not record them. */
async function madeOf(session: Session, journal: LockJournal, rows: readonly PlannedRow[]): Promise<Set<string>> {
  const made = new Set<string>()
  const bar = session.ui.progress('Reading the chain')
  for (let at = 0; at < rows.length; at += ADDRESSES_PER_REQUEST) {
    const part = rows.slice(at, at + ADDRESSES_PER_REQUEST)
    const accounts = await accountsOf(
      session,
      part.map(({ lock }) => lock),
    )
    for (const [i, { lock, id }] of part.entries()) {
      const signature = journal.entries.get(id)?.signature ?? null
      if (accounts[i]?.owner === PROGRAMS.lock.id || (await hasLanded(session, signature))) made.add(lock)
    }
    bar(at + part.length, rows.length)
  }
  session.ui.clear()
  return made
}

/** Whether the lock is on chain, or its transaction has landed: the lock may be closed already. */
export async function isLocked(
  session: Session,
  { lock, signature }: { lock: string; signature: string | null },
): Promise<boolean> {
  const [account] = await accountsOf(session, [lock])
  return account?.owner === PROGRAMS.lock.id || hasLanded(session, signature)
}

async function hasLanded({ client }: Session, signature: string | null): Promise<boolean> {
  if (signature === null) return false
  const found = await nullIfNotFound(client.transactions.get({ signature }))
  return found?.data.lifecycle === 'confirmed' || found?.data.lifecycle === 'finalized'
}

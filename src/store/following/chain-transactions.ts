/** Transactions that were found in the history of followed accounts, from their listing to their finality. */

import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { HOLDING_KIND } from './followed-accounts.ts'

export type ChainTransaction = Row<'chain_transactions'>
export type FoundTransaction = Pick<ChainTransaction, 'signature' | 'slot' | 'place'>

/** Rows of one insert, below SQLite's limit of variables. */
const FOUND_PER_INSERT = 500

/**
 * Stores transactions from the listing of an account. Those of an account with a second history wait as `half` for
 * that history. A stored transaction is listed again if it may mean more now: the other history shows it, it was read
 * before the account was followed, or a fork had dropped it.
 */
export async function insertFound(
  tx: Tx,
  found: readonly FoundTransaction[],
  { genesis, address, seq, beside }: Pick<Row<'followed_accounts'>, 'genesis' | 'address' | 'seq' | 'beside'>,
  now: number,
): Promise<void> {
  const isHalf = beside !== null
  const state = isHalf ? 'half' : 'listed'
  for (let at = 0; at < found.length; at += FOUND_PER_INSERT) {
    const rows = found.slice(at, at + FOUND_PER_INSERT).map((each) => {
      return { genesis, address, state, ...each, next_check_at: now, created_at: now } as const
    })
    await tx
      .insertInto('chain_transactions')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['genesis', 'signature'])
          .doUpdateSet((of) => ({
            state: 'listed' as const,
            address: of.ref('excluded.address'),
            slot: of.ref('excluded.slot'),
            place: of.ref('excluded.place'),
            next_check_at: now,
            tries: 0,
            ledger_at: null,
          }))
          .where((is) => {
            const isOther = is('chain_transactions.address', '!=', address)
            const half = is('chain_transactions.state', '=', 'half')
            // If the account is also followed for itself, it needs no second history.
            const isRead = is('chain_transactions.state', 'in', ['read', 'empty', 'finalized'])
            return is.or([
              isHalf ? is.and([isOther, half]) : half,
              is('chain_transactions.state', '=', 'dropped'),
              is.and([isRead, is('chain_transactions.accounts_known', '<', seq)]),
            ])
          }),
      )
      .execute()
  }
}

/**
 * Stores transactions that are read again, whatever was known of them. Returns their rows in the order in which they
 * took place. `found` is newest first.
 */
export async function insertAgain(
  tx: Tx,
  found: readonly FoundTransaction[],
  { genesis, address, now }: Pick<ChainTransaction, 'genesis' | 'address'> & { now: number },
): Promise<ChainTransaction[]> {
  const again = { state: 'waiting', tries: 0, next_check_at: now, ledger_at: null } as const
  await tx
    .insertInto('chain_transactions')
    .values(found.map((each) => ({ genesis, address, created_at: now, ...each, ...again })))
    .onConflict((conflict) => conflict.columns(['genesis', 'signature']).doUpdateSet(again))
    .execute()
  const rows = tx.selectFrom('chain_transactions').selectAll().where('genesis', '=', genesis)
  const signatures = found.map(({ signature }) => signature)
  const order = new Map(signatures.map((signature, place) => [signature, place]))
  const stored = await rows.where('signature', 'in', signatures).execute()
  return stored.sort((one, other) => (order.get(other.signature) ?? 0) - (order.get(one.signature) ?? 0))
}

/** Ends final transactions that were read again. Returns the signatures of those that the ledger has to read. */
export async function endReadAgain(tx: Tx, genesis: string, signatures: readonly string[]): Promise<Set<string>> {
  if (signatures.length === 0) return new Set()
  const empty = tx.deleteFrom('chain_transactions').where('genesis', '=', genesis).where('state', '=', 'empty')
  await empty.where('signature', 'in', signatures).execute()
  const read = tx.updateTable('chain_transactions').set({ state: 'finalized', next_check_at: null })
  const ended = read.where('genesis', '=', genesis).where('state', '=', 'read').where('signature', 'in', signatures)
  return new Set((await ended.returning('signature').execute()).map(({ signature }) => signature))
}

/** Releases the transactions that the listings of an account found, unless one of its listings still has a gap. */
export async function releaseListed(tx: Tx, genesis: string, address: string): Promise<void> {
  await tx
    .updateTable('chain_transactions')
    .set({ state: 'waiting' })
    .where('genesis', '=', genesis)
    .where('address', '=', address)
    .where('state', '=', 'listed')
    .where((is) =>
      is.not(
        is.exists(
          is
            .selectFrom('followed_accounts')
            .select('followed_accounts.seq')
            .where('followed_accounts.genesis', '=', genesis)
            .where('followed_accounts.address', '=', address)
            .where('followed_accounts.before_signature', 'is not', null),
        ),
      ),
    )
    .execute()
}

/**
 * Why a transaction was found: by an account whose data changed, by an account whose history is listed, or by a token
 * account of a platform wallet, into which anyone can pay. If several apply, the first counts.
 */
export type ReadingLane = 'state' | 'history' | 'holding'

/** Returns transactions of one chain and lane that wait to be read, in the order in which they took place. */
export function waitingTransactions(
  reader: Reader,
  { genesis, lane, now, limit }: { genesis: string; lane: ReadingLane; now: number; limit: number },
): Promise<ChainTransaction[]> {
  const waiting = reader.selectFrom('chain_transactions').selectAll().where('genesis', '=', genesis)
  return waiting
    .where('state', '=', 'waiting')
    .where((is) => {
      const followed = is
        .selectFrom('followed_accounts')
        .select('followed_accounts.seq')
        .whereRef('followed_accounts.genesis', '=', 'chain_transactions.genesis')
        .whereRef('followed_accounts.address', '=', 'chain_transactions.address')
      const byState = is.exists(followed.where('watch', '=', 'state').where('kind', '!=', HOLDING_KIND))
      const byHolding = is.exists(followed.where('kind', '=', HOLDING_KIND))
      if (lane === 'state') return byState
      return is.and([is.not(byState), lane === 'holding' ? byHolding : is.not(byHolding)])
    })
    .where('next_check_at', '<=', now)
    .orderBy('slot')
    .orderBy('place', 'desc')
    .limit(limit)
    .execute()
}

/** Returns transactions of one chain that were read and whose finality is due for a check. */
export async function unfinalTransactions(
  reader: Reader,
  { genesis, now, limit }: { genesis: string; now: number; limit: number },
): Promise<ChainTransaction[]> {
  const unfinal = reader.selectFrom('chain_transactions').selectAll().where('genesis', '=', genesis)
  return unfinal
    .where('state', 'in', ['read', 'empty'])
    .where('next_check_at', '<=', now)
    .orderBy('slot')
    .limit(limit)
    .execute()
}

/** Moves a transaction to its next state. Returns false if another process has moved it since it was read. */
export async function moveChainTransaction(
  tx: Tx,
  { seq, state }: Pick<ChainTransaction, 'seq' | 'state'>,
  move: Pick<ChainTransaction, 'state' | 'next_check_at'> & Partial<Pick<ChainTransaction, 'tries' | 'accounts_known'>>,
): Promise<boolean> {
  const moved = tx.updateTable('chain_transactions').set(move).where('seq', '=', seq).where('state', '=', state)
  return (await moved.executeTakeFirstOrThrow()).numUpdatedRows > 0n
}

/** Deletes final transactions that changed no record, and those that were submitted here. */
export async function deleteChainTransactions(tx: Tx, seqs: readonly number[]): Promise<void> {
  if (seqs.length > 0) await tx.deleteFrom('chain_transactions').where('seq', 'in', seqs).execute()
}

/** Deletes old transactions that only one of two histories has shown, because the other will not show them any more. */
export async function deleteHalves(tx: Tx, genesis: string, foundBefore: number): Promise<void> {
  const halves = tx.deleteFrom('chain_transactions').where('genesis', '=', genesis).where('state', '=', 'half')
  await halves.where('created_at', '<', foundBefore).execute()
}

/**
 * Deletes final transactions below a slot that the ledger has read. Their events are stored, and no listing reaches
 * back that far.
 */
export async function deleteFinal(tx: Tx, genesis: string, below: number): Promise<void> {
  const old = tx.deleteFrom('chain_transactions').where('genesis', '=', genesis)
  const ended = old.where('state', 'in', ['finalized', 'dropped']).where('slot', '<', below)
  await ended.where('ledger_at', 'is not', null).execute()
}

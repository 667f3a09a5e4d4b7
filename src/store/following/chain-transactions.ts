/** Transactions that were found in the history of followed accounts, from their listing to their finality. */

import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { HOLDING_KIND } from './followed-accounts.ts'

export type ChainTransaction = Row<'chain_transactions'>
export type FoundTransaction = Pick<ChainTransaction, 'signature' | 'slot' | 'place'>

/** Rows of one insert, below SQLite's limit of variables. */
const FOUND_PER_INSERT = 500

/**
 * Stores transactions that the listing of an account has found; those of a `half` one wait for the history beside. One
 * that is stored already is listed anew where it may mean more now: shown by the other history, read before the account
 * was followed and so before its record was known, or dropped with a fork before.
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
            // An account may be followed for itself too, and then it needs no history beside.
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

/** Releases what the listings of an account have found, unless one of them, for another reason, still has a gap. */
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
 * Why a transaction was found: an account whose data changed, one whose history is listed, or a token account of a
 * platform wallet, which anybody can pay into. An account that is followed for several reasons has the first of them.
 */
export type ReadingLane = 'state' | 'history' | 'holding'

/** Returns transactions of one chain and lane that are to be read, in the order in which they took place. */
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

/** Returns transactions of one chain that were read, whose finality is to be looked at. */
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

/** Moves a transaction to its next state; false when another process has moved it since it was read. */
export async function moveChainTransaction(
  tx: Tx,
  { seq, state }: Pick<ChainTransaction, 'seq' | 'state'>,
  move: Pick<ChainTransaction, 'state' | 'next_check_at'> & Partial<Pick<ChainTransaction, 'tries' | 'accounts_known'>>,
): Promise<boolean> {
  const moved = tx.updateTable('chain_transactions').set(move).where('seq', '=', seq).where('state', '=', state)
  return (await moved.executeTakeFirstOrThrow()).numUpdatedRows > 0n
}

/** Deletes transactions that are final and had nothing for a record, and those that were submitted here. */
export async function deleteChainTransactions(tx: Tx, seqs: readonly number[]): Promise<void> {
  if (seqs.length > 0) await tx.deleteFrom('chain_transactions').where('seq', 'in', seqs).execute()
}

/** Deletes what only one of two histories has shown for so long that the other will not. */
export async function deleteHalves(tx: Tx, genesis: string, foundBefore: number): Promise<void> {
  const halves = tx.deleteFrom('chain_transactions').where('genesis', '=', genesis).where('state', '=', 'half')
  await halves.where('created_at', '<', foundBefore).execute()
}

/** Finds transactions of one chain by their signatures, in no particular order. */
export async function findChainTransactions(
  reader: Reader,
  genesis: string,
  signatures: readonly string[],
): Promise<ChainTransaction[]> {
  if (signatures.length === 0) return []
  const rows = reader.selectFrom('chain_transactions').selectAll().where('genesis', '=', genesis)
  return rows.where('signature', 'in', signatures).execute()
}

/**
 * Deletes final transactions below a slot that the ledger has taken: their events have told what they did, and no listing
 * reaches back so far.
 */
export async function deleteFinal(tx: Tx, genesis: string, below: number): Promise<void> {
  const old = tx.deleteFrom('chain_transactions').where('genesis', '=', genesis)
  const ended = old.where('state', 'in', ['finalized', 'dropped']).where('slot', '<', below)
  await ended.where('ledger_at', 'is not', null).execute()
}

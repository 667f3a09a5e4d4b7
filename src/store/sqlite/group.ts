/** Commits works that arrive together in one SQLite transaction; one that fails does not affect the others. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import type { ControlledTransaction, Kysely } from 'kysely'
import { type DirectDatabase, runDirectly } from '../queries/prepared.ts'
import type { Tables } from '../schema.ts'
import { duplicateKey } from '../writing/work.ts'
import { isDuplicate } from './connection.ts'
import type { Work, WriteOutcome } from './write-queue.ts'

interface WriteConnection {
  raw: Database.Database
  prepares: DirectDatabase
  writer: Kysely<Tables>
}

interface Savepoints {
  begin: Database.Statement
  release: Database.Statement
  rollBack: Database.Statement
}

/**
 * Returns the function that runs works in one transaction. Nearly all succeed, so they run without savepoints, which
 * cost a third of the statements. If one fails, all are rolled back and run again with a savepoint for each.
 */
export function groupCommits(connection: WriteConnection) {
  const { raw } = connection
  const savepoints: Savepoints = {
    begin: raw.prepare('savepoint work'),
    release: raw.prepare('release work'),
    rollBack: raw.prepare('rollback to work'),
  }
  return async (works: readonly Work[]): Promise<readonly WriteOutcome[]> => {
    const first = await inTransaction(connection, (tx) => runUnguarded(raw, tx, works))
    if (first.kind === 'committed') return first.outcomes
    // A work that fails alone leaves nothing to run again.
    if (works.length === 1) return [{ error: first.error }]
    const second = await inTransaction(connection, (tx) => runGuarded(raw, savepoints, tx, works))
    if (second.kind === 'undone') throw second.error
    return second.outcomes
  }
}

/** Outcome of a transaction: committed with the outcomes of its works, or rolled back because of a work's error. */
type GroupOutcome = { kind: 'committed'; outcomes: readonly WriteOutcome[] } | { kind: 'undone'; error: unknown }

/** Commits what `run` did, unless it asks for a rollback. Throws if the transaction itself fails. */
async function inTransaction(
  { writer, prepares }: WriteConnection,
  run: (tx: ControlledTransaction<Tables>) => Promise<GroupOutcome>,
): Promise<GroupOutcome> {
  const tx = await writer.startTransaction().execute()
  const end = runDirectly(tx, prepares)
  try {
    const outcome = await run(tx)
    end()
    await (outcome.kind === 'committed' ? tx.commit() : tx.rollback()).execute()
    return outcome
  } catch (error) {
    end()
    // If the rollback fails too, the first error is the relevant one.
    await tx
      .rollback()
      .execute()
      .catch(() => {})
    throw error
  }
}

async function runUnguarded(
  raw: Database.Database,
  tx: ControlledTransaction<Tables>,
  works: readonly Work[],
): Promise<GroupOutcome> {
  const outcomes: WriteOutcome[] = []
  for (const work of works) {
    try {
      outcomes.push({ value: await work(tx) })
    } catch (error) {
      return { kind: 'undone', error: await rollBackAndExplain(raw, error) }
    }
  }
  return { kind: 'committed', outcomes }
}

async function runGuarded(
  raw: Database.Database,
  { begin, release, rollBack }: Savepoints,
  tx: ControlledTransaction<Tables>,
  works: readonly Work[],
): Promise<GroupOutcome> {
  const outcomes: WriteOutcome[] = []
  for (const work of works) {
    begin.run()
    try {
      outcomes.push({ value: await work(tx) })
    } catch (error) {
      const failure = await rollBackAndExplain(raw, error)
      rollBack.run()
      outcomes.push({ error: failure })
    }
    release.run()
  }
  return { kind: 'committed', outcomes }
}

/**
 * Returns the error of a work that fails; throws if it has ended the whole transaction, because then every work has
 * failed.
 */
async function rollBackAndExplain(raw: Database.Database, error: unknown): Promise<unknown> {
  // A full disk is such an error.
  if (!raw.inTransaction) throw error
  // Queries that the failed work started concurrently must run before the rollback, not after it.
  await nextTurn()
  return isDuplicate(error) ? duplicateKey(error) : error
}

/** Migrates a full curve with the platform wallet, one transaction after another, each sent once. */

import {
  buildMigrationStep,
  type DbcPool,
  MIGRATION_PROGRAMS,
  MIGRATION_UNITS,
  migrationStep,
  readDbcPool,
} from '../../chain/programs/dbc/index.ts'
import type { Clock } from '../../context.ts'
import { Overtaken } from '../../platform/errors.ts'
import { errorLine, redactorOf } from '../../settings/redaction.ts'
import { findPool, replaceCrank, updatePool } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import type { SigningContext } from '../signing/types.ts'
import { lastSent, sendOwn, type WorkerServices, workerContext } from '../signing/worker-signing.ts'

const FIRST_PAUSE_MS = 10_000
export const LONGEST_PAUSE_MS = FIRST_PAUSE_MS * 2 ** 8

/**
 * Does nothing while the last transaction may still land. One that failed or was refused is built again, at increasing
 * intervals.
 */
export async function crankPool(services: WorkerServices, row: Row<'pools'>, pool: DbcPool): Promise<void> {
  const { store, clock, chain, log } = services
  const step = migrationStep(pool)
  if (step !== 'create_locker' && step !== 'migrate') return
  const operation = `pool.${step}`
  const last = await lastSent(services, row.crank_signing)
  if (last === 'running' || (last !== null && last.operation === operation && !last.isFailed)) return
  const failures = Number(row.crank_failures) + (last?.isFailed ? 1 : 0)
  if (last?.isFailed) {
    const next_check_at = clock.now() + pauseAfter(failures)
    const crank_error = `its transaction failed or was not seen: \`svc tx get ${row.crank_signature}\``
    await store.write(async (tx) => {
      // Only the state that this process has read counts, because another may have started the next step.
      if (!(await replaceCrank(tx, row.address, row.crank_signing, null))) return
      await updatePool(tx, row.address, {
        crank_failures: failures,
        next_check_at,
        crank_error,
        ...failedSince(row, clock),
      })
    })
    log.warn({ pool: row.address, operation, failures }, 'a migration transaction failed')
    return
  }
  // A reserved signing is completed. If it has landed or can no longer be completed, a new one starts.
  const sent = sendStep(await crankContext(services, row), row, pool, step)
  await sent.catch(async (error) => {
    if (error instanceof Overtaken) throw error
    // Another daemon may have landed the step meanwhile.
    const now = await readDbcPool(chain, row.address).catch(() => null)
    if (now !== null && migrationStep(now) !== step) throw new Overtaken(`The pool ${row.address} has moved on`)
    // A policy that refuses now will refuse in a minute, so frequent retries would only fill its log.
    const next_check_at = clock.now() + pauseAfter(failures + 1)
    const crank_error = errorLine(error, redactorOf(services.config))
    await store.write(async (tx) => {
      // If no next look is planned, another daemon has seen that the pool migrated.
      const stored = await findPool(tx, row.address)
      if ((stored?.next_check_at ?? null) === null) return
      await updatePool(tx, row.address, {
        crank_failures: failures + 1,
        next_check_at,
        crank_error,
        ...failedSince(row, clock),
      })
    })
    throw error
  })
  log.info({ pool: row.address, operation }, 'a migration transaction was sent')
}

/** The time of the first failure is kept by the later ones. */
const failedSince = ({ crank_failures, crank_failed_at }: Row<'pools'>, clock: Clock) => ({
  crank_failed_at: (Number(crank_failures) > 0 ? crank_failed_at : null) ?? clock.now(),
})

const sendStep = (context: SigningContext, row: Row<'pools'>, pool: DbcPool, step: keyof typeof MIGRATION_UNITS) =>
  sendOwn(
    context,
    `pool.${step}`,
    async () => ({
      requiredProgram: MIGRATION_PROGRAMS[step],
      fallbackUnits: MIGRATION_UNITS[step],
      build: (envelope) => buildMigrationStep({ ...envelope, pool }),
      // The program moves only the pool's own tokens, to its locker or to the new pool.
      uncapped: [pool.baseMint],
    }),
    async (tx, [signature]) => {
      await updatePool(tx, row.address, { crank_signature: signature })
    },
  )

/** Returns waits that double, from ten seconds up to about 43 minutes. */
const pauseAfter = (failures: number) => Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS)

const crankContext = (services: WorkerServices, row: Row<'pools'>): Promise<SigningContext> =>
  workerContext(services, {
    ...{ worker: 'pool-migration', prefix: 'crank', what: `the migration of ${row.address}` },
    ...{ row, signing: row.crank_signing },
    replace: (tx, from, to) => replaceCrank(tx, row.address, from, to),
  })

/** Migrates a full curve with the platform wallet, one transaction after another, each sent once. */

import {
  buildMigrationStep,
  type DbcPool,
  MIGRATION_PROGRAMS,
  MIGRATION_UNITS,
  migrationStep,
  readDbcPool,
} from '../../chain/programs/dbc/index.ts'
import type { Clock, Services } from '../../context.ts'
import { isUnproven } from '../../following/transaction-record.ts'
import { Overtaken } from '../../platform/errors.ts'
import { errorLine, redactorOf } from '../../settings/redaction.ts'
import { newId } from '../../store/id.ts'
import { findPool, replaceCrank, updatePool } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import { findSigning } from '../../store/signing/signings.ts'
import type { Tx } from '../../store/store.ts'
import { findTransaction } from '../../store/transactions/transactions.ts'
import { onCommit } from '../../store/writing/work.ts'
import { buildTransaction, signingDraft, type TransactionPlan } from '../building.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { openSigningRun, type SigningRun, withRoomForGuards } from '../signing/signing-run.ts'
import type { NewSigningPlan, SigningContext } from '../signing/types.ts'

export type PoolServices = Pick<
  Services,
  'store' | 'chain' | 'programs' | 'clock' | 'log' | 'config' | 'vault' | 'signer' | 'wake' | 'ending'
>

const FIRST_PAUSE_MS = 10_000
export const LONGEST_PAUSE_MS = FIRST_PAUSE_MS * 2 ** 8

/**
 * Does nothing while the last transaction may still land. One that failed or was refused is built again, at increasing
 * intervals.
 */
export async function crankPool(services: PoolServices, row: Row<'pools'>, pool: DbcPool): Promise<void> {
  const { store, clock, chain, log } = services
  const step = migrationStep(pool)
  if (step !== 'create_locker' && step !== 'migrate') return
  const operation = `pool.${step}`
  const last = await lastCrank(services, row)
  if (last === 'running' || (last !== null && last.operation === operation && !last.failed)) return
  const failures = Number(row.crank_failures) + (last?.failed ? 1 : 0)
  if (last?.failed) {
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
  const earlier = last === null ? await resumable(services, row) : null
  const sent = sendStep(crankContext(services, row, earlier), row, pool, step)
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

async function sendStep(
  context: SigningContext,
  row: Row<'pools'>,
  pool: DbcPool,
  step: keyof typeof MIGRATION_UNITS,
): Promise<void> {
  const run = await openSigningRun<null>(context, `pool.${step}`)
  const plan = run.resumed ?? (await planStep(context, run, pool, step))
  await signAndSubmit(context, run, plan, {
    async record(tx, [signature]) {
      await updatePool(tx, row.address, { crank_signature: signature })
    },
    answer: () => undefined,
  })
}

async function planStep(
  context: SigningContext,
  run: SigningRun,
  pool: DbcPool,
  step: keyof typeof MIGRATION_UNITS,
): Promise<NewSigningPlan<null>> {
  const terms: TransactionPlan = {
    payer: run.wallet,
    requiredProgram: MIGRATION_PROGRAMS[step],
    fallbackUnits: MIGRATION_UNITS[step],
    build: (envelope) => buildMigrationStep({ ...envelope, pool }),
  }
  const { built } = await withRoomForGuards(run, async (txVersion) => ({
    built: await buildTransaction({ ...context, txVersion }, terms),
  }))
  // The program moves only the pool's own tokens, to its locker or to the new pool.
  return { first: signingDraft(built, [pool.baseMint]), state: null }
}

/** Returns waits that double, from ten seconds up to about 43 minutes. */
const pauseAfter = (failures: number) => Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS)

/** Returns the reserved signing if it can still be completed: by the same key, on the same chain. */
async function resumable({ store, signer, chain }: PoolServices, { crank_signing }: Row<'pools'>) {
  if (crank_signing === null) return null
  const [signing, key] = await Promise.all([findSigning(store.db, crank_signing), signer()])
  const isOurs = signing?.state === 'intended' && signing.signer === key?.address
  return isOurs && signing.genesis === (await chain.genesisHash()) ? crank_signing : null
}

/** Returns the result of the last transaction, or null if there is none or it was never signed. */
async function lastCrank({ store }: PoolServices, row: Row<'pools'>) {
  if (row.crank_signature === null || row.crank_signing === null) return null
  const [signing, transaction] = await Promise.all([
    findSigning(store.db, row.crank_signing),
    findTransaction(store.db, row.crank_signature),
  ])
  if (signing === null || transaction === null) return null
  const { lifecycle } = transaction
  // One that was never seen is signed again without proof that it is in no block: a pool migrates only once.
  const failed = lifecycle === 'failed' || isUnproven(transaction)
  if (!failed && (lifecycle === 'submitted' || lifecycle === 'processing')) return 'running' as const
  return { operation: signing.operation, failed }
}

/**
 * Returns the context of a worker's own request. Its signing is bound to the pool, as a client's is to its
 * Idempotency-Key.
 */
function crankContext(services: PoolServices, row: Row<'pools'>, earlier: string | null): SigningContext {
  const { address, external_uid, metadata_json } = row
  let tied = row.crank_signing
  const tie = async (tx: Tx, id: string | null) => {
    const done = await replaceCrank(tx, address, tied, id)
    if (done) {
      onCommit(() => {
        tied = id
      })
    }
    return done
  }
  return {
    ...services,
    actor: { apiKeyId: 'worker:pool-migration', scopes: [] },
    requestId: newId('crank'),
    externalUid: external_uid ?? undefined,
    metadata: metadata_json === null ? undefined : JSON.parse(metadata_json),
    signing: {
      earlier,
      async bind(tx, id) {
        if (!(await tie(tx, id))) throw new Overtaken(`Another process has taken over the migration of ${address}`)
      },
      unbind: (tx) => tie(tx, null),
    },
    dryRun: false,
    commit: (work) => services.store.write(work),
  }
}

/** Settles a raise of the platform wallet by a worker, within the policy, one transaction after another, each sent once. */
import type { Services } from '../../context.ts'
import { isUnproven } from '../../following/transaction-record.ts'
import { Overtaken } from '../../platform/errors.ts'
import { errorLine, redactorOf } from '../../settings/redaction.ts'
import { newId } from '../../store/id.ts'
import { findRaise, type RaiseRow, replaceSettlement, updateRaise } from '../../store/resources/raises.ts'
import { findSigning } from '../../store/signing/signings.ts'
import type { Tx } from '../../store/store.ts'
import { findTransaction } from '../../store/transactions/transactions.ts'
import { onCommit } from '../../store/writing/work.ts'
import { buildTransaction, signingDraft } from '../building.ts'
import { Proposed } from '../proposals/rule/propose.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { openSigningRun, type SigningRun, withRoomForGuards } from '../signing/signing-run.ts'
import type { NewSigningPlan, SigningContext } from '../signing/types.ts'
import { planSettlement } from './settle-raise.ts'

export type RaiseServices = Pick<
  Services,
  'store' | 'chain' | 'programs' | 'clock' | 'log' | 'config' | 'vault' | 'signer' | 'wake' | 'ending'
>

const FIRST_PAUSE_MS = 10_000
const MOST_DOUBLINGS = 8

/** The slot of the chain from which it was decided that something is due. */
interface SeenAt {
  slot: number
}

/**
 * Does nothing while the last transaction may still land, or is newer than what was read. One that failed or was refused
 * is built again, at increasing intervals. Throws what the row then says.
 */
export async function settleOwnRaise(services: RaiseServices, row: RaiseRow, { slot }: SeenAt): Promise<void> {
  const last = await lastSettlement(services, row)
  if (last === 'running' || (last !== null && !last.isFailed && last.slot > slot)) return
  if (last?.isFailed) {
    const why = `its transaction failed or was not seen: \`svc tx get ${last.signature}\``
    return noteFailure(services, row, why, row.settle_signing)
  }
  const earlier = last === null ? await resumable(services, row) : null
  try {
    await send(settlingContext(services, row, earlier), row)
  } catch (error) {
    if (error instanceof Overtaken) throw error
    const waits = error instanceof Proposed
    await noteFailure(
      services,
      row,
      waits
        ? `it waits for approvals: \`svc proposals show ${error.answer.proposal.id}\``
        : errorLine(error, redactorOf(services.config)),
    )
    if (!waits) throw error
    return
  }
  await services.store.write((tx) =>
    updateRaise(tx, row.id, { settle_error: null, settle_failures: 0, settle_failed_at: null }),
  )
  services.log.info({ raise: row.id }, 'a settlement was sent')
}

async function send(context: SigningContext, row: RaiseRow): Promise<void> {
  const run = await openSigningRun<null>(context, 'raise.settle')
  const plan = run.resumed ?? (await planOwn(context, run, row))
  await signAndSubmit(context, run, plan, { answer: () => undefined })
}

async function planOwn(context: SigningContext, run: SigningRun, row: RaiseRow): Promise<NewSigningPlan<null>> {
  const { payer, ...plan } = await settlementOf(context, run.wallet, row)
  const { tracked, summary: _, ...terms } = plan
  const { built } = await withRoomForGuards(run, async (txVersion) => ({
    built: await buildTransaction({ ...context, txVersion }, { payer, ...terms }),
  }))
  return {
    first: signingDraft(built),
    state: null,
    ...(tracked === undefined ? {} : { tracked_resource: tracked }),
  }
}

const settlementOf = async (context: SigningContext, payer: string, { id }: RaiseRow) => ({
  payer,
  ...(await planSettlement(context, { id, payer, skip_pool: false })),
})

/** A policy that refuses now will refuse in a minute, so frequent retries would only fill its log. */
async function noteFailure(
  { store, clock }: RaiseServices,
  row: RaiseRow,
  settle_error: string,
  ended: string | null = null,
): Promise<void> {
  const now = clock.now()
  await store.write(async (tx) => {
    const stored = await findRaise(tx, row.id)
    // Without a planned look, another process has seen that nothing is left to do.
    if (stored === null || stored.next_check_at === null) return
    if (ended !== null && !(await replaceSettlement(tx, row.id, ended, null))) return
    const failures = Number(stored.settle_failures) + 1
    await updateRaise(tx, row.id, {
      settle_error,
      settle_failures: failures,
      settle_failed_at: stored.settle_failed_at ?? now,
      next_check_at: now + FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, MOST_DOUBLINGS),
    })
  })
}

/** Returns the reserved signing if it can still be completed: by the same key, on the same chain. */
async function resumable({ store, signer, chain }: RaiseServices, { settle_signing }: RaiseRow) {
  if (settle_signing === null) return null
  const [signing, key] = await Promise.all([findSigning(store.db, settle_signing), signer()])
  const isOurs = signing?.state === 'intended' && signing.signer === key?.address
  return isOurs && signing.genesis === (await chain.genesisHash()) ? settle_signing : null
}

/** Returns the result of the last transaction, or null if there is none or it was never signed. */
async function lastSettlement({ store }: RaiseServices, { settle_signing }: RaiseRow) {
  const signing = settle_signing === null ? null : await findSigning(store.db, settle_signing)
  const signature = signing?.signature ?? null
  const transaction = signature === null ? null : await findTransaction(store.db, signature)
  if (signature === null || transaction === null) return null
  const { lifecycle, slot } = transaction
  // One that was never seen is built again without proof: what it did would show on chain.
  const isFailed = lifecycle === 'failed' || isUnproven(transaction)
  if (!isFailed && (lifecycle === 'submitted' || lifecycle === 'processing')) return 'running' as const
  return { signature, isFailed, slot: slot ?? 0 }
}

/** The context of a worker's own request. Its signing is bound to the raise, as a client's is to its Idempotency-Key. */
function settlingContext(services: RaiseServices, row: RaiseRow, earlier: string | null): SigningContext {
  const { id, external_uid, metadata_json } = row
  let tied = row.settle_signing
  const tie = async (tx: Tx, signing: string | null) => {
    const done = await replaceSettlement(tx, id, tied, signing)
    if (done) {
      onCommit(() => {
        tied = signing
      })
    }
    return done
  }
  return {
    ...services,
    actor: { apiKeyId: 'worker:raises', scopes: [] },
    requestId: newId('settle'),
    externalUid: external_uid ?? undefined,
    metadata: metadata_json === null ? undefined : JSON.parse(metadata_json),
    signing: {
      earlier,
      async bind(tx, signing) {
        if (!(await tie(tx, signing))) throw new Overtaken(`Another process has taken over the settlement of ${id}`)
      },
      unbind: (tx) => tie(tx, null),
    },
    proposing: {
      request: {
        method: 'post',
        target: `/v2/raises/${id}/settlements`,
        fields: { payer: row.creator, mode: 'signed' },
      },
      subject: `settlement of ${id}`,
    },
    dryRun: false,
    commit: (work) => services.store.write(work),
  }
}

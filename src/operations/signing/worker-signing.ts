/** What a worker signs by itself: bound to a row, as a client's request is to its Idempotency-Key, and sent once. */
import type { SignedOperation, UnwaitingOperation } from '../../api/signed-operations.ts'
import type { Context, Services } from '../../context.ts'
import { isUnproven } from '../../following/transaction-record.ts'
import { Overtaken } from '../../platform/errors.ts'
import { newId } from '../../store/id.ts'
import { findSigning } from '../../store/signing/signings.ts'
import type { Tx } from '../../store/store.ts'
import { findTransaction } from '../../store/transactions/transactions.ts'
import { onCommit } from '../../store/writing/work.ts'
import type { Plan } from '../act.ts'
import { buildTransaction, signingDraft } from '../building.ts'
import { signAndSubmit } from './sign-and-submit.ts'
import { openSigningRun, withRoomForGuards } from './signing-run.ts'
import type { NewSigningPlan, SigningContext, SigningSteps } from './types.ts'

export type WorkerServices = Pick<
  Services,
  'store' | 'chain' | 'programs' | 'clock' | 'log' | 'config' | 'vault' | 'signer' | 'wake' | 'ending'
>

interface Bound {
  worker: string
  /** Begins the ids of its requests. */
  prefix: string
  /** What another process may take over, for example `the migration of ADDRESS`. */
  what: string
  /** The signing that the row names, and how it is replaced; false if another process was first. */
  signing: string | null
  replace(tx: Tx, from: string | null, to: string | null): Promise<boolean>
  row: { external_uid: string | null; metadata_json: string | null }
  proposing?: Context['proposing']
}

/** The context of a worker's own request; it goes on with an earlier signing if that can still be completed. */
export async function workerContext(
  services: WorkerServices,
  { worker, prefix, what, signing, replace, row, proposing }: Bound,
): Promise<SigningContext> {
  let tied = signing
  const tie = async (tx: Tx, id: string | null) => {
    const done = await replace(tx, tied, id)
    if (done) {
      onCommit(() => {
        tied = id
      })
    }
    return done
  }
  return {
    ...services,
    actor: { apiKeyId: `worker:${worker}`, scopes: [] },
    requestId: newId(prefix),
    externalUid: row.external_uid ?? undefined,
    metadata: row.metadata_json === null ? undefined : JSON.parse(row.metadata_json),
    signing: {
      earlier: (await isResumable(services, signing)) ? signing : null,
      async bind(tx, id) {
        if (!(await tie(tx, id))) throw new Overtaken(`Another process has taken over ${what}`)
      },
      unbind: (tx) => tie(tx, null),
    },
    ...(proposing === undefined ? {} : { proposing }),
    dryRun: false,
    commit: (work) => services.store.write(work),
  }
}

/** Whether a reserved signing can still be completed: by the same key, on the same chain. */
export async function isResumable({ store, signer, chain }: WorkerServices, id: string | null): Promise<boolean> {
  if (id === null) return false
  const [signing, key] = await Promise.all([findSigning(store.db, id), signer()])
  const isOurs = signing?.state === 'intended' && signing.signer === key?.address
  return isOurs && signing.genesis === (await chain.genesisHash())
}

/** Returns what became of the transaction of a signing, or null if there is none or it was never signed. */
export async function lastSent({ store }: Pick<Services, 'store'>, id: string | null) {
  const signing = id === null ? null : await findSigning(store.db, id)
  const signature = signing?.signature ?? null
  const transaction = signature === null ? null : await findTransaction(store.db, signature)
  if (signing === null || signature === null || transaction === null) return null
  const { lifecycle, slot } = transaction
  // One that was never seen is built again without proof that it is in no block: what it did would show on chain.
  const isFailed = lifecycle === 'failed' || isUnproven(transaction)
  if (!isFailed && (lifecycle === 'submitted' || lifecycle === 'processing')) return 'running' as const
  return { operation: signing.operation, signature, isFailed, slot: slot ?? 0 }
}

/** Signs and sends what `plan` decides for the platform wallet, or what an earlier run has decided. */
export async function sendOwn(
  context: SigningContext,
  operation: SignedOperation | UnwaitingOperation,
  plan: (payer: string) => Promise<Omit<Plan<unknown>, 'summary'>>,
  record?: SigningSteps<void>['record'],
): Promise<void> {
  const run = await openSigningRun<null>(context, operation)
  const decide = async (): Promise<NewSigningPlan<null>> => {
    const { tracked, uncapped, ...terms } = await plan(run.wallet)
    const { built } = await withRoomForGuards(run, async (txVersion) => ({
      built: await buildTransaction({ ...context, txVersion }, { payer: run.wallet, ...terms }),
    }))
    const tracking = tracked === undefined ? {} : { tracked_resource: tracked }
    return { first: signingDraft(built, uncapped), state: null, ...tracking }
  }
  const agreed = run.resumed ?? (await decide())
  await signAndSubmit(context, run, agreed, { ...(record && { record }), answer: () => undefined })
}

/** When a round ends before its last sending, and what shows that one failed. */
export interface SendingRound {
  signal?: AbortSignal | undefined
  stopping?: AbortSignal | undefined
  /** Shows why something was not sent, although the round goes on. */
  report?: ((error: unknown) => void) | undefined
}

/** Sends what a round has found, by its address, one after another. One that fails does not stop the others. */
export async function sendEach<T>(
  { log }: Pick<Services, 'log'>,
  kind: 'pool' | 'raise',
  found: ReadonlyMap<string, T>,
  { signal, stopping, report }: SendingRound,
  send: (address: string, one: T) => Promise<void>,
): Promise<void> {
  for (const [address, one] of found) {
    signal?.throwIfAborted()
    if (stopping?.aborted) return
    try {
      await send(address, one)
    } catch (error) {
      // Another daemon was first, and will look at it next.
      if (error instanceof Overtaken) {
        log.debug({ [kind]: address, why: error.message }, `another process has taken over a ${kind}`)
        continue
      }
      log.error({ err: error, [kind]: address }, `what is due of a ${kind} could not be sent`)
      report?.(new Error(`${kind} ${address}: ${error instanceof Error ? error.message : String(error)}`))
    }
  }
}

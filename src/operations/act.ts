/** A verb that builds one transaction: unsigned for its payer, or signed by the platform wallet in its place. */
import type { TrackedResource } from '../api/index.ts'
import type { AnyRoute, Input, Result } from '../api/route.ts'
import type { SignedOperation } from '../api/signed-operations.ts'
import type { Signer } from '../chain/signer/index.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../store/store.ts'
import {
  type BuiltTransaction,
  buildTransaction,
  signingDraft,
  type TransactionPlan,
  unsignedAnswer,
} from './building.ts'
import { type Cosigning, cosign } from './signing/cosign.ts'
import { signAndSubmit } from './signing/sign-and-submit.ts'
import { openSigningRun } from './signing/signing-run.ts'
import type { NewSigningPlan, SigningSteps } from './signing/types.ts'
import { generatedKeysField } from './transactions/generated-keys.ts'

/** The part of a route's answer that is the same in both modes, as JSON. */
export type Summary<R extends AnyRoute> =
  Result<R> extends { tx: unknown }
    ? Omit<Result<R>, 'tx' | 'tracked_resource'>
    : Omit<Extract<Result<R>, { mode: 'signed' }>, 'mode' | 'signature' | 'proposal' | 'tracked_resource'>

interface Decided {
  /** What the transaction changes, followed until it is final. */
  tracked?: TrackedResource | undefined
  /** What it is about, for those who approve it; without it, the tracked resource. */
  about?: string | undefined
  /** Mints without policy limits, because the program moves them between its own accounts. */
  uncapped?: readonly string[]
}

export interface PlannedBuild<S> extends Decided {
  built: BuiltTransaction
  summary: S
}

/** What a verb decides: the transaction, the answer, and what is tracked. */
export interface Plan<S> extends Omit<TransactionPlan, 'payer'>, Decided {
  /** A function if only the built transaction says it. */
  summary: S | ((built: BuiltTransaction) => S | Promise<S>)
}

/** With `mode: signed` the payer is the platform wallet, whatever the request says. */
interface Paid {
  mode: 'unsigned' | 'signed'
  payer: string
}

/** What only some verbs need. */
export interface Variant {
  /** The transaction is in a field of its own, `tx`. */
  isNested?: true
  /** What has waited for approvals is planned again, which checks it. */
  isCheckedAgain?: true
  /** Rows that are written with the first signing, and the same with a later start if it has to wait. */
  steps?(payer: string): Pick<SigningSteps<unknown>, 'reserve' | 'waits'>
  /** Read after the plan, for the answer alone. */
  more?(): Promise<object>
  /** Writes rows in the commit of an unsigned answer, or with the first signing, from the plan's summary. */
  record?(tx: Tx, summary: object): Promise<unknown>
}

/**
 * Makes the operation of a route. `plan` reads the chain and checks for the payer that it is given. Its errors are
 * thrown.
 *
 * @example
 * export const closeLock = act<Routes['close']>('lock.close', async ({ chain }, { address, payer }) => ({
 *   fallbackUnits: 120_000,
 *   build: (envelope) => buildLockClosing({ ...envelope, lock }),
 *   summary: { address, mint, creator: payer, rent },
 *   tracked: trackingOf('lock', address, []),
 * }))
 */
export function act<R extends AnyRoute>(
  operation: SignedOperation,
  plan: (context: Context, input: Input<R> & Paid) => Promise<Plan<Summary<R>>>,
  variant?: Variant,
): (context: Context, input: Input<R> & Paid) => Promise<Result<R>> {
  return (context, input) =>
    inEitherMode(
      context,
      input,
      operation,
      async (payer) => builtPlan(context, payer, await plan(context, { ...input, payer })),
      variant,
    ) as Promise<Result<R>>
}

/** The part of the answer of a route that only builds. */
type BuiltSummary<R extends AnyRoute> = Omit<
  Result<R>,
  'mode' | 'transaction' | 'requiredSigners' | 'last_valid_block_height' | 'generated_keys' | 'tracked_resource' | 'tx'
>

/** A plan that names its payer. */
interface UnsignedPlan<S> extends Plan<S> {
  payer: string
  /** Writes rows in the commit of the answer. */
  record?(tx: Tx): Promise<unknown>
  /** The platform wallet's signature beside that of the user, who pays and submits. It takes no `record`. */
  cosigning?: CosignedBy | null
}

type CosignedBy = Omit<Cosigning, 'transaction' | 'guarding'> & { signer: Signer }

/** The same for a route whose transactions the platform wallet never pays. */
export function unsignedAct<R extends AnyRoute>(
  plan: (context: Context, input: Input<R>) => Promise<UnsignedPlan<BuiltSummary<R>>>,
  variant?: Pick<Variant, 'isNested'>,
): (context: Context, input: Input<R>) => Promise<Result<R>> {
  return async (context, input) => {
    const { payer, record, cosigning = null, ...decided } = await plan(context, input)
    const planned = await builtPlan(context, payer, decided)
    if (cosigning !== null) return answerCosigned(context, planned, cosigning) as Promise<Result<R>>
    const answer = answerUnsigned(context, planned, variant) as Result<R>
    return record === undefined ? answer : recorded(context, answer, record)
  }
}

/** Gives the answer in the commit that writes its rows. */
const recorded = <A>(context: Context, answer: A, record: (tx: Tx) => unknown): Promise<A> =>
  context.commit(async (tx) => {
    await record(tx)
    return answer
  })

/** Builds what a verb has decided. */
export async function builtPlan<S>(context: Context, payer: string, plan: Plan<S>): Promise<PlannedBuild<S>> {
  const { summary, tracked, about, uncapped, ...terms } = plan
  const built = await buildTransaction(context, { payer, ...terms })
  const says = summary as (built: BuiltTransaction) => S | Promise<S>
  const answered = typeof summary === 'function' ? await says(built) : summary
  return { built, summary: answered, tracked, about, ...(uncapped === undefined ? {} : { uncapped }) }
}

/** For a verb that builds several times until one can succeed. Throws the errors of `plan`. */
export async function inEitherMode<S>(
  context: Context,
  { mode, payer }: Paid,
  operation: SignedOperation,
  plan: (payer: string) => Promise<PlannedBuild<S>>,
  variant: Variant = {},
): Promise<object> {
  const more = async () => variant.more?.()
  if (mode === 'unsigned') {
    const planned = await plan(payer)
    const answer = { ...answerUnsigned(context, planned, variant), ...(await more()) }
    return variant.record === undefined
      ? answer
      : recorded(context, answer, (tx) => variant.record?.(tx, planned.summary as object))
  }
  const run = await openSigningRun<S>(context, operation)
  if (run.resumed !== null && context.approved !== undefined && variant.isCheckedAgain) await plan(run.wallet)
  const agreed = run.resumed ?? signedPlan(await plan(run.wallet))
  const added = await more()
  return signAndSubmit(context, run, agreed, {
    ...variant.steps?.(run.wallet),
    ...(variant.record && { reserve: async (tx: Tx) => void (await variant.record?.(tx, agreed.state as object)) }),
    answer: ([signature]) => {
      const { state, tracked_resource } = agreed
      const signed = { mode: 'signed' as const, signature }
      // An answer of one part has no tracked resource in mode `signed`, because its transaction is followed anyway.
      return variant.isNested ? { ...state, tx: signed, tracked_resource } : { ...signed, ...state, ...added }
    },
  })
}

function answerUnsigned<S>({ vault }: Context, planned: PlannedBuild<S>, { isNested }: Pick<Variant, 'isNested'> = {}) {
  const { built, summary, tracked } = planned
  const transaction = {
    ...unsignedAnswer(built),
    ...generatedKeysField(vault, [built.transaction], built.secretKeys),
  }
  const tracking = tracked === undefined ? {} : { tracked_resource: tracked }
  return isNested ? { ...summary, tx: transaction, ...tracking } : { ...transaction, ...summary, ...tracking }
}

/** Throws like `cosign`. Generated keys are left out: they cannot sign anew without the platform wallet. */
function answerCosigned<S>(context: Context, planned: PlannedBuild<S>, { signer, ...request }: CosignedBy) {
  const { built } = planned
  const requiredSigners = built.requiredSigners.filter((address) => address !== signer.address)
  const { transaction: made, guarding } = built
  return cosign(context, signer, { ...request, transaction: made, guarding }, (transaction) =>
    answerUnsigned(context, { ...planned, built: { ...built, transaction, requiredSigners, secretKeys: [] } }),
  )
}

function signedPlan<S>({ built, summary, tracked, about, uncapped }: PlannedBuild<S>): NewSigningPlan<S> {
  return {
    first: signingDraft(built, uncapped),
    state: summary,
    ...(tracked === undefined ? {} : { tracked_resource: tracked }),
    ...(about === undefined ? {} : { about }),
  }
}

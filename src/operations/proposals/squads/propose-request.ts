/** Carries out a request with `approver`: its vault acts in the build, and the build becomes a proposal. */
import type { Approver } from '../../../api/envelope.ts'
import type { ProposalCreation, TrackedResource } from '../../../api/payloads.ts'
import type { Context } from '../../../context.ts'
import { badRequest } from '../../../platform/errors.ts'
import type { Tx } from '../../../store/store.ts'
import { runAndRollBack } from '../../../store/writing/roll-back.ts'
import { withNewBlockhash } from '../../building.ts'
import { signAndSubmit } from '../../signing/sign-and-submit.ts'
import { openSigningRun, type SigningRun } from '../../signing/signing-run.ts'
import type { NewSigningPlan, SigningPlan } from '../../signing/types.ts'
import type { ProposalContext } from './acting-vault.ts'
import { openActingVault } from './acting-vault.ts'
import { creationAnswer, type PreparedProposal, prepareProposals, storeProposals } from './creation.ts'
import { guardedInside } from './inner-guard.ts'

interface AskedProposal {
  approver: Approver
  /** Whether the platform wallet proposes. */
  isSigned: boolean
  operation: string
  what: string
  /** The request as JSON, without its common fields, to build it again; null if only the transaction is known. */
  request: object | null
  /** What may have only one open proposal; null for any number. */
  subject: string | null
  /** Writes further rows with the last signature of a signed creation. */
  record?: (tx: Tx, id: string) => Promise<void>
}

/** The parts of a build's answer from which a proposal is made. */
interface BuiltAnswer {
  transaction?: string
  transactions?: readonly string[]
  tx?: { transaction?: string }
  tracked_resource?: TrackedResource
}

/** State of a signed creation, which a retry continues. */
interface SignedState {
  data: object
  transactions: string[]
}

const PURPOSE = 'proposal request'
const OPERATION = 'proposal.create'

/**
 * Returns the answer of `operate` with `proposal`. Everything is stored in the operation's commit. Throws bad_request if
 * the build is not one of the vault.
 */
export async function proposeRequest<D extends object, C extends ProposalContext>(
  context: C,
  asked: AskedProposal,
  operate: (context: C) => Promise<D>,
): Promise<D & { proposal: ProposalCreation }> {
  const run = asked.isSigned ? await openSigningRun<SignedState>(context, OPERATION) : null
  if (run?.resumed) return finishSigned(context, run, asked, run.resumed)
  const opened = await openActingVault(context, asked.approver, { isSigned: asked.isSigned })
  const { commit, txVersion } = context
  const prepare = async (answer: object) => {
    const { transactions, tracked } = partsOf(answer)
    return prepareProposals(context, opened, transactions, {
      operation: asked.operation,
      what: asked.what,
      request: asked.request === null ? null : context.vault.seal(JSON.stringify(asked.request), PURPOSE),
      subject: asked.subject === null ? null : `${opened.multisig.address} ${asked.subject}`,
      isSigned: asked.isSigned,
      txVersion,
      tracked,
    })
  }
  let proposed: (D & { proposal: ProposalCreation }) | null = null
  const finish = async (built: D, made: (tx: Tx) => Promise<unknown>) => {
    const { vault } = opened.acting
    const changed = asked.approver.guard_inside ? await guardedInside(context, built, vault) : {}
    const answer = { ...built, ...changed }
    const work = async (tx: Tx) => ({ ...((await made(tx)) as D), ...changed })
    const prepared = await prepare(answer)
    Object.assign(context, { commit })
    proposed = await (run === null
      ? commit(async (tx) => {
          const data = (await work(tx)) as D
          await storeProposals(context, tx, prepared, asked)
          return { ...data, proposal: creationAnswer(prepared) }
        })
      : signCreation(context, run, { asked, answer, prepared, work }))
    return proposed
  }
  Object.assign(context, {
    vaultActing: opened.acting,
    // What the vault executes has the room of version 1; the transaction that executes it has its own limits.
    txVersion: 1,
    // The answer of the work is needed before the commit, to build what puts it on the chain.
    commit: async (work: (tx: Tx) => Promise<D>) => finish(await runAndRollBack(context.store, work), work),
  })
  const answer = await operate(context)
  return proposed ?? finish(answer, async () => answer)
}

/** Returns the transactions of a build. Throws bad_request without any. */
function partsOf(answer: BuiltAnswer): { transactions: Uint8Array[]; tracked: TrackedResource | undefined } {
  const { transaction = answer.tx?.transaction, transactions = [], tracked_resource: tracked } = answer
  const all = transaction === undefined ? transactions : [transaction]
  if (all.length === 0) {
    throw badRequest('approver is not possible here: the request builds no transaction of the vault', {
      param: 'approver',
    })
  }
  return { transactions: all.map((text) => Buffer.from(text, 'base64')), tracked }
}

interface SignedCreation {
  asked: AskedProposal
  answer: object
  prepared: readonly PreparedProposal[]
  work: (tx: Tx) => Promise<unknown>
}

async function signCreation<D extends object>(
  context: ProposalContext,
  run: SigningRun<SignedState>,
  { asked, answer, prepared, work }: SignedCreation,
): Promise<D> {
  const transactions = prepared.flatMap(({ built }) =>
    built.map(({ transaction }) => Buffer.from(transaction).toString('base64')),
  )
  const state = { data: { ...answer, proposal: creationAnswer(prepared, []) }, transactions }
  const first = await withNewBlockhash(context, Buffer.from(transactions[0] ?? '', 'base64'), [])
  return finishSigned(context, run, asked, { state, first, steps: transactions.length }, async (tx) => {
    await work(tx)
    await storeProposals(context, tx, prepared, asked)
  })
}

async function finishSigned<D extends object>(
  context: ProposalContext,
  run: SigningRun<SignedState>,
  asked: AskedProposal,
  plan: SigningPlan<SignedState> | NewSigningPlan<SignedState>,
  reserve?: (tx: Tx) => Promise<void>,
): Promise<D> {
  const { data, transactions } = plan.state
  const { proposal } = data as { proposal: ProposalCreation }
  return signAndSubmit(context, run, plan, {
    ...(reserve === undefined ? {} : { reserve }),
    next: (step) => withNewBlockhash(context, Buffer.from(transactions[step] ?? '', 'base64'), []),
    record: async (tx) => asked.record?.(tx, proposal.id),
    answer: (signatures) => ({ ...data, proposal: { ...proposal, signatures: [...signatures] } }) as unknown as D,
  })
}

/** Reads a sealed request. */
export const openRequest = <T>({ vault }: Pick<Context, 'vault'>, sealed: Buffer): T =>
  JSON.parse(vault.open(sealed, PURPOSE).toString('utf8'))

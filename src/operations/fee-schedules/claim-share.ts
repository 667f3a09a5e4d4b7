/** Signs one claim of a run, at most once, however often the run is interrupted. */
import type { Approver } from '../../api/envelope.ts'
import { type FeeClaimKind, feeClaims } from '../../api/fee-claims.ts'
import type { ScheduleRunClaim, ScheduleRunReason, ScheduleRunSkip, ScheduleTerms } from '../../api/fee-schedules.ts'
import type { Chain } from '../../chain/connection.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import type { StoredRequest } from '../../context.ts'
import { ApiError, badRequest, Overtaken } from '../../platform/errors.ts'
import { solText } from '../../solana/amounts.ts'
import { feeOfMessage } from '../../solana/fees.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { vaultAddress } from '../../solana/squads/index.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import {
  changeFeeScheduleClaim,
  type FeeScheduleClaimRow,
  type FeeScheduleRunRow,
  lockRunUnderWay,
  openFeeScheduleClaim,
  storeRunClaims,
} from '../../store/fees/fee-schedule-runs.ts'
import type { Tx } from '../../store/store.ts'
import { onCommit } from '../../store/writing/work.ts'
import { unsignedAnswer } from '../building.ts'
import { EMPTY_CLAIM_REASONS } from '../fee-claims/claim-answers.ts'
import type { ClaimContext } from '../fee-claims/claim-context.ts'
import { claimSubject, feeClaimTracking, type SignedClaim, signClaim } from '../fee-claims/create-fee-claim.ts'
import { planClaim } from '../fee-claims/plan-claim.ts'
import type { FeeClaimInput, PlannedFeeClaim } from '../fee-claims/types.ts'
import { Proposed } from '../proposals/rule/propose.ts'
import { actWords } from '../proposals/squads/act-words.ts'
import { proposeRequest } from '../proposals/squads/propose-request.ts'
import { isResumable, type WorkerServices } from '../signing/worker-signing.ts'
import type { ClaimableShare } from './claimable.ts'
import { withClaim } from './runs.ts'

export type ScheduleServices = WorkerServices

/** The result of one claim; `stop` ends the run. */
export type ShareOutcome = { signature: string } | { skip: ScheduleRunSkip } | { stop: ScheduleRunReason }

/** Longest message that a run stores, in characters. */
const MESSAGE_LENGTH = 400

/** The outcome in a share's row, or null while it is open. */
export function outcomeOfRow(row: FeeScheduleClaimRow): ShareOutcome | null {
  const { pool_address, estimated_quote, signature, reason, message, state } = row
  const kind = row.kind as ScheduleRunSkip['kind']
  if (state === 'signed' && signature !== null) return { signature }
  if (state !== 'ended') return null
  const why = (reason ?? 'error') as ScheduleRunSkip['reason']
  return { skip: { pool_address, kind, reason: why, estimated_quote, message } }
}

export const skippedShare = (
  { address, kind, quote }: ClaimableShare,
  reason: ScheduleRunSkip['reason'],
  message: string | null = null,
): ShareOutcome => ({
  skip: {
    pool_address: address,
    kind,
    reason,
    estimated_quote: String(quote),
    message: message?.slice(0, MESSAGE_LENGTH) ?? null,
  },
})

/**
 * Returns the result of the claim. Throws Overtaken if another process has it or the run has ended. Throws
 * internal_error if node, database or signer failed; the next attempt continues with the same signing.
 */
export async function claimShare(
  services: ScheduleServices,
  run: FeeScheduleRunRow,
  terms: ScheduleTerms,
  share: ClaimableShare,
): Promise<ShareOutcome> {
  const { address, kind } = share
  const key = { run_id: run.id, pool_address: address, kind }
  const row = await services.store.write((tx) => openFeeScheduleClaim(tx, key))
  const known = outcomeOfRow(row)
  if (known !== null) return known
  const begun = await begunSigning(services, row)
  if (begun === 'lost') return endShare(services, row, skippedShare(share, 'error', LOST))
  const { beneficiary, splits, allow_programs } = terms
  const input = {
    address,
    kind,
    ...(beneficiary === null ? {} : { beneficiary }),
    ...(splits === null ? {} : { splits, allow_programs }),
    // The pool alone does not show the parties of its curve.
    ...(kind === 'damm_v2' ? { owner: share.owner } : {}),
  }
  const link = linkTo(row)
  try {
    const own = claimContextOf(services, run, begun, link)
    if (terms.approver !== null) {
      const { approver } = terms
      return await proposeClaim<ShareOutcome>(
        own,
        { approver, input },
        {
          outcomeOf: (message) => skippedShare(share, 'proposed', message),
          async record(tx, outcome) {
            if (!('skip' in outcome)) return
            const { reason, message, estimated_quote } = outcome.skip
            const ended = { state: 'ended', reason, message, estimated_quote } as const
            if (!(await lockRunUnderWay(tx, run.id)) || !(await link.change(tx, ended))) throw runEnded(run.id)
          },
        },
      )
    }
    const request = requestOf(input, share.delegate ?? share.owner)
    const context = { ...own, proposing: { request, subject: `fees of ${address}, ${kind}` } }
    const record = async (tx: Tx, made: SignedClaim) => {
      const claim = runClaimOf(made)
      const { signature, estimated_quote } = claim
      const locked = await lockRunUnderWay(tx, run.id)
      const isOurs = locked !== null && (await link.change(tx, { state: 'signed', signature, estimated_quote }))
      if (!isOurs) throw runEnded(run.id)
      // If the run ends from now on, its result includes this claim.
      await storeRunClaims(tx, run.id, withClaim(locked, claim))
    }
    return await signClaim(context, input, {
      answer: ({ signature }) => ({ signature }),
      check: (planned) => requireWorth(services.chain, planned),
      record,
    })
  } catch (error) {
    if (error instanceof Proposed) return endShare(services, row, waitingShare(share, error.answer.proposal.id))
    const outcome = outcomeOfError(error, share)
    return 'stop' in outcome ? outcome : endShare(services, { ...row, signing_id: link.bound() }, outcome)
  }
}

/** Ends a claim without a signature. Throws Overtaken if another process has changed it meanwhile. */
export async function endShare<O extends ShareOutcome>(
  { store }: Pick<ScheduleServices, 'store'>,
  row: FeeScheduleClaimRow,
  outcome: O,
): Promise<O> {
  if (!('skip' in outcome)) return outcome
  const { reason, message, estimated_quote } = outcome.skip
  const ended = { state: 'ended', reason, message, estimated_quote } as const
  if (await store.write((tx) => changeFeeScheduleClaim(tx, row, ended))) return outcome
  throw new Overtaken('Another process has taken over the claim')
}

const runClaimOf = ({ plan, signature }: SignedClaim): ScheduleRunClaim => ({
  pool_address: plan.pool_address,
  kind: plan.kind,
  estimated_quote: plan.estimated_quote ?? null,
  estimated_base: plan.estimated_base ?? null,
  estimated_lamports: plan.estimated_lamports ?? null,
  signature,
})

/** The claim as a request, which is carried out once it is approved. */
const requestOf = (
  { address, ...fields }: Record<string, unknown> & { address: string },
  payer: string,
): StoredRequest => ({
  method: 'post',
  target: `/v2/pools/${address}/fee-claims`,
  fields: { ...fields, payer, mode: 'signed' },
})

const waitingShare = (share: ClaimableShare, id: string) =>
  skippedShare(share, 'proposed', `It waits for approvals: svc proposals show ${id}`)

const LOST = 'it was started with another signer or on another chain'

/** The signing to continue: null to start one, `lost` if this process cannot complete it. */
async function begunSigning(services: ScheduleServices, { signing_id }: FeeScheduleClaimRow) {
  return signing_id === null || (await isResumable(services, signing_id)) ? signing_id : ('lost' as const)
}

interface ClaimLink {
  change(tx: Tx, changes: Parameters<typeof changeFeeScheduleClaim>[2]): Promise<boolean>
  bound(): string | null
}

/** Changes the row only while it is bound to the signing that this process knows. */
function linkTo({ seq, signing_id }: FeeScheduleClaimRow): ClaimLink {
  let bound = signing_id
  return {
    bound: () => bound,
    async change(tx, changes) {
      const done = await changeFeeScheduleClaim(tx, { seq, signing_id: bound }, changes)
      if (done && changes.signing_id !== undefined) {
        const next = changes.signing_id
        onCommit(() => {
          bound = next
        })
      }
      return done
    },
  }
}

const runEnded = (id: string) => new Overtaken(`The run ${id} has ended, or another process has taken it over`)

/**
 * The context of a worker's own request. Its signing is bound to the claim, as a client's is to its Idempotency-Key.
 */
function claimContextOf(
  services: ScheduleServices,
  run: FeeScheduleRunRow,
  earlier: string | null,
  link: ClaimLink,
): ClaimContext {
  return {
    ...services,
    actor: { apiKeyId: 'worker:fee-schedules', scopes: [] },
    requestId: run.id,
    externalUid: run.external_uid ?? undefined,
    metadata: run.metadata_json === null ? undefined : JSON.parse(run.metadata_json),
    signing: {
      earlier,
      async bind(tx, signing_id) {
        if ((await lockRunUnderWay(tx, run.id)) && (await link.change(tx, { signing_id }))) return
        throw runEnded(run.id)
      },
      unbind: (tx) => link.change(tx, { signing_id: null }),
    },
    txVersion: 0,
    isWorker: true,
    dryRun: false,
    commit: (work) => services.store.write(work),
  }
}

/** Returns why a claim was not made. Rethrows errors that another attempt may fix. */
function outcomeOfError(error: unknown, share: ClaimableShare): ShareOutcome {
  const isFinal = error instanceof ApiError && (error.code === 'bad_request' || error.code === 'not_found')
  if (!isFinal) throw error
  const { message, details = {}, param } = error
  const { rule, reason } = details
  if (rule === 'paused') return { stop: 'signer_paused' }
  if (rule === 'simulation' || rule === 'unstable') return skippedShare(share, 'error', message)
  if (rule !== undefined) return skippedShare(share, 'policy', message)
  if (param === 'mode') return skippedShare(share, 'not_owner', message)
  if (reason === 'proposal_open') return skippedShare(share, 'waiting', message)
  if (reason === 'below_cost') return skippedShare(share, 'below_threshold', message)
  return skippedShare(share, EMPTY_CLAIM_REASONS.includes(reason) ? 'nothing_to_claim' : 'error', message)
}

// Proposes one claim of a run to the multisig whose vault the fees belong to, instead of signing it.

const ROUTE = feeClaims.create

interface ProposedClaim {
  approver: Approver
  input: FeeClaimInput
}

/** The outcome of a claim that was proposed. */
interface ProposedOutcome<O> {
  outcomeOf(message: string): O
  /** Writes it with the signature of the creation. */
  record(tx: Tx, outcome: O): Promise<void>
}

/** Throws bad_request with the reason `proposal_open` while another proposal of the pool and kind is open. */
async function proposeClaim<O>(
  context: ClaimContext,
  { approver: { member: _, ...approver }, input }: ProposedClaim,
  { outcomeOf, record }: ProposedOutcome<O>,
): Promise<O> {
  const outcome = (id: string) => outcomeOf(`${id} waits for the multisig ${approver.multisig}`)
  const { address, kind } = input
  const vault = vaultAddress(approver.multisig, approver.vault_index)
  const asked = {
    approver,
    isSigned: true,
    operation: `POST ${ROUTE.path}`,
    what: await actWords(context, { route: ROUTE, input: { ...input } }),
    request: {
      method: 'post',
      target: `/v2/pools/${address}/fee-claims`,
      fields: { ...input, address: undefined, payer: vault, approver },
    },
    subject: claimSubject({ address, kind }),
    record: (tx: Tx, id: string) => record(tx, outcome(id)),
  }
  const { proposal } = await proposeRequest(context, asked, async (own) => {
    const planned = await planClaim(own, input, vault)
    await requireWorth(own.chain, planned)
    return { tx: unsignedAnswer(planned.built), tracked_resource: feeClaimTracking(planned.plan) }
  })
  return outcome(proposal.id)
}

/** These pay in the token, whose value in SOL is unknown. */
const PAID_IN_TOKEN: ReadonlySet<FeeClaimKind> = new Set(['leftover', 'vesting'])

/**
 * Throws bad_request with the reason `below_cost` if the claimed SOL does not exceed the network fee and the rent of
 * accounts that stay open. Also throws bad_request if the wallet would open an account of another one, because that one
 * could close it for its rent again and again.
 */
export async function requireWorth(chain: Chain, { built, plan, opens = [] }: PlannedFeeClaim): Promise<void> {
  const { claimer, delegate: wallet = claimer } = plan
  const other = opens.find((owner) => owner !== wallet)
  if (other !== undefined && other === claimer) {
    throw badRequest(
      `${other} lacks a token account that the claim of its delegate pays, and a schedule does not open one: ${other} must open it, also for wrapped SOL`,
      { param: 'owner' },
    )
  }
  if (other !== undefined) {
    throw badRequest(
      `splits: ${other} has no token account for ${plan.quote_mint}, and a schedule does not open one: the recipient must open it`,
      { param: 'splits' },
    )
  }
  if (PAID_IN_TOKEN.has(plan.kind)) return
  const isSol = plan.quote_mint === WRAPPED_SOL
  if (!isSol && plan.estimated_lamports === undefined) return
  const paid = BigInt((isSol ? plan.estimated_quote : undefined) ?? 0) + BigInt(plan.estimated_lamports ?? 0)
  const fee = feeOfMessage(decodeWireTransaction(built.transaction).message)
  const rent = opens.length === 0 ? 0n : BigInt(opens.length) * (await rentFor(chain, TOKEN_ACCOUNT_SIZE))
  if (paid > fee + rent) return
  throw badRequest(
    `The claim pays ${solText(paid)} and costs ${solText(fee + rent)}: ${solText(fee)} of fee and ${solText(rent)} of rent`,
    {
      param: 'address',
      details: { reason: 'below_cost' },
    },
  )
}

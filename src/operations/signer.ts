/** The platform wallet: read, test, pause, and change its policy and its spend. */

import { hash, randomBytes } from 'node:crypto'
import type { AuditAction } from '../api/audit-actions.ts'
import type { Api, SignerState } from '../api/index.ts'
import type { Input, Result } from '../api/route.ts'
import { buildMemo } from '../chain/programs/memos.ts'
import type { Signer } from '../chain/signer/index.ts'
import type { Context, Services } from '../context.ts'
import { badRequest } from '../platform/errors.ts'
import { isTimezone } from '../policy/approvals.ts'
import { WRAPPED_SOL } from '../solana/program-ids.ts'
import { activeApprovers } from '../store/proposals/approvers.ts'
import { retryCranks } from '../store/resources/pools.ts'
import type { NewRow } from '../store/schema.ts'
import { updatePolicy } from '../store/signing/signings.ts'
import type { Reader, Tx } from '../store/store.ts'
import { wakeOnCommit } from '../store/writing/work.ts'
import { buildTransaction, signingDraft } from './building.ts'
import { audit } from './signing/audit.ts'
import { lockPolicyState, type PolicyState, policyJson, readPolicyState } from './signing/policy-state.ts'
import { asApiError, openSigner, requireSigner } from './signing/require-signer.ts'
import { signAndSubmit } from './signing/sign-and-submit.ts'
import { openSigningRun } from './signing/signing-run.ts'
import type { NewSigningPlan } from './signing/types.ts'

type Routes = Api['signer']

/** Reads the signer: its provider, its policy and the spend of the last day. */
export async function readSigner(context: Services): Promise<Result<Routes['get']>> {
  const signer = await openSigner(context)
  const cluster = context.config.values['signer.cluster']
  if (signer === null) return { provider: 'none', address: null, cluster, policy: null, spent: null }
  return readSignerState(context, context.store.db, signer)
}

/** Reads through `reader`, so that the answer to a change includes it. */
export async function readSignerState(
  { clock, config }: Pick<Services, 'clock' | 'config'>,
  reader: Reader,
  { provider, address }: Pick<Signer, 'provider' | 'address'>,
): Promise<SignerState> {
  const { row, policy, spent, since } = await readPolicyState(reader, clock, address)
  return {
    provider,
    address,
    cluster: config.values['signer.cluster'],
    policy: {
      paused: policy.paused,
      paused_reason: row?.paused_reason ?? null,
      ...JSON.parse(policyJson(policy)),
      powers: [...policy.powers],
      guards: policy.guards,
      updated_at: row === null || row.updated_at === 0 ? null : new Date(row.updated_at).toISOString(),
    },
    spent: {
      since: new Date(since).toISOString(),
      lamports: String(spent.lamports),
      tokens: [...spent.tokens].map(([mint, amount]) => ({ mint, amount: String(amount) })),
    },
  }
}

/** The prefix of Solana's off-chain message signing. No transaction message starts with it. */
const OFF_CHAIN_PREFIX = '\xffsolana offchain'

/**
 * The text is signed without the policy, because it cannot move anything. A memo is signed like any other transaction.
 * Throws internal_error when the provider fails.
 */
export async function testSigner(
  context: Context,
  { submit, memo }: Input<Routes['test']>,
): Promise<Result<Routes['test']>> {
  const { provider, address, sign } = await requireSigner(context)
  if (submit) return submitMemo(context, memo, { provider, address })
  const text = Buffer.concat([
    Buffer.from(OFF_CHAIN_PREFIX, 'latin1'),
    Buffer.from('svc signer test '),
    randomBytes(16),
  ])
  const started = performance.now()
  await sign(text).catch((error: unknown) => {
    throw asApiError(error, context.log)
  })
  const duration_ms = Math.round(performance.now() - started)
  return context.commit(async (tx) => {
    await audit(context, tx, 'signer.tested', address, { text_sha256: hash('sha256', text, 'hex') })
    return { provider, address, duration_ms, signature: null }
  })
}

async function submitMemo(
  context: Context,
  memo: string,
  signer: Pick<Result<Routes['test']>, 'provider' | 'address'>,
): Promise<Result<Routes['test']>> {
  const run = await openSigningRun<null>(context, 'signer.test')
  const plan = run.resumed ?? (await planMemo(context, memo, run.wallet))
  return signAndSubmit(context, run, plan, {
    answer: ([signature]) => ({ ...signer, duration_ms: null, signature }),
  })
}

async function planMemo(context: Context, memo: string, payer: string): Promise<NewSigningPlan<null>> {
  const built = await buildTransaction(context, {
    payer,
    // One and a half times the measured cost of the longest memo.
    fallbackUnits: 150_000,
    build: (envelope) => buildMemo({ ...envelope, memo }),
  })
  return { first: signingDraft(built), state: null }
}

/** Pauses the signer, which then refuses every transaction, and resumes it. */
export async function pauseSigner(
  context: Context,
  { reason }: Input<Routes['pause']>,
): Promise<Result<Routes['pause']>> {
  return changeSigner(context, 'signer.paused', () => ({
    changes: { paused: 1, paused_reason: reason ?? null, updated_at: context.clock.now() },
    details: reason === undefined ? {} : { reason },
  }))
}

export async function resumeSigner(context: Context, _: Input<Routes['resume']>): Promise<Result<Routes['resume']>> {
  return changeSigner(context, 'signer.resumed', () => ({
    changes: { paused: 0, paused_reason: null, updated_at: context.clock.now() },
    details: {},
  }))
}

/** Resets the daily count of the signer. */
export async function resetSpend(context: Context, _: Input<Routes['reset']>): Promise<Result<Routes['reset']>> {
  return changeSigner(context, 'spend.reset', ({ spent, since, last }) => ({
    // The mark is a row, not a time, because the clocks of several daemons differ and may be set back.
    changes: { spend_since: context.clock.now(), spend_mark: last },
    details: {
      since: new Date(since).toISOString(),
      mark: last,
      lamports: String(spent.lamports),
      tokens: [...spent.tokens].map(([mint, amount]) => ({ mint, amount: String(amount) })),
    },
  }))
}

const POLICY_FIELDS = [
  'programs',
  'destinations',
  'max_fee_lamports',
  'lamports_per_transaction',
  'lamports_per_day',
  'tokens',
  'powers',
  'guards',
  'approvals',
] as const

/** Throws bad_request if nothing would change, an entry occurs twice, or wrapped SOL has its own limit. */
export async function updateSignerPolicy(
  context: Context,
  input: Input<Routes['updatePolicy']>,
): Promise<Result<Routes['updatePolicy']>> {
  const fields = POLICY_FIELDS.filter((field) => input[field] !== undefined)
  if (fields.length === 0) throw badRequest(`Nothing to change: send at least one of ${POLICY_FIELDS.join(', ')}`)
  const mints = input.tokens?.map(({ mint }) => mint) ?? []
  refuseRepeated(mints, (place) => `tokens.${place}.mint`)
  refuseWrappedSol(mints)
  refuseRepeated(input.programs ?? [], (place) => `programs.${place}`)
  refuseRepeated(input.destinations ?? [], (place) => `destinations.${place}`)
  refuseRepeated(input.powers ?? [], (place) => `powers.${place}`)
  if (input.approvals) refuseBadApprovals(input.approvals)
  const changed = Object.fromEntries(fields.map((field) => [field, input[field]]))
  return changeSigner(context, 'policy.changed', async ({ policy, row }, tx) => {
    if (input.approvals) await requireApprovers(tx, input.approvals)
    // What was set stays as it was written, because the audit log is compared with it.
    const before = { ...JSON.parse(policyJson(policy)), ...JSON.parse(row?.policy_json ?? '{}') }
    const after = { ...before, ...changed }
    return {
      changes: { policy_json: JSON.stringify(after), updated_at: context.clock.now() },
      details: { before: Object.fromEntries(fields.map((field) => [field, before[field]])), after: changed },
    }
  })
}

type ApprovalsInput = NonNullable<Input<Routes['updatePolicy']>['approvals']>

function refuseBadApprovals({ approvers, rules }: ApprovalsInput): void {
  const mints = rules.tokens.map(({ mint }) => mint)
  refuseRepeated(approvers ?? [], (place) => `approvals.approvers.${place}`)
  refuseRepeated(mints, (place) => `approvals.rules.tokens.${place}.mint`)
  refuseRepeated(rules.operations, (place) => `approvals.rules.operations.${place}`)
  const { hours } = rules
  if (hours === null) return
  refuseRepeated(hours.days, (place) => `approvals.rules.hours.days.${place}`)
  if (hours.from === hours.to) {
    const param = 'approvals.rules.hours.to'
    throw badRequest(`${param}: from and to are the same time; a whole day is from 00:00 to 24:00`, { param })
  }
  if (!isTimezone(hours.timezone)) {
    const param = 'approvals.rules.hours.timezone'
    throw badRequest(`${param}: ${JSON.stringify(hours.timezone)} is not an IANA time zone, such as Europe/Berlin`, {
      param,
    })
  }
}

/** Throws bad_request if nothing could ever be approved, because approvers are missing. */
async function requireApprovers(tx: Tx, { approvers, needed }: ApprovalsInput): Promise<void> {
  const known = (await activeApprovers(tx)).map(({ address }) => address)
  const place = (approvers ?? []).findIndex((address) => !known.includes(address))
  if (place >= 0) {
    const param = `approvals.approvers.${place}`
    throw badRequest(`${param}: ${approvers?.[place]} is not an approver: add it first (svc approvers add)`, { param })
  }
  const count = (approvers ?? known).length
  if (count >= needed) return
  throw badRequest(
    `approvals.needed: ${needed} approvals are needed, but there are ${count} approvers: add more first (svc approvers add)`,
    { param: 'approvals.needed' },
  )
}

function refuseRepeated(values: readonly string[], paramAt: (place: number) => string): void {
  for (const [place, value] of values.entries()) {
    if (values.indexOf(value) === place) continue
    const param = paramAt(place)
    throw badRequest(`${param}: ${value} is listed twice`, { param })
  }
}

/** A limit of wrapped SOL would have no effect, because it counts as lamports. */
function refuseWrappedSol(mints: readonly string[]): void {
  const place = mints.indexOf(WRAPPED_SOL)
  if (place < 0) return
  const param = `tokens.${place}.mint`
  throw badRequest(`${param}: wrapped SOL counts as lamports: set lamports_per_transaction and lamports_per_day`, {
    param,
  })
}

/** The new content of the policy's row, and the entry for the audit log. */
interface SignerChange {
  changes: Partial<Omit<NewRow<'signer_policies'>, 'signer'>>
  details: Record<string, unknown>
}

/** `change` is called once the policy state is locked. Throws internal_error without a signer. */
async function changeSigner(
  context: Context,
  action: AuditAction,
  change: (state: PolicyState, tx: Tx) => SignerChange | Promise<SignerChange>,
): Promise<SignerState> {
  const signer = await requireSigner(context)
  return context.commit(async (tx) => {
    const { changes, details } = await change(await lockPolicyState(tx, context.clock, signer.address), tx)
    await updatePolicy(tx, signer.address, changes)
    await audit(context, tx, action, signer.address, details)
    // What was refused before may be signed now.
    await retryCranks(tx, context.clock.now())
    wakeOnCommit('pool-migration')
    return readSignerState(context, tx, signer)
  })
}

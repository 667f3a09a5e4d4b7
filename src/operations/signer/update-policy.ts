/** Changes the policy of the signer. Fields that are left out are unchanged. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { isTimezone } from '../../policy/approvals.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { activeApprovers } from '../../store/proposals/approvers.ts'
import type { Tx } from '../../store/store.ts'
import { policyJson } from '../signing/policy-state.ts'
import { changeSigner } from './change-signer.ts'

type UpdatePolicyRoute = Api['signer']['updatePolicy']

const POLICY_FIELDS = [
  'programs',
  'destinations',
  'max_fee_lamports',
  'lamports_per_transaction',
  'lamports_per_day',
  'tokens',
  'powers',
  'approvals',
] as const

/** Throws bad_request if nothing would change, an entry occurs twice, or wrapped SOL has its own limit. */
export async function updateSignerPolicy(
  context: Context,
  input: Input<UpdatePolicyRoute>,
): Promise<Result<UpdatePolicyRoute>> {
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
  return changeSigner(context, 'policy.changed', async ({ policy }, tx) => {
    if (input.approvals) await requireApprovers(tx, input.approvals)
    const before = JSON.parse(policyJson(policy))
    const after = { ...before, ...changed }
    return {
      changes: { policy_json: JSON.stringify(after), updated_at: context.clock.now() },
      details: { before: Object.fromEntries(fields.map((field) => [field, before[field]])), after: changed },
    }
  })
}

type ApprovalsInput = NonNullable<Input<UpdatePolicyRoute>['approvals']>

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

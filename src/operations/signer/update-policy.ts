/** Changes what the signer may sign; what is left out stays. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { policyJson } from '../signing/policy-state.ts'
import { changeSigner } from './change.ts'

type UpdatePolicyRoute = Api['signer']['updatePolicy']

const POLICY_FIELDS = [
  'programs',
  'destinations',
  'max_fee_lamports',
  'lamports_per_transaction',
  'lamports_per_day',
  'tokens',
] as const

export async function updateSignerPolicy(
  context: Context,
  input: Input<UpdatePolicyRoute>,
): Promise<Result<UpdatePolicyRoute>> {
  const given = POLICY_FIELDS.filter((field) => input[field] !== undefined)
  if (given.length === 0) throw badRequest(`Nothing to change: send at least one of ${POLICY_FIELDS.join(', ')}`)
  refuseRepeated(
    input.tokens?.map(({ mint }) => mint),
    'tokens',
    'mint',
  )
  refuseWrapped(input.tokens)
  refuseRepeated(input.programs, 'programs')
  refuseRepeated(input.destinations ?? undefined, 'destinations')
  const changed = Object.fromEntries(given.map((field) => [field, input[field]]))
  return changeSigner(context, 'policy.changed', ({ policy }) => {
    const before = JSON.parse(policyJson(policy))
    const after = { ...before, ...changed }
    return {
      changes: { policy_json: JSON.stringify(after), updated_at: context.clock.now() },
      details: { before: Object.fromEntries(given.map((field) => [field, before[field]])), after: changed },
    }
  })
}

function refuseRepeated(values: readonly string[] = [], field: string, inner?: string): void {
  const place = values.findIndex((value, i) => values.indexOf(value) !== i)
  if (place < 0) return
  const param = [field, place, ...(inner === undefined ? [] : [inner])].join('.')
  throw badRequest(`${param}: ${values[place]} is there twice`, { param })
}

/** It would be believed to bound something. */
function refuseWrapped(tokens: Input<UpdatePolicyRoute>['tokens'] = []): void {
  const place = tokens.findIndex(({ mint }) => mint === WRAPPED_SOL)
  if (place < 0) return
  const param = `tokens.${place}.mint`
  throw badRequest(`${param}: wrapped SOL counts as lamports: set lamports_per_transaction and lamports_per_day`, {
    param,
  })
}

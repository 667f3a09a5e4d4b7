/** Refuses mode signed where only the user's wallet may sign. */
import type { AnyRoute } from '../../src/api/route.ts'
import { badRequest } from '../../src/platform/errors.ts'

/** Throws bad_request if the platform wallet signs nothing for this route, not even a proposal of it. */
export function requireSignable({ signed }: Pick<AnyRoute, 'signed'>, { approver }: Record<string, unknown>): void {
  if (signed !== 'refused') return
  const way =
    approver === undefined
      ? ''
      : ': the answer has the transactions that put the proposal on the chain, and a member signs them. The platform wallet proposes what POST /v2/proposals is given'
  throw badRequest(`mode "signed" is not possible here: only the user's wallet may sign. Use mode "unsigned"${way}`, {
    param: 'mode',
  })
}

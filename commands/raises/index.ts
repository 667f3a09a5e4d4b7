/** `svc raises`: sales of a token, whose money can open its pool. */
import type { Noun } from '../cli/command.ts'
import { claimVerb, depositVerb, refundVerb, withdrawVerb } from './buyer-verbs.ts'
import { createVerb } from './create.ts'
import { openVerb } from './open.ts'
import { raisePageVerb } from './page.ts'
import { getVerb, raisesList } from './reads.ts'
import { settleVerb } from './settle.ts'

export const raisesNoun: Noun = {
  verbs: {
    create: createVerb,
    open: openVerb,
    deposit: depositVerb,
    withdraw: withdrawVerb,
    claim: claimVerb,
    refund: refundVerb,
    settle: settleVerb,
    page: raisePageVerb,
    list: raisesList,
    get: getVerb,
  },
}

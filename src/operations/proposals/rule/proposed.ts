/** Ends an operation whose act waits for approvals: the proposal is stored, and its answer takes the place of the result. */
import type { Proposal } from '../../../api/proposals.ts'

/** The answer to a request that waits, with status 202. */
export interface ProposedAnswer {
  mode: 'proposed'
  proposal: Proposal
}

/** Thrown once the proposal is committed, so that nothing of the operation runs after it. */
export class Proposed extends Error {
  readonly answer: ProposedAnswer

  constructor(answer: ProposedAnswer) {
    super(`it waits for approvals as the proposal ${answer.proposal.id}`)
    this.name = 'Proposed'
    this.answer = answer
  }
}

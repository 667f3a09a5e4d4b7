/** The answer of a request that is about its proposal alone: the transactions that put it on the chain, or their signature. */
import type { Proposed } from '../../../api/index.ts'
import type { ProposalCreation } from '../../../api/payloads.ts'
import type { Context } from '../../../context.ts'
import type { Tx } from '../../../store/store.ts'

function proposedAnswer({ proposal }: { proposal: ProposalCreation }): Proposed {
  const signature = proposal.signatures?.at(-1)
  return signature === undefined ? { mode: 'unsigned', proposal } : { mode: 'signed', signature, proposal }
}

/** A commit that stores this answer, in place of the answer of the build. */
export function commitProposed({ commit }: Pick<Context, 'commit'>): Context['commit'] {
  const answering = (work: (tx: Tx) => Promise<unknown>) =>
    commit(async (tx) => proposedAnswer((await work(tx)) as { proposal: ProposalCreation }))
  return answering as Context['commit']
}

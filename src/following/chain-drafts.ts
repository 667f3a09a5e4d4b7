/** Drafts of the events that the chain proves: each says where on the chain, and that the chain is its source. */
import type { EventDraft } from '../store/event-drafts.ts'
import type { Effects } from './projection.ts'

/** Where the chain shows a change; without a signature where an account shows it and no transaction is known for it. */
export interface ChainEvidence {
  slot?: number | undefined
  signature?: string | undefined
}

/** The draft with its evidence in the object, as webhooks deliver it. */
export const chainDraft = (evidence: ChainEvidence, draft: EventDraft): EventDraft => ({
  ...draft,
  object: { ...draft.object, ...evidence, source: 'chain' },
})

/** The draft of what a confirmed transaction did: once for its signature, and with what its request sent along. */
export const confirmedDraft = (
  { transaction, slot }: Pick<Effects<unknown, unknown>, 'transaction' | 'slot'>,
  draft: Omit<EventDraft, 'origin'>,
): EventDraft => {
  const { signature } = transaction
  return chainDraft({ slot, signature }, { dedupe_by: signature, ...draft, origin: transaction })
}

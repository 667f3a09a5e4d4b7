/** Builds drafts of the events that the chain proves. Each names its place on the chain and the chain as its source. */
import type { EventDraft } from '../store/events/drafts.ts'
import type { Effects } from './projection.ts'

/**
 * The place where the chain shows a change. The signature is missing when an account shows the change and its
 * transaction is unknown.
 */
export interface ChainEvidence {
  slot?: number | undefined
  signature?: string | undefined
}

/** Returns the draft with its evidence in the object, as webhooks deliver it. */
export const chainDraft = (evidence: ChainEvidence, draft: EventDraft): EventDraft => ({
  ...draft,
  object: { ...draft.object, ...evidence, source: 'chain' },
})

/**
 * Returns the draft of an effect of a confirmed transaction, deduplicated by its signature and with the origin of its
 * request.
 */
export const confirmedDraft = (
  { transaction, slot }: Pick<Effects<unknown, unknown>, 'transaction' | 'slot'>,
  draft: Omit<EventDraft, 'origin'>,
): EventDraft => {
  const { signature } = transaction
  return chainDraft({ slot, signature }, { dedupe_by: signature, ...draft, origin: transaction })
}

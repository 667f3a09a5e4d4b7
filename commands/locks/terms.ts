/** The terms that all locks of a run have: who may cancel them or change their recipient, and their texts. */
import type { LockParty } from '../../src/api/locks.ts'
import { demanding } from '../signing/demand.ts'
import { makesLock } from '../signing/demanded-locks.ts'
import { previewLine } from '../signing/preview.ts'
import { printable } from '../ui/render.ts'

/** Who may do something to a lock, in the order of the program's numbers. */
export const PARTIES = ['none', 'creator', 'recipient', 'both'] as const satisfies readonly LockParty[]

export const demandsLock = demanding('it locks this amount, for this recipient, with this schedule', makesLock)

/** What all locks of a run have. */
export interface LockTerms {
  cancellable_by: LockParty
  recipient_changeable_by: LockParty
  title: string | undefined
  description: string | undefined
}

export const termsOf = ({ cancellable_by, recipient_changeable_by, title, description }: LockTerms) => ({
  cancellable_by,
  recipient_changeable_by,
  ...(title === undefined ? {} : { title }),
  ...(description === undefined ? {} : { description }),
})

/** What a column of a list may say of the terms: the number that the program has for a party, or its name. */
export const modesOf = ({ cancellable_by, recipient_changeable_by }: LockTerms) => ({
  cancel_mode: [String(PARTIES.indexOf(cancellable_by)), cancellable_by],
  recipient_mode: [String(PARTIES.indexOf(recipient_changeable_by)), recipient_changeable_by],
})

/** The terms as the transaction must have them. */
export const demandedTerms = ({ cancellable_by, recipient_changeable_by, title, description }: LockTerms) => ({
  cancelMode: PARTIES.indexOf(cancellable_by),
  updateRecipientMode: PARTIES.indexOf(recipient_changeable_by),
  texts:
    title === undefined && description === undefined ? null : { title: title ?? '', description: description ?? '' },
})

const MAY = {
  none: 'nobody',
  creator: 'its creator',
  recipient: 'its recipient',
  both: 'its creator and its recipient',
}

export const termLines = ({ cancellable_by, recipient_changeable_by, title }: LockTerms): string[] => [
  previewLine('cancelled', `by ${MAY[cancellable_by]}`),
  previewLine('recipient', `changed by ${MAY[recipient_changeable_by]}`),
  ...(title === undefined ? [] : [previewLine('title', printable(title))]),
]

/** The terms that all locks of a run have: who may cancel them or change their recipient, and their texts. */
import { type LockParty, lockModes, lockTexts, writtenTerms } from '../../src/solana/programs/jupiter-lock.ts'
import { anyValue, demanding, opens, provesDecimals } from '../signing/demand.ts'
import { programsField } from '../signing/flags.ts'
import { previewLines } from '../signing/preview.ts'
import { printable } from '../ui/render.ts'
import { lockCall, textsCall } from './acts.ts'
import { type LockPlan, scheduleFields } from './schedule.ts'

/** What all locks of a run have. */
export interface LockTerms {
  cancellable_by: LockParty
  recipient_changeable_by: LockParty
  title: string | undefined
  description: string | undefined
}

/** A lock as it is requested. */
interface RequestedLock {
  mint: string
  recipient: string
  plan: LockPlan
  terms: LockTerms
}

interface DemandedLock extends RequestedLock {
  /** As the API says it; it follows from the base. */
  address: string
  /** Decimals with which the amount was converted; the chain checks them. */
  decimals: number
  /** Null for a key that the API makes. */
  base: string | null
}

export const demandsLock = demanding(
  'it locks this amount, for this recipient, with this schedule',
  async ({ payer, accounts }, { address, mint, recipient, plan, terms, decimals, base }: DemandedLock) => {
    const own = await accounts(mint, payer)
    const parties = { base: base ?? anyValue, sender: payer, sender_token: own, recipient }
    const texts = lockTexts(terms)
    return [
      provesDecimals(own, mint, decimals, payer),
      opens(payer, address, mint),
      lockCall(
        'create_vesting_escrow_v2',
        { ...parties, escrow: address, token_mint: mint },
        writtenTerms({ ...plan, ...lockModes(terms) }),
      ),
      ...(texts === undefined ? [] : [textsCall(payer, address, texts)]),
    ]
  },
)

/** The request of a lock, without who pays and signs. */
export const lockRequest = (
  { mint, recipient, plan, terms }: RequestedLock,
  programs: Parameters<typeof programsField>[0],
) => ({ mint, recipient, ...scheduleFields(plan), ...termsOf(terms), ...programsField(programs) })

export const termsOf = ({ cancellable_by, recipient_changeable_by, title, description }: LockTerms) => ({
  cancellable_by,
  recipient_changeable_by,
  ...(title === undefined ? {} : { title }),
  ...(description === undefined ? {} : { description }),
})

/** What a column of a list may say of the terms: the number that the program has for a party, or its name. */
export function modesOf(terms: LockTerms) {
  const { cancelMode, updateRecipientMode } = lockModes(terms)
  return {
    cancel_mode: [String(cancelMode), terms.cancellable_by],
    recipient_mode: [String(updateRecipientMode), terms.recipient_changeable_by],
  }
}

const MAY = {
  none: 'nobody',
  creator: 'its creator',
  recipient: 'its recipient',
  both: 'its creator and its recipient',
}

export const termLines = ({ cancellable_by, recipient_changeable_by, title }: LockTerms): string[] =>
  previewLines({
    cancelled: `by ${MAY[cancellable_by]}`,
    recipient: `changed by ${MAY[recipient_changeable_by]}`,
    title: title !== undefined && printable(title),
  })

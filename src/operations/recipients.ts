/** Checks addresses that receive something or become an authority: they must be wallets, unless a vault is intended. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readAccountKinds } from '../chain/reads/account-kinds.ts'
import type { Context, Services } from '../context.ts'
import { type ApiError, badRequest } from '../platform/errors.ts'
import type { AddressFault } from '../solana/bare-addresses.ts'
import { type AccountKind, type RecipientTerms, recipientFault, recipientNote } from '../solana/recipients.ts'

export interface Recipient {
  /** Path of the field that names the address. */
  param: string
  wallet: string
  /** The role of the address, if the field names it only indirectly. */
  as?: string
}

export type RecipientFault = Recipient & { reason: AddressFault }

/** Addresses that are checked before other requests get their turn. */
const CHECKS_PER_TURN = 100
const MOST_NAMED = 5
const MOST_LISTED = 20

/**
 * Throws bad_request naming the first address that is not a wallet, and the number of such addresses. Reads the chain
 * in batches.
 */
export async function requireRecipients(
  services: Pick<Services, 'chain'> & Pick<Partial<Context>, 'vaultActing'>,
  recipients: readonly Recipient[],
  terms: RecipientTerms,
): Promise<void> {
  // The vault that acts is meant to have what the request gives it.
  const others = recipients.filter(({ wallet }) => wallet !== services.vaultActing?.vault)
  if (others.length > 0) refuseRecipients(await recipientFaults(services, others, terms), others.length)
}

/** Returns the addresses that are not wallets, in order. Throws internal_error when the node fails. */
export async function recipientFaults(
  { chain }: Pick<Services, 'chain'>,
  recipients: readonly Recipient[],
  terms: RecipientTerms,
): Promise<RecipientFault[]> {
  const accounts: (AccountKind | null)[] = []
  const addresses = recipients.map(({ wallet }) => wallet)
  await readAccountKinds(chain, addresses, { commitment: 'confirmed' }, (account, place) => {
    accounts[place] = account
  })
  const faults: RecipientFault[] = []
  for (const [i, recipient] of recipients.entries()) {
    if (i > 0 && i % CHECKS_PER_TURN === 0) await nextTurn()
    const reason = recipientFault(recipient.wallet, accounts[i] ?? null, terms)
    if (reason !== null) faults.push({ ...recipient, reason })
  }
  return faults
}

/** Throws bad_request if there are faults. */
export function refuseRecipients(faults: readonly RecipientFault[], checked: number): void {
  const [first] = faults
  if (first !== undefined) throw refusal(first, faults, checked)
}

function refusal(first: RecipientFault, faults: readonly RecipientFault[], checked: number): ApiError {
  const { param, wallet, reason, as } = first
  const others = faults.slice(1, MOST_NAMED).map((fault) => `${fault.param} ${fault.wallet} (${fault.reason})`)
  const more = faults.length > MOST_NAMED ? ', …' : ''
  const rest =
    others.length === 0 ? '' : `. ${faults.length} of ${checked} are not wallets; also ${others.join(', ')}${more}`
  return badRequest(
    `${param}: ${as === undefined ? '' : `its ${as} `}${wallet} ${recipientNote(reason, wallet)}${rest}`,
    {
      param,
      details: { reason, wallet, count: faults.length, recipients: faults.slice(0, MOST_LISTED) },
    },
  )
}

/**
 * Claims that a sponsor pays for: offered by the operator's daemon, and checked here byte by byte before the visitor
 * signs.
 */
import { MAX_TRANSACTION_BYTES } from '../../solana/constants.ts'
import { base64Of, bytesOfBase64, equalBytes } from './bytes.ts'
import { followClaim, type SendingContext, whileSigning } from './claim-sending.ts'
import type { RowState } from './claim-state.ts'
import { foreignWords, PageFault, type TextKey } from './page-fault.ts'
import { keepPendingClaim } from './pending-claims.ts'
import { requireHonest } from './sponsored-message.ts'
import { type ConnectedWallet, messageOf } from './wallet-standard.ts'

const ANSWER_MS = 30_000

interface SponsorAnswer {
  data?: Record<string, unknown>
  error?: { message?: unknown; details?: { reason?: unknown; signature?: unknown } }
}

/** Texts for the sponsor's reasons; all others are shown in its own words. */
const REASONS: Readonly<Record<string, TextKey>> = {
  not_sponsored: 'sponsorNone',
  budget_exhausted: 'sponsorNone',
  attempts_exhausted: 'sponsorNone',
  sponsor_unavailable: 'sponsorLater',
  changed_transaction: 'sponsorChanged',
  expired: 'expired',
}

async function ask(url: string, body?: object): Promise<Record<string, unknown>> {
  let answer: SponsorAnswer
  let status = 0
  try {
    const response = await fetch(url, {
      ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS),
      credentials: 'omit',
    })
    status = response.status
    answer = (await response.json()) as SponsorAnswer
  } catch {
    throw new PageFault('sponsorLater')
  }
  if (answer.data && status < 400) return answer.data
  if (status === 429) throw new PageFault('sponsorLater')
  const reason = REASONS[String(answer.error?.details?.reason)]
  throw new PageFault(reason ?? 'sponsorRefused', { words: foreignWords(answer.error?.message) })
}

const baseOf = (sponsor: string, { row }: RowState) =>
  `${sponsor === '' ? location.origin : sponsor.replace(/\/+$/, '')}/claim/${encodeURIComponent(row.airdrop.id)}`

/** Whether the sponsor would pay for a claim of this airdrop now; false if it does not answer. */
export async function isSponsored(sponsor: string, state: RowState): Promise<boolean> {
  try {
    return (await ask(`${baseOf(sponsor, state)}/sponsorship`)).available === true
  } catch {
    return false
  }
}

/** Has the wallet sign the transaction that the sponsor pays for; resolves with the signature once it is confirmed. */
export async function sendSponsoredClaim(
  context: SendingContext,
  sponsor: string,
  wallet: ConnectedWallet,
  state: RowState,
): Promise<string> {
  const url = `${baseOf(sponsor, state)}/sponsored-claims`
  context.say('preparing')
  const offer = await ask(url, { claimer: wallet.address })
  const { id, transaction: wire, last_valid_block_height: height } = offer
  const isComplete = typeof id === 'string' && typeof wire === 'string' && Number.isSafeInteger(height)
  if (!isComplete) throw new PageFault('sponsorStrange')
  let offered: Uint8Array
  try {
    offered = bytesOfBase64(wire as string)
    // Two signatures, their number in one byte: the wallet may read any other form as another message.
    if (offered[0] !== 2 || offered.length > MAX_TRANSACTION_BYTES) throw new PageFault('sponsorChanged')
    requireHonest(messageOf(offered), wallet.address, state)
  } catch {
    throw new PageFault('sponsorStrange')
  }
  const term = { wallet: wallet.name, lastValidBlockHeight: height as number, isAgain: false }
  const { result: signed } = await whileSigning(context, term, () => wallet.sign(offered, 1))
  if (!equalBytes(messageOf(signed), messageOf(offered))) throw new PageFault('sponsorChanged')
  context.say('sending')
  const submission = `${url}/${encodeURIComponent(id as string)}/submissions`
  const { signature } = await ask(submission, { transaction: base64Of(signed) })
  if (typeof signature !== 'string') throw new PageFault('sponsorStrange')
  const pending = { wallet: wallet.address, signature, transaction: null, lastValidBlockHeight: height as number }
  keepPendingClaim(pending, context.genesisHash)
  return followClaim(context, pending)
}

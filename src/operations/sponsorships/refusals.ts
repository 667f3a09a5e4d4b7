/** Makes the errors of sponsored claims, each with its reason in `details`. */
import type { SponsorshipRefusal } from '../../api/sponsorships.ts'
import { ApiError, badRequest, notFound } from '../../platform/errors.ts'
import { solText } from '../../solana/amounts.ts'
import type { SponsoredClaimRow } from '../../store/airdrops/sponsorships.ts'

const PAY_YOURSELF = 'the wallet can claim at its own cost'

const withReason = (reason: SponsorshipRefusal, details: Record<string, unknown> = {}) => ({ reason, ...details })

export const notSponsored = (id: string) =>
  notFound(
    `The claims of the airdrop ${id} are not sponsored: start with a budget (PATCH /v2/airdrops/${id}/sponsorship, \`svc airdrops sponsor ${id} --budget SOL\`)`,
    { param: 'id', details: withReason('not_sponsored') },
  )

export const sponsorshipPaused = (id: string) =>
  notFound(
    `The claims of the airdrop ${id} are no longer sponsored: ${PAY_YOURSELF}, or start again (PATCH /v2/airdrops/${id}/sponsorship, \`svc airdrops sponsor ${id} --on\`)`,
    { param: 'id', details: withReason('not_sponsored') },
  )

export const sponsorshipEnded = (id: string) =>
  notFound(
    `The sponsorship of the airdrop ${id} has ended, because its list was replaced: ${PAY_YOURSELF}, or start again with the root of the current list (PATCH /v2/airdrops/${id}/sponsorship, \`svc airdrops sponsor ${id} --root ROOT\`)`,
    { param: 'id', details: withReason('not_sponsored') },
  )

/** The signature is null until the platform wallet has signed. */
export const sponsoredAlready = ({ wallet, signature }: Pick<SponsoredClaimRow, 'wallet' | 'signature'>) =>
  badRequest(
    signature === null
      ? `A sponsored claim of ${wallet} is being signed: repeat the request in a moment`
      : `The claim of ${wallet} is already sponsored, and each wallet only once: follow ${signature}`,
    { details: withReason('sponsored_already', signature === null ? {} : { signature }) },
  )

export const attemptsExhausted = (wallet: string, attempts: number) =>
  badRequest(`${attempts} sponsored claims of ${wallet} have ended without success: ${PAY_YOURSELF}`, {
    param: 'claimer',
    details: withReason('attempts_exhausted', { attempts }),
  })

export const budgetExhausted = (id: string, left: bigint, lamports: bigint) =>
  badRequest(
    `The sponsorship of the airdrop ${id} has ${solText(left)} left, and this claim costs ${solText(lamports)}: raise its budget (PATCH /v2/airdrops/${id}/sponsorship, \`svc airdrops sponsor ${id} --budget SOL\`), or ${PAY_YOURSELF}`,
    {
      param: 'id',
      details: withReason('budget_exhausted', { lamports_left: String(left), lamports: String(lamports) }),
    },
  )

export const changedTransaction = (why: string) =>
  badRequest(`transaction: ${why}. The wallet must sign exactly what was built`, {
    param: 'transaction',
    details: withReason('changed_transaction'),
  })

export const claimExpired = () =>
  badRequest('transaction: it was signed too late to be sure to land: build the claim again and sign the new one', {
    param: 'transaction',
    details: withReason('expired'),
  })

export const claimWouldFail = (why: string) =>
  badRequest(`The claim would fail, and was not signed: ${why}. Build it again`, {
    param: 'transaction',
    details: withReason('would_fail'),
  })

export const sponsorUnavailable = (why: string) =>
  badRequest(`The platform wallet cannot pay for the claim now: ${why}`, {
    details: withReason('sponsor_unavailable'),
  })

/** Adds the reason to a refusal by the platform wallet's policy, which keeps its message and figures. */
export function asSponsorshipRefusal(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.details?.rule === undefined) return error
  const { message, details } = error
  const reason = details.rule === 'simulation' || details.rule === 'sponsorship' ? 'would_fail' : 'sponsor_unavailable'
  return badRequest(message, { details: { ...details, ...withReason(reason) }, cause: error })
}

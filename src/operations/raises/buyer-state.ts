/** Reads what a wallet has in a raise and what it can do now, and says why it cannot do the rest. */
import type { Api } from '../../api/index.ts'
import { BUYER_ACTS } from '../../api/raises.ts'
import type { Input, Result } from '../../api/route.ts'
import { buyerCan, type DepositBound, raiseStateAt, readOpening, roundOf } from '../../chain/programs/presale/index.ts'
import type { Context } from '../../context.ts'
import type { ApiError } from '../../platform/errors.ts'
import { uncapitalized } from '../../platform/printable.ts'
import { tokenText } from '../../solana/amounts.ts'
import { isoSeconds, unlockText } from '../../solana/lock-schedule.ts'
import { fault } from '../locks/checks.ts'
import { findAllowance } from './admission.ts'
import { readSales, type Sale } from './require-raise.ts'

type Routes = Api['raises']

type Can = ReturnType<typeof buyerCan>

export async function getBuyer(
  context: Context,
  { id, wallet }: Input<Routes['buyer']>,
): Promise<Result<Routes['buyer']>> {
  const { raise, at, sales } = await readSales(context, id, wallet)
  const opening = raise.allowlist === 'merkle' ? await readOpening(context.chain, id) : null
  const rounds = await Promise.all(
    sales.map(async (sale) => {
      const found = opening && (await findAllowance(context, id, { wallet, round: sale.round + 1 }))
      return roundRecord(sale, found && { cap: found.cap, isOpen: typeof opening?.roots[found.version] === 'string' })
    }),
  )
  const can = BUYER_ACTS.filter((act) => rounds.some((round) => round[`can_${act}`] !== '0'))
  return { id, wallet, state: raiseStateAt(raise, at), rounds, can }
}

/** `listed` is what the stored allowlist says. */
function roundRecord(sale: Sale, listed: { cap: bigint; isOpen: boolean } | null) {
  const { raise, round, escrow, at } = sale
  const { buyerMax } = roundOf(raise, round)
  const cap = escrow?.cap ?? listed?.cap ?? (raise.allowlist === 'none' ? buyerMax : null)
  const mayOpen = escrow !== null || raise.allowlist === 'none' || listed?.isOpen === true
  const can = buyerCan(raise, { round, escrow, cap: cap ?? 0n }, at)
  const { own, deposit, withdraw, claim, refund } = can
  const most = mayOpen ? deposit.most : 0n
  const nothing = most === 0n && withdraw.all === 0n && claim.now === 0n && refund === 0n
  return {
    round: round + 1,
    cap: cap === null ? null : String(cap),
    deposited: String(own.deposited),
    fee: String(own.fees),
    can_deposit: String(most),
    can_withdraw: String(withdraw.all),
    can_claim: String(claim.now),
    can_refund: String(refund),
    allocation: String(claim.total),
    claimed: String(own.claimed),
    next_claim_at: escrow === null ? null : nextClaim(sale, can),
    note: nothing ? noteOf(sale, can, mayOpen) : null,
  }
}

function noteOf(sale: Sale, can: Can, mayOpen: boolean): string {
  const { raise, escrow, at } = sale
  const state = raiseStateAt(raise, at)
  if (state === 'not_started' || state === 'ongoing') {
    if (state === 'ongoing' && !mayOpen)
      return 'It is not on the allowlist that is stored here, or that list is not open yet'
    return BOUNDS[can.deposit.bound](sale, (units) => tokenText(raise.quoteMint, units))
  }
  if (escrow === null) return 'The raise has ended, and it has no deposit, or everything is paid out'
  if (state === 'failed') return 'Everything was paid back'
  const next = nextClaim(sale, can)
  return next === null ? 'Everything is claimed' : `The next tokens are released at ${next}`
}

/** When more can be claimed; during a vesting, when all can be. Null if nothing follows. */
export const nextClaim = ({ at }: Sale, { claim: { next } }: Pick<Can, 'claim'>): string | null =>
  next && isoSeconds(next.from > at ? next.from : next.until)

type Text = (units: bigint) => string

/** Why nothing can be deposited, as a sentence in which `it` is the buyer. */
const BOUNDS: Readonly<Record<DepositBound, (sale: Sale, text: Text) => string>> = {
  not_started: ({ raise }) => `The raise starts ${unlockText(raise.startsAt)}`,
  ended: ({ raise }) => `The raise ended ${unlockText(raise.endsAt)}`,
  buyer_maximum: () => 'It has deposited as much as it may',
  raise_full: ({ raise }, text) => `The maximum of the raise, ${text(raise.maximum)}, is reached`,
  gap_below_minimum: ({ raise, round }, text) =>
    `The ${text(raise.maximum - raise.deposited)} that the raise still lacks are less than the least of a buyer, ${text(roundOf(raise, round).buyerMin)}, so nobody can fill them`,
}

export function noDeposit(sale: Sale, bound: DepositBound, text: Text): ApiError {
  const message = `Nothing can be deposited now: ${uncapitalized(BOUNDS[bound](sale, text))}`
  return fault(bound === 'buyer_maximum' ? 'buyer' : 'id', message, { reason: bound })
}

const TAKE_REFUND = 'take the refund (POST /v2/raises/{id}/refunds, `svc raises refund`)'

type Payout = 'withdraw' | 'claim' | 'refund'
const PAID_OUT: Readonly<Record<Payout, string>> = { withdraw: 'withdrawn', claim: 'claimed', refund: 'taken back' }

/** Why an act pays nothing out now, by the state of the raise. */
export function noPayout(act: Payout, sale: Sale, can: Can, text: Text): ApiError {
  const { raise, at } = sale
  const next = nextClaim(sale, can)
  const also = can.refund > 0n ? '; the excess of the deposit can be taken back now (`svc raises refund`)' : ''
  const ends = `it ends ${unlockText(raise.endsAt)}`
  const hasNone = raise.withdrawable && can.own.deposited === 0n
  const before = {
    withdraw: hasNone
      ? ['no_deposit', 'nothing is deposited']
      : ['not_withdrawable', 'it takes no withdrawals; if it fails, deposit and fee are returned'],
    claim: ['too_early', ends],
    refund: ['no_refund', `${ends}, and returns deposits only if it fails`],
  }
  const completed = {
    withdraw: ['not_withdrawable', 'it has ended, and its tokens can be claimed'],
    claim:
      next === null
        ? ['nothing_to_claim', `all ${text(can.own.claimed)} are claimed`]
        : ['too_early', `the next tokens are released at ${next}${also}`],
    refund: can.own.isRefunded
      ? ['no_refund', 'the excess was paid back before']
      : ['no_refund', 'it is completed, and nothing exceeds its maximum: claim the tokens'],
  }
  const failed = {
    withdraw: ['not_withdrawable', `it has ended, and failed: ${TAKE_REFUND}`],
    claim: ['failed', `it has failed: ${TAKE_REFUND}`],
    refund: ['no_refund', 'everything was paid back'],
  }
  const [reason, why] = { not_started: before, ongoing: before, completed, failed }[raiseStateAt(raise, at)][act]
  const message = `Nothing can be ${PAID_OUT[act]} from the raise ${raise.address} now: ${why}`
  return fault('id', message, { reason })
}

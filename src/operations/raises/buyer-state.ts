/** Reads what a wallet has in a raise and what it can do now, and says why it cannot do the rest. */
import type { Api } from '../../api/index.ts'
import { BUYER_ACTS } from '../../api/raises.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buyerCan,
  claimableNow,
  type DepositBound,
  type Raise,
  type RaiseEscrow,
  raiseStateAt,
  readOpening,
  readRaiseOfBuyer,
  roundOf,
} from '../../chain/programs/presale/index.ts'
import type { Context } from '../../context.ts'
import type { ApiError } from '../../platform/errors.ts'
import { uncapitalized } from '../../platform/printable.ts'
import { tokenText } from '../../solana/amounts.ts'
import { isoSeconds, unlockText } from '../../solana/lock-schedule.ts'
import { fault } from '../locks/checks.ts'
import { findAllowance } from './admission.ts'
import type { Purse } from './purse.ts'
import { noRaise, type Sale } from './require-raise.ts'

type Routes = Api['raises']

export async function getBuyer(
  context: Context,
  { id, wallet }: Input<Routes['buyer']>,
): Promise<Result<Routes['buyer']>> {
  const { chain } = context
  const { raise, escrows, at } = await readRaiseOfBuyer(chain, id, wallet)
  if (raise === null) throw noRaise(chain, id)
  const opening = raise.allowlist === 'merkle' ? await readOpening(chain, id) : null
  const rounds = await Promise.all(
    raise.rounds.map(async (_, round) => {
      const sale = { raise, round, escrow: escrows[round] ?? null, at: BigInt(at.unixSeconds), epoch: at.epoch }
      const found = opening && (await findAllowance(context, id, { wallet, round: round + 1 }))
      return roundRecord(sale, found && { cap: found.cap, isOpen: typeof opening?.roots[found.version] === 'string' })
    }),
  )
  const can = BUYER_ACTS.filter((act) => rounds.some((round) => round[`can_${act}`] !== '0'))
  return { id, wallet, state: raiseStateAt(raise, BigInt(at.unixSeconds)), rounds, can }
}

/** `listed` is what the stored allowlist says. */
function roundRecord(sale: Sale, listed: { cap: bigint; isOpen: boolean } | null) {
  const { raise, round, escrow, at } = sale
  const { buyerMax } = roundOf(raise, round)
  const cap = escrow?.cap ?? listed?.cap ?? (raise.allowlist === 'none' ? buyerMax : null)
  const mayOpen = escrow !== null || raise.allowlist === 'none' || listed?.isOpen === true
  const { own, deposit, withdraw, claim, refund } = buyerCan(raise, { round, escrow, cap: cap ?? 0n }, at)
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
    next_claim_at: escrow === null ? null : nextClaim(sale, escrow),
    note: nothing ? noteOf(sale, mayOpen, deposit.bound) : null,
  }
}

function noteOf(sale: Sale, mayOpen: boolean, bound: DepositBound): string {
  const { raise, escrow, at } = sale
  const state = raiseStateAt(raise, at)
  if (state === 'not_started' || state === 'ongoing') {
    if (state === 'ongoing' && !mayOpen)
      return 'It is not on the allowlist that is stored here, or that list is not open yet'
    return BOUNDS[bound](sale, (units) => tokenText(raise.quoteMint, units))
  }
  if (escrow === null) return 'The raise has ended, and it has no deposit, or everything is paid out'
  if (state === 'failed') return 'Everything was paid back'
  const next = nextClaim(sale, escrow)
  return next === null ? 'Everything is claimed' : `The next tokens are released at ${next}`
}

/** When more can be claimed; during a vesting, when all can be. Null if nothing follows. */
export function nextClaim({ raise, at }: Sale, escrow: RaiseEscrow): string | null {
  const { next } = claimableNow(raise, escrow, at)
  return next && isoSeconds(next.from > at ? next.from : next.until)
}

/** Writes units of the token for people. */
export const withTokens =
  ({ mint }: Raise, { token }: Purse) =>
  (units: bigint): string =>
    tokenText(mint, units, token?.decimals)

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

export function noWithdrawal({ raise, escrow, at }: Sale): ApiError {
  const state = raiseStateAt(raise, at)
  const hasNone = at < raise.endsAt && raise.withdrawable && escrow?.deposited === 0n
  const never = hasNone ? 'nothing is deposited' : 'it takes no withdrawals; if it fails, deposit and fee are returned'
  const why = {
    ...{ not_started: never, ongoing: never, completed: 'it has ended, and its tokens can be claimed' },
    failed: `it has ended, and failed: ${TAKE_REFUND}`,
  }[state]
  const reason = hasNone ? 'no_deposit' : 'not_withdrawable'
  return fault('id', `Nothing can be withdrawn from the raise ${raise.address}: ${why}`, { reason })
}

/** `refund` is what can be taken back meanwhile. */
export function noClaim(sale: Sale, escrow: RaiseEscrow, refund: bigint, text: Text): ApiError {
  const { raise, at } = sale
  const state = raiseStateAt(raise, at)
  const next = nextClaim(sale, escrow)
  const also = refund > 0n ? '; the excess of the deposit can be taken back now (`svc raises refund`)' : ''
  const [reason, why] =
    state === 'failed'
      ? ['failed', `it has failed: ${TAKE_REFUND}`]
      : state !== 'completed'
        ? ['too_early', `it ends ${unlockText(raise.endsAt)}`]
        : next === null
          ? ['nothing_to_claim', `all ${text(escrow.claimed)} are claimed`]
          : ['too_early', `the next tokens are released at ${next}${also}`]
  return fault('id', `Nothing can be claimed from the raise ${raise.address} now: ${why}`, { reason })
}

export function noRefund({ raise, at }: Sale, { isRefunded }: RaiseEscrow): ApiError {
  const state = raiseStateAt(raise, at)
  const why =
    state === 'completed'
      ? isRefunded
        ? 'the excess was paid back before'
        : 'it is completed, and nothing exceeds its maximum: claim the tokens'
      : `it ends ${unlockText(raise.endsAt)}, and returns deposits only if it fails`
  return fault('id', `Nothing can be taken back from the raise ${raise.address}: ${why}`, { reason: 'no_refund' })
}

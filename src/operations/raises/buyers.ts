/** What a buyer of a raise can do: deposit, withdraw, claim, take back. Each transaction is paid and signed by the buyer. */
import type { Api } from '../../api/index.ts'
import {
  buyerCan,
  claimableNow,
  claimInstruction,
  closeEscrowInstruction,
  depositInstruction,
  escrowInstruction,
  feeOnTop,
  paymentOf,
  provenEscrowInstruction,
  RAISE_UNITS,
  type RaiseEscrow,
  raiseEscrowAddress,
  raiseStateAt,
  refundInstruction,
  roundOf,
  tokensOf,
  wholePart,
  withdrawalInstruction,
} from '../../chain/programs/presale/index.ts'
import { sdkInstructions } from '../../chain/programs/sdk-instruction.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import { compileUnsigned } from '../../chain/sending/unsigned.ts'
import type { Context } from '../../context.ts'
import { tokenText } from '../../solana/amounts.ts'
import { LAMPORTS_PER_SIGNATURE } from '../../solana/fees.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { PRESALE_ESCROW_BYTES } from '../../solana/programs/presale.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import { openingInstruction, unwrappingInstructions } from '../../solana/token-acts.ts'
import { feeInEpoch, feeOn } from '../../solana/transfer-fees.ts'
import { unsignedAct } from '../act.ts'
import { trackingOf } from '../building.ts'
import { fault } from '../locks/checks.ts'
import { refusalsOf } from '../refusals.ts'
import { type Said, warned } from '../sentences.ts'
import { admissionOf } from './admission.ts'
import { nextClaim, noClaim, noDeposit, noRefund, noWithdrawal, withTokens } from './buyer-state.ts'
import { heldPowers, requirePlainQuote } from './mints.ts'
import { type Built, type Purse, payment, readPurse, requireMovable, through, unwraps } from './purse.ts'
import { requireBuyer, type Sale } from './require-raise.ts'

export { getBuyer } from './buyer-state.ts'

type Routes = Api['raises']

/** What every act of a buyer has in common. */
async function acted({ raise }: Sale, buyer: string, instructions: readonly Built[], units: number) {
  const sdk = await sdkInstructions()
  const all = instructions.map((one) => ('programId' in one ? one : sdk(one)))
  return {
    payer: buyer,
    requiredProgram: PROGRAMS.presale,
    fallbackUnits: units,
    onFailedSimulation: refusalsOf(PROGRAMS.presale.name, 'Token program', 'Token-2022 program'),
    tracked: trackingOf('raise', raise.address, []),
    build: (envelope: Parameters<typeof compileUnsigned>[0]) => compileUnsigned(envelope, all),
  }
}

const namesOf = ({ raise, round }: Sale, buyer: string) => ({
  ...{ id: raise.address, buyer, round: round + 1, quote_mint: raise.quoteMint, mint: raise.mint },
})
const placeOf = ({ raise, round }: Sale, owner: string) => ({
  escrow: raiseEscrowAddress(raise.address, owner, round),
  owner,
})

export const deposit = unsignedAct<Routes['deposit']>(async (context, input) => {
  const { id, buyer } = input
  const sale = await requireBuyer(context, { id, wallet: buyer, round: input.round })
  const { raise, round, escrow, at } = sale
  const purse = await readPurse(context, raise, buyer)
  if (purse.quote !== null) await requirePlainQuote(purse.quote, 'id', 'svc deposits only into raises of plain mints')
  const asked = BigInt(input.amount)
  const admission = await admissionOf(context, sale, buyer, input)
  const { deposit: limits, own } = buyerCan(raise, { round, escrow, cap: admission.cap }, at)
  const text = (units: bigint) => tokenText(raise.quoteMint, units, purse.quote?.decimals)
  if (limits.most === 0n) throw noDeposit(sale, limits.bound, text)
  if (asked < limits.least || asked > limits.most) {
    const message = `amount: ${text(asked)} cannot be deposited now, but from ${text(limits.least)} to ${text(limits.most)}`
    const { least, most, bound } = limits
    throw fault('amount', message, { least: String(least), most: String(most), bound })
  }
  requireMovable(purse, 'quotes')
  const { moved, fee, total } = paymentOf(raise, round, asked)
  const rent = escrow === null ? await rentFor(context.chain, PRESALE_ESCROW_BYTES) : 0n
  await requireMoney(context, sale, purse, { sum: total, rent, text })
  const place = { ...placeOf(sale, buyer), payer: buyer }
  const opened =
    admission.proven === null
      ? escrowInstruction(id, place)
      : provenEscrowInstruction(id, place, { round, ...admission.proven })
  const paid = { escrow: place.escrow, payer: buyer, from: purse.quotes.address, amount: asked }
  const acts = [
    ...payment(purse, raise, total),
    ...(escrow === null ? [opened] : []),
    depositInstruction(raise, paid),
    ...unwrappingInstructions(through(purse, raise, 'quotes')),
  ]
  return {
    ...(await acted(sale, buyer, acts, RAISE_UNITS.deposit)),
    summary: {
      ...namesOf(sale, buyer),
      amount: String(moved),
      fee: String(fee),
      buys: String(tokensOf(raise, own, moved) - tokensOf(raise, own)),
      rent: String(rent),
      ...warned([
        moved !== asked && `${text(asked - moved)} stay with you, because they do not buy a whole unit`,
        ...depositWarnings(sale, purse),
      ]),
    },
  }
})

/** What a buyer should know before it pays. */
function depositWarnings({ raise, round }: Sale, { token }: Purse): Said[] {
  return [
    ...(token === null ? [] : heldPowers(token).map(({ text }) => text)),
    raise.price === null && 'How many tokens the deposit buys is known when the raise ends: other deposits lower it',
    !raise.withdrawable && 'It cannot be withdrawn before the end',
    raise.withdrawable && roundOf(raise, round).feeBps > 0 && 'A withdrawal does not return the fee',
    `The creator ${raise.creator} takes what is raised; nothing on chain makes it open a pool`,
  ]
}

/** Throws bad_request if the buyer cannot pay for the deposit, the fee of the network and the accounts. */
async function requireMoney(
  { chain }: Context,
  { raise }: Sale,
  purse: Purse,
  { sum, rent, text }: { sum: bigint; rent: bigint; text(units: bigint): string },
) {
  const { buyer, lamports, quotes } = purse
  const isSol = raise.quoteMint === WRAPPED_SOL
  const have = quotes.state?.amount ?? 0n
  if (!isSol && have < sum) {
    const message = `amount: ${buyer} has ${text(have)}, but ${text(sum)} are needed, with the fee`
    throw fault('amount', message, { have: String(have), need: String(sum) })
  }
  const opened = unwraps(purse, raise) ? await rentFor(chain, TOKEN_ACCOUNT_SIZE) : 0n
  const need = (isSol ? sum : 0n) + rent + opened + LAMPORTS_PER_SIGNATURE
  if (lamports >= need) return
  const parts = `${isSol ? 'deposit, fees and rent' : 'rent and the network fee'}${opened > 0n ? `, of which ${tokenText(null, opened)} come back at once` : ''}`
  const message = `buyer: ${buyer} has ${tokenText(null, lamports)}, but ${tokenText(null, need)} are needed for ${parts}`
  throw fault('buyer', message, { have: String(lamports), need: String(need) })
}

/** The deposits of a buyer that must be there. */
async function requireDeposit(context: Context, asked: { id: string; buyer: string; round: number }) {
  const { id, buyer } = asked
  const sale = await requireBuyer(context, { id, wallet: buyer, round: asked.round })
  const { escrow } = sale
  if (escrow === null) {
    const message = `${buyer} has no deposit in round ${asked.round} of the raise ${id}: it never had one, or everything is paid out`
    throw fault('buyer', message, { reason: 'no_deposit' })
  }
  return { sale, escrow, purse: await readPurse(context, sale.raise, buyer) }
}

/** What arrives as wrapped SOL, because the buyer had some before. */
const wrappedWarning = (purse: Purse, { raise }: Sale): Said =>
  raise.quoteMint === WRAPPED_SOL &&
  !unwraps(purse, raise) &&
  `It arrives as wrapped SOL in ${purse.quotes.address}, which was open before`

export const withdrawDeposit = unsignedAct<Routes['withdraw']>(async (context, input) => {
  const { buyer } = input
  const { sale, escrow, purse } = await requireDeposit(context, input)
  const { raise, at, round } = sale
  const text = (units: bigint) => tokenText(raise.quoteMint, units, purse.quote?.decimals)
  const { all, mostOfPart } = buyerCan(raise, { round, escrow }, at).withdraw
  if (all === 0n) throw noWithdrawal(sale)
  const asked = input.amount === undefined ? all : BigInt(input.amount)
  const isWhole = asked === all
  if (!isWhole && asked > mostOfPart) {
    const part = mostOfPart > 0n ? `, or at most ${text(mostOfPart)}, which leaves the least of a buyer` : ''
    const message = `amount: ${text(asked)} cannot be withdrawn: withdraw all ${text(all)}${part}`
    throw fault('amount', message, { all: String(all), most_of_part: String(mostOfPart) })
  }
  requireMovable(purse, 'quotes')
  const amount = isWhole ? all : wholePart(raise.price, asked)
  const own = through(purse, raise, 'quotes')
  const taken = withdrawalInstruction(raise, { ...placeOf(sale, buyer), to: own.account }, asked)
  const acts = [openingInstruction(own), taken, ...unwrappingInstructions(own)]
  const { feeBps } = roundOf(raise, round)
  return {
    ...(await acted(sale, buyer, acts, RAISE_UNITS.payout)),
    summary: {
      ...namesOf(sale, buyer),
      amount: String(amount),
      fee_lost: String(isWhole ? escrow.fees : feeOnTop(amount, feeBps)),
      remaining: String(escrow.deposited - amount),
      ...warned([wrappedWarning(purse, sale)]),
    },
  }
})

/** Whether nothing is left after these tokens, so that the account can be closed; a refund is paid with them. */
function isLast({ raise, at }: Sale, escrow: RaiseEscrow, tokens: bigint): boolean {
  if (raiseStateAt(raise, at) === 'failed') return true
  const { total } = claimableNow(raise, escrow, at)
  return at >= raise.vestingEndsAt && at >= raise.releaseAt && escrow.claimed + tokens >= total
}

/** Pays what is refunded, and closes the account of the buyer at the end. */
function payingOut(sale: Sale, purse: Purse, { refunded, closes }: { refunded: bigint; closes: boolean }): Built[] {
  const { raise } = sale
  const [place, own] = [placeOf(sale, purse.buyer), through(purse, raise, 'quotes')]
  const closing = closes ? [closeEscrowInstruction(raise.address, place)] : []
  if (refunded === 0n) return closing
  const refund = refundInstruction(raise, { ...place, to: own.account })
  return [openingInstruction(own), refund, ...unwrappingInstructions(own), ...closing]
}

export const claimBought = unsignedAct<Routes['claim']>(async (context, input) => {
  const { buyer } = input
  const { sale, escrow, purse } = await requireDeposit(context, input)
  const { raise, at } = sale
  const { claim, refund: refunded } = buyerCan(raise, sale, at)
  const { total, now } = claim
  const closes = raiseStateAt(raise, at) === 'completed' && isLast(sale, escrow, now)
  if (now === 0n && !closes) throw noClaim(sale, escrow, refunded, withTokens(raise, purse))
  requireMovable(purse, 'tokens')
  if (refunded > 0n) requireMovable(purse, 'quotes')
  const own = through(purse, raise, 'tokens')
  const claimed = claimInstruction(raise, { ...placeOf(sale, buyer), to: own.account })
  const acts = [
    ...(now > 0n ? [openingInstruction(own), claimed] : []),
    ...payingOut(sale, purse, { refunded, closes }),
  ]
  const withheld = feeOn(feeInEpoch(purse.token?.extensions ?? null, sale.epoch), now)
  const units = RAISE_UNITS.payout + (refunded > 0n ? RAISE_UNITS.payout : 0) + RAISE_UNITS.close
  return {
    ...(await acted(sale, buyer, acts, units)),
    summary: {
      ...namesOf(sale, buyer),
      amount: String(now),
      received: String(now - withheld),
      refunded: String(refunded),
      remaining: String(total - escrow.claimed - now),
      next_claim_at: closes ? null : nextClaim(sale, escrow),
      closes,
    },
  }
})

export const refundDeposit = unsignedAct<Routes['refund']>(async (context, input) => {
  const { buyer } = input
  const { sale, escrow, purse } = await requireDeposit(context, input)
  const { refund: amount } = buyerCan(sale.raise, sale, sale.at)
  if (amount === 0n && raiseStateAt(sale.raise, sale.at) !== 'failed') throw noRefund(sale, escrow)
  if (amount > 0n) requireMovable(purse, 'quotes')
  const closes = isLast(sale, escrow, 0n)
  const acts = payingOut(sale, purse, { refunded: amount, closes })
  return {
    ...(await acted(sale, buyer, acts, RAISE_UNITS.payout + RAISE_UNITS.close)),
    summary: { ...namesOf(sale, buyer), amount: String(amount), closes },
  }
})

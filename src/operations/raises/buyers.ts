/** What a buyer of a raise can do: deposit, withdraw, claim, take back. Each transaction is paid and signed by the buyer. */
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import * as presale from '../../chain/programs/presale/index.ts'
import { sdkInstructions } from '../../chain/programs/sdk-instruction.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import { compileUnsigned, type Envelope } from '../../chain/sending/unsigned.ts'
import type { Context } from '../../context.ts'
import { tokenText } from '../../solana/amounts.ts'
import { LAMPORTS_PER_SIGNATURE } from '../../solana/fees.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { PRESALE } from '../../solana/programs/presale.ts'
import type { PlainInstruction } from '../../solana/programs/table.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import {
  decimalsInstruction,
  openingInstruction,
  unwrappingInstructions,
  wrappingInstructions,
} from '../../solana/token-acts.ts'
import { feeInEpoch, feeOn } from '../../solana/transfer-fees.ts'
import { unsignedAct } from '../act.ts'
import { fault } from '../locks/checks.ts'
import { type Said, warned } from '../sentences.ts'
import { admissionOf } from './admission.ts'
import { nextClaim, noDeposit, noPayout } from './buyer-state.ts'
import { heldPowers, requirePlainQuote } from './mints.ts'
import { type Purse, readPurse, requireMovable, type Side } from './purse.ts'
import { onRaise, readSales, type Sale } from './require-raise.ts'

export { getBuyer } from './buyer-state.ts'

type Routes = Api['raises']

/** What a buyer has in the round of a request, and around it. */
interface Found {
  sale: Sale
  purse: Purse
}

/** Throws not_found without a raise, bad_request for a round that it does not have. */
async function requireBuyer(context: Context, { id, buyer, round }: Asked): Promise<Found> {
  const { raise, sales } = await readSales(context, id, buyer)
  const sale = sales[round - 1]
  if (sale !== undefined) return { sale, purse: await readPurse(context.chain, raise, buyer) }
  const rounds = sales.length === 1 ? 'only one round' : `${sales.length} rounds`
  throw fault('round', `round: the raise ${id} has ${rounds}`, { rounds: sales.length })
}

type Asked = Pick<Input<Routes['deposit']>, 'id' | 'buyer' | 'round'>

/** The same with deposits, which must be there. */
async function requireDeposit(context: Context, asked: Asked) {
  const { id, buyer, round } = asked
  const { sale, purse } = await requireBuyer(context, asked)
  const { escrow } = sale
  if (escrow === null) {
    const message = `${buyer} has no deposit in round ${round} of the raise ${id}: it never had one, or everything is paid out`
    throw fault('buyer', message, { reason: 'no_deposit' })
  }
  const place = { escrow: escrow.address, owner: buyer }
  return { sale, purse, escrow, place, can: presale.buyerCan(sale.raise, sale, sale.at) }
}

/** The plan of an act, which the buyer pays and signs. */
async function acted<S extends object>({ sale, purse }: Found, units: number, acts: PlainInstruction[], summary: S) {
  const { raise, round } = sale
  const { wallet: payer } = purse.quotes
  const sdk = await sdkInstructions()
  return {
    ...onRaise(raise.address),
    payer,
    fallbackUnits: units,
    build: (envelope: Envelope) => compileUnsigned(envelope, acts.map(sdk)),
    summary: {
      ...{ id: raise.address, buyer: payer, round: round + 1, quote_mint: raise.quoteMint, mint: raise.mint },
      ...summary,
    },
  }
}

export const deposit = unsignedAct<Routes['deposit']>(async (context, input) => {
  const { id, buyer } = input
  const found = await requireBuyer(context, input)
  const { sale, purse } = found
  const { raise, round, escrow, at } = sale
  const { quotes } = purse
  if (quotes.token !== null) await requirePlainQuote(quotes.token, 'id', 'svc deposits only into raises of plain mints')
  const asked = BigInt(input.amount)
  const admission = await admissionOf(context, sale, buyer, input)
  const { deposit: limits, own } = presale.buyerCan(raise, { round, escrow, cap: admission.cap }, at)
  const { least, most, bound } = limits
  if (most === 0n) throw noDeposit(sale, bound, quotes.text)
  if (asked < least || asked > most) {
    const message = `amount: ${quotes.text(asked)} cannot be deposited now, but from ${quotes.text(least)} to ${quotes.text(most)}`
    throw fault('amount', message, { least: String(least), most: String(most), bound })
  }
  requireMovable(quotes)
  const { moved, fee, total } = presale.paymentOf(raise, round, asked)
  const rent = escrow === null ? await rentFor(context.chain, PRESALE.sizeOf('escrow')) : 0n
  await requireMoney(context, purse, { sum: total, rent })
  const place = { escrow: presale.raiseEscrowAddress(id, buyer, round), owner: buyer, payer: buyer }
  const opened =
    admission.proven === null
      ? presale.escrowInstruction(id, place)
      : presale.provenEscrowInstruction(id, place, admission.proven)
  const acts = [
    ...payment(quotes, total),
    ...(escrow === null ? [opened] : []),
    presale.depositInstruction(raise, { ...place, from: quotes.account, amount: asked }),
    ...unwrappingInstructions(quotes),
  ]
  return acted(found, presale.RAISE_UNITS.deposit, acts, {
    amount: String(moved),
    fee: String(fee),
    buys: String(presale.tokensOf(raise, own, moved) - presale.tokensOf(raise, own)),
    rent: String(rent),
    ...warned([
      moved !== asked && `${quotes.text(asked - moved)} stay with you, because they do not buy a whole unit`,
      ...depositWarnings(sale, purse),
    ]),
  })
})

/** The instructions before a deposit: SOL is wrapped for it, and another quote proves its decimals. */
function payment(quotes: Side, sum: bigint): PlainInstruction[] {
  if (quotes.mint === WRAPPED_SOL) return [openingInstruction(quotes), ...wrappingInstructions(quotes, sum)]
  return [decimalsInstruction(quotes, quotes.token?.decimals ?? 0)]
}

/** What a buyer should know before it pays. */
function depositWarnings({ raise, round }: Sale, { tokens: { token } }: Purse): Said[] {
  return [
    ...(token === null ? [] : heldPowers(token).map(({ text }) => text)),
    raise.price === null && 'How many tokens the deposit buys is known when the raise ends: other deposits lower it',
    !raise.withdrawable && 'It cannot be withdrawn before the end',
    raise.withdrawable && presale.roundOf(raise, round).feeBps > 0 && 'A withdrawal does not return the fee',
    `The creator ${raise.creator} takes what is raised; nothing on chain makes it open a pool`,
  ]
}

/** Throws bad_request if the buyer cannot pay for the deposit, the fee of the network and the accounts. */
async function requireMoney(
  { chain }: Context,
  { lamports, quotes: { mint, wallet, state, isOpen, text } }: Purse,
  { sum, rent }: { sum: bigint; rent: bigint },
) {
  const isSol = mint === WRAPPED_SOL
  const have = state?.amount ?? 0n
  if (!isSol && have < sum) {
    const message = `amount: ${wallet} has ${text(have)}, but ${text(sum)} are needed, with the fee`
    throw fault('amount', message, { have: String(have), need: String(sum) })
  }
  const opened = isSol && !isOpen ? await rentFor(chain, TOKEN_ACCOUNT_SIZE) : 0n
  const need = (isSol ? sum : 0n) + rent + opened + LAMPORTS_PER_SIGNATURE
  if (lamports >= need) return
  const parts = `${isSol ? 'deposit, fees and rent' : 'rent and the network fee'}${opened > 0n ? `, of which ${tokenText(null, opened)} come back at once` : ''}`
  const message = `buyer: ${wallet} has ${tokenText(null, lamports)}, but ${tokenText(null, need)} are needed for ${parts}`
  throw fault('buyer', message, { have: String(lamports), need: String(need) })
}

export const withdrawDeposit = unsignedAct<Routes['withdraw']>(async (context, input) => {
  const found = await requireDeposit(context, input)
  const { sale, escrow, place, can } = found
  const { raise, round } = sale
  const { quotes } = found.purse
  const { text } = quotes
  const { all, mostOfPart } = can.withdraw
  if (all === 0n) throw noPayout('withdraw', sale, can, text)
  const asked = input.amount === undefined ? all : BigInt(input.amount)
  const isWhole = asked === all
  if (!isWhole && asked > mostOfPart) {
    const part = mostOfPart > 0n ? `, or at most ${text(mostOfPart)}, which leaves the least of a buyer` : ''
    const message = `amount: ${text(asked)} cannot be withdrawn: withdraw all ${text(all)}${part}`
    throw fault('amount', message, { all: String(all), most_of_part: String(mostOfPart) })
  }
  requireMovable(quotes)
  const amount = isWhole ? all : presale.wholePart(raise.price, asked)
  const taken = presale.withdrawalInstruction(raise, { ...place, to: quotes.account }, asked)
  const acts = [openingInstruction(quotes), taken, ...unwrappingInstructions(quotes)]
  return acted(found, presale.RAISE_UNITS.payout, acts, {
    amount: String(amount),
    fee_lost: String(isWhole ? escrow.fees : presale.feeOnTop(amount, presale.roundOf(raise, round).feeBps)),
    remaining: String(escrow.deposited - amount),
    ...warned([
      quotes.mint === WRAPPED_SOL &&
        quotes.isOpen &&
        `It arrives as wrapped SOL in ${quotes.account}, which was open before`,
    ]),
  })
})

type Deposited = Awaited<ReturnType<typeof requireDeposit>>

/** Whether nothing is left after these tokens, so that the account can be closed; a refund is paid with them. */
function isLast({ sale: { raise, at }, escrow, can }: Deposited, tokens: bigint): boolean {
  if (presale.raiseStateAt(raise, at) === 'failed') return true
  return at >= raise.vestingEndsAt && at >= raise.releaseAt && escrow.claimed + tokens >= can.claim.total
}

/** Pays what is refunded, and closes the account of the buyer at the end. */
function payingOut({ sale: { raise }, purse: { quotes }, place, can }: Deposited, closes: boolean) {
  const closing = closes ? [presale.closeEscrowInstruction(raise.address, place)] : []
  if (can.refund === 0n) return closing
  requireMovable(quotes)
  const refund = presale.refundInstruction(raise, { ...place, to: quotes.account })
  return [openingInstruction(quotes), refund, ...unwrappingInstructions(quotes), ...closing]
}

export const claimBought = unsignedAct<Routes['claim']>(async (context, input) => {
  const found = await requireDeposit(context, input)
  const { sale, escrow, place, can } = found
  const { raise, at } = sale
  const { tokens } = found.purse
  const { total, now } = can.claim
  const closes = presale.raiseStateAt(raise, at) === 'completed' && isLast(found, now)
  if (now === 0n && !closes) throw noPayout('claim', sale, can, tokens.text)
  requireMovable(tokens)
  const claimed = presale.claimInstruction(raise, { ...place, to: tokens.account })
  const acts = [...(now > 0n ? [openingInstruction(tokens), claimed] : []), ...payingOut(found, closes)]
  const withheld = feeOn(feeInEpoch(tokens.token?.extensions ?? null, sale.epoch), now)
  const units =
    presale.RAISE_UNITS.payout + (can.refund > 0n ? presale.RAISE_UNITS.payout : 0) + presale.RAISE_UNITS.close
  return acted(found, units, acts, {
    amount: String(now),
    received: String(now - withheld),
    refunded: String(can.refund),
    remaining: String(total - escrow.claimed - now),
    next_claim_at: closes ? null : nextClaim(sale, can),
    closes,
  })
})

export const refundDeposit = unsignedAct<Routes['refund']>(async (context, input) => {
  const found = await requireDeposit(context, input)
  const { sale, can } = found
  if (can.refund === 0n && presale.raiseStateAt(sale.raise, sale.at) !== 'failed')
    throw noPayout('refund', sale, can, found.purse.quotes.text)
  const closes = isLast(found, 0n)
  const acts = payingOut(found, closes)
  return acted(found, presale.RAISE_UNITS.payout + presale.RAISE_UNITS.close, acts, {
    amount: String(can.refund),
    closes,
  })
})

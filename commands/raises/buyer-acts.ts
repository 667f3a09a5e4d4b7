/** What a buyer of a raise does with its own key: how each act is asked for, checked here and shown. */
import type { BuyerAct, Raise } from '../../src/api/raises.ts'
import { SOL_DECIMALS } from '../../src/solana/constants.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { PRESALE, PRESALE_SEEDS } from '../../src/solana/programs/presale.ts'
import { feeOnTop } from '../../src/solana/raise-amounts.ts'
import { rawUnits, solOf, tokensText, unitsOfAll } from '../cli/amounts.ts'
import type { Session } from '../cli/session.ts'
import type { BuiltRow } from '../lists/keyed-list.ts'
import {
  type Call,
  closes,
  type Demand,
  demanding,
  opens,
  provesDecimals,
  type Signing,
  unexpectedBuild,
  wraps,
} from '../signing/demand.ts'
import { buildFields, type SigningFlags } from '../signing/flags.ts'
import { previewLines } from '../signing/preview.ts'
import { runSigned } from '../signing/run.ts'
import type { SignedRun } from '../signing/signed-run.ts'
import { usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { presaleCall } from './proven-raise.ts'

/** A round of a raise. */
export interface Sale {
  raise: Raise
  round: number
  isSol: boolean
}

/** Throws a usage problem for a round that the raise does not have; `shown` names the input. */
export function inRound(raise: Raise, round: number, shown: string): Sale {
  const { length } = raise.rounds
  if (round >= 1 && round <= length) return { raise, round, isSol: raise.quote_mint === WRAPPED_SOL }
  const rounds = length === 1 ? 'one round' : `rounds 1 to ${length}`
  throw usage(`${shown}: the raise has ${rounds}`, { param: shown })
}

export function unitsIn(raise: Raise, amount: string, { raw, shown }: { raw: boolean; shown: string }): bigint {
  const units = rawUnits(amount, raw ? 0 : raise.quote_decimals, shown)
  if (units === 0n) throw usage(`${shown} must be more than 0`, { param: shown })
  return units
}

const paidText = ({ raise, isSol }: Sale, units: string | bigint) =>
  `${tokensText(units, raise.quote_decimals)} ${isSol ? 'SOL' : `of ${raise.quote_mint}`}`
const boughtText = ({ raise }: Sale, units: string) => `${tokensText(units, raise.decimals)} of ${raise.mint}`

/** The accounts of a buyer, derived here. */
interface Buyer {
  /** Accounts that every act names. */
  own: { presale: string; escrow: string }
  quotes: string[]
  tokens: string[]
}

async function buyerOf({ payer, accounts }: Signing, { round, raise }: Sale): Promise<Buyer> {
  const { deriveAddress } = await import('../../src/solana/program-addresses.ts')
  const { address: escrow } = deriveAddress(PRESALE.id, ...PRESALE_SEEDS.escrow(raise.id, payer, round - 1))
  const [quotes, tokens] = await Promise.all([accounts(raise.quote_mint, payer), accounts(raise.mint, payer)])
  return { own: { presale: raise.id, escrow }, quotes, tokens }
}

/** What a payment of the quote needs around it: an own account, which is closed again if it was opened for SOL. */
const aroundPayout = ({ payer }: Signing, { raise, isSol }: Sale, { quotes }: Buyer): Call[] => [
  opens(payer, payer, raise.quote_mint),
  ...(isSol ? [closes(payer, quotes)] : []),
]
const times = (call: Call, count: number): Call => ({ ...call, least: count, most: count })
const refundCall = ({ payer: owner }: Signing, { raise }: Sale, { own, quotes }: Buyer): Call =>
  presaleCall(
    'withdraw_remaining_quote',
    { ...own, owner, quote_mint: raise.quote_mint, owner_quote_token: quotes },
    { slices: [] },
  )
const closingCall = ({ payer: owner }: Signing, { own }: Buyer): Call =>
  presaleCall('close_escrow', { ...own, owner, rent_receiver: owner }, {})

/** What the API answers to an act. */
type Built<Act extends BuyerAct> = Awaited<ReturnType<Session['client']['raises'][Act]>>['data']
export type Answer = BuiltRow & { amount: string; warnings?: string[] | undefined }

/** What was typed: raw units of what is paid, null if the API says how much. */
export interface Asked {
  units: bigint | null
  /** Whether it was typed as raw units. */
  raw: boolean
  /** The line of an allowlist that is kept elsewhere. */
  line?: { cap: string; proof: string[] } | undefined
}

/** An act in one round of a raise. */
export interface ActOfBuyer<D extends Answer = Answer> {
  sale: Sale
  what: string
  call(body: { id: string; buyer: string; round: number } & ReturnType<typeof buildFields>): Promise<{ data: D }>
  /** What was checked here, and the calls that the request implies. */
  demand(of: Signing, data: D): Promise<Demand>
  preview(data: D): Parameters<typeof previewLines>[0]
  /** The fields of the answer in raw units, with their decimals. */
  units: Readonly<Record<string, number>>
  /** Those that are not known before the end, and so cannot be added up. */
  estimates?: readonly string[]
  others?: readonly string[]
}

export interface BuyerActKind<D extends Answer = Answer> {
  name: BuyerAct
  done: string
  /** Whether a row of a list has an amount. */
  amount?: 'needed' | 'optional'
  of(session: Session, sale: Sale, asked: Asked): ActOfBuyer<D>
}

export const buildAct = (
  { sale: { raise, round }, call }: ActOfBuyer,
  buyer: string,
  flags: Parameters<typeof buildFields>[0],
) => call({ id: raise.id, buyer, round, ...buildFields(flags) })

/** The fields of an answer that are shown and kept. */
export const fieldsOfAct = ({ units, others = [] }: ActOfBuyer, data: Answer) =>
  Object.fromEntries([...Object.keys(units), ...others].map((name) => [name, data[name as keyof Answer]]))

/** Builds, shows, signs and sends it. `send` replaces the usual sending. */
export const signAct = (session: Session, flags: SigningFlags, act: ActOfBuyer, send?: SignedRun<Answer>['send']) =>
  runSigned<Answer>(session, flags, {
    what: act.what,
    build: (buyer) => buildAct(act, buyer, flags),
    demand: act.demand,
    preview: (data) => previewLines({ ...act.preview(data), note: (data.warnings ?? []).map(printable) }),
    show(data) {
      const { round, raise } = act.sale
      return { id: raise.id, round, mint: raise.mint, quote_mint: raise.quote_mint, ...fieldsOfAct(act, data) }
    },
    decimals: () => act.units,
    ...(send === undefined ? {} : { send }),
  })

const acting = <D extends Answer>(
  sale: Sale,
  says: string,
  calls: (of: Signing, buyer: Buyer, data: D) => Call[] | Promise<Call[]>,
) => demanding(says, async (of, data: D) => calls(of, await buyerOf(of, sale), data))

export const DEPOSIT: BuyerActKind<Built<'deposit'>> = {
  name: 'deposit',
  done: 'deposited',
  amount: 'needed',
  of(session, sale, { units, line }) {
    const { raise } = sale
    const asked = units ?? 0n
    const isFixed = raise.sale_mode === 'fixed_price'
    return {
      sale,
      what: `Deposit ${paidText(sale, asked)} into the raise ${raise.id}`,
      call: (body) => session.client.raises.deposit({ ...body, ...line, amount: String(asked) }),
      demand: acting(sale, 'it deposits this amount into this raise, in your name', (of, buyer, data) =>
        depositCalls(of, sale, buyer, { ...data, asked }),
      ),
      preview: (data) => ({
        pays: paidText(sale, data.amount),
        'on top':
          data.fee !== '0' &&
          `${paidText(sale, data.fee)} of fee${raise.withdrawable ? ', which a withdrawal does not return' : ''}`,
        buys: data.buys !== '0' && `${boughtText(sale, data.buys)}${isFixed ? '' : ' by the deposits so far'}`,
        account: data.rent !== '0' && `${solOf(BigInt(data.rent))} SOL of rent, which the last claim or refund returns`,
      }),
      units: { ...unitsOfAll(['amount', 'fee'], raise.quote_decimals), buys: raise.decimals, rent: SOL_DECIMALS },
      estimates: isFixed ? [] : ['buys'],
    }
  },
}

/** Less than asked may be paid, if the rest buys no whole unit; the fee follows from the round. */
async function depositCalls(
  of: Signing,
  sale: Sale,
  { own, quotes }: Buyer,
  { amount, fee, asked }: { amount: string; fee: string; asked: bigint },
): Promise<Call[]> {
  const { payer } = of
  const { raise, round, isSol } = sale
  const paid = BigInt(amount)
  const bps = raise.rounds[round - 1]?.deposit_fee_bps ?? 0
  if (paid > asked || feeOnTop(paid, bps) !== BigInt(fee))
    throw unexpectedBuild(`it would pay ${paidText(sale, paid)} and ${paidText(sale, fee)} of fee`)
  // The program takes the fee on top, and only a guard bounds what it takes from an account that was open before.
  if (!isSol) of.note(`the round has a deposit fee of ${bps / 100} % (reported by the API; --guard required bounds it)`)
  const opening = { least: 0, group: 'escrow' }
  const joins = { ...own, owner: payer, payer }
  return [
    ...(isSol
      ? await wraps(of, payer, paid + BigInt(fee))
      : [provesDecimals(quotes, raise.quote_mint, raise.quote_decimals, payer)]),
    { ...presaleCall('create_permissionless_escrow', joins), ...opening },
    {
      ...presaleCall('create_permissioned_escrow_with_merkle_proof', { ...joins, registry_index: round - 1 }),
      ...opening,
    },
    presaleCall(
      'deposit',
      { ...own, payer, payer_quote_token: quotes, quote_mint: raise.quote_mint, max_amount: asked },
      { max_amount: asked, slices: [] },
    ),
  ]
}

export const WITHDRAWAL: BuyerActKind<Built<'withdraw'>> = {
  name: 'withdraw',
  done: 'withdrawn',
  amount: 'optional',
  of(session, sale, { units: asked, raw }) {
    const { raise } = sale
    const decimals = raise.quote_decimals
    const withdrawal = ({ payer: owner }: Signing, { own, quotes }: Buyer, amount: bigint): Call => {
      const fields = { ...own, owner, quote_mint: raise.quote_mint, owner_quote_token: quotes, amount }
      return presaleCall('withdraw', fields, { amount, slices: [] })
    }
    return {
      sale,
      what: `Withdraw ${asked === null ? 'the deposit' : paidText(sale, asked)} from the raise ${raise.id}`,
      call: (body) => session.client.raises.withdraw({ ...body, ...(asked === null ? {} : { amount: String(asked) }) }),
      demand: acting(sale, 'it pays you this amount of your deposit', (of, buyer, data) => {
        // Nothing in the transaction proves the decimals of another quote.
        if (asked !== null && !raw && !sale.isSol) of.apiSays(`what buyers pay has ${decimals} decimals`, '--raw')
        return [...aroundPayout(of, sale, buyer), withdrawal(of, buyer, asked ?? BigInt(data.amount))]
      }),
      preview: (data) => ({
        receives: paidText(sale, data.amount),
        lost: data.fee_lost !== '0' && `${paidText(sale, data.fee_lost)} of deposit fee`,
        stays: paidText(sale, data.remaining),
      }),
      units: unitsOfAll(['amount', 'fee_lost', 'remaining'], decimals),
    }
  },
}

export const CLAIM: BuyerActKind<Built<'claim'>> = {
  name: 'claim',
  done: 'claimed',
  of(session, sale) {
    const { mint, decimals } = sale.raise
    return {
      sale,
      what: `Claim tokens bought in the raise ${sale.raise.id}`,
      call: (body) => session.client.raises.claim(body),
      demand: acting(sale, 'it pays what you bought into your own accounts', (of, buyer, data) => {
        const { payer: owner } = of
        const fields = { ...buyer.own, owner, base_mint: mint, owner_base_token: buyer.tokens }
        return [
          opens(owner, owner, mint),
          times(presaleCall('claim', fields, { slices: [] }), data.amount === '0' ? 0 : 1),
          ...(data.refunded === '0' ? [] : [...aroundPayout(of, sale, buyer), refundCall(of, sale, buyer)]),
          ...(data.closes ? [closingCall(of, buyer)] : []),
        ]
      }),
      preview: (data) => ({
        claims: boughtText(sale, data.amount),
        receives: data.received !== data.amount && `${boughtText(sale, data.received)}: the mint has a transfer fee`,
        excess: data.refunded !== '0' && `${paidText(sale, data.refunded)} comes back`,
        later: data.remaining !== '0' && boughtText(sale, data.remaining),
        next: data.next_claim_at,
      }),
      units: { ...unitsOfAll(['amount', 'received', 'remaining'], decimals), refunded: sale.raise.quote_decimals },
      others: ['next_claim_at', 'closes'],
    }
  },
}

export const REFUND: BuyerActKind<Built<'refund'>> = {
  name: 'refund',
  done: 'refunded',
  of: (session, sale) => ({
    sale,
    what: `Take back what is yours from the raise ${sale.raise.id}`,
    call: (body) => session.client.raises.refund(body),
    demand: acting(sale, 'it pays what is yours into your own account', (of, buyer, { amount, closes: isLast }) => [
      ...aroundPayout(of, sale, buyer),
      times(refundCall(of, sale, buyer), amount === '0' ? 0 : 1),
      ...(isLast ? [closingCall(of, buyer)] : []),
    ]),
    preview: (data) => ({ receives: paidText(sale, data.amount) }),
    units: unitsOfAll(['amount'], sale.raise.quote_decimals),
    others: ['closes'],
  }),
}

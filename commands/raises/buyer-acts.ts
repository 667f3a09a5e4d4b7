/** `svc raises deposit`, `withdraw`, `claim` and `refund`: what a buyer of a raise does with its own key. */
import { paths } from '../../src/api/paths.ts'
import type { BuyerAct, Raise } from '../../src/api/raises.ts'
import { hexOf } from '../../src/solana/bytes.ts'
import { SOL_DECIMALS } from '../../src/solana/constants.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { PRESALE, PRESALE_SEEDS } from '../../src/solana/programs/presale.ts'
import { feeOnTop } from '../../src/solana/raise-amounts.ts'
import { rawUnits, solOf, tokensText, unitsOfAll } from '../cli/amounts.ts'
import { type CommandOutcome, integer, required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { readKey } from '../merkle/built-record.ts'
import type { BuiltTransactions } from '../signing/built-transactions.ts'
import {
  type Call,
  closes,
  demanding,
  opens,
  provesDecimals,
  type Signing,
  unexpectedBuild,
  wraps,
} from '../signing/demand.ts'
import { buildFields, SIGNING, type SigningFlags } from '../signing/flags.ts'
import { previewLines } from '../signing/preview.ts'
import { runSigned } from '../signing/run.ts'
import { usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'

const { simulate, submit, get } = paths.transactions
const CALLS = [paths.raises.get, simulate, submit, get]
const RAISE = { ...required(text('Address of the raise', { placeholder: 'RAISE' })), field: 'id' }
const FLAGS = { round: integer('Round of the raise, from 1 (default 1)', { min: 1, max: 5 }), ...SIGNING }
const AMOUNT_FLAGS = { raw: toggle('The amount is raw units, not whole SOL or tokens'), ...FLAGS }
const ID = 'GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222'

/** A raise as the API says it; its address is the one that was typed. */
interface Sale {
  id: string
  round: number
  raise: Raise
  isSol: boolean
  decimals: number
}

async function readSale({ client }: Session, id: string, round = 1): Promise<Sale> {
  readKey(id, 'RAISE')
  const { data: raise } = await client.raises.get({ id })
  const count = raise.rounds.length
  if (round > count)
    throw usage(`--round: the raise has ${count === 1 ? 'one round' : `rounds 1 to ${count}`}`, { param: '--round' })
  const isSol = raise.quote_mint === WRAPPED_SOL
  return { id, round, raise, isSol, decimals: isSol ? SOL_DECIMALS : raise.quote_decimals }
}

function unitsIn({ decimals }: Sale, amount: string, raw: boolean): bigint {
  const units = rawUnits(amount, raw ? 0 : decimals, 'AMOUNT')
  if (units === 0n) throw usage('AMOUNT must be more than 0', { param: 'AMOUNT' })
  return units
}

const paidText = ({ raise, isSol, decimals }: Sale, units: string | bigint) =>
  `${tokensText(units, decimals)} ${isSol ? 'SOL' : `of ${raise.quote_mint}`}`
const boughtText = ({ raise }: Sale, units: string) => `${tokensText(units, raise.decimals)} of ${raise.mint}`

/** The accounts of a buyer, derived here. */
interface Buyer {
  /** Accounts that every act names. */
  own: { presale: string; escrow: string }
  quotes: string[]
  tokens: string[]
}

async function buyerOf({ payer, accounts }: Signing, { id, round, raise }: Sale): Promise<Buyer> {
  const { deriveAddress } = await import('../../src/solana/program-addresses.ts')
  const { address: escrow } = deriveAddress(PRESALE.id, ...PRESALE_SEEDS.escrow(id, payer, round - 1))
  const [quotes, tokens] = await Promise.all([accounts(raise.quote_mint, payer), accounts(raise.mint, payer)])
  return { own: { presale: id, escrow }, quotes, tokens }
}

type Instruction = Parameters<typeof PRESALE.data>[0]
/** A call with exactly these arguments: no accounts of a transfer hook follow. */
const presaleCall = <Name extends Instruction>(
  call: Name,
  fields: Call['fields'],
  args: Parameters<typeof PRESALE.data<Name>>[1],
): Call => ({ program: PRESALE.id, call, fields, data: hexOf(PRESALE.data(call, args)) })

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
type Answer = BuiltTransactions & { amount: string; warnings?: string[] | undefined }

interface ActOfBuyer<D extends Answer> {
  what: string
  /** What was checked here, for the preview. */
  says: string
  call(body: { id: string; buyer: string; round: number } & ReturnType<typeof buildFields>): Promise<{ data: D }>
  calls(of: Signing, buyer: Buyer, data: D): Call[] | Promise<Call[]>
  preview(data: D): Parameters<typeof previewLines>[0]
  /** Fields of the answer in raw units of what is paid, and of the token. */
  quote: readonly (keyof D & string)[]
  token?: readonly (keyof D & string)[]
  others?: readonly (keyof D & string)[]
}

function runBuyer<D extends Answer>(
  session: Session,
  flags: SigningFlags,
  sale: Sale,
  { what, says, call, calls, preview, quote, token = [], others = [] }: ActOfBuyer<D>,
): Promise<CommandOutcome> {
  const { id, round, raise, decimals } = sale
  const demand = demanding(says, async (of, data: D) => calls(of, await buyerOf(of, sale), data))
  return runSigned<D>(session, flags, {
    what,
    build: (buyer) => call({ id, buyer, round, ...buildFields(flags) }),
    demand,
    preview: (data) => previewLines({ ...preview(data), note: (data.warnings ?? []).map(printable) }),
    show: (data) => ({
      ...{ id, round, mint: raise.mint, quote_mint: raise.quote_mint },
      ...Object.fromEntries([...quote, ...token, ...others].map((name) => [name, data[name]])),
    }),
    decimals: () => ({
      ...unitsOfAll(quote, decimals),
      ...unitsOfAll(token, raise.decimals),
      ...unitsOfAll(['rent'], SOL_DECIMALS),
    }),
  })
}

export const depositVerb = verb({
  about: 'Buy in a raise: deposit SOL, or what else it takes',
  details:
    'The fee of the round is on top. SOL is wrapped for it. A wallet of a stored allowlist is admitted with its first deposit.',
  calls: [paths.raises.deposit, ...CALLS],
  args: {
    raise: RAISE,
    amount: required(text('SOL or whole tokens to pay, without the fee', { placeholder: 'AMOUNT' })),
  },
  flags: AMOUNT_FLAGS,
  examples: [`svc raises deposit ${ID} 1.5`, `svc raises deposit ${ID} 1.5 --round 2 -k wallet.json --dry-run`],
  async run({ raise: id, amount, round, raw, ...flags }, session) {
    const sale = await readSale(session, id, round)
    const asked = unitsIn(sale, amount, raw)
    const { raise } = sale
    return runBuyer<Built<'deposit'>>(session, flags, sale, {
      what: `Deposit ${paidText(sale, asked)} into the raise ${id}`,
      says: 'it deposits this amount into this raise, in your name',
      call: (body) => session.client.raises.deposit({ ...body, amount: String(asked) }),
      calls: (of, buyer, data) => depositCalls(of, sale, buyer, { ...data, asked }),
      preview: (data) => ({
        pays: paidText(sale, data.amount),
        'on top':
          data.fee !== '0' &&
          `${paidText(sale, data.fee)} of fee${raise.withdrawable ? ', which a withdrawal does not return' : ''}`,
        buys: `${boughtText(sale, data.buys)}${raise.sale_mode === 'fixed_price' ? '' : ' by the deposits so far'}`,
        account: data.rent !== '0' && `${solOf(BigInt(data.rent))} SOL of rent, which the last claim or refund returns`,
      }),
      quote: ['amount', 'fee'],
      token: ['buys'],
      others: ['rent'],
    })
  },
})

/** Less than asked may be paid, if the rest buys no whole unit; the fee follows from the round. */
async function depositCalls(
  of: Signing,
  sale: Sale,
  { own, quotes }: Buyer,
  { amount, fee, asked }: { amount: string; fee: string; asked: bigint },
): Promise<Call[]> {
  const { payer } = of
  const { raise, round, isSol, decimals } = sale
  const paid = BigInt(amount)
  const bps = raise.rounds[round - 1]?.deposit_fee_bps ?? 0
  if (paid > asked || feeOnTop(paid, bps) !== BigInt(fee))
    throw unexpectedBuild(`it would pay ${paidText(sale, paid)} and ${paidText(sale, fee)} of fee`)
  const opening = { program: PRESALE.id, least: 0, group: 'escrow' }
  const joins = { ...own, owner: payer, payer }
  return [
    ...(isSol
      ? await wraps(of, payer, paid + BigInt(fee))
      : [provesDecimals(quotes, raise.quote_mint, decimals, payer)]),
    { ...opening, call: 'create_permissionless_escrow', fields: joins },
    {
      ...opening,
      call: 'create_permissioned_escrow_with_merkle_proof',
      fields: { ...joins, registry_index: round - 1 },
    },
    presaleCall(
      'deposit',
      { ...own, payer, payer_quote_token: quotes, quote_mint: raise.quote_mint, max_amount: asked },
      { max_amount: asked, slices: [] },
    ),
  ]
}

export const withdrawVerb = verb({
  about: 'Take a deposit back before a raise ends, where it allows that',
  details: 'The deposit fee is not returned.',
  calls: [paths.raises.withdraw, ...CALLS],
  args: { raise: RAISE, amount: text('SOL or whole tokens to take (default all)', { placeholder: 'AMOUNT' }) },
  flags: AMOUNT_FLAGS,
  examples: [`svc raises withdraw ${ID}`, `svc raises withdraw ${ID} 0.5 --dry-run`],
  async run({ raise: id, amount, round, raw, ...flags }, session) {
    const sale = await readSale(session, id, round)
    const asked = amount === undefined ? null : unitsIn(sale, amount, raw)
    return runBuyer<Built<'withdraw'>>(session, flags, sale, {
      what: `Withdraw ${asked === null ? 'the deposit' : paidText(sale, asked)} from the raise ${id}`,
      says: 'it pays you this amount of your deposit',
      call: (body) => session.client.raises.withdraw({ ...body, ...(asked === null ? {} : { amount: String(asked) }) }),
      calls(of, buyer, data) {
        // Nothing in the transaction proves the decimals of another quote.
        if (asked !== null && !raw && !sale.isSol) of.apiSays(`what buyers pay has ${sale.decimals} decimals`, '--raw')
        const units = asked ?? BigInt(data.amount)
        const { quote_mint } = sale.raise
        const fields = { ...buyer.own, owner: of.payer, quote_mint, owner_quote_token: buyer.quotes, amount: units }
        return [...aroundPayout(of, sale, buyer), presaleCall('withdraw', fields, { amount: units, slices: [] })]
      },
      preview: (data) => ({
        receives: paidText(sale, data.amount),
        lost: data.fee_lost !== '0' && `${paidText(sale, data.fee_lost)} of deposit fee`,
        stays: paidText(sale, data.remaining),
      }),
      quote: ['amount', 'fee_lost', 'remaining'],
    })
  },
})

export const claimVerb = verb({
  about: 'Claim the tokens that you bought in a raise',
  details:
    'What has been released so far, and the excess of a pro rata raise with it. The last claim returns the rent of your deposit.',
  calls: [paths.raises.claim, ...CALLS],
  args: { raise: RAISE },
  flags: FLAGS,
  examples: [`svc raises claim ${ID}`, `svc raises claim ${ID} --round 2 -k wallet.json`],
  async run({ raise: id, round, ...flags }, session) {
    const sale = await readSale(session, id, round)
    const { mint } = sale.raise
    return runBuyer<Built<'claim'>>(session, flags, sale, {
      what: `Claim tokens bought in the raise ${id}`,
      says: 'it pays what you bought into your own accounts',
      call: (body) => session.client.raises.claim(body),
      calls(of, buyer, { amount, refunded, closes: isLast }) {
        const { payer: owner } = of
        const fields = { ...buyer.own, owner, base_mint: mint, owner_base_token: buyer.tokens }
        return [
          opens(owner, owner, mint),
          times(presaleCall('claim', fields, { slices: [] }), amount === '0' ? 0 : 1),
          ...(refunded === '0' ? [] : [...aroundPayout(of, sale, buyer), refundCall(of, sale, buyer)]),
          ...(isLast ? [closingCall(of, buyer)] : []),
        ]
      },
      preview: (data) => ({
        claims: boughtText(sale, data.amount),
        receives: data.received !== data.amount && `${boughtText(sale, data.received)}: the mint has a transfer fee`,
        excess: data.refunded !== '0' && `${paidText(sale, data.refunded)} comes back`,
        later: data.remaining !== '0' && boughtText(sale, data.remaining),
        next: data.next_claim_at,
      }),
      quote: ['refunded'],
      token: ['amount', 'received', 'remaining'],
      others: ['next_claim_at', 'closes'],
    })
  },
})

export const refundVerb = verb({
  about: 'Take your deposit back from a failed raise, or the excess of a pro rata raise',
  details: 'A failed raise returns deposit and fee, to the unit, and the rent of your deposit.',
  calls: [paths.raises.refund, ...CALLS],
  args: { raise: RAISE },
  flags: FLAGS,
  examples: [`svc raises refund ${ID}`, `svc raises refund ${ID} --round 2 -k wallet.json`],
  async run({ raise: id, round, ...flags }, session) {
    const sale = await readSale(session, id, round)
    return runBuyer<Built<'refund'>>(session, flags, sale, {
      what: `Take back a deposit from the raise ${id}`,
      says: 'it pays what is yours into your own account',
      call: (body) => session.client.raises.refund(body),
      calls: (of, buyer, { amount, closes: isLast }) => [
        ...aroundPayout(of, sale, buyer),
        times(refundCall(of, sale, buyer), amount === '0' ? 0 : 1),
        ...(isLast ? [closingCall(of, buyer)] : []),
      ],
      preview: (data) => ({ receives: paidText(sale, data.amount) }),
      quote: ['amount'],
      others: ['closes'],
    })
  },
})

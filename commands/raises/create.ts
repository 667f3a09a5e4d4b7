/** `svc raises create`: sells a token, with the plan of the pool that opens afterwards. */
import { paths } from '../../src/api/paths.ts'
import type { RaiseOutcome } from '../../src/api/raises.ts'
import { hexOf } from '../../src/solana/bytes.ts'
import { SOL_DECIMALS } from '../../src/solana/constants.ts'
import { RAISE_MEMO } from '../../src/solana/memos.ts'
import { decodeOnce } from '../../src/solana/messages.ts'
import { RENT_SYSVAR, WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { creationInstruction, fixedPriceInstruction, type RaisePlace } from '../../src/solana/raise-acts.ts'
import type { RaiseDecimals } from '../../src/solana/raise-amounts.ts'
import { beforeDeposits, previewRaise } from '../../src/solana/raise-preview.ts'
import { rentRateIn } from '../../src/solana/rent.ts'
import { feeInEpoch } from '../../src/solana/transfer-fees.ts'
import { decimalOf, groupedDecimalOf, LAMPORT_DECIMALS } from '../cli/amounts.ts'
import { mintAddress, required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { isoOf } from '../cli/typed-times.ts'
import { chainClock } from '../locks/schedule.ts'
import { anyValue, type Call, demanding, provesDecimals, type Signing, writesMemo } from '../signing/demand.ts'
import { previewLine, previewLines } from '../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../signing/run-act.ts'
import { mintState } from '../signing/token-state.ts'
import { failure, Problem, usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'
import { presaleCall } from './proven-raise.ts'
import { type AskedTerms, askedTerms, type RaiseUnits, TERM_FLAGS } from './terms.ts'

interface Creation {
  terms: AskedTerms
  mint: string
  quoteMint: string
  /** Null for the payer. */
  creator: string | null
  /** Whether the creator is a vault, which need not sign. */
  isVault: boolean
  /** Of the answer: the address of the raise. */
  id: string
  decimals: RaiseDecimals
  /** How amounts of another quote than SOL are given without its decimals; null if they were. */
  rawFlag: string | null
}

const CASES = ['best', 'expected', 'failed'] as const
/** Where the start stands in the hex of the data: after the name and both sums. */
const START = { from: 48, to: 64 } as const
/** A build that waits for a person, or a proposal, starts so much later at most than the clock was read. */
const LATEST_START_SECONDS = 600n

const placeOf = ({ id, mint, quoteMint }: Creation): RaisePlace => ({
  ...{ address: id, base: mint, mint, quoteMint, baseVault: id, quoteVault: id, fixedPriceArgs: id },
  ...{ tokenProgram: 'spl', quoteTokenProgram: 'spl' },
})

/** Exactly the data of these terms; only a start that the chain's clock sets may be some minutes later. */
function isCreation(asked: Creation, payer: string): (hex: string) => boolean {
  const { terms } = asked
  const wanted = hexOf(creationInstruction(placeOf(asked), { ...terms, creator: payer, payer, from: payer }).data)
  const without = (hex: string) => hex.slice(0, START.from) + hex.slice(START.to)
  const startIn = (hex: string) => Buffer.from(hex.slice(START.from, START.to), 'hex').readBigUInt64LE()
  return (hex) => {
    if (hex.length !== wanted.length || without(hex) !== without(wanted)) return false
    const later = startIn(hex) - terms.startsAt
    return later === 0n || (terms.startsNow && later > 0n && later <= LATEST_START_SECONDS)
  }
}

/** The price, the raise, and the signature of another creator. */
async function creates(of: Signing, asked: Creation): Promise<Call[]> {
  const { payer } = of
  const { terms, mint, quoteMint, id: presale } = asked
  const creator = asked.creator ?? payer
  if (terms.isByClock && !of.isNow(String(terms.startsAt)))
    of.apiSays(`the raise starts at ${timeText(isoOf(terms.startsAt))}`, '--starts')
  if (asked.rawFlag !== null) of.apiSays(`${quoteMint} has ${asked.decimals.quote} decimals`, asked.rawFlag)
  const own = await of.accounts(mint, payer)
  const { price, withdrawable } = terms
  const fixed =
    price === null ? null : fixedPriceInstruction(placeOf(asked), { payer, owner: creator, price, withdrawable })
  return [
    provesDecimals(own, mint, asked.decimals.token, payer),
    ...(fixed === null
      ? []
      : [
          {
            ...presaleCall('initialize_fixed_price_presale_args', { presale, owner: creator, payer }),
            data: hexOf(fixed.data),
          },
        ]),
    {
      ...presaleCall('initialize_presale', {
        ...{ presale, presale_mint: mint, quote_token_mint: quoteMint, creator, payer, base: anyValue },
        payer_presale_token: own,
        presale_maximum_cap: terms.maximum,
        presale_minimum_cap: terms.minimum,
        presale_end_time: terms.endsAt,
      }),
      data: isCreation(asked, payer),
    },
    ...(creator === payer || asked.isVault ? [] : [writesMemo(RAISE_MEMO)]),
  ]
}

const demandsRaise = demanding('this raise has these terms and this creator; its results are computed here', creates)

/** Each of them costs a fee. */
const signaturesOf = (transaction: string) => decodeOnce(Buffer.from(transaction, 'base64')).message.signers

/** The results of the raise, computed here. Throws a failure if the API says others. */
function outcomes(
  { terms, decimals, ...asked }: Creation,
  {
    fee: transferFee,
    ...costs
  }: Pick<RaiseUnits, 'fee'> & { rentOf: (bytes: number) => bigint /** Of the transaction. */; signatures: number },
  said: Record<(typeof CASES)[number], RaiseOutcome>,
): [string, string[]][] {
  const raise = beforeDeposits({ ...placeOf({ terms, decimals, ...asked }), ...terms, creator: '', createdAt: 0n })
  const figures = previewRaise({ raise, plan: terms.pool, decimals, transferFee, ...costs })
  for (const name of CASES) {
    const field = (Object.keys(figures[name]) as (keyof RaiseOutcome)[]).find(
      (key) => figures[name][key] !== said[name][key],
    )
    if (field === undefined) continue
    throw failure(
      `the API says ${field} ${printable(String(said[name][field]))} for the ${name} case, and ${figures[name][field]} was computed here; nothing was signed`,
      { next: 'check which API answers: `svc config list`' },
    )
  }
  const row = (label: string, of: (one: RaiseOutcome) => string): [string, string[]] => [
    label,
    CASES.map((name) => of(figures[name])),
  ]
  const sum = (label: string, key: keyof RaiseOutcome, digits: number) =>
    row(label, (one) => groupedDecimalOf(BigInt(one[key] ?? 0), digits))
  const share = (bps: number | null) => (bps === null ? '-' : `${bps / 100} %`)
  const { token, quote } = decimals
  return [
    sum('raised', 'raised', quote),
    sum('refunded', 'refunded', quote),
    sum('buyers get', 'buyers_get', token),
    row('price', ({ price }) => price ?? '-'),
    sum(asked.creator === null ? 'you get' : 'creator gets', 'creator_gets', quote),
    sum('fees', 'fees', quote),
    sum('tokens back', 'creator_tokens', token),
    sum('burnt', 'burned', token),
    sum('dust', 'dust', token),
    ...(terms.pool === null
      ? []
      : [
          sum('pool: paid', 'pool_quote', quote),
          sum('pool: token', 'pool_tokens', token),
          row('pool: price', ({ pool_price }) => pool_price ?? '-'),
          row('of raise', ({ pool_price_bps }) => share(pool_price_bps)),
          row('locked', ({ locked_bps }) => share(locked_bps)),
        ]),
    sum('SOL spent', 'lamports', LAMPORT_DECIMALS),
  ]
}

const MOST_COLUMNS = 80
/** Three columns, or a block for each case if numbers are too long for 80 columns. */
function outcomeLines(rows: [string, string[]][]): string[] {
  const shown = rows.filter(([, cells]) => cells.some((cell) => cell !== '0' && cell !== '-'))
  const widths = CASES.map((name, i) => Math.max(name.length, ...shown.map(([, cells]) => cells[i]?.length ?? 0)))
  const label = 14
  if (label + widths.reduce((sum, width) => sum + width + 2, 0) <= MOST_COLUMNS) {
    const line = (name: string, cells: readonly string[]) =>
      `  ${name.padEnd(label - 2)}${cells.map((cell, i) => `  ${cell.padStart(widths[i] ?? 0)}`).join('')}`
    return [line('', CASES), ...shown.map(([name, cells]) => line(name, cells))]
  }
  return CASES.flatMap((name, i) => [
    `  ${name}`,
    ...shown.map(([each, cells]) => `    ${each.padEnd(label)}${cells[i]}`),
  ])
}

async function rentRate({ client }: Session) {
  const { data } = (await client.accounts.get({ address: RENT_SYSVAR })).data
  const rate = rentRateIn(Buffer.from(data ?? '', 'base64'))
  if (rate === null) throw new Problem('internal_error', 'the API does not show the rent of the chain')
  return rate
}

interface CreatorFlags {
  creator: string | undefined
  creator_vault: string | undefined
}

/** Who takes what is raised: the fields of the request, its address, and its key if it is here. */
async function creatorOf({ creator, creator_vault: vault }: CreatorFlags) {
  if (vault !== undefined) {
    const [, multisig, index = '0'] = /^([1-9A-HJ-NP-Za-km-z]{32,44})(?::(\d{1,3}))?$/.exec(vault) ?? []
    const vault_index = Number(index)
    const param = '--creator-vault'
    if (multisig === undefined || vault_index > 255)
      throw usage(`${param} is MULTISIG or MULTISIG:INDEX, with an index up to 255`, { param })
    const { vaultAddress } = await import('../../src/solana/squads/index.ts')
    const address = vaultAddress(multisig, vault_index)
    return { body: { creator_vault: { multisig, vault_index } }, address, keys: [] }
  }
  if (creator === undefined) return { body: {}, address: null, keys: [] }
  if (/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(creator)) return { body: { creator }, address: creator, keys: [] }
  const { readCreatorKey } = await import('../machine/wallets/keypair-file.ts')
  const { address, secretKey } = readCreatorKey(creator)
  return { body: { creator: address }, address, keys: [secretKey] }
}

export const createVerb = verb({
  about: 'Sell a token to raise money, and fix beforehand which pool opens with it',
  details:
    'The tokens for sale move into a vault of the program. Before anything is signed, three results are computed here, to the unit: best reaches the maximum, expected just reaches the minimum, failed lacks one unit of it. --then-pool fixes the pool that the creator opens afterwards: standard is half of what is raised, at the price of the raise, all liquidity locked, fee 1 %. Nothing on chain makes the creator open it. The creator never changes: another wallet must sign too, and --creator takes its keypair file.',
  calls: [paths.raises.create, paths.accounts.get, ...ACT_CALLS],
  args: { mint: required(mintAddress('Mint of the token, or its symbol')) },
  flags: {
    ...TERM_FLAGS,
    quote: text('Mint of what buyers pay (default wrapped SOL)', { placeholder: 'MINT', field: 'quote_mint' }),
    creator: text('Wallet that takes what is raised, or its keypair file (default you)', {
      placeholder: 'WALLET|FILE',
      conflicts: ['creator_vault'],
    }),
    creator_vault: text('The vault of a Squads multisig takes it', { placeholder: 'MULTISIG[:INDEX]' }),
    settle: toggle('With --signed: a worker settles the raise after its end', { needs: ['signed'] }),
    ...ACT_SIGNING,
  },
  needs: [['price', 'supply', 'round']],
  examples: [
    'svc raises create 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --sale-mode fixed_price --price 0.001 --min 10 --max 80 --ends 2026-12-31T12:00:00Z --then-pool standard --dry-run',
    'svc raises create 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --sale-mode pro_rata --supply 80000 --min 10 --max 80 --ends 2026-12-31T12:00:00Z --lock 1h --vesting 30d --dry-run',
  ],
  async run({ mint, quote = WRAPPED_SOL, creator, creator_vault, settle, ...input }, session) {
    const [sold, paid, { now, epoch }, rentOf] = await Promise.all([
      mintState(session, mint),
      mintState(session, quote),
      chainClock(session),
      rentRate(session),
    ])
    const isSol = quote === WRAPPED_SOL
    const decimals = { token: sold.decimals, quote: isSol ? SOL_DECIMALS : paid.decimals }
    const isRaw = isSol || (input.raw && input.price === undefined)
    const rawFlag = isRaw ? null : input.price === undefined ? '--raw' : '--raw with --supply instead of --price'
    const units = { decimals, fee: feeInEpoch(sold, epoch), now, rentOf }
    const terms = await askedTerms(input, units)
    const { body: ofCreator, address, keys } = await creatorOf({ creator, creator_vault })
    const isVault = creator_vault !== undefined
    const asked = (id: string): Creation => ({
      ...{ terms, mint, quoteMint: quote, creator: address, isVault, id },
      decimals,
      rawFlag,
    })
    const ofQuote = isSol ? {} : { quote_mint: quote }
    const request = { mint, ...terms.request, ...ofCreator, ...ofQuote, ...(settle ? { settle } : {}) }
    const unit = isSol ? 'SOL' : `of ${quote}`
    const whole = (raw: bigint) => decimalOf(raw, decimals.quote)
    const at = (seconds: bigint) => timeText(isoOf(seconds))
    return runAct(session, input, {
      what: `Raise ${whole(terms.minimum)} to ${whole(terms.maximum)} ${unit} for ${decimalOf(terms.supply, decimals.token)} of ${mint}`,
      call: (body, options) => session.client.raises.create({ ...request, ...body }, options),
      demand: (of, { id }) => demandsRaise(of, asked(id)),
      ...(keys.length === 0 ? {} : { secretKeys: () => keys }),
      preview: ({ id, creator: takes, preview, warnings, transaction }) => [
        ...outcomeLines(outcomes(asked(id), { ...units, signatures: signaturesOf(transaction) }, preview)),
        ...previewLines({
          raise: id,
          ends: at(terms.endsAt),
          claims: `${terms.releaseBps / 100} % at once, all by ${at(terms.endsAt + terms.lockSeconds + terms.vestingSeconds)}`,
          trades:
            terms.pool?.when === 'before_end' &&
            `in the pool from ${at(terms.endsAt + BigInt(terms.pool.opens_after_seconds))}; settle before`,
          kept: 'the SOL spent is rent and fees that no act returns',
          vaults: 'they take deposits alone: what is sent to them by a plain transfer is lost',
          trust: ['nothing on chain makes the creator open a pool: buyers trust the key', `of ${address ?? takes}`],
        }),
        ...(warnings ?? []).map((warning) => previewLine('warning', printable(warning))),
      ],
      show: ({ id, creator: takes, price, supply, starts_at, ends_at }) => ({
        ...{ id, mint, creator: takes, sale_mode: terms.mode, price },
        ...{ min: String(terms.minimum), max: String(terms.maximum), supply, starts_at, ends_at },
      }),
      decimals: { min: decimals.quote, max: decimals.quote, supply: decimals.token },
    })
  },
})

/** `svc pools swap`: a buy or a sell on a pool of either type, quoted, signed locally and submitted. */

import { paths } from '../../src/api/paths.ts'
import type { PoolSwap } from '../../src/api/pools.ts'
import type { Transaction } from '../../src/api/transactions.ts'
import { poolState, type QuoteUnit, quoteUnitOf, RAW_UNITS, SOL_UNIT, shortOf } from '../../src/solana/launch-curve.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { groupedDecimalOf, rawUnits } from '../cli/amounts.ts'
import { integer, poolAddress, required, text, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { type Flat, flat } from '../signing/built-transactions.ts'
import { buildFields, SIGNING } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { runSigned } from '../signing/run.ts'
import { mintState } from '../signing/token-state.ts'
import { usage } from '../ui/problem.ts'
import { requireQuote } from './launch-demand.ts'
import { nextStep } from './next-step.ts'
import { demandsSwap } from './trade-demand.ts'

const { submit, get, simulate } = paths.transactions
const DEFAULT_SLIPPAGE_BPS = 100
/** The most decimals of any quote; the quote is not known before the pool is read. */
const MOST_DECIMALS = 18

export const swap = verb({
  about: 'Buy or sell on a pool',
  details:
    'Shows what you pay and get, and what the transaction changes. The transaction fails if you would get less than the minimum.',
  calls: [
    paths.pools.get,
    paths.accounts.get,
    paths.pools.swap,
    simulate,
    submit,
    get,
    paths.transactions.changes,
    paths.service.workers,
  ],
  args: { address: required(poolAddress()) },
  flags: {
    buy: text('SOL to spend, or whole tokens of the quote if that is not SOL', { placeholder: 'SOL' }),
    sell: text('Whole tokens to sell, like 1000 or 0.5', { placeholder: 'TOKENS', conflicts: ['buy'] }),
    slippage_bps: integer(
      `How much less than quoted to accept, in hundredths of a percent (default ${DEFAULT_SLIPPAGE_BPS})`,
      {
        min: 0,
        max: 10_000,
      },
    ),
    quote: text('Mint of the quote that --buy spends, if it is not SOL', { placeholder: 'MINT' }),
    ...SIGNING,
  },
  needs: [['buy', 'sell']],
  examples: [
    'svc pools swap CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --buy 0.5',
    'svc pools swap CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --sell 1000 --slippage-bps 50 --dry-run',
  ],
  async run({ address, buy, sell, slippage_bps = DEFAULT_SLIPPAGE_BPS, quote: meant, ...flags }, session) {
    const side = buy === undefined ? 'sell' : 'buy'
    if (buy !== undefined) positive(rawUnits(buy, MOST_DECIMALS, '--buy'), '--buy')
    const { data: pool } = await session.client.pools.get({ address })
    const { decimals: stateDecimals, feesInSol } = poolState(pool)
    const quote = await quoteOfPool(session, pool.quote_mint)
    const paidQuote = buy === undefined ? null : positive(rawUnits(buy, quote.decimals, '--buy'), '--buy')
    const decimals = stateDecimals ?? (await mintState(session, pool.base_mint)).decimals
    const asked = paidQuote ?? positive(rawUnits(sell ?? '', decimals, '--sell'), '--sell')
    const name = pool.symbol ?? pool.base_mint
    let amount = asked
    const outcome = await runSigned<Flat<PoolSwap>>(session, flags, {
      what: buy === undefined ? `Sell ${sell} ${name}` : `Buy ${name} for ${buy} ${quote.unit}`,
      async build(payer) {
        const body = { address, payer, side, slippage_bps, ...buildFields(flags) } as const
        const built = await swapWithinCurve(session, body, amount)
        amount = built.amount
        return flat(built)
      },
      demand: (of, { estimated_out, minimum_out }) => {
        const [paid, received] = side === 'buy' ? [pool.quote_mint, pool.base_mint] : [pool.base_mint, pool.quote_mint]
        if (side === 'buy') requireQuote(of, { quote: meant }, pool.quote_mint)
        const least = (BigInt(estimated_out) * BigInt(10_000 - slippage_bps)) / 10_000n
        const isLeast = (units: string) => units === minimum_out && BigInt(units) >= least
        const digits = side === 'buy' ? quote.decimals : decimals
        const trade = { pool: address, payer: of.payer, base: pool.base_mint, paid, received, amount }
        return demandsSwap(of, { ...trade, decimals: digits, least: isLeast })
      },
      decimals: () => {
        const base = { decimals, unit: name }
        const [paid, received] = side === 'buy' ? [quote, base] : [base, quote]
        return {
          amount_in: paid,
          received,
          estimated_out: received,
          minimum_out: received,
          fee: feesInSol === null ? RAW_UNITS : feesInSol ? quote : received,
        }
      },
      preview: (data) => [
        ...quoteLines(data, { decimals, name, feesInSol, slippage_bps, quote }),
        ...keptLines(asked - amount, quote),
      ],
      show: async ({ amount_in, estimated_out, minimum_out, fee }, confirmed) => ({
        pool_address: address,
        side,
        amount_in,
        ...(await receivedField(session, confirmed?.at(-1), side === 'buy' ? pool.base_mint : pool.quote_mint)),
        estimated_out,
        minimum_out,
        fee,
      }),
    })
    if (side === 'sell' || pool.type !== 'dbc' || flags.dry_run || flags.build_only) return outcome
    // The trade is confirmed, so a failure to read the pool again must not make it look failed.
    const after = await session.client.pools.get({ address }).catch(() => null)
    const next = after === null ? [] : await nextStep(session, after.data)
    return { ...outcome, notes: [...(outcome.notes ?? []), ...next] }
  },
})

/**
 * What came out, in raw units, as the chain recorded it: the tokens that the signer gained, or the wrapped SOL that the
 * pool's vault lost. Nothing if it cannot be read: the trade is done all the same.
 */
async function receivedField(
  { client }: Session,
  confirmed: Transaction | undefined,
  mint: string,
): Promise<{ received?: string }> {
  if (confirmed === undefined) return {}
  const answer = await client.transactions.changes({ signature: confirmed.signature }).catch(() => null)
  const isLoss = mint === WRAPPED_SOL
  const [row, ...others] = (answer?.data.balance_changes ?? []).filter(
    ({ mint: of, change }) => of === mint && change.startsWith('-') === isLoss,
  )
  return row === undefined || others.length > 0 ? {} : { received: row.change.replace('-', '') }
}

type SwapBody = Omit<Parameters<Session['client']['pools']['swap']>[0], 'amount'>

/**
 * Builds the swap, and returns the raw units that it spends. A buy past the end of the curve spends what the curve
 * takes, so that the wallet needs only that much, and pays no more if somebody sells meanwhile.
 */
async function swapWithinCurve({ client }: Session, body: SwapBody, amount: bigint) {
  const { data } = await client.pools.swap({ ...body, amount: String(amount) })
  const taken = BigInt(data.amount_in)
  if (body.side === 'sell' || taken >= amount) return { data, amount }
  return { data: (await client.pools.swap({ ...body, amount: String(taken) })).data, amount: taken }
}

const keptLines = (kept: bigint, { decimals, unit }: { decimals: number; unit: string }): string[] =>
  kept === 0n ? [] : [previewLine('keeps', `${groupedDecimalOf(kept, decimals)} ${unit}: the curve ends here`)]

/** The quote of a pool; a token other than SOL has its decimals in its mint. */
async function quoteOfPool(session: Session, mint: string): Promise<QuoteUnit> {
  const known = quoteUnitOf(mint, null)
  return known === SOL_UNIT ? known : quoteUnitOf(mint, (await mintState(session, mint)).decimals)
}

function positive(units: bigint, shown: string): bigint {
  if (units > 0n) return units
  throw usage(`${shown} must be more than 0`, { param: shown })
}

interface QuoteUnits {
  decimals: number
  name: string
  feesInSol: boolean | null
  slippage_bps: number
  /** What the pool is traded against; SOL when left out. */
  quote?: QuoteUnit
}

/** The lines of a quote: amount in, amount out, minimum, fee, and the resulting price. */
export function quoteLines(
  swapped: Omit<PoolSwap, 'tx'>,
  { decimals, name, feesInSol, slippage_bps, quote = SOL_UNIT }: QuoteUnits,
): string[] {
  const { side, amount_in, estimated_out, minimum_out, fee } = swapped
  const sol = (units: string) => `${groupedDecimalOf(BigInt(units), quote.decimals)} ${quote.unit}`
  const tokens = (units: string) => `${groupedDecimalOf(BigInt(units), decimals)} ${name}`
  const [paid, received] = side === 'buy' ? [sol, tokens] : [tokens, sol]
  // Fees that are not always in the quote are taken from what is received.
  const charged = feesInSol === null ? (units: string) => `${units} raw units` : feesInSol ? sol : received
  const [lamports, units] = side === 'buy' ? [amount_in, estimated_out] : [estimated_out, amount_in]
  return [
    previewLine('pays', paid(amount_in)),
    previewLine('receives', received(estimated_out)),
    previewLine('at least', `${received(minimum_out)} (${slippage_bps / 100} % less)`),
    previewLine('pool fee', charged(fee)),
    previewLine(
      'price',
      `${priceOfTrade(BigInt(lamports), BigInt(units), decimals - quote.decimals)} ${quote.unit} for one, fee included`,
    ),
  ]
}

/** `places` are the decimals of the token less those of the quote. */
function priceOfTrade(lamports: bigint, units: bigint, places: number): string {
  if (units === 0n) return 'no'
  const scale = 24
  return shortOf((lamports * 10n ** BigInt(scale + places)) / units, scale)
}

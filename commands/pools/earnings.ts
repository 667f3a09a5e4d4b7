/** `svc pools earnings`: what a pool has earned for partner, creator and protocol, by where it comes from. */
import { paths } from '../../src/api/paths.ts'
import type { EarnedAmountsRecord, PoolEarnings } from '../../src/api/pool-earnings.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS, wholeOf } from '../cli/amounts.ts'
import { poolAddress, required, verb } from '../cli/command.ts'
import { printable } from '../ui/render.ts'

const COLUMNS = ['party', 'kind', 'token', 'accrued', 'claimable', 'claimed'] as const
/** Characters of a mint that stand for a token without a symbol. */
const SHORT_MINT = 6

export const earnings = verb({
  about: 'Read what a pool has earned for partner, creator and protocol',
  details:
    'Shows earnings before and after the migration; either of the two addresses works. `svc fees claim` claims each kind. A dash is an amount that the chain does not show.',
  calls: [paths.pools.earnings],
  args: { address: required(poolAddress()) },
  examples: [
    'svc pools earnings CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
    'svc pools earnings CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --json',
  ],
  async run({ address }, { client }) {
    const { data } = await client.pools.earnings({ address })
    const rows = earningRows(data)
    const isUnknown = rows.some(({ cells }) => cells.includes(null))
    const notes = [
      ...(isUnknown ? ['-: the chain does not show it.'] : []),
      ...(isUnknown && data.trading_fees !== null ? [togetherNote(data, data.trading_fees.quote)] : []),
      ...(data.positions_complete ? [] : ['A wallet holds so many NFTs that not all of its positions were found.']),
    ]
    return {
      data,
      rows: { columns: COLUMNS, rows: rows.map(({ cells }) => cells) },
      table: {
        columns: COLUMNS,
        rows: rows.map(({ cells: [party, kind, token, ...amounts], decimals }) => [
          party,
          kind,
          token,
          ...amounts.map((amount) => wholeOf(amount, decimals)),
        ]),
      },
      notes,
    }
  },
})

/** The counters that partner and creator share show the amounts of both. */
function togetherNote({ quote_mint, quote_decimals }: PoolEarnings, quote: EarnedAmountsRecord): string {
  const of = (amount: string | null) => (amount === null ? '-' : groupedDecimalOf(BigInt(amount), quote_decimals))
  return `dbc of partner and creator together, in ${quoteName(quote_mint)}: ${of(quote.accrued)} accrued, ${of(quote.claimable)} claimable, ${of(quote.claimed)} claimed.`
}

interface EarningRow {
  cells: (string | null)[]
  decimals: number
}

/** One row for each token of each source; a token without any amount is left out if the source has another. */
function earningRows(earned: PoolEarnings): EarningRow[] {
  const { base_symbol, base_mint, quote_mint, quote_decimals, base_decimals, parties } = earned
  const tokens = {
    quote: { name: quoteName(quote_mint), decimals: quote_decimals },
    lamports: { name: 'SOL', decimals: LAMPORT_DECIMALS },
    base: { name: base_symbol === null ? shortMint(base_mint) : printable(base_symbol), decimals: base_decimals },
  }
  return parties.flatMap(({ party, sources }) =>
    sources.flatMap((source) => {
      const shown = (['quote', 'lamports', 'base'] as const).filter((token) => source[token] !== null)
      const earning = shown.filter((token) => !isNothing(source[token]))
      return (earning.length === 0 ? shown.slice(0, 1) : earning).map((token) => {
        const { accrued = null, claimable = null, claimed = null } = source[token] ?? {}
        const { name, decimals } = tokens[token]
        return { cells: [party, source.kind, name, accrued, claimable, claimed], decimals }
      })
    }),
  )
}

const shortMint = (mint: string) => `${mint.slice(0, SHORT_MINT)}…`
const quoteName = (mint: string) => (mint === WRAPPED_SOL ? 'SOL' : shortMint(mint))

const isNothing = (amounts: EarnedAmountsRecord | null): boolean =>
  amounts?.accrued === '0' && (amounts.claimable ?? '0') === '0'

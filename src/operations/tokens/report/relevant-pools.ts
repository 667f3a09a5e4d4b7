/** Decides which pools of a token count: anybody can open pools, and fill them with tokens of no value. */
import type { TokenReportPools } from '../../../api/token-report.ts'
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'

type Pool = Pick<TokenReportPools['pools'][number], 'base_amount' | 'quote_amount' | 'quote_mint'>

/** A pool counts if it has at least this part of the token in pools, or of all SOL, USDC or USDT in pools. */
const RELEVANT_PARTS = 10n
/** Quotes of value: anybody can make other tokens, and a pool full of them is worth nothing. SOL, USDC, USDT. */
const MONEY = [
  WRAPPED_SOL,
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
]

/** Of many small pools all count. */
export function relevantPools<T extends Pool>(pools: readonly T[], baseAmount: bigint): T[] {
  const quotes = new Map(MONEY.map((mint) => [mint, quoteIn(pools, mint)]))
  const relevant = pools.filter(({ base_amount, quote_amount, quote_mint }) => {
    const quote = quotes.get(quote_mint) ?? 0n
    return (
      BigInt(base_amount) * RELEVANT_PARTS >= baseAmount ||
      (quote > 0n && BigInt(quote_amount) * RELEVANT_PARTS >= quote)
    )
  })
  return relevant.length === 0 ? [...pools] : relevant
}

const quoteIn = (pools: readonly Pool[], mint: string): bigint =>
  pools.reduce((sum, { quote_mint, quote_amount }) => (quote_mint === mint ? sum + BigInt(quote_amount) : sum), 0n)

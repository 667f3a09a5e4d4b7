/** The amounts of a claim as text, each in its own unit. */
import type { FeeClaimCreated } from '../../src/api/fee-claims.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS, solOf } from '../cli/amounts.ts'

export type ShownAmounts = Pick<
  FeeClaimCreated,
  | 'estimated_quote'
  | 'estimated_base'
  | 'estimated_lamports'
  | 'quote_mint'
  | 'quote_decimals'
  | 'base_mint'
  | 'base_decimals'
>

/** Each amount that is not zero, with its unit; `0 SOL` if there is none. */
export function amountTexts(amounts: Partial<ShownAmounts>): string[] {
  const { estimated_quote = '0', estimated_base = '0', estimated_lamports = '0' } = amounts
  const texts = [
    { raw: BigInt(estimated_quote), text: quoteText(amounts) },
    { raw: BigInt(estimated_lamports), text: (raw: bigint) => `${solOf(raw)} SOL` },
    {
      raw: BigInt(estimated_base),
      text: (raw: bigint) => `${groupedDecimalOf(raw, amounts.base_decimals ?? 0)} of ${amounts.base_mint}`,
    },
  ].flatMap(({ raw, text }) => (raw === 0n ? [] : [text(raw)]))
  return texts.length === 0 ? ['0 SOL'] : texts
}

export const quoteText =
  ({ quote_mint = WRAPPED_SOL, quote_decimals = LAMPORT_DECIMALS }: Partial<ShownAmounts>) =>
  (raw: bigint) =>
    quote_mint === WRAPPED_SOL ? `${solOf(raw)} SOL` : `${groupedDecimalOf(raw, quote_decimals)} of ${quote_mint}`

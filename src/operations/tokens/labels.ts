/** Tells symbol, name and decimals of many mints at once, whoever created them. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { TokenLabel } from '../../api/tokens.ts'
import { type OnChainToken, readTokens } from '../../chain/programs/tokens/index.ts'
import type { Context } from '../../context.ts'
import { NATIVE_MINT_2022, WRAPPED_SOL } from '../../solana/program-ids.ts'

type FetchLabelsRoute = Api['tokens']['batchFetch']

/** Most characters of a label: the bytes that Metaplex has room for. Token-2022 takes longer texts, which are cut. */
const MOST_SYMBOL = 10
const MOST_NAME = 32

/** Tokens whose addresses are the same on every cluster that has them, and whose labels nobody can change. */
const WELL_KNOWN: ReadonlyMap<string, { symbol: string; name: string }> = new Map([
  [WRAPPED_SOL, { symbol: 'SOL', name: 'Wrapped SOL' }],
  [NATIVE_MINT_2022, { symbol: 'SOL', name: 'Wrapped SOL (Token-2022)' }],
  ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', { symbol: 'USDC', name: 'USD Coin' }],
  ['4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', { symbol: 'USDC', name: 'USD Coin (devnet)' }],
])

/** Takes one call of the node for each fifty mints. Throws internal_error when the node fails. */
export async function fetchTokenLabels(
  { chain }: Context,
  { mints }: Input<FetchLabelsRoute>,
): Promise<Result<FetchLabelsRoute>> {
  const labels = await readTokenLabels(chain, [...new Set(mints)])
  return { tokens: mints.map((mint) => labels.get(mint) ?? null) }
}

/** The labels of distinct mints; null for what is no mint. Throws internal_error when the node fails. */
export async function readTokenLabels(
  chain: Context['chain'],
  mints: readonly string[],
): Promise<ReadonlyMap<string, TokenLabel | null>> {
  const states = await readTokens(chain, mints)
  return new Map(mints.map((mint, i) => [mint, tokenLabelOf(states[i] ?? null)]))
}

/** Metadata that the mint says is elsewhere is not read, and what else bears its name is not what the mint points to. */
function tokenLabelOf(token: OnChainToken | null): TokenLabel | null {
  if (token === null) return null
  const { mint, decimals, tokenProgram, metadata, metadataElsewhere } = token
  const shown = WELL_KNOWN.get(mint) ?? (metadataElsewhere === null ? metadata : null)
  return {
    mint,
    symbol: cleanLabel(shown?.symbol, MOST_SYMBOL),
    name: cleanLabel(shown?.name, MOST_NAME),
    decimals,
    token_program: tokenProgram,
  }
}

/** Control, direction, invisible, private and unassigned characters, and halves of characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]+/gu
/** Marks that stack on one character beyond two leave its line. */
const STACKED_MARKS = /(\p{M}{2})\p{M}+/gu

/**
 * Returns text that a stranger wrote on chain as one line of at most `most` characters that can be seen, or null where
 * nothing of it is left. A line break or another invisible character counts as a space.
 */
export function cleanLabel(text: string | null | undefined, most: number): string | null {
  // What is beyond a few times the limit cannot show, and is not worth a search.
  const seen = (text ?? '')
    .slice(0, most * 16)
    .normalize('NFC')
    .replace(UNSEEN, ' ')
    .replace(STACKED_MARKS, '$1')
    .replace(/\s+/gu, ' ')
    .trim()
  const cut = [...seen].slice(0, most).join('').trim()
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(cut) ? cut : null
}

/** Reads symbol, name and decimals of many mints at once, whoever created them. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { TokenLabel } from '../../api/tokens.ts'
import { type OnChainToken, readTokens } from '../../chain/programs/tokens/index.ts'
import type { Context } from '../../context.ts'
import { UNPRINTABLE } from '../../platform/printable.ts'
import { NATIVE_MINT_2022, WRAPPED_SOL } from '../../solana/program-ids.ts'

type FetchLabelsRoute = Api['tokens']['batchFetch']

/** Most characters of a label, the limit of Metaplex in bytes. Longer texts of Token-2022 are cut. */
const MOST_SYMBOL = 10
const MOST_NAME = 32

/** Tokens with the same address on every cluster that has them, and with labels that cannot change. */
const WELL_KNOWN: ReadonlyMap<string, { symbol: string; name: string }> = new Map([
  [WRAPPED_SOL, { symbol: 'SOL', name: 'Wrapped SOL' }],
  [NATIVE_MINT_2022, { symbol: 'SOL', name: 'Wrapped SOL (Token-2022)' }],
  ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', { symbol: 'USDC', name: 'USD Coin' }],
  ['4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', { symbol: 'USDC', name: 'USD Coin (devnet)' }],
])

/** Takes one call to the node per fifty mints. Throws internal_error when the node fails. */
export async function fetchTokenLabels(
  { chain }: Context,
  { mints }: Input<FetchLabelsRoute>,
): Promise<Result<FetchLabelsRoute>> {
  const labels = await readTokenLabels(chain, [...new Set(mints)])
  return { tokens: mints.map((mint) => labels.get(mint) ?? null) }
}

/** Reads the labels of distinct mints; null if an address is not a mint. Throws internal_error when the node fails. */
export async function readTokenLabels(
  chain: Context['chain'],
  mints: readonly string[],
): Promise<ReadonlyMap<string, TokenLabel | null>> {
  const states = await readTokens(chain, mints)
  return new Map(mints.map((mint, i) => [mint, tokenLabelOf(states[i] ?? null)]))
}

/** Reads the metadata that the mint points to. If the mint points to another account, that is not read. */
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

/** More than two marks on one character would reach beyond its line. */
const STACKED_MARKS = /(\p{M}{2})\p{M}+/gu

/**
 * Returns a stranger's text from the chain as one line of at most `most` visible characters, or null if nothing is
 * left. Line breaks and other invisible characters count as spaces.
 */
export function cleanLabel(text: string | null | undefined, most: number): string | null {
  // Text far beyond the limit is never shown, so it is cut before the search.
  const seen = (text ?? '')
    .slice(0, most * 16)
    .normalize('NFC')
    .replace(UNPRINTABLE, ' ')
    .replace(STACKED_MARKS, '$1')
    .replace(/\s+/gu, ' ')
    .trim()
  const cut = [...seen].slice(0, most).join('').trim()
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(cut) ? cut : null
}

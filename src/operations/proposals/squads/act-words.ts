/** Says in one sentence what a proposed request does. */
import type { AnyRoute, Units } from '../../../api/route.ts'
import { describeMessage } from '../../../chain/instructions/describe.ts'
import { readTokens } from '../../../chain/programs/tokens/index.ts'
import type { Context } from '../../../context.ts'
import { printable } from '../../../platform/printable.ts'
import { groupedDecimalOf } from '../../../solana/amounts.ts'
import { MOST_WHAT } from '../../../solana/decision-texts.ts'
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { type AddressNames, controlSentences } from '../../../solana/described-instructions.ts'
import type { PlaceAddresses } from '../../../solana/squads/index.ts'

/** The longest sentence about an act. */
const MOST_WORDS = 300

/**
 * By the route's own words, otherwise its summary. Amounts are in whole tokens of the mint that the request or the
 * setting names, or in raw units if that cannot be read.
 */
export async function actWords(
  { chain, config }: Pick<Context, 'chain' | 'config'>,
  { route, input }: { route: AnyRoute; input: Record<string, unknown> },
): Promise<string> {
  const units: Units = async (raw) => {
    const decimals = await decimalsOrNull(chain, input.mint ?? config.values['gold.mint'])
    return decimals === null ? `${groupedDecimalOf(BigInt(raw), 0)} raw units` : groupedDecimalOf(BigInt(raw), decimals)
  }
  const sentence = (await route.says?.(input, units)) ?? route.summary
  return sentence.length > MOST_WORDS ? `${sentence.slice(0, MOST_WORDS - 1)}…` : sentence
}

async function decimalsOrNull(chain: Context['chain'], mint: unknown): Promise<number | null> {
  if (typeof mint !== 'string') return null
  try {
    return (await readTokens(chain, [mint]))[0]?.decimals ?? null
  } catch {
    return null
  }
}

/** What a transaction does that no route built: its beginning as it is given, and what changes control, as far as it fits. */
export function transactionWords(
  beginning: string,
  { message, places }: { message: DecodedMessage; places?: PlaceAddresses },
  names: AddressNames,
): string {
  const sentences = controlSentences(describeMessage(message, places), names).map(printable)
  let words = beginning
  for (const [i, sentence] of sentences.entries()) {
    const next = `${words}${i === 0 ? ': ' : '; '}${sentence}`
    if (next.length > MOST_WHAT)
      return `${words.slice(0, MOST_WHAT - 60)}${i === 0 ? ': ' : '; '}${sentences.length - i} more changes of control, see its plan`
    words = next
  }
  return words
}

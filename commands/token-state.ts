/** What commands need to know of a token before they speak of amounts. */
import type { Session } from './command.ts'

/** Each null where the API does not tell it. Throws not_found without the mint. */
export async function tokenState(
  { client }: Session,
  mint: string,
): Promise<{ decimals: number | null; token_program: string | null }> {
  const { decimals, token_program } = ((await client.tokens.get({ mint })).data.raw ?? {}) as Record<string, unknown>
  return {
    decimals: typeof decimals === 'number' ? decimals : null,
    token_program: typeof token_program === 'string' ? token_program : null,
  }
}

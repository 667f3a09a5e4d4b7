/**
 * Reads tokens from their accounts on chain, because the API's answer about a token may come from a metadata provider.
 */

import type { ChainAccount } from '../../src/solana/accounts.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import type { MintExtensions } from '../../src/solana/token-extensions.ts'
import { inWhole, unitsOfAll } from '../cli/amounts.ts'
import type { Session } from '../cli/session.ts'
import { nullIfNotFound, Problem } from '../ui/problem.ts'

export interface MintOnChain {
  decimals: number
  isToken2022: boolean
  /** The transfer fee of Token-2022, before and from an epoch on; null without one. */
  transferFee: MintExtensions['transferFee']
}

/** The state of a mint; throws not_found if there is none. */
export async function mintState(session: Session, mint: string): Promise<MintOnChain> {
  const { readMint } = await decoding()
  const account = await accountAt(session, mint)
  const state = account && readMint(account)
  if (account === null || state === null) throw new Problem('not_found', `there is no token mint at ${mint}`)
  const isToken2022 = account.owner === TOKEN_2022_PROGRAM
  const { readMintExtensions } = await import('../../src/solana/token-extensions.ts')
  const transferFee = isToken2022 ? readMintExtensions(account.data).transferFee : null
  return { decimals: state.decimals, isToken2022, transferFee }
}

/** The decimals of a mint; null if the chain has no such mint. */
export async function mintDecimals(session: Session, mint: string): Promise<number | null> {
  return (await nullIfNotFound(mintState(session, mint)))?.decimals ?? null
}

/** The same for several mints, each of which is read once. */
export async function decimalsOfMints(session: Session, mints: readonly string[]): Promise<Map<string, number | null>> {
  const each = [...new Set(mints)].map(async (mint) => [mint, await mintDecimals(session, mint)] as const)
  return new Map(await Promise.all(each))
}

/**
 * What a terminal shows of an answer about a mint, with the named amounts in whole tokens; empty if the chain has no
 * such mint.
 */
export async function recordInTokens<Answer extends { mint: string }>(
  session: Session,
  answer: Answer,
  amounts: readonly (keyof Answer & string)[],
): Promise<{ record?: Record<string, unknown> }> {
  const decimals = await mintDecimals(session, answer.mint)
  if (decimals === null) return {}
  return { record: inWhole(answer, unitsOfAll(amounts, decimals)) }
}

/**
 * The raw units in a token account of SPL Token; 0 if none is open, for example if only lamports were sent to the
 * address.
 */
export async function tokenBalance(session: Session, address: string): Promise<bigint> {
  const { readTokenAccount } = await decoding()
  const account = await accountAt(session, address)
  if (account?.owner !== TOKEN_PROGRAM) return 0n
  return readTokenAccount(account)?.amount ?? 0n
}

/** The account at an address; null if there is none. */
async function accountAt({ client }: Session, address: string): Promise<ChainAccount | null> {
  const account = (await nullIfNotFound(client.accounts.get({ address })))?.data
  if (account === undefined) return null
  const { owner, executable, data } = account
  // Only owner and data determine what a token account or a mint is.
  return { lamports: 0n, owner, executable, data: Buffer.from(data ?? '', 'base64') }
}

/** The decoding is loaded only when a token is read, because help and lists do not need base58. */
const decoding = () => import('../../src/solana/token-accounts.ts')

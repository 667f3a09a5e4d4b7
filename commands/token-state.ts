/** Tokens as their accounts on chain show them: the API's answer about a token may come from a metadata provider. */

import type { ChainAccount } from '../src/solana/accounts.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../src/solana/program-ids.ts'
import type { Session } from './session.ts'
import { nullIfNotFound, Problem } from './ui/problem.ts'

export interface MintOnChain {
  decimals: number
  isToken2022: boolean
}

/** Throws not_found where no mint is. */
export async function mintState(session: Session, mint: string): Promise<MintOnChain> {
  const { readMint } = await decoding()
  const account = await accountAt(session, mint)
  const state = account && readMint(account)
  if (account === null || state === null) throw new Problem('not_found', `there is no token mint at ${mint}`)
  return { decimals: state.decimals, isToken2022: account.owner === TOKEN_2022_PROGRAM }
}

/** Raw units in a token account of SPL Token; 0 where none is open, as where somebody sent lamports to its address. */
export async function tokenBalance(session: Session, address: string): Promise<bigint> {
  const { readTokenAccount } = await decoding()
  const account = await accountAt(session, address)
  if (account?.owner !== TOKEN_PROGRAM) return 0n
  return readTokenAccount(account)?.amount ?? 0n
}

/** Null where there is none. */
async function accountAt({ client }: Session, address: string): Promise<ChainAccount | null> {
  const account = (await nullIfNotFound(client.accounts.get({ address })))?.data
  if (account === undefined) return null
  const { owner, executable, data } = account
  // Owner and data alone decide what a token account or a mint is.
  return { lamports: 0n, owner, executable, data: Buffer.from(data ?? '', 'base64') }
}

/** Loaded where a token is read: help and lists do without base58. */
const decoding = () => import('../src/solana/token-accounts.ts')

/** Reads a token from the chain, and says how far its authorities are gone. */
import type { AccountInfo, Connection, PublicKey } from '@solana/web3.js'
import { notFound } from '../../../errors.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { askNode } from '../../rpc-faults.ts'
import { decodeExtension } from './metadata-extension.ts'
import { decodeMetaplex, metadataAddress } from './metaplex.ts'
import type { AuthorityStatus, OnChainMetadata, OnChainToken } from './types.ts'

type TokenAccountInfo = AccountInfo<Buffer> | null

/** One call at the connection's commitment. Throws not_found where no mint is. */
export async function readTokenState(connection: Connection, mint: string): Promise<OnChainToken> {
  const { PublicKey } = await import('@solana/web3.js')
  const key = new PublicKey(mint)
  const accounts = await connection.getMultipleAccountsInfo([key, await metadataAddress(key)])
  const token = await decodeTokenState(mint, accounts[0] ?? null, accounts[1] ?? null)
  if (token === null) throw notFound(`There is no token mint at ${mint}`, { param: 'mint' })
  return token
}

/** Accounts of one getMultipleAccounts; a token takes two. */
const TOKENS_PER_CALL = 50
export const tokenReadCalls = (tokens: number) => Math.ceil(tokens / TOKENS_PER_CALL)

/**
 * Any number of tokens at the connection's commitment, fifty a call; null where no mint is. Throws internal_error where
 * the node fails, or has not reached `slot`.
 */
export async function readTokens(
  connection: Connection,
  mints: readonly string[],
  slot: number,
): Promise<(OnChainToken | null)[]> {
  if (mints.length === 0) return []
  const { PublicKey } = await import('@solana/web3.js')
  const states: (OnChainToken | null)[] = []
  for (let at = 0; at < mints.length; at += TOKENS_PER_CALL) {
    const part = mints.slice(at, at + TOKENS_PER_CALL)
    const keys = part.map((mint) => new PublicKey(mint))
    const addresses = [...keys, ...(await Promise.all(keys.map(metadataAddress)))]
    const accounts = await askNode('Reading tokens', () =>
      connection.getMultipleAccountsInfo(addresses, { minContextSlot: slot }),
    )
    const decoded = part.map((mint, i) =>
      decodeTokenState(mint, accounts[i] ?? null, accounts[part.length + i] ?? null),
    )
    states.push(...(await Promise.all(decoded)))
  }
  return states
}

/**
 * Decodes a mint's account and the one at `metadataAddress(mint)`; null when the first is no mint. Metadata in the mint
 * goes before Metaplex; metadata that cannot be read, or that a pointer says is elsewhere, reads as none.
 */
export async function decodeTokenState(
  mint: string,
  account: TokenAccountInfo,
  metaplex: TokenAccountInfo,
): Promise<OnChainToken | null> {
  const [{ PublicKey }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  if (account === null) return null
  const isSpl = account.owner.equals(spl.TOKEN_PROGRAM_ID)
  if (!isSpl && !account.owner.equals(spl.TOKEN_2022_PROGRAM_ID)) return null
  const state = unlessUnreadable(() => spl.unpackMint(new PublicKey(mint), account, account.owner))
  if (!state?.isInitialized) return null
  const extension = unlessUnreadable(() => spl.getExtensionData(spl.ExtensionType.TokenMetadata, state.tlvData))
  const pointer = unlessUnreadable(() => spl.getMetadataPointerState(state))
  const pointed = base58OrNull(pointer?.metadataAddress ?? null)
  const known = [null, mint, (await metadataAddress(new PublicKey(mint))).toBase58()]
  return {
    mint,
    tokenProgram: isSpl ? 'spl' : 'token2022',
    decimals: state.decimals,
    supply: state.supply,
    mintAuthority: base58OrNull(state.mintAuthority),
    freezeAuthority: base58OrNull(state.freezeAuthority),
    metadata: extension === null ? readMetaplex(metaplex, mint) : unlessUnreadable(() => decodeExtension(extension)),
    metadataPointerAuthority: base58OrNull(pointer?.authority ?? null),
    metadataElsewhere: known.includes(pointed) ? null : pointed,
  }
}

/**
 * Mint and freeze gone with metadata left reads `mint_authority_revoked`. A token without metadata has none left to
 * change; of metadata in an account that is not read here nobody can say so.
 */
export function tokenStatus(state: OnChainToken): AuthorityStatus {
  const { mintAuthority, freezeAuthority, metadata, metadataPointerAuthority, metadataElsewhere } = state
  const metadataGone = metadata?.isMutable !== true && metadataPointerAuthority === null && metadataElsewhere === null
  if (mintAuthority === null)
    return freezeAuthority === null && metadataGone ? 'fully_immutable' : 'mint_authority_revoked'
  return freezeAuthority === null ? 'freeze_authority_revoked' : 'created'
}

function readMetaplex(account: TokenAccountInfo, mint: string): OnChainMetadata | null {
  if (account?.owner.toBase58() !== PROGRAMS.tokenMetadata.id) return null
  return unlessUnreadable(() => decodeMetaplex(account.data, mint))
}

const base58OrNull = (key: PublicKey | null): string | null => key?.toBase58() ?? null

/** Accounts of strangers may hold anything: what cannot be read is not there. */
function unlessUnreadable<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

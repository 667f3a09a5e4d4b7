/** Reads a token from the chain, and determines which authorities are revoked. */
import type { AccountInfo, Connection, PublicKey } from '@solana/web3.js'
import { notFound } from '../../../errors.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { askNode } from '../../rpc-faults.ts'
import { decodeExtension } from './metadata-extension.ts'
import { decodeMetaplex, metadataAddress } from './metaplex.ts'
import type { AuthorityStatus, OnChainMetadata, OnChainToken } from './types.ts'

type TokenAccountInfo = AccountInfo<Buffer> | null

/** Takes one call at the connection's commitment. Throws not_found when the address has no mint. */
export async function readTokenState(connection: Connection, mint: string): Promise<OnChainToken> {
  const { PublicKey } = await import('@solana/web3.js')
  const key = new PublicKey(mint)
  const accounts = await connection.getMultipleAccountsInfo([key, await metadataAddress(key)])
  const token = await decodeTokenState(mint, accounts[0] ?? null, accounts[1] ?? null)
  if (token === null) throw notFound(`There is no token mint at ${mint}`, { param: 'mint' })
  return token
}

/** Tokens in one getMultipleAccounts, each of which takes two accounts. */
const TOKENS_PER_CALL = 50
export const tokenReadCalls = (tokens: number) => Math.ceil(tokens / TOKENS_PER_CALL)

/**
 * Reads any number of tokens at the connection's commitment, fifty per call, with null for an address without a mint.
 * Throws internal_error when the node fails or has not reached `slot`.
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
 * Decodes a mint's account and the one at `metadataAddress(mint)`, or returns null when the first is no mint. Metadata
 * in the mint takes precedence over Metaplex. Unreadable metadata, or metadata that a pointer places elsewhere, is read
 * as none.
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
 * Without mint and freeze authority but with metadata, the status is `mint_authority_revoked`. A token without metadata
 * has none to change, but metadata in an account that is not read here may be mutable.
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

/** Accounts of others may hold any data, so unreadable data counts as absent. */
function unlessUnreadable<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

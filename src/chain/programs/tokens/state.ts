/** Reads a token from the chain, and determines which authorities are revoked. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PublicKey } from '@solana/web3.js'
import { notFound } from '../../../platform/errors.ts'
import { CLOCK_SYSVAR, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../solana/program-ids.ts'
import { readMintExtensions } from '../../../solana/token-extensions.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { askNode } from '../../nodes/rpc-faults.ts'
import { type ChainTime, chainTimeOf } from '../../reads/chain-clock.ts'
import { accountsAtSlot, type MaybeAccount } from '../../reads/node-reads.ts'
import { addressOfKey } from '../derived-addresses.ts'
import { decodeExtension } from './metadata-extension.ts'
import { decodeMetaplex, metadataAddressOf } from './metaplex.ts'
import type { AuthorityStatus, OnChainToken } from './types.ts'

/** Takes one call at the node's commitment. Throws not_found when the address has no mint. */
export async function readTokenState(node: NodeCalls, mint: string): Promise<OnChainToken> {
  const addresses = [mint, metadataAddressOf(mint)]
  const { accounts } = await askNode('Reading a token', () => accountsAtSlot(node, addresses))
  const token = await decodeTokenState(mint, accounts[0] ?? null, accounts[1] ?? null)
  if (token === null) throw notFound(`There is no token mint at ${mint}`, { param: 'mint' })
  return token
}

/** Reads a token together with the chain's clock, so that both are from one slot. Throws like `readTokenState`. */
export async function readTokenAtTime(
  node: NodeCalls,
  mint: string,
): Promise<{ slot: number; token: OnChainToken; at: ChainTime }> {
  const addresses = [mint, metadataAddressOf(mint), CLOCK_SYSVAR]
  const { slot, accounts } = await askNode('Reading a token', () => accountsAtSlot(node, addresses))
  const token = await decodeTokenState(mint, accounts[0] ?? null, accounts[1] ?? null)
  if (token === null) throw notFound(`There is no token mint at ${mint}`, { param: 'mint' })
  return { slot, token, at: await chainTimeOf(accounts[2] ?? null) }
}

/** Tokens in one getMultipleAccounts. Each takes two accounts. */
const TOKENS_PER_CALL = 50
export const tokenReadCalls = (tokens: number) => Math.ceil(tokens / TOKENS_PER_CALL)

/**
 * Reads any number of tokens at the node's commitment, fifty per call, with null for an address without a mint.
 * Throws internal_error when the node fails or has not reached a given `slot`.
 */
export async function readTokens(
  node: NodeCalls,
  mints: readonly string[],
  slot?: number,
): Promise<(OnChainToken | null)[]> {
  if (mints.length === 0) return []
  const states: (OnChainToken | null)[] = []
  for (let at = 0; at < mints.length; at += TOKENS_PER_CALL) {
    const part = mints.slice(at, at + TOKENS_PER_CALL)
    const addresses = [...part, ...(await metadataAddressesOf(part))]
    const { accounts } = await askNode('Reading tokens', () => accountsAtSlot(node, addresses, slot))
    const decoded = part.map((mint, i) =>
      decodeTokenState(mint, accounts[i] ?? null, accounts[part.length + i] ?? null),
    )
    states.push(...(await Promise.all(decoded)))
  }
  return states
}

/** A search for an address takes up to a millisecond, so other requests get their turn after a few of them. */
const SEARCHES_PER_TURN = 5

async function metadataAddressesOf(mints: readonly string[]): Promise<string[]> {
  const addresses: string[] = []
  for (const mint of mints) {
    addresses.push(metadataAddressOf(mint))
    if (addresses.length % SEARCHES_PER_TURN === 0) await nextTurn()
  }
  return addresses
}

/**
 * Decodes a mint's account and the one at `metadataAddressOf(mint)`, or returns null when the first is not a mint.
 * Metadata
 * in the mint takes precedence over Metaplex. Unreadable metadata, or metadata that a pointer places elsewhere, counts
 * as absent.
 */
export async function decodeTokenState(
  mint: string,
  account: MaybeAccount,
  metaplex: MaybeAccount,
): Promise<OnChainToken | null> {
  const [{ PublicKey }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  if (account === null) return null
  const isSpl = account.owner === TOKEN_PROGRAM
  if (!isSpl && account.owner !== TOKEN_2022_PROGRAM) return null
  const owner = isSpl ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  // The lamports do not affect the decoding, so they are left at 0.
  const info = { ...account, data: Buffer.from(account.data), owner, lamports: 0 }
  const state = unlessUnreadable(() => spl.unpackMint(new PublicKey(mint), info, owner))
  if (!state?.isInitialized) return null
  const extension = unlessUnreadable(() => spl.getExtensionData(spl.ExtensionType.TokenMetadata, state.tlvData))
  const pointer = unlessUnreadable(() => spl.getMetadataPointerState(state))
  const pointed = base58OrNull(pointer?.metadataAddress ?? null)
  const known = [null, mint, metadataAddressOf(mint)]
  return {
    mint,
    tokenProgram: isSpl ? 'spl' : 'token2022',
    decimals: state.decimals,
    supply: state.supply,
    mintAuthority: base58OrNull(state.mintAuthority),
    freezeAuthority: base58OrNull(state.freezeAuthority),
    metadata: extension === null ? decodeMetaplex(metaplex, mint) : unlessUnreadable(() => decodeExtension(extension)),
    metadataPointerAuthority: base58OrNull(pointer?.authority ?? null),
    metadataElsewhere: known.includes(pointed) ? null : pointed,
    extensions: isSpl ? null : readMintExtensions(account.data),
  }
}

/** Returns the extensions of a mint in its order, with the names that the program has for them. */
export async function namedExtensions({ extensions }: Pick<OnChainToken, 'extensions'>) {
  const { ExtensionType } = await import('@solana/spl-token')
  const named = (number: number) => ({ number, name: ExtensionType[number] ?? `number ${number}` })
  return (extensions?.types ?? []).map(named)
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

const base58OrNull = (key: PublicKey | null): string | null => (key === null ? null : addressOfKey(key))

/** Accounts of others may hold any data, so unreadable data counts as absent. */
function unlessUnreadable<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

/** Builds the transactions that revoke an authority of a token for good, or give it to another address. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import { TOKEN_AUTHORITIES, type TokenAuthorityType } from '../../../solana/token-authorities.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { setUpdateAuthority } from './metadata-extension.ts'
import { freezeMetadata, handMetadata } from './metaplex.ts'
import type { OnChainToken, TokenProgram } from './types.ts'

export interface AuthorityTransfer extends Envelope {
  mint: string
  type: TokenAuthorityType
  /** Address that gets the authority, which need not sign. Null gives it up for good. */
  to: string | null
  /** The token as read from the chain. The payer holds its authority of this type. */
  token: Pick<OnChainToken, 'tokenProgram' | 'metadata' | 'metadataPointerAuthority'>
}

/** With `metadata`, the pointer of Token-2022 moves along if the payer holds its authority too. */
export async function buildAuthorityTransfer(input: AuthorityTransfer): Promise<UnsignedTransaction> {
  const { PublicKey } = await import('@solana/web3.js')
  const [payer, mint] = [new PublicKey(input.payer), new PublicKey(input.mint)]
  const to = input.to === null ? null : new PublicKey(input.to)
  const { type, token } = input
  const { tokenProgram } = token
  if (type !== 'metadata') return compileUnsigned(input, [await setAuthority(tokenProgram, mint, payer, type, to)])
  if (to === null) return compileUnsigned(input, await metadataRevocation(token, payer, mint))
  const hand = token.metadata?.source === 'metaplex' ? handMetadata : setUpdateAuthority
  const instructions = [await hand(mint, payer, to)]
  if (token.metadataPointerAuthority === input.payer)
    instructions.push(await setAuthority(tokenProgram, mint, payer, 'metadata_pointer', to))
  return compileUnsigned(input, instructions)
}

/**
 * Sets `is_mutable` to false for Metaplex, whose update authority cannot be none. For Token-2022 it sets the update
 * authority, and the pointer's if any, to none. Throws bad_request when there is no metadata authority.
 */
export async function metadataRevocation(
  { tokenProgram, metadata, metadataPointerAuthority }: AuthorityTransfer['token'],
  payer: PublicKey,
  mint: PublicKey,
): Promise<TransactionInstruction[]> {
  const instructions: TransactionInstruction[] = []
  if (metadata?.isMutable) {
    instructions.push(await (metadata.source === 'metaplex' ? freezeMetadata : setUpdateAuthority)(mint, payer))
  }
  if (metadataPointerAuthority !== null) {
    instructions.push(await setAuthority(tokenProgram, mint, payer, 'metadata_pointer', null))
  }
  if (instructions.length === 0) {
    throw badRequest(`Token ${mint.toBase58()} has no metadata authority to revoke`, { param: 'type' })
  }
  return instructions
}

async function setAuthority(
  tokenProgram: TokenProgram,
  mint: PublicKey,
  holder: PublicKey,
  type: Exclude<TokenAuthorityType, 'metadata'>,
  to: PublicKey | null,
): Promise<TransactionInstruction> {
  const spl = await import('@solana/spl-token')
  const program = tokenProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  return spl.createSetAuthorityInstruction(mint, holder, TOKEN_AUTHORITIES[type].kind, to, [], program)
}

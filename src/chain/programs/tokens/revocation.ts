/** Builds the transaction that permanently revokes an authority of a token. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { dropUpdateAuthority } from './metadata-extension.ts'
import { freezeMetadata } from './metaplex.ts'
import type { OnChainToken, TokenAuthority, TokenProgram } from './types.ts'

export interface AuthorityRevocation extends Envelope {
  mint: string
  type: TokenAuthority
  tokenProgram: TokenProgram
  /** The token as read from the chain. Without it, the shape that `buildTokenCreation` produces is assumed. */
  token?: Pick<OnChainToken, 'metadata' | 'metadataPointerAuthority'>
}

/**
 * The payer must hold the authority. Revoking `metadata` sets `is_mutable` to false for Metaplex, whose update
 * authority cannot be none. For Token-2022 it sets the update authority, and the pointer's if any, to none. Throws
 * bad_request when there is no metadata authority.
 */
export async function buildAuthorityRevocation(input: AuthorityRevocation): Promise<UnsignedTransaction> {
  const { PublicKey } = await import('@solana/web3.js')
  const [payer, mint] = [new PublicKey(input.payer), new PublicKey(input.mint)]
  if (input.type === 'metadata') return compileUnsigned(input, await metadataInstructions(input, payer, mint))
  const { AuthorityType } = await import('@solana/spl-token')
  const type = input.type === 'mint' ? AuthorityType.MintTokens : AuthorityType.FreezeAccount
  return compileUnsigned(input, [await dropAuthority(input.tokenProgram, mint, payer, type)])
}

async function metadataInstructions(
  { tokenProgram, token }: AuthorityRevocation,
  payer: PublicKey,
  mint: PublicKey,
): Promise<TransactionInstruction[]> {
  const instructions: TransactionInstruction[] = []
  const source = token === undefined ? (tokenProgram === 'spl' ? 'metaplex' : 'extension') : token.metadata?.source
  if (token === undefined || token.metadata?.isMutable) {
    instructions.push(await (source === 'metaplex' ? freezeMetadata : dropUpdateAuthority)(mint, payer))
  }
  if (token !== undefined && token.metadataPointerAuthority !== null) {
    const { AuthorityType } = await import('@solana/spl-token')
    instructions.push(await dropAuthority(tokenProgram, mint, payer, AuthorityType.MetadataPointer))
  }
  if (instructions.length === 0) {
    throw badRequest(`Token ${mint.toBase58()} has no metadata authority to revoke`, { param: 'type' })
  }
  return instructions
}

async function dropAuthority(
  tokenProgram: TokenProgram,
  mint: PublicKey,
  holder: PublicKey,
  type: import('@solana/spl-token').AuthorityType,
): Promise<TransactionInstruction> {
  const spl = await import('@solana/spl-token')
  const program = tokenProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  return spl.createSetAuthorityInstruction(mint, holder, type, null, [], program)
}

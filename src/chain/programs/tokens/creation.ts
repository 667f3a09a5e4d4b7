/** Builds the transaction that creates a token: mint, metadata, initial supply and revoked authorities. */

import type { ExtensionType } from '@solana/spl-token'
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import type { TokenExtensions } from '../../../api/extension-fields.ts'
import { badRequest } from '../../../platform/errors.ts'
import { associatedTokenAddress } from '../../../solana/program-addresses.ts'
import { MAX_U64 } from '../../../solana/u64.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { extensionBytes, initializeMetadata } from './metadata-extension.ts'
import { createMetadata } from './metaplex.ts'
import type { TokenProgram } from './types.ts'

/** Bytes of UTF-8 that Metaplex accepts. Token-2022 has no limits of its own and gets the same ones. */
export const TEXT_LIMITS = { name: 32, symbol: 10, uri: 200 } as const

export interface TokenCreation extends Envelope {
  /** Address of a fresh key that also signs. */
  mint: string
  name: string
  symbol: string
  /** Number of decimals, from 0 to 9. */
  decimals: number
  /** Raw units that go to the payer's associated token account. The account is not opened for 0. */
  initialSupply: bigint
  uri: string
  revokeMintAuthority: boolean
  revokeFreezeAuthority: boolean
  /** Whether the metadata is immutable from the start, which is for SPL only. */
  immutableMetadata?: boolean
  tokenProgram: TokenProgram
  /** For Token-2022 only. With accounts that begin frozen, the payer's own is thawed. */
  extensions?: TokenExtensions | undefined
  /** Lamports that make `mintBytes(input)` bytes rent-exempt. */
  rent: bigint
}

type Sized = Pick<TokenCreation, 'tokenProgram' | 'name' | 'symbol' | 'uri' | 'extensions'>

/** Returns the bytes that the new mint pays rent for. Metaplex charges the payer separately for its own account. */
export async function mintBytes(input: Sized): Promise<number> {
  const spl = await import('@solana/spl-token')
  if (input.tokenProgram === 'spl') return spl.MINT_SIZE
  const types = await extensionTypes(input.extensions)
  // Lengths are added without the type of an empty extension, which the program drops when it extends the mint.
  const fixed = types.reduce((sum, type) => sum + spl.getTypeLen(type) + spl.TYPE_SIZE + spl.LENGTH_SIZE, 0)
  const bytes = spl.ACCOUNT_SIZE + spl.ACCOUNT_TYPE_SIZE + fixed + extensionBytes(input)
  // A mint of the same length as a multisig would be read as one, so the program adds the type of an empty extension.
  return bytes === spl.MULTISIG_SIZE ? bytes + spl.TYPE_SIZE : bytes
}

/**
 * The payer becomes mint authority unless it is revoked, and update authority of mutable metadata. A freeze authority
 * to revoke is never set, which has the same result without such a power in the history. Throws bad_request naming the
 * field for what the programs refuse.
 */
export async function buildTokenCreation(input: TokenCreation): Promise<UnsignedTransaction> {
  return compileUnsigned(input, await tokenCreationInstructions(input))
}

/** Returns the instructions of `buildTokenCreation`, for a transaction that does more. Throws like it. */
export async function tokenCreationInstructions(
  input: CreationContent & Pick<Envelope, 'payer'>,
): Promise<TransactionInstruction[]> {
  check(input)
  const { PublicKey } = await import('@solana/web3.js')
  const [payer, mint] = [new PublicKey(input.payer), new PublicKey(input.mint)]
  const spl = await import('@solana/spl-token')
  const program = input.tokenProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  const instructions = [
    ...(await openMint(input, payer, mint)),
    // Both require the mint authority, so they precede its revocation.
    await (input.tokenProgram === 'spl' ? createMetadata : initializeMetadata)(mint, payer, input),
  ]
  if (input.initialSupply > 0n) {
    const account = new PublicKey(associatedTokenAddress(input.payer, input.mint, program.toBase58()))
    instructions.push(
      spl.createAssociatedTokenAccountIdempotentInstruction(payer, account, payer, mint, program),
      ...(input.extensions?.default_frozen
        ? [spl.createThawAccountInstruction(account, mint, payer, [], program)]
        : []),
      spl.createMintToInstruction(mint, account, payer, input.initialSupply, [], program),
    )
  }
  if (input.revokeMintAuthority) {
    instructions.push(spl.createSetAuthorityInstruction(mint, payer, spl.AuthorityType.MintTokens, null, [], program))
  }
  return instructions
}

type CreationContent = Omit<TokenCreation, keyof Envelope>

async function openMint(input: CreationContent, payer: PublicKey, mint: PublicKey): Promise<TransactionInstruction[]> {
  const [{ SystemProgram }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const { decimals, rent, revokeFreezeAuthority, tokenProgram } = input
  const freezeAuthority = revokeFreezeAuthority ? null : payer
  const create = (space: number, programId: PublicKey) =>
    SystemProgram.createAccount({
      fromPubkey: payer,
      newAccountPubkey: mint,
      space,
      lamports: Number(rent),
      programId,
    })
  if (tokenProgram === 'spl') {
    return [
      create(spl.MINT_SIZE, spl.TOKEN_PROGRAM_ID),
      spl.createInitializeMint2Instruction(mint, decimals, payer, freezeAuthority),
    ]
  }
  const program = spl.TOKEN_2022_PROGRAM_ID
  return [
    // The space has none for the metadata. The program extends the mint when it is written.
    create(spl.getMintLen(await extensionTypes(input.extensions)), program),
    ...(await extensionInstructions(mint, payer, input.extensions)),
    // The pointer has no authority, so only the update authority decides on the metadata.
    spl.createInitializeMetadataPointerInstruction(mint, null, mint, program),
    spl.createInitializeMint2Instruction(mint, decimals, payer, freezeAuthority, program),
  ]
}

function check(input: CreationContent): void {
  if (input.immutableMetadata && input.tokenProgram !== 'spl') throw new Error('only SPL metadata starts immutable')
  for (const [param, limit] of Object.entries(TEXT_LIMITS) as [keyof typeof TEXT_LIMITS, number][]) {
    const bytes = Buffer.byteLength(input[param])
    if (bytes > limit) throw badRequest(`${param} takes ${bytes} bytes as UTF-8, at most ${limit} fit`, { param })
  }
  const { decimals, initialSupply } = input
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 9) {
    throw badRequest('decimals must be a whole number from 0 to 9', { param: 'decimals' })
  }
  if (initialSupply < 0n || initialSupply > MAX_U64) {
    throw badRequest(`initial_supply must be from 0 to ${MAX_U64} raw units`, { param: 'initial_supply' })
  }
}

/** The types of a mint's extensions, whose lengths are fixed, with the pointer to its metadata that every mint gets. */
async function extensionTypes(extensions: TokenExtensions | undefined): Promise<ExtensionType[]> {
  const { ExtensionType: Type } = await import('@solana/spl-token')
  if (extensions === undefined) return [Type.MetadataPointer]
  const chosen: [ExtensionType, unknown][] = [
    [Type.TransferFeeConfig, extensions.transfer_fee],
    [Type.InterestBearingConfig, extensions.interest_rate],
    [Type.ScaledUiAmountConfig, extensions.scaled_amount],
    [Type.NonTransferable, extensions.non_transferable],
    [Type.DefaultAccountState, extensions.default_frozen],
    [Type.PermanentDelegate, extensions.permanent_delegate],
    [Type.PausableConfig, extensions.pausable],
    [Type.TransferHook, extensions.transfer_hook],
    [Type.MintCloseAuthority, extensions.closable],
  ]
  return [Type.MetadataPointer, ...chosen.flatMap(([type, value]) => (value ? [type] : []))]
}

/** They come before the mint itself is initialized. `authority` gets the power over each extension that has one. */
async function extensionInstructions(
  mint: PublicKey,
  authority: PublicKey,
  extensions: TokenExtensions | undefined,
): Promise<TransactionInstruction[]> {
  if (extensions === undefined) return []
  const [{ PublicKey }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const program = spl.TOKEN_2022_PROGRAM_ID
  const { transfer_fee: fee, interest_rate: interest, scaled_amount: scaled, transfer_hook: hook } = extensions
  const instructions: TransactionInstruction[] = []
  if (fee !== undefined) {
    const most = BigInt(fee.maximum_fee)
    instructions.push(
      spl.createInitializeTransferFeeConfigInstruction(mint, authority, authority, fee.basis_points, most, program),
    )
  }
  if (interest !== undefined) {
    instructions.push(
      spl.createInitializeInterestBearingMintInstruction(mint, authority, interest.basis_points, program),
    )
  }
  if (scaled !== undefined) {
    const multiplier = Number(scaled.multiplier)
    instructions.push(spl.createInitializeScaledUiAmountConfigInstruction(mint, authority, multiplier, program))
  }
  if (extensions.non_transferable) instructions.push(spl.createInitializeNonTransferableMintInstruction(mint, program))
  if (extensions.default_frozen) {
    instructions.push(spl.createInitializeDefaultAccountStateInstruction(mint, spl.AccountState.Frozen, program))
  }
  if (extensions.permanent_delegate !== undefined) {
    const delegate = new PublicKey(extensions.permanent_delegate)
    instructions.push(spl.createInitializePermanentDelegateInstruction(mint, delegate, program))
  }
  if (extensions.pausable) instructions.push(spl.createInitializePausableConfigInstruction(mint, authority, program))
  if (hook !== undefined) {
    instructions.push(
      spl.createInitializeTransferHookInstruction(mint, authority, new PublicKey(hook.program), program),
    )
  }
  if (extensions.closable)
    instructions.push(spl.createInitializeMintCloseAuthorityInstruction(mint, authority, program))
  return instructions
}

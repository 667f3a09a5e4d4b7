/** Builds the instructions that give a new Token-2022 mint its extensions. */
import type { ExtensionType } from '@solana/spl-token'
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import type { TokenExtensions } from '../../../api/extension-fields.ts'

/** The types of a mint's extensions, whose lengths are fixed, with the pointer to its metadata that every mint gets. */
export async function extensionTypes(extensions: TokenExtensions | undefined): Promise<ExtensionType[]> {
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
export async function extensionInstructions(
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

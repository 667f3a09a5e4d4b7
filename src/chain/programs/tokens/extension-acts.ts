/** Builds what the authorities of a Token-2022 mint's extensions do: fees withdrawn and harvested, settings changed. */
import type { TransactionInstruction } from '@solana/web3.js'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'

/** Most token accounts of one withdrawal or harvest, by the version of its transaction. */
export const MOST_WITHHELD = { 0: 20, 1: 48 } as const
/** The same beside the guards of the payer and its token account. */
export const MOST_GUARDED_WITHHELD = { 0: 13, 1: 48 } as const

export interface WithheldWithdrawal extends Envelope {
  mint: string
  /** Who gets the fees, and the associated token account, which may be missing. */
  recipient: string
  tokenAccount: string
  opens: boolean
  /** Whether the mint itself has fees. */
  fromMint: boolean
  accounts: readonly string[]
}

/** The payer is the withdraw authority. */
export async function buildWithheldWithdrawal(input: WithheldWithdrawal): Promise<UnsignedTransaction> {
  const [{ PublicKey }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const key = (address: string) => new PublicKey(address)
  const program = spl.TOKEN_2022_PROGRAM_ID
  const [payer, mint, to] = [key(input.payer), key(input.mint), key(input.tokenAccount)]
  const instructions: TransactionInstruction[] = []
  if (input.opens) {
    instructions.push(
      spl.createAssociatedTokenAccountIdempotentInstruction(payer, to, key(input.recipient), mint, program),
    )
  }
  if (input.fromMint)
    instructions.push(spl.createWithdrawWithheldTokensFromMintInstruction(mint, to, payer, [], program))
  if (input.accounts.length > 0) {
    const sources = input.accounts.map(key)
    instructions.push(spl.createWithdrawWithheldTokensFromAccountsInstruction(mint, to, payer, [], sources, program))
  }
  return compileUnsigned(input, instructions)
}

export async function buildHarvest(
  input: Envelope & { mint: string; accounts: readonly string[] },
): Promise<UnsignedTransaction> {
  const [{ PublicKey }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const sources = input.accounts.map((address) => new PublicKey(address))
  const mint = new PublicKey(input.mint)
  return compileUnsigned(input, [
    spl.createHarvestWithheldTokensToMintInstruction(mint, sources, spl.TOKEN_2022_PROGRAM_ID),
  ])
}

export interface ExtensionUpdates {
  transferFee?: { basisPoints: number; maximumFee: bigint }
  interestBasisPoints?: number
  /** `effectiveAt` in Unix seconds; a time that has passed is at once. */
  multiplier?: { value: number; effectiveAt: bigint }
  isFrozenByDefault?: boolean
  /** Null calls no program any more. */
  transferHook?: string | null
}

/** The payer holds the authority of each. */
export async function buildExtensionUpdates(
  input: Envelope & { mint: string; updates: ExtensionUpdates },
): Promise<UnsignedTransaction> {
  const [{ PublicKey }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const program = spl.TOKEN_2022_PROGRAM_ID
  const [mint, payer] = [new PublicKey(input.mint), new PublicKey(input.payer)]
  const { transferFee, interestBasisPoints, multiplier, isFrozenByDefault, transferHook } = input.updates
  const instructions: TransactionInstruction[] = []
  if (transferFee !== undefined) {
    const { basisPoints, maximumFee } = transferFee
    instructions.push(spl.createSetTransferFeeInstruction(mint, payer, [], basisPoints, maximumFee, program))
  }
  if (interestBasisPoints !== undefined) {
    instructions.push(spl.createUpdateRateInterestBearingMintInstruction(mint, payer, interestBasisPoints, [], program))
  }
  if (multiplier !== undefined) {
    const { value, effectiveAt } = multiplier
    instructions.push(spl.createUpdateMultiplierDataInstruction(mint, payer, value, effectiveAt, [], program))
  }
  if (isFrozenByDefault !== undefined) {
    const state = isFrozenByDefault ? spl.AccountState.Frozen : spl.AccountState.Initialized
    instructions.push(spl.createUpdateDefaultAccountStateInstruction(mint, state, payer, [], program))
  }
  if (transferHook !== undefined) {
    const hook = transferHook === null ? PublicKey.default : new PublicKey(transferHook)
    instructions.push(spl.createUpdateTransferHookInstruction(mint, payer, hook, [], program))
  }
  return compileUnsigned(input, instructions)
}

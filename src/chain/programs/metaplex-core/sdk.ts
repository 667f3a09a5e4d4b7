/** Loads the SDK of Metaplex Core without its RPC: a context for its builders, and their instructions for web3.js. */
import type { Context, Signer, TransactionBuilder } from '@metaplex-foundation/umi'
import type { TransactionInstruction } from '@solana/web3.js'
import { deriveAddress } from '../../../solana/program-addresses.ts'
import { sdkInstructions } from '../sdk-instruction.ts'

/** The SDK is loaded at the first use, because that takes a quarter of a second. */
export async function loadCore() {
  const [core, umi, sdk] = await Promise.all([
    import('@metaplex-foundation/mpl-core'),
    import('@metaplex-foundation/umi'),
    sdkInstructions(),
  ])
  const signer = (address: string): Signer => umi.createNoopSigner(umi.publicKey(address))
  const pda = (program: string, seeds: Uint8Array[]) => {
    const { address, bump } = deriveAddress(program, ...seeds)
    return [umi.publicKey(address), bump]
  }
  /** The context's default payer is never used, because every builder receives the payer. */
  const context = {
    programs: { getPublicKey: (_: string, id: string) => umi.publicKey(id) },
    eddsa: { findPda: pda },
  } as unknown as Pick<Context, 'payer' | 'programs' | 'eddsa' | 'identity'>
  return {
    core,
    context,
    signer,
    key: (address: string) => umi.publicKey(address),
    instructions: (...builders: readonly TransactionBuilder[]): TransactionInstruction[] =>
      builders.flatMap((builder) =>
        builder.getInstructions().map(({ programId, keys, data }) => {
          const accounts = keys.map(({ pubkey: address, isSigner, isWritable }) => ({ address, isSigner, isWritable }))
          return sdk({ program: programId, accounts, data })
        }),
      ),
  }
}

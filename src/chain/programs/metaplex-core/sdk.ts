/** Loads the SDK of Metaplex Core without its RPC: a context for its builders, and their instructions for web3.js. */
import type { Context, Signer, TransactionBuilder } from '@metaplex-foundation/umi'
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { deriveAddress } from '../../../solana/program-addresses.ts'

/** The SDK is loaded at the first use, because that takes a quarter of a second. */
export async function loadCore() {
  const [core, umi, web3] = await Promise.all([
    import('@metaplex-foundation/mpl-core'),
    import('@metaplex-foundation/umi'),
    import('@solana/web3.js'),
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
    instructions: instructionsFor(web3),
  }
}

type Web3 = typeof import('@solana/web3.js')

const instructionsFor =
  ({ PublicKey, TransactionInstruction }: Web3) =>
  (...builders: readonly TransactionBuilder[]): TransactionInstruction[] => {
    const known = new Map<string, PublicKey>()
    const keyOf = (address: string) => {
      const key = known.get(address) ?? new PublicKey(address)
      known.set(address, key)
      return key
    }
    return builders.flatMap((builder) =>
      builder.getInstructions().map(
        ({ programId, keys, data }) =>
          new TransactionInstruction({
            programId: keyOf(programId),
            keys: keys.map(({ pubkey, isSigner, isWritable }) => ({ pubkey: keyOf(pubkey), isSigner, isWritable })),
            data: Buffer.from(data),
          }),
      ),
    )
  }

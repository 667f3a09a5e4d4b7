/** Builds the transaction that creates an airdrop: distributor, vault and funding together. */
import { PROGRAMS } from '../../../solana/programs.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { type AirdropKey, distributorAddress, tokenAccountAddress } from './addresses.ts'
import { DISTRIBUTOR_INSTRUCTIONS, i64, u64Bytes } from './layout.ts'

export interface Creation extends Envelope, AirdropKey {
  /** Merkle root in hex without a prefix. */
  root: string
  /** Most raw units that can be claimed; `maxNodes` limits the wallets. */
  maxTotal: bigint
  maxNodes: bigint
  /**
   * Unix seconds. The start must be in the future when the transaction lands, the end after it, and the clawback a day
   * after the end.
   */
  startsAt: bigint
  endsAt: bigint
  clawbackAt: bigint
  /** Decimals of the mint, which must belong to SPL Token. */
  decimals: number
  /** Raw units that move from the payer's token account into the vault, or 0n for none. */
  deposit: bigint
  /** Whether the payer's token account, which receives the clawback, is opened too. */
  opensReceiver: boolean
}

/** Compute limit for a creation that cannot be simulated: half more than the largest run used. */
export const CREATION_UNITS = 140_000

/** The payer becomes the admin, and its associated token account the receiver of the clawback. */
export async function buildCreation(input: Creation): Promise<UnsignedTransaction> {
  const [web3, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const key = (address: string) => new web3.PublicKey(address)
  const [payer, mint] = [key(input.payer), key(input.mint)]
  const distributor = key(await distributorAddress(input))
  const vault = key(await tokenAccountAddress(input.mint, distributor.toBase58()))
  const receiver = key(await tokenAccountAddress(input.mint, input.payer))
  const creation = new web3.TransactionInstruction({
    programId: key(PROGRAMS.distributor.id),
    keys: [
      { pubkey: distributor, isSigner: false, isWritable: true },
      { pubkey: receiver, isSigner: false, isWritable: true },
      { pubkey: mint, isSigner: false, isWritable: false },
      { pubkey: vault, isSigner: false, isWritable: true },
      { pubkey: payer, isSigner: true, isWritable: true },
      { pubkey: web3.SystemProgram.programId, isSigner: false, isWritable: false },
      { pubkey: spl.ASSOCIATED_TOKEN_PROGRAM_ID, isSigner: false, isWritable: false },
      { pubkey: spl.TOKEN_PROGRAM_ID, isSigner: false, isWritable: false },
    ],
    data: newDistributorData(input),
  })
  const { decimals, deposit, opensReceiver } = input
  return compileUnsigned(input, [
    ...(opensReceiver ? [spl.createAssociatedTokenAccountIdempotentInstruction(payer, receiver, payer, mint)] : []),
    creation,
    ...(deposit > 0n ? [spl.createTransferCheckedInstruction(receiver, mint, vault, payer, deposit, decimals)] : []),
  ])
}

type Arguments = Pick<
  Creation,
  'airdropCount' | 'root' | 'maxTotal' | 'maxNodes' | 'startsAt' | 'endsAt' | 'clawbackAt'
>

/** Encodes version, root, both limits, then the three times. */
function newDistributorData(input: Arguments): Buffer {
  return Buffer.concat([
    DISTRIBUTOR_INSTRUCTIONS.newDistributor,
    u64Bytes(BigInt(input.airdropCount)),
    Buffer.from(input.root, 'hex'),
    u64Bytes(input.maxTotal),
    u64Bytes(input.maxNodes),
    i64(input.startsAt),
    i64(input.endsAt),
    i64(input.clawbackAt),
  ])
}

/** Wallets: their addresses, their keys as the API answers them, and the transactions that they sign. */
import { Keypair, VersionedTransaction } from '@solana/web3.js'
import type { Services } from '../../src/context.ts'
import { isVersion1 } from '../../src/solana/messages.ts'
import { addSignatures } from './local-chain-transactions.ts'
import { signV1 } from './version1.ts'

/** In lamports. */
export const SOL = 1_000_000_000n

export const addressOf = (key: Keypair): string => key.publicKey.toBase58()
export const someAddress = (): string => addressOf(Keypair.generate())
export const keypairOf = (bytes: readonly number[]): Keypair => Keypair.fromSecretKey(Uint8Array.from(bytes))

/** The embedded chain of a service, and a wallet with lamports on it. */
export async function walletOn(
  { chain: node }: Pick<Services, 'chain'>,
  lamports = 100n * SOL,
  wallet = Keypair.generate(),
) {
  const [chain, address] = [await node.local(), addressOf(wallet)]
  chain.airdrop(address, lamports)
  return { chain, wallet, address }
}

/** Base64 of a transaction, signed by those of the keys that it needs. */
export function signWith(text: string, keys: readonly Keypair[]): string {
  const raw = Buffer.from(text, 'base64')
  if (isVersion1(raw)) return Buffer.from(signV1(raw, keys)).toString('base64')
  const transaction = VersionedTransaction.deserialize(raw)
  const { message } = transaction
  const needed = message.staticAccountKeys.slice(0, message.header.numRequiredSignatures)
  addSignatures(
    transaction,
    keys.filter(({ publicKey }) => needed.some((key) => key.equals(publicKey))),
  )
  return Buffer.from(transaction.serialize()).toString('base64')
}

/** Bundles for a relay: one that pays no tip is refused, because a block engine drops it in silence. */
import {
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { expect, it } from 'vitest'
import { relayOf } from '../../src/chain/sending/relay.ts'
import { TIP_ACCOUNTS } from '../../src/solana/bundles.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { MEMO_PROGRAM } from '../../src/solana/program-ids.ts'

const payer = Keypair.generate().publicKey
const tip = new PublicKey(TIP_ACCOUNTS[0]!)
const bundleOf = (instruction: TransactionInstruction) => {
  const parts = { payerKey: payer, recentBlockhash: payer.toBase58(), instructions: [instruction] }
  return [
    decodeWireTransaction(new VersionedTransaction(new TransactionMessage(parts).compileToV0Message()).serialize()),
  ]
}

it('A bundle for a relay pays a tip account, and naming one is not enough', () => {
  const config = { values: { 'relay-url': 'https://relay.example.com' } }
  const { check } = relayOf(config as never, { cluster: { kind: 'url', label: 'a cluster' } } as never)
  check(bundleOf(SystemProgram.transfer({ fromPubkey: payer, toPubkey: tip, lamports: 1_000 })))
  const named = [{ pubkey: tip, isSigner: false, isWritable: false }]
  const memo = new TransactionInstruction({ programId: new PublicKey(MEMO_PROGRAM), keys: named })
  expect(() => check(bundleOf(memo))).toThrow('The bundle pays no tip')
})

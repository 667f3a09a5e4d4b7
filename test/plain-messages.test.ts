/** Which messages show all that they do, so that nobody reads them from the chain: not those that call any program. */
import { burnV1, executeV1 } from '@metaplex-foundation/mpl-core'
import * as spl from '@solana/spl-token'
import { Keypair, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { expect, it } from 'vitest'
import { loadCore } from '../src/chain/programs/metaplex-core/sdk.ts'
import { decodeWireTransaction } from '../src/solana/messages.ts'
import { isPlainMessage } from '../src/solana/plain-messages.ts'
import { signed } from './support/local-chain.ts'
import { mapped } from './support/mapped.ts'

const [payer, one, other, hook] = mapped([1, 2, 3, 4], () => Keypair.generate())
const BLOCKHASH = '11111111111111111111111111111111'
const isPlain = (instructions: TransactionInstruction[]) =>
  isPlainMessage(decodeWireTransaction(signed(instructions, [payer], { blockhash: BLOCKHASH })).message)
const payment = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: one.publicKey, lamports: 1 })

it('an instruction of an unknown program hides what it does', () => {
  const unknown = new TransactionInstruction({ programId: hook.publicKey, keys: [] })
  expect([isPlain([payment]), isPlain([payment, unknown])]).toEqual([true, false])
})

it('an instruction that Metaplex Core executes for an asset is hidden in it', async () => {
  const { instructions, context, signer, key } = await loadCore()
  const address = (of: Keypair) => of.publicKey.toBase58()
  const own = { asset: key(address(one)), payer: signer(address(payer)), authority: signer(address(payer)) }
  const executed = executeV1(context, { ...own, programId: key(address(hook)), instructionData: Uint8Array.of(1) })
  const burned = burnV1(context, { ...own, compressionProof: null })
  expect([isPlain(instructions(burned)), isPlain(instructions(executed))]).toEqual([true, false])
})

it('a transfer of Token-2022 is plain unless it has accounts for a hook', () => {
  const program = spl.TOKEN_2022_PROGRAM_ID
  const transfer = spl.createTransferCheckedInstruction(
    one.publicKey,
    hook.publicKey,
    other.publicKey,
    payer.publicKey,
    1n,
    6,
    [],
    program,
  )
  expect(isPlain([transfer])).toBe(true)
  transfer.keys.push({ pubkey: payer.publicKey, isSigner: false, isWritable: false })
  expect(isPlain([transfer])).toBe(false)
})

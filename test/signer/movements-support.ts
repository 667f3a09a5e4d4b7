/** A wallet on an embedded chain, and what the signer's policy says of its transactions, the same in each version. */
import * as spl from '@solana/spl-token'
import {
  type AddressLookupTableAccount,
  Keypair,
  type PublicKey,
  type Signer,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { expect, onTestFinished } from 'vitest'
import { openChain } from '../../src/chain/connection.ts'
import { readMovement } from '../../src/chain/sending/movements.ts'
import type { Movement } from '../../src/policy/movement/movement.ts'
import { DEFAULT_POLICY, type SigningPolicy, type Spent } from '../../src/policy/policy.ts'
import { checkPolicy } from '../../src/policy/rules/check-policy.ts'
import type { PolicyCheckOptions } from '../../src/policy/rules/violation.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { type DecodedTransaction, decodeWireTransaction } from '../../src/solana/messages.ts'
import { COMPUTE_BUDGET_PROGRAM } from '../../src/solana/program-ids.ts'
import type { TransactionConfig } from '../../src/solana/transaction-config.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { temporaryFolder } from '../support/service.ts'
import { unsignedV1 } from '../support/version1.ts'
import { SOL } from '../support/wallets.ts'

export { SOL }

export const NOTHING_SPENT: Spent = { lamports: 0n, tokens: new Map() }
const { TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID } = spl

export { TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID }

export type Scene = Awaited<ReturnType<typeof openScene>>

export interface Build {
  payer?: Keypair
  tables?: AddressLookupTableAccount[]
}

export interface Told extends Partial<PolicyCheckOptions>, Build {
  policy?: Partial<SigningPolicy>
}

/** Every figure as high as a u64: what is refused then is refused for what it is. */
export const GENEROUS: SigningPolicy = {
  ...DEFAULT_POLICY,
  lamports_per_transaction: 2n ** 64n,
  lamports_per_day: 2n ** 64n,
}

/** `programs` fills the chain from the program cache. */
export async function openScene({ programs = false } = {}) {
  const dataDir = temporaryFolder()
  const flags = { 'data-dir': dataDir, 'programs-dir': programs ? PROGRAMS_DIR : '/nonexistent' }
  const chain = openChain(loadConfig({ flags, env: {}, cwd: dataDir }))
  onTestFinished(() => chain.close())
  const local = await chain.local()
  const funded = (lamports: bigint) => {
    const keypair = Keypair.generate()
    local.airdrop(keypair.publicKey.toBase58(), lamports)
    return keypair
  }
  const wallet = funded(100n * SOL)
  const stranger = funded(100n * SOL)
  const mints: PublicKey[] = []

  const scene = {
    chain,
    local,
    wallet,
    key: wallet.publicKey,
    address: wallet.publicKey.toBase58(),
    stranger,
    funded,
    mints,
    compile(instructions: TransactionInstruction[], { payer = wallet, tables }: Build = {}) {
      const { blockhash } = local.latestBlockhash()
      const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions })
      return new VersionedTransaction(message.compileToV0Message(tables))
    },
    decode: (transaction: VersionedTransaction): DecodedTransaction => decodeWireTransaction(transaction.serialize()),
    /** Of version 1 (SIMD-0385). */
    compileV1(instructions: TransactionInstruction[], config: Partial<TransactionConfig> = {}, payer = wallet) {
      const { blockhash } = local.latestBlockhash()
      return unsignedV1({ payer: payer.publicKey, blockhash, instructions, config })
    },
    readV1(instructions: TransactionInstruction[], config: Partial<TransactionConfig> = {}, payer = wallet) {
      return scene.readBuilt({ transaction: scene.compileV1(instructions, config, payer) })
    },
    /** Of version 0; the same instructions in version 1 must move the same, unless only the former can say them. */
    async read(instructions: TransactionInstruction[], build: Build = {}): Promise<Movement> {
      const movement = await readMovement(chain, scene.decode(scene.compile(instructions, build)), scene.address)
      const setsBudget = instructions.some(({ programId }) => text(programId) === COMPUTE_BUDGET_PROGRAM)
      if (build.tables === undefined && !setsBudget) {
        const { slot, logs } = movement
        expect({ ...(await scene.readV1(instructions, {}, build.payer)), slot, logs }).toEqual(movement)
      }
      return movement
    },
    /** Of what a builder made, to be signed by the wallet and fresh keys. */
    readBuilt: ({ transaction }: { transaction: Uint8Array }): Promise<Movement> =>
      readMovement(chain, decodeWireTransaction(transaction), scene.address),
    sendBuilt({ transaction }: { transaction: Uint8Array }, signers: Signer[] = [wallet]) {
      const built = VersionedTransaction.deserialize(transaction)
      built.sign(signers)
      const landed = local.send(built.serialize())
      expect([landed.err, landed.logs]).toEqual([null, expect.any(Array)])
    },
    /** Lands it for real. */
    send(instructions: TransactionInstruction[], signers: Signer[] = [wallet], build: Build = {}) {
      const transaction = scene.compile(instructions, { payer: signers[0] as Keypair, ...build })
      transaction.sign(signers)
      const landed = local.send(transaction.serialize())
      expect([landed.err, landed.logs]).toEqual([null, expect.any(Array)])
      return landed
    },
    /** The rule that refuses it under generous limits; null where it passes. */
    async ruleFor(instructions: TransactionInstruction[], told: Told = {}) {
      const { policy: _, role: __, cosigners: ___, ...build } = told
      return scene.ruleOf(await scene.read(instructions, build), told)
    },
    ruleOf(movement: Movement, { policy, role = 'pays', cosigners = [] }: Told = {}) {
      const tokens = mints.map((mint) => ({ mint: mint.toBase58(), per_transaction: 2n ** 64n, per_day: 2n ** 64n }))
      const refusal = checkPolicy(movement, { ...GENEROUS, tokens, ...policy }, NOTHING_SPENT, { role, cosigners })
      return refusal?.rule ?? null
    },
    /** A mint with 1,000,000 units in the wallet's account; its authority is the wallet. */
    mint(program = TOKEN_PROGRAM_ID, amount = 1_000_000n) {
      const mint = Keypair.generate()
      const held = ata(mint.publicKey, wallet.publicKey, program)
      scene.send(
        [
          SystemProgram.createAccount({
            fromPubkey: wallet.publicKey,
            newAccountPubkey: mint.publicKey,
            space: spl.MINT_SIZE,
            lamports: Number(local.minimumBalance(spl.MINT_SIZE)),
            programId: program,
          }),
          spl.createInitializeMint2Instruction(mint.publicKey, 6, wallet.publicKey, wallet.publicKey, program),
          createAta(wallet.publicKey, mint.publicKey, wallet.publicKey, program),
          ...(amount === 0n
            ? []
            : [spl.createMintToInstruction(mint.publicKey, held, wallet.publicKey, amount, [], program)]),
        ],
        [wallet, mint],
      )
      mints.push(mint.publicKey)
      return { mint: mint.publicKey, held }
    },
    /** The token account of somebody, made by themselves. */
    accountOf(owner: Keypair, mint: PublicKey, program = TOKEN_PROGRAM_ID) {
      scene.send([createAta(owner.publicKey, mint, owner.publicKey, program)], [owner])
      return ata(mint, owner.publicKey, program)
    },
    /** Wrapped SOL of the wallet. */
    wrapped(lamports: bigint) {
      scene.send(wrap(wallet.publicKey, lamports))
      return ata(spl.NATIVE_MINT, wallet.publicKey)
    },
    pay: (to: PublicKey, lamports: bigint) =>
      SystemProgram.transfer({ fromPubkey: wallet.publicKey, toPubkey: to, lamports }),
    lamportsOf: (key: PublicKey) => local.account(key.toBase58())?.lamports ?? 0n,
  }
  return scene
}

export const ata = (mint: PublicKey, owner: PublicKey, program = TOKEN_PROGRAM_ID) =>
  spl.getAssociatedTokenAddressSync(mint, owner, true, program)

export const createAta = (payer: PublicKey, mint: PublicKey, owner: PublicKey, program = TOKEN_PROGRAM_ID) =>
  spl.createAssociatedTokenAccountInstruction(payer, ata(mint, owner, program), owner, mint, program)

export const wrap = (owner: PublicKey, lamports: bigint) => [
  createAta(owner, spl.NATIVE_MINT, owner),
  SystemProgram.transfer({ fromPubkey: owner, toPubkey: ata(spl.NATIVE_MINT, owner), lamports }),
  spl.createSyncNativeInstruction(ata(spl.NATIVE_MINT, owner)),
]

export const text = (key: PublicKey) => key.toBase58()

/** A token account at an address of its own, which signs too. */
export const opened = (
  { local, key }: Scene,
  account: Keypair,
  mint: PublicKey,
  owner: PublicKey,
  payer = key,
  program = TOKEN_PROGRAM_ID,
) => [
  SystemProgram.createAccount({
    fromPubkey: payer,
    newAccountPubkey: account.publicKey,
    space: spl.ACCOUNT_SIZE,
    lamports: Number(local.minimumBalance(spl.ACCOUNT_SIZE)),
    programId: program,
  }),
  spl.createInitializeAccount3Instruction(account.publicKey, mint, owner, program),
]

/** Airdrops and gold locks, whose programs have no SDK here: the floor is what web3.js and spl-token take by hand. */
import { createHash } from 'node:crypto'
import * as spl from '@solana/spl-token'
import {
  type AccountMeta,
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import { buildClawback, CLAWBACK_UNITS } from '../../src/chain/programs/merkle-distributor/index.ts'
import { claimAirdrop } from '../../src/operations/airdrops/claim-airdrop.ts'
import { createAirdrop } from '../../src/operations/airdrops/create-airdrop.ts'
import { readAirdrop, requireDistributor } from '../../src/operations/airdrops/on-chain.ts'
import { buildTransaction } from '../../src/operations/building.ts'
import { createGoldLock } from '../../src/operations/gold-locks/create-gold-lock.ts'
import { unlockGoldLock } from '../../src/operations/gold-locks/unlock-gold-lock.ts'
import { buildTreeFromBody, createMerkleTree } from '../../src/operations/merkle-trees/create-merkle-tree.ts'
import { getProof } from '../../src/operations/merkle-trees/get-proof.ts'
import { MEMO_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { recipients } from '../merkle/recipients.ts'
import type { BuildKind } from './floor.ts'
import { type Stage, UNSIGNED } from './stage.ts'

const PLATFORM = 'bench'
const RECIPIENTS = 1_000
const CLAIMED = 1_000n
const LOCKED = 5_000n
const DAY_SECONDS = 86_400
const AIRDROP_START_SECONDS = 400
const BY_HAND = 'web3.js, by hand'
const DISTRIBUTOR_PROGRAM = new PublicKey(PROGRAMS.distributor.id)
const LOCK_PROGRAM = new PublicKey(PROGRAMS.lock.id)

const metas = (accounts: readonly (readonly [PublicKey, 'signer' | 'writable' | 'readonly'])[]): AccountMeta[] =>
  accounts.map(([pubkey, role]) => ({ pubkey, isSigner: role === 'signer', isWritable: role !== 'readonly' }))
const anchorName = (name: string) => createHash('sha256').update(`global:${name}`).digest().subarray(0, 8)
const u64 = (value: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
const derived = (program: PublicKey, ...seeds: (string | Uint8Array)[]) =>
  PublicKey.findProgramAddressSync(
    seeds.map((seed) => Buffer.from(seed)),
    program,
  )[0]

const distributorOf = (mint: PublicKey, count: number) =>
  derived(DISTRIBUTOR_PROGRAM, 'MerkleDistributor', mint.toBuffer(), u64(BigInt(count)))

/** The product takes the proof from a stored tree, the floor has it at hand. */
export async function airdropKinds(stage: Stage): Promise<BuildKind[]> {
  const { context, real, connection, user, platform, gold } = stage
  const [payer, mint] = [user.publicKey.toBase58(), gold.toBase58()]
  const entries = [...recipients(RECIPIENTS), [payer, String(CLAIMED)]].map(([wallet, amount]) => ({ wallet, amount }))
  const stored = async (airdrop_count: number) => {
    const built = await buildTreeFromBody(real, new Uint8Array(Buffer.from(JSON.stringify({ mint, entries }))))
    return createMerkleTree(real, {
      built,
      mode: 'unsigned',
      duplicates: 'reject',
      mint,
      airdrop_count,
      replace: false,
      persist: true,
    })
  }
  const [landed, fresh] = [await stored(0), await stored(1)]
  const creation = (airdrop_count: number) => ({
    ...UNSIGNED,
    payer,
    platform_id: PLATFORM,
    mint,
    airdrop_count,
    merkle_root: landed.root,
    clawback_after_days: 30,
    allow_programs: false,
  })
  const created = await createAirdrop(real, creation(0))
  if (created.mode === 'unsigned') stage.land(created.transaction)
  // Claims are open from five minutes after the creation on.
  stage.pass(AIRDROP_START_SECONDS)
  const { proof } = await getProof(real, { id: landed.id, wallet: payer })
  const source = spl.getAssociatedTokenAddressSync(gold, user.publicKey)
  return [
    {
      name: 'airdrop',
      sdk: BY_HAND,
      hasTrial: true,
      build: () => createAirdrop(context, creation(1)),
      async call() {
        const distributor = distributorOf(gold, 1)
        const vault = spl.getAssociatedTokenAddressSync(gold, distributor, true)
        const [account] = await connection.getMultipleAccountsInfo([gold, source, distributor, SYSVAR_CLOCK_PUBKEY])
        const total = BigInt(fresh.total)
        return [
          {
            payer: user.publicKey,
            instructions: [
              creationInstruction(user.publicKey, gold, distributor, vault, source, fresh.root, total),
              spl.createTransferCheckedInstruction(source, gold, vault, user.publicKey, total, account?.data[44] ?? 0),
            ],
          },
        ]
      },
    },
    {
      name: 'claim of an airdrop',
      sdk: BY_HAND,
      hasTrial: true,
      build: () =>
        claimAirdrop(context, {
          ...UNSIGNED,
          id: landed.id,
          claimer: payer,
          platform_id: PLATFORM,
          amount: '0',
          platform_fee: 0,
          swap_to_sol: false,
        }),
      async call() {
        const distributor = distributorOf(gold, 0)
        const status = derived(DISTRIBUTOR_PROGRAM, 'ClaimStatus', user.publicKey.toBuffer(), distributor.toBuffer())
        await connection.getMultipleAccountsInfo([distributor, status, source, SYSVAR_CLOCK_PUBKEY])
        const siblings = proof.map((hex) => Buffer.from(hex, 'hex'))
        const length = Buffer.alloc(4)
        length.writeUInt32LE(siblings.length)
        const claim = new TransactionInstruction({
          programId: DISTRIBUTOR_PROGRAM,
          keys: metas([
            [distributor, 'writable'],
            [status, 'writable'],
            [spl.getAssociatedTokenAddressSync(gold, distributor, true), 'writable'],
            [spl.getAssociatedTokenAddressSync(gold, user.publicKey), 'writable'],
            [user.publicKey, 'signer'],
            [spl.TOKEN_PROGRAM_ID, 'readonly'],
            [SystemProgram.programId, 'readonly'],
          ]),
          data: Buffer.concat([anchorName('new_claim'), u64(CLAIMED), u64(0n), length, ...siblings]),
        })
        return [{ payer: user.publicKey, instructions: [claim] }]
      },
    },
    {
      name: 'clawback of an airdrop',
      sdk: BY_HAND,
      hasTrial: true,
      async build() {
        const { address, distributor } = requireDistributor(context.chain, await readAirdrop(context.chain, landed.id))
        const clawback = { distributor: address, mint, receiver: distributor.clawbackReceiver, opensReceiverFor: null }
        return buildTransaction(context, {
          payer: platform.publicKey.toBase58(),
          fallbackUnits: CLAWBACK_UNITS,
          build: (envelope) => buildClawback({ ...envelope, ...clawback }),
        })
      },
      async call() {
        const distributor = distributorOf(gold, 0)
        const vault = spl.getAssociatedTokenAddressSync(gold, distributor, true)
        await connection.getMultipleAccountsInfo([distributor, vault, SYSVAR_CLOCK_PUBKEY])
        const clawback = new TransactionInstruction({
          programId: DISTRIBUTOR_PROGRAM,
          keys: metas([
            [distributor, 'writable'],
            [vault, 'writable'],
            [source, 'writable'],
            [platform.publicKey, 'signer'],
            [SystemProgram.programId, 'readonly'],
            [spl.TOKEN_PROGRAM_ID, 'readonly'],
          ]),
          data: anchorName('clawback'),
        })
        return [{ payer: platform.publicKey, instructions: [clawback] }]
      },
    },
  ]
}

function creationInstruction(
  payer: PublicKey,
  mint: PublicKey,
  distributor: PublicKey,
  vault: PublicKey,
  receiver: PublicKey,
  root: string,
  total: bigint,
): TransactionInstruction {
  const now = BigInt(Math.floor(Date.now() / 1_000) + AIRDROP_START_SECONDS)
  const times = [now, now + 1n, now + BigInt(30 * DAY_SECONDS)]
  const numbers = [total, BigInt(RECIPIENTS + 1), ...times].map(u64)
  return new TransactionInstruction({
    programId: DISTRIBUTOR_PROGRAM,
    keys: metas([
      [distributor, 'writable'],
      [receiver, 'writable'],
      [mint, 'readonly'],
      [vault, 'writable'],
      [payer, 'signer'],
      [SystemProgram.programId, 'readonly'],
      [spl.ASSOCIATED_TOKEN_PROGRAM_ID, 'readonly'],
      [spl.TOKEN_PROGRAM_ID, 'readonly'],
    ]),
    data: Buffer.concat([anchorName('new_distributor'), u64(1n), Buffer.from(root, 'hex'), ...numbers]),
  })
}

export async function goldKinds(stage: Stage): Promise<BuildKind[]> {
  const { context, real, connection, user, holder, gold } = stage
  const lockOf = (owner: PublicKey) => ({
    ...UNSIGNED,
    user: owner.toBase58(),
    platform_id: PLATFORM,
    amount: String(LOCKED),
    lock_duration_days: 1,
    platform_fee: 0,
  })
  stage.land((await createGoldLock(real, lockOf(user.publicKey))).transaction)
  stage.pass(2 * DAY_SECONDS)
  const eventAuthority = derived(LOCK_PROGRAM, '__event_authority')
  const accountsOf = (owner: PublicKey) => {
    const escrow = derived(LOCK_PROGRAM, 'escrow', owner.toBuffer())
    const [escrowToken, userToken] = [escrow, owner].map((each) => spl.getAssociatedTokenAddressSync(gold, each, true))
    if (escrowToken === undefined || userToken === undefined) throw new Error('two owners have two accounts')
    return { escrow, escrowToken, userToken }
  }
  const instruction = (name: string, accounts: Parameters<typeof metas>[0], ...data: Uint8Array[]) =>
    new TransactionInstruction({
      programId: LOCK_PROGRAM,
      keys: metas([...accounts, [eventAuthority, 'readonly'], [LOCK_PROGRAM, 'readonly']]),
      data: Buffer.concat([anchorName(name), ...data, Buffer.of(0)]),
    })
  const memo = (owner: PublicKey) =>
    new TransactionInstruction({
      programId: new PublicKey(MEMO_PROGRAM),
      keys: metas([[owner, 'signer']]),
      data: Buffer.from(`svc:gold ${PLATFORM}`),
    })
  return [
    {
      name: 'gold lock',
      sdk: BY_HAND,
      hasTrial: true,
      build: () => createGoldLock(context, lockOf(holder.publicKey)),
      async call() {
        const owner = holder.publicKey
        const { escrow, escrowToken, userToken } = accountsOf(owner)
        await connection.getMultipleAccountsInfo([escrow, gold, userToken, SYSVAR_CLOCK_PUBKEY])
        const now = BigInt(Math.floor(Date.now() / 1_000))
        const parameters = [now, now + BigInt(DAY_SECONDS), 1n, LOCKED, 0n, 0n].map(u64)
        return [
          {
            payer: owner,
            instructions: [
              spl.createAssociatedTokenAccountIdempotentInstruction(owner, escrowToken, escrow, gold),
              instruction(
                'create_vesting_escrow_v2',
                [
                  [owner, 'signer'],
                  [escrow, 'writable'],
                  [gold, 'readonly'],
                  [escrowToken, 'writable'],
                  [owner, 'signer'],
                  [userToken, 'writable'],
                  [owner, 'readonly'],
                  [spl.TOKEN_PROGRAM_ID, 'readonly'],
                  [SystemProgram.programId, 'readonly'],
                ],
                ...parameters,
                Buffer.alloc(2),
              ),
              memo(owner),
            ],
          },
        ]
      },
    },
    {
      name: 'unlocking of gold',
      sdk: BY_HAND,
      hasTrial: true,
      build: () =>
        unlockGoldLock(context, {
          ...UNSIGNED,
          user: user.publicKey.toBase58(),
          platform_id: PLATFORM,
          platform_fee: 0,
        }),
      async call() {
        const owner = user.publicKey
        const { escrow, escrowToken, userToken } = accountsOf(owner)
        const metadata = derived(LOCK_PROGRAM, 'escrow_metadata', escrow.toBuffer())
        const memoProgram = new PublicKey(MEMO_PROGRAM)
        await connection.getMultipleAccountsInfo([escrow, gold, escrowToken, userToken, SYSVAR_CLOCK_PUBKEY])
        const common = [
          [gold, 'writable'],
          [escrowToken, 'writable'],
        ] as const
        return [
          {
            payer: owner,
            instructions: [
              spl.createAssociatedTokenAccountIdempotentInstruction(owner, userToken, owner, gold),
              instruction(
                'claim_v2',
                [
                  [escrow, 'writable'],
                  ...common,
                  [owner, 'signer'],
                  [userToken, 'writable'],
                  [memoProgram, 'readonly'],
                  [spl.TOKEN_PROGRAM_ID, 'readonly'],
                ],
                u64(LOCKED),
              ),
              instruction('close_vesting_escrow', [
                [escrow, 'writable'],
                [metadata, 'writable'],
                ...common,
                [userToken, 'writable'],
                [owner, 'signer'],
                [spl.TOKEN_PROGRAM_ID, 'readonly'],
                [memoProgram, 'readonly'],
              ]),
              memo(owner),
            ],
          },
        ]
      },
    },
  ]
}

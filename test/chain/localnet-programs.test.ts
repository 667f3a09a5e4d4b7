/** Each public program that svc builds on executes real instructions in the embedded chain, where the cache has it. */

import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { createCollection, mplCore } from '@metaplex-foundation/mpl-core'
import { createNoopSigner, publicKey, signerIdentity } from '@metaplex-foundation/umi'
import { createUmi } from '@metaplex-foundation/umi-bundle-defaults'
import * as dbc from '@meteora-ag/dynamic-bonding-curve-sdk'
import * as spl from '@solana/spl-token'
import {
  Keypair,
  PublicKey,
  SYSVAR_RENT_PUBKEY,
  SystemProgram,
  type Transaction,
  TransactionInstruction,
} from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import type { LocalChain } from '../../src/localnet/types.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { launchCurve } from '../support/curve.ts'
import { u64 } from '../support/little-endian.ts'
import { hasProgram, openTestChain, PROGRAMS_DIR, SOL, START_MS, type TestChain } from '../support/local-chain.ts'
import { type TestNode, testNode } from '../support/node.ts'

/** The SDK's big numbers, which come without types. */
const BN = createRequire(import.meta.url)('bn.js')
const without = (...names: (keyof typeof PROGRAMS)[]) => it.skipIf(names.some((name) => !hasProgram(PROGRAMS[name].id)))
const open = () => openTestChain({ programsDir: PROGRAMS_DIR })
const discriminator = (name: string) => createHash('sha256').update(`global:${name}`).digest().subarray(0, 8)
const borshString = (text: string) => {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(Buffer.byteLength(text))
  return Buffer.concat([length, Buffer.from(text)])
}
/** Account metas from short marks: `w` writable, `s` signer. */
const meta = (pubkey: PublicKey, marks = '') => ({
  pubkey,
  isSigner: marks.includes('s'),
  isWritable: marks.includes('w'),
})

/** A mint with everything in the payer's token account. */
function launchToken(test: TestChain, payer: Keypair, supply: bigint) {
  const mint = Keypair.generate()
  const held = spl.getAssociatedTokenAddressSync(mint.publicKey, payer.publicKey)
  const { err } = test.send(
    [
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: mint.publicKey,
        space: spl.MINT_SIZE,
        lamports: Number(test.chain.minimumBalance(spl.MINT_SIZE)),
        programId: spl.TOKEN_PROGRAM_ID,
      }),
      spl.createInitializeMint2Instruction(mint.publicKey, 6, payer.publicKey, null),
      spl.createAssociatedTokenAccountInstruction(payer.publicKey, held, payer.publicKey, mint.publicKey),
      spl.createMintToInstruction(mint.publicKey, held, payer.publicKey, supply),
    ],
    [payer, mint],
  )
  expect(err).toBeNull()
  return { mint: mint.publicKey, held }
}

const tokensIn = ({ chain }: TestChain, account: PublicKey) =>
  Buffer.from(chain.account(account.toBase58())!.data).readBigUInt64LE(64)

/** The three questions that the Meteora SDK asks to build its transactions. */
function connectionTo(chain: LocalChain): TestNode {
  const accountOf = (address: string) => {
    const account = chain.account(address)
    if (account === null) return null
    const { lamports, owner, data, executable } = account
    const encoded = [Buffer.from(data).toString('base64'), 'base64']
    return { lamports: Number(lamports), owner, data: encoded, executable, rentEpoch: 0, space: data.length }
  }
  const context = { slot: chain.slot() }
  const answers: Record<string, (params: never[]) => unknown> = {
    getAccountInfo: ([address]) => ({ context, value: accountOf(address!) }),
    getMultipleAccounts: ([addresses]) => ({ context, value: (addresses as unknown as string[]).map(accountOf) }),
    getMinimumBalanceForRentExemption: ([space]) => Number(chain.minimumBalance(space!)),
  }
  return testNode('http://embedded.test', {
    commitment: 'confirmed',
    fetch: async (_, init) => {
      const { id, method, params } = JSON.parse(String(init?.body))
      return new Response(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]!(params) }))
    },
  })
}

describe('in the embedded chain', () => {
  without(
    'dbc',
    'dammV2',
    'tokenMetadata',
  )('Meteora DBC fills a curve and migrates it to a pool of Meteora DAMM v2', async () => {
    const test = await open()
    const client = new dbc.DynamicBondingCurveClient(connectionTo(test.chain), 'confirmed')
    const [platform, creator, trader, keeper] = [test.wallet(), test.wallet(), test.wallet(1000n * SOL), test.wallet()]
    const [config, mint] = [Keypair.generate(), Keypair.generate()]
    const run = (transaction: Transaction, signers: Keypair[]) => {
      test.wall.ms += test.chain.slotMs()
      const landed = test.send(transaction.instructions, signers)
      expect([landed.err, landed.logs]).toEqual([null, expect.any(Array)])
      return landed
    }
    run(
      await client.partner.createConfigAndPool({
        payer: creator.publicKey,
        config: config.publicKey,
        feeClaimer: platform.publicKey,
        leftoverReceiver: platform.publicKey,
        quoteMint: spl.NATIVE_MINT,
        ...launchCurve(dbc),
        preCreatePoolParam: {
          name: 'Test Coin',
          symbol: 'TST',
          uri: 'https://example.com/z.json',
          poolCreator: creator.publicKey,
          baseMint: mint.publicKey,
        },
      }),
      [creator, config, mint],
    )
    const pool = dbc.deriveDbcPoolAddress(spl.NATIVE_MINT, mint.publicKey, config.publicKey)
    const fill = await client.pool.swap2({
      owner: trader.publicKey,
      pool,
      swapMode: dbc.SwapMode.PartialFill,
      amountIn: new BN(500).mul(new BN(1e9)),
      minimumAmountOut: new BN(0),
      swapBaseForQuote: false,
      referralTokenAccount: null,
    })
    const filled = run(fill, [trader])
    expect(filled.postTokenBalances.some(({ owner }) => owner === trader.publicKey.toBase58())).toBe(true)

    const dammConfig = dbc.DAMM_V2_MIGRATION_FEE_ADDRESS[dbc.MigrationFeeOption.FixedBps100]!
    const migration = await client.migration.migrateToDammV2({ payer: keeper.publicKey, pool, dammConfig })
    const migrated = run(migration.transaction, [
      keeper,
      migration.firstPositionNftKeypair,
      migration.secondPositionNftKeypair,
    ])
    expect(migrated.logs).toContain(`Program ${PROGRAMS.dammV2.id} success`)
    const damm = dbc.deriveDammV2PoolAddress(dammConfig, mint.publicKey, spl.NATIVE_MINT)
    expect(test.chain.account(damm.toBase58())?.owner).toBe(PROGRAMS.dammV2.id)
    expect([...test.chain.accountsOwnedBy(PROGRAMS.dammV2.id)].map(([address]) => address)).toContain(damm.toBase58())
  })

  without('tokenMetadata')('Metaplex Token Metadata creates metadata', async () => {
    const test = await open()
    const payer = test.wallet()
    const { mint } = launchToken(test, payer, 1n)
    const program = new PublicKey(PROGRAMS.tokenMetadata.id)
    const [metadata] = PublicKey.findProgramAddressSync(
      [Buffer.from('metadata'), program.toBuffer(), mint.toBuffer()],
      program,
    )
    const create = new TransactionInstruction({
      programId: program,
      keys: [
        meta(metadata, 'w'),
        meta(mint),
        meta(payer.publicKey, 's'),
        meta(payer.publicKey, 'sw'),
        meta(payer.publicKey),
        meta(SystemProgram.programId),
        meta(SYSVAR_RENT_PUBKEY),
      ],
      // CreateMetadataAccountV3: data, no fee, no creators, collection or uses; mutable, no collection details.
      data: Buffer.concat([
        Buffer.from([33]),
        ...['Test Coin', 'TST', 'https://example.com/z.json'].map(borshString),
        Buffer.from([0, 0, 0, 0, 0, 1, 0]),
      ]),
    })
    expect(test.send([create], [payer]).err).toBeNull()
    const { owner, data } = test.chain.account(metadata.toBase58())!
    expect(owner).toBe(PROGRAMS.tokenMetadata.id)
    expect(Buffer.from(data).toString()).toContain('Test Coin')
  })

  without('core')('Metaplex Core creates a collection', async () => {
    const test = await open()
    const payer = test.wallet()
    const collection = Keypair.generate()
    const signer = (key: PublicKey) => createNoopSigner(publicKey(key.toBase58()))
    const umi = createUmi('http://embedded.test')
      .use(mplCore())
      .use(signerIdentity(signer(payer.publicKey)))
    const instructions = createCollection(umi, {
      collection: signer(collection.publicKey),
      name: 'Genesis',
      uri: 'https://example.com/c.json',
    })
      .getInstructions()
      .map(
        ({ programId, keys, data }) =>
          new TransactionInstruction({
            programId: new PublicKey(programId),
            keys: keys.map((key) => ({ ...key, pubkey: new PublicKey(key.pubkey) })),
            data: Buffer.from(data),
          }),
      )
    expect(test.send(instructions, [payer, collection]).err).toBeNull()
    const { owner, data } = test.chain.account(collection.publicKey.toBase58())!
    expect(owner).toBe(PROGRAMS.core.id)
    expect(Buffer.from(data).toString()).toContain('Genesis')
  })

  without('lock')('Jupiter Lock holds tokens until its cliff', async () => {
    const test = await open()
    const { chain } = test
    const payer = test.wallet()
    const base = Keypair.generate()
    const { mint, held } = launchToken(test, payer, 1000n)
    const program = new PublicKey(PROGRAMS.lock.id)
    const find = (...seeds: (Buffer | string)[]) =>
      PublicKey.findProgramAddressSync(
        seeds.map((seed) => Buffer.from(seed as Buffer)),
        program,
      )[0]
    const escrow = find('escrow', base.publicKey.toBuffer())
    const escrowTokens = spl.getAssociatedTokenAddressSync(mint, escrow, true)
    const events = find('__event_authority')
    const [start, cliff] = [START_MS / 1000, START_MS / 1000 + 30 * 86_400]
    const create = new TransactionInstruction({
      programId: program,
      keys: [
        meta(base.publicKey, 'sw'),
        meta(escrow, 'w'),
        meta(escrowTokens, 'w'),
        meta(payer.publicKey, 'sw'),
        meta(held, 'w'),
        meta(payer.publicKey),
        meta(spl.TOKEN_PROGRAM_ID),
        meta(SystemProgram.programId),
        meta(events),
        meta(program),
      ],
      // Start, cliff, frequency, amount at the cliff, amount per period, periods; nobody may update or cancel.
      data: Buffer.concat([
        discriminator('create_vesting_escrow'),
        ...[start, cliff, 1, 1000, 0, 0].map(u64),
        Buffer.from([0, 0]),
      ]),
    })
    const openEscrow = spl.createAssociatedTokenAccountInstruction(payer.publicKey, escrowTokens, escrow, mint)
    const created = test.send([openEscrow, create], [payer, base])
    expect(created.err).toBeNull()
    expect([tokensIn(test, held), tokensIn(test, escrowTokens)]).toEqual([0n, 1000n])

    const claim = new TransactionInstruction({
      programId: program,
      keys: [
        meta(escrow, 'w'),
        meta(escrowTokens, 'w'),
        meta(payer.publicKey, 'sw'),
        meta(held, 'w'),
        meta(spl.TOKEN_PROGRAM_ID),
        meta(events),
        meta(program),
      ],
      data: Buffer.concat([discriminator('claim'), u64(2n ** 64n - 1n)]),
    })
    expect(test.send([claim], [payer]).err).toBeNull()
    expect(tokensIn(test, held)).toBe(0n)
    chain.advance(30 * 86_400)
    expect(test.send([claim], [payer]).err).toBeNull()
    expect(tokensIn(test, held)).toBe(1000n)
  })

  without('distributor')(
    'the Jito merkle distributor opens a distribution, but not one that lies in the past',
    async () => {
      const test = await open()
      const admin = test.wallet()
      const { mint, held } = launchToken(test, admin, 1000n)
      const program = new PublicKey(PROGRAMS.distributor.id)
      const newDistributor = (version: number, start: number) => {
        const [distributor] = PublicKey.findProgramAddressSync(
          [Buffer.from('MerkleDistributor'), mint.toBuffer(), u64(version)],
          program,
        )
        const instruction = new TransactionInstruction({
          programId: program,
          keys: [
            meta(distributor, 'w'),
            meta(held, 'w'),
            meta(mint),
            meta(spl.getAssociatedTokenAddressSync(mint, distributor, true), 'w'),
            meta(admin.publicKey, 'sw'),
            meta(SystemProgram.programId),
            meta(spl.ASSOCIATED_TOKEN_PROGRAM_ID),
            meta(spl.TOKEN_PROGRAM_ID),
          ],
          data: Buffer.concat([
            discriminator('new_distributor'),
            u64(version),
            Buffer.alloc(32, 7),
            ...[1000, 2, start, start + 100, start + 100 + 86_400].map(u64),
          ]),
        })
        return { distributor, instruction }
      }
      const soon = newDistributor(0, START_MS / 1000 + 60)
      expect(test.send([soon.instruction], [admin]).err).toBeNull()
      expect(test.chain.account(soon.distributor.toBase58())?.owner).toBe(PROGRAMS.distributor.id)
      test.chain.advance(60)
      const { err } = test.send([newDistributor(1, START_MS / 1000 + 60).instruction], [admin])
      expect(err).toEqual({ InstructionError: [0, { Custom: 6016 }] })
    },
  )
})

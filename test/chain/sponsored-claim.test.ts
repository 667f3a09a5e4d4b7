/** The sponsored claim as a transaction: as the real program takes it, what it costs whom, and its size. */
import * as spl from '@solana/spl-token'
import { ComputeBudgetProgram, type Keypair, PublicKey, SystemProgram } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  buildCreation,
  buildSponsoredClaim,
  claimStatusAddress,
  distributorAddress,
  distributorChangesIn,
  type SponsoredDistributorClaim,
  tokenAccountAddress,
} from '../../src/chain/programs/merkle-distributor/index.ts'
import { listFromEntries } from '../../src/merkle/entry-list.ts'
import { buildTree, proofAt, toHex } from '../../src/merkle/tree.ts'
import { MAX_TRANSACTION_BYTES } from '../../src/solana/constants.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey } from '../support/golden.ts'
import { hasProgram, openTestChain, PROGRAMS_DIR, SOL } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'
import { addressOf } from '../support/wallets.ts'

const [ADMIN, MINT, CLAIMER, PLATFORM] = [61, 62, 63, 64].map(goldenKey) as [Keypair, Keypair, Keypair, Keypair]
const lacks = !hasProgram(PROGRAMS.distributor.id)
/** Raw units of the claim, and the lamports that the golden transactions lend. */
const [AMOUNT, LENT] = [1_012_345n, 1_336_320n]
const MAX_U64 = 2n ** 64n - 1n
const walletOf = (n: number) => {
  const bytes = Buffer.alloc(32, 9)
  bytes.writeUInt32BE(n)
  return new PublicKey(bytes).toBase58()
}
/** 50,000 leaves: 16 hashes, as the longest stored tree. */
const tree = buildTree(
  listFromEntries(
    Array.from({ length: 50_000 }, (_, n) => ({
      wallet: n === 777 ? addressOf(CLAIMER) : walletOf(n),
      amount: n === 777 ? AMOUNT : BigInt(n + 1),
    })),
  ),
)
const distributor = await distributorAddress({ mint: addressOf(MINT), airdropCount: 0 })
const LEAF = { amount: AMOUNT, locked: 0n, proof: proofAt(tree, 777) }
const claimOf = (changes: Partial<SponsoredDistributorClaim> = {}) =>
  buildSponsoredClaim({
    payer: addressOf(PLATFORM),
    claimer: addressOf(CLAIMER),
    recentBlockhash: GOLDEN_BLOCKHASH,
    distributor,
    mint: addressOf(MINT),
    leaf: LEAF,
    takesVested: false,
    opensAccount: true,
    lent: LENT,
    ...changes,
  })
const BUDGET = [
  ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports: MAX_U64 }),
]

/** The airdrop on chain and funded, a platform wallet with SOL, and a claimer without a lamport. */
async function made() {
  const test = await openTestChain({ programsDir: PROGRAMS_DIR })
  for (const key of [ADMIN, PLATFORM]) test.chain.airdrop(addressOf(key), 100n * SOL)
  const account = new PublicKey(await tokenAccountAddress(addressOf(MINT), addressOf(ADMIN)))
  const vault = new PublicKey(await tokenAccountAddress(addressOf(MINT), distributor))
  const mint = MINT.publicKey
  const startsAt = BigInt(test.chain.unixTimestamp()) + 300n
  const { transaction } = await buildCreation({
    payer: addressOf(ADMIN),
    recentBlockhash: test.chain.latestBlockhash().blockhash,
    mint: addressOf(MINT),
    airdropCount: 0,
    root: toHex(tree.root),
    maxTotal: 10n ** 15n,
    maxNodes: 50_000n,
    startsAt,
    endsAt: startsAt + 1n,
    clawbackAt: startsAt + 86_402n,
    decimals: 6,
    deposit: 10n ** 12n,
    opensReceiver: false,
  })
  const opened = test.send(
    [
      SystemProgram.createAccount({
        fromPubkey: ADMIN.publicKey,
        newAccountPubkey: mint,
        space: spl.MINT_SIZE,
        lamports: Number(test.chain.minimumBalance(spl.MINT_SIZE)),
        programId: spl.TOKEN_PROGRAM_ID,
      }),
      spl.createInitializeMint2Instruction(mint, 6, ADMIN.publicKey, null),
      spl.createAssociatedTokenAccountInstruction(ADMIN.publicKey, account, ADMIN.publicKey, mint),
      spl.createMintToInstruction(mint, account, ADMIN.publicKey, 10n ** 12n),
    ],
    [ADMIN, MINT],
  )
  expect([opened.err, vault.toBase58().length > 0]).toEqual([null, true])
  const { VersionedTransaction } = await import('@solana/web3.js')
  const creation = VersionedTransaction.deserialize(transaction)
  creation.sign([ADMIN])
  expect(test.chain.send(creation.serialize()).err).toBeNull()
  return test
}

describe('a sponsored claim', () => {
  it('is the message that the real program accepted, signed by payer and claimer, and fits', async ({ annotate }) => {
    const version1 = { messageConfig: GOLDEN_CONFIG }
    const sizes = {
      plain: await expectGolden('airdrops/sponsored-claim', (await claimOf()).transaction, made),
      v1: await expectGolden('airdrops/v1-sponsored-claim', (await claimOf(version1)).transaction, made),
      budgeted: (await claimOf({ before: BUDGET, takesVested: true, lent: MAX_U64 })).transaction.length,
    }
    await annotate(JSON.stringify(sizes), 'bytes')
    expect(sizes.budgeted).toBeLessThanOrEqual(MAX_TRANSACTION_BYTES)
    expect((await claimOf()).requiredSigners).toEqual([addressOf(PLATFORM), addressOf(CLAIMER)])
    expect((await claimOf({ lent: 0n })).transaction.length).toBeLessThan(sizes.plain)
  })

  it('is read as the claim of its claimer, whoever pays', { tags: 'sampled' }, async () => {
    const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new PublicKey(bytes).toBase58())
    const arbitrary = fc.record({ payer: key, claimer: key, amount: fc.bigInt(0n, MAX_U64), lent: fc.bigInt(0n, SOL) })
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ amount, ...parts }) => {
        const { transaction } = await claimOf({ ...parts, leaf: { ...LEAF, amount } })
        const [change, ...others] = distributorChangesIn(decodeWireTransaction(transaction).message)
        expect([change, others]).toMatchObject([{ kind: 'claimed', distributor, claimer: parts.claimer, amount }, []])
      }),
      { numRuns: runs(10, 40) },
    )
  })
})

describe.skipIf(lacks)('a sponsored claim on the real program (needs the Jito merkle distributor)', () => {
  it('takes exactly the rent of the claim status from its claimer: one lamport less or more in an empty wallet fails', async () => {
    const { chain } = await made()
    const { VersionedTransaction } = await import('@solana/web3.js')
    const run = async (lent: bigint) => {
      const built = VersionedTransaction.deserialize((await claimOf({ lent })).transaction)
      built.message.recentBlockhash = chain.latestBlockhash().blockhash
      built.sign([PLATFORM, CLAIMER])
      return chain.send(built.serialize()).err
    }
    const [rent, least] = [chain.minimumBalance(64), chain.minimumBalance(0)]
    for (const lent of [rent - 1n, rent + 1n, rent + least - 1n]) {
      expect([lent, JSON.stringify(await run(lent))]).toEqual([
        lent,
        expect.stringMatching(/Custom|InsufficientFundsForRent/),
      ])
      chain.advance(1)
    }
    expect(await run(rent)).toBeNull()
    expect(chain.account(addressOf(CLAIMER))?.lamports ?? 0n).toBe(0n)
    const status = await claimStatusAddress(distributor, addressOf(CLAIMER))
    expect(chain.account(status)?.lamports).toBe(rent)
  })
})

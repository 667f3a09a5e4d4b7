/** The merkle distributor's instructions and accounts: as the real program takes and writes them, and their sizes. */
import * as spl from '@solana/spl-token'
import { ComputeBudgetProgram, type Keypair, PublicKey, SystemProgram, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  AIRDROP_CLAIM_UNITS,
  buildAirdropClaim,
  buildClawback,
  buildCreation,
  CLAWBACK_UNITS,
  CREATION_UNITS,
  claimStatusAddress,
  decodeClaimStatus,
  decodeDistributor,
  distributorAddress,
  distributorChangesIn,
  MOST_SIBLINGS,
  tokenAccountAddress,
} from '../../src/chain/programs/merkle-distributor/index.ts'
import { listFromEntries } from '../../src/merkle/entry-list.ts'
import { buildTree, proofAt, toHex } from '../../src/merkle/tree.ts'
import { MAX_TRANSACTION_BYTES } from '../../src/solana/constants.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey } from '../support/golden.ts'
import { hasProgram, openTestChain, PROGRAMS_DIR, SOL } from '../support/local-chain.ts'
import { mapped } from '../support/mapped.ts'
import { runs } from '../support/runs.ts'
import { addressOf } from '../support/wallets.ts'

const [ADMIN, MINT, CLAIMER, PLATFORM, KEEPER] = mapped([31, 32, 33, 34, 35], goldenKey)
const MAX_U64 = 2n ** 64n - 1n
const DAY = 86_400n
const lacks = !hasProgram(PROGRAMS.distributor.id)
const PLACE = 12_345
const AMOUNT = 1_012_345n
/** 50,000 leaves: 16 hashes, as the longest stored tree. */
const tree = buildTree(
  listFromEntries(
    Array.from({ length: 50_000 }, (_, n) => ({
      wallet: n === PLACE ? addressOf(CLAIMER) : walletOf(n),
      amount: n === PLACE ? AMOUNT : BigInt(n + 1),
    })),
  ),
)
const proof = proofAt(tree, PLACE)
const TOTAL = 10n ** 15n

/** Any 32 bytes are a wallet. */
function walletOf(n: number): string {
  const bytes = Buffer.alloc(32, 9)
  bytes.writeUInt32BE(n)
  return new PublicKey(bytes).toBase58()
}

const budget = [
  ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports: MAX_U64 }),
]
const fee = [
  SystemProgram.transfer({ fromPubkey: CLAIMER.publicKey, toPubkey: PLATFORM.publicKey, lamports: 2_000_000 }),
]
const START = 1_800_000_300n

const creationOf = (changes: Partial<Parameters<typeof buildCreation>[0]> = {}) =>
  buildCreation({
    payer: addressOf(ADMIN),
    recentBlockhash: GOLDEN_BLOCKHASH,
    mint: addressOf(MINT),
    airdropCount: 65_535,
    root: toHex(tree.root),
    maxTotal: TOTAL,
    maxNodes: 50_000n,
    startsAt: START,
    endsAt: START + 1n,
    clawbackAt: START + 1n + 30n * DAY,
    decimals: 6,
    deposit: TOTAL,
    opensReceiver: false,
    ...changes,
  })
const distributor = await distributorAddress({ mint: addressOf(MINT), airdropCount: 65_535 })
const receiver = await tokenAccountAddress(addressOf(MINT), addressOf(ADMIN))
const claimOf = (changes: Partial<Parameters<typeof buildAirdropClaim>[0]> = {}) =>
  buildAirdropClaim({
    payer: addressOf(CLAIMER),
    recentBlockhash: GOLDEN_BLOCKHASH,
    distributor,
    mint: addressOf(MINT),
    leaf: { amount: AMOUNT, locked: 0n, proof },
    takesVested: false,
    opensAccount: true,
    ...changes,
  })
const clawbackOf = (changes: Partial<Parameters<typeof buildClawback>[0]> = {}) =>
  buildClawback({
    payer: addressOf(KEEPER),
    recentBlockhash: GOLDEN_BLOCKHASH,
    distributor,
    mint: addressOf(MINT),
    receiver,
    opensReceiverFor: null,
    ...changes,
  })

/** The mint with all its tokens in the admin's account. */
async function openChain() {
  const test = await openTestChain({ programsDir: PROGRAMS_DIR })
  for (const key of [ADMIN, CLAIMER, KEEPER, PLATFORM]) test.chain.airdrop(addressOf(key), 100n * SOL)
  const [mint, account] = [MINT.publicKey, new PublicKey(receiver)]
  const made = test.send(
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
      spl.createMintToInstruction(mint, account, ADMIN.publicKey, 3n * TOTAL),
    ],
    [ADMIN, MINT],
  )
  expect(made.err).toBeNull()
  let units = 0
  const land = ({ transaction }: { transaction: Uint8Array }, ...signers: Keypair[]) => {
    const decoded = VersionedTransaction.deserialize(transaction)
    decoded.message.recentBlockhash = test.chain.latestBlockhash().blockhash
    decoded.sign(signers)
    test.chain.advance(1)
    const landed = test.chain.send(decoded.serialize())
    units = Number(landed.unitsConsumed)
    expect(landed.err, landed.logs?.join('\n')).toBeNull()
    return landed
  }
  return { ...test, land, units: () => units }
}

const made = async () => {
  const opened = await openChain()
  opened.land(await creationOf(), ADMIN)
  return opened
}

const LOCKED = 1_000_003n
/** One of three wallets has a locked amount, which vests in 1,000 seconds. */
const vestingTree = buildTree(
  listFromEntries(
    [0, 1, 2].map((n) => ({
      wallet: n === 1 ? addressOf(CLAIMER) : walletOf(n),
      amount: n === 1 ? AMOUNT : 1n,
      locked: n === 1 ? LOCKED : 0n,
    })),
  ),
)
const vestingDistributor = await distributorAddress({ mint: addressOf(MINT), airdropCount: 9 })
const vestingClaimOf = (changes: Partial<Parameters<typeof buildAirdropClaim>[0]>) =>
  claimOf({
    distributor: vestingDistributor,
    leaf: { amount: AMOUNT, locked: LOCKED, proof: proofAt(vestingTree, 1) },
    takesVested: true,
    ...changes,
  })
const vestingHalfway = async () => {
  const opened = await openChain()
  const schedule = { startsAt: START, endsAt: START + 1_000n, clawbackAt: START + 1_000n + DAY }
  const creation = { airdropCount: 9, root: toHex(vestingTree.root), maxNodes: 3n, ...schedule }
  opened.land(await creationOf(creation), ADMIN)
  opened.chain.advance(800)
  return opened
}

describe('every builder of the distributor', () => {
  it("makes the transaction that the real program accepted when recorded, within the chain's size limit", async ({
    annotate,
  }) => {
    const version1 = { messageConfig: GOLDEN_CONFIG }
    const afterwards = async () => {
      const opened = await made()
      opened.chain.advance(Number(31n * DAY))
      return opened
    }
    const sizes = {
      'airdrops/create': await expectGolden('airdrops/create', (await creationOf()).transaction, openChain),
      'airdrops/create-longest': await expectGolden(
        'airdrops/create-longest',
        (await creationOf({ opensReceiver: true, before: [budget[0]!] })).transaction,
        openChain,
      ),
      'airdrops/claim': await expectGolden('airdrops/claim', (await claimOf()).transaction, made),
      'airdrops/claim-longest': await expectGolden(
        'airdrops/claim-longest',
        (await claimOf({ before: [budget[0]!], after: fee })).transaction,
        made,
      ),
      'airdrops/claim-first-vested': await expectGolden(
        'airdrops/claim-first-vested',
        (await vestingClaimOf({})).transaction,
        vestingHalfway,
      ),
      'airdrops/claim-vested': await expectGolden(
        'airdrops/claim-vested',
        (await vestingClaimOf({ leaf: null, opensAccount: false })).transaction,
        async () => {
          const opened = await vestingHalfway()
          opened.land(await vestingClaimOf({}), CLAIMER)
          opened.chain.advance(100)
          return opened
        },
      ),
      'airdrops/v1-claim-vested': await expectGolden(
        'airdrops/v1-claim-vested',
        (await vestingClaimOf({ ...version1, after: fee })).transaction,
        vestingHalfway,
      ),
      'airdrops/clawback': await expectGolden('airdrops/clawback', (await clawbackOf()).transaction, afterwards),
      'airdrops/v1-create': await expectGolden(
        'airdrops/v1-create',
        (await creationOf(version1)).transaction,
        openChain,
      ),
      'airdrops/v1-claim': await expectGolden(
        'airdrops/v1-claim',
        (await claimOf({ ...version1, after: fee })).transaction,
        made,
      ),
      'airdrops/v1-clawback': await expectGolden(
        'airdrops/v1-clawback',
        (await clawbackOf(version1)).transaction,
        afterwards,
      ),
      'airdrops/clawback-reopening': await expectGolden(
        'airdrops/clawback-reopening',
        (await clawbackOf({ opensReceiverFor: addressOf(ADMIN) })).transaction,
        afterwards,
      ),
    }
    await annotate(JSON.stringify(sizes), 'bytes')
  })

  it('fits with the longest valid inputs, a compute limit and a price', async ({ annotate }) => {
    const siblings = (count: number) => Array.from({ length: count }, (_, n) => new Uint8Array(32).fill(n))
    const leafWith = (proof: Uint8Array[]) => ({ amount: MAX_U64, locked: MAX_U64, proof })
    const most = { before: budget, after: fee }
    const built = {
      creation: await creationOf({
        before: budget,
        opensReceiver: true,
        maxTotal: MAX_U64,
        maxNodes: MAX_U64,
        clawbackAt: 2n ** 63n - 1n,
        deposit: MAX_U64,
      }),
      'claim of 50,000': await claimOf(most),
      'claim with most siblings': await claimOf({ ...most, leaf: leafWith(siblings(MOST_SIBLINGS)) }),
      'claim with most siblings and what has vested': await claimOf({
        ...most,
        leaf: leafWith(siblings(MOST_SIBLINGS - 1)),
        takesVested: true,
      }),
      'claim of what has vested': await claimOf({ ...most, leaf: null, takesVested: true }),
      clawback: await clawbackOf({ before: budget, opensReceiverFor: addressOf(ADMIN) }),
    }
    const sizes = Object.entries(built).map(([name, { transaction }]) => [name, transaction.length] as const)
    await annotate(JSON.stringify(Object.fromEntries(sizes)), 'bytes')
    for (const [name, size] of sizes) expect([name, size <= MAX_TRANSACTION_BYTES]).toEqual([name, true])
    expect(proof).toHaveLength(16)
    await expect(claimOf({ ...most, leaf: leafWith(siblings(MOST_SIBLINGS + 1)) })).rejects.toMatchObject({
      code: 'bad_request',
    })
  })
})

describe.skipIf(lacks)('the distributor program (needs the Jito merkle distributor)', () => {
  it('has accounts that are read as created, and that change with a claim and the clawback', async ({ annotate }) => {
    const { chain, land, units } = await openChain()
    const used: Record<string, number> = {}
    const read = (address: string) => chain.account(address)
    land(await creationOf(), ADMIN)
    used.creation = units()
    const vault = await tokenAccountAddress(addressOf(MINT), distributor)
    const expected = {
      version: 65_535n,
      root: toHex(tree.root),
      mint: addressOf(MINT),
      vault,
      maxTotal: TOTAL,
      maxNodes: 50_000n,
      claimedTotal: 0n,
      claimedNodes: 0n,
      startsAt: START,
      endsAt: START + 1n,
      clawbackAt: START + 1n + 30n * DAY,
      clawbackReceiver: receiver,
      admin: addressOf(ADMIN),
      isClawedBack: false,
    }
    expect(decodeDistributor(read(distributor))).toEqual(expected)
    const statusAddress = await claimStatusAddress(distributor, addressOf(CLAIMER))
    expect(decodeClaimStatus(read(statusAddress))).toBeNull()
    land(await claimOf({ after: fee }), CLAIMER)
    used.claim = units()
    expect(decodeClaimStatus(read(statusAddress))).toEqual({
      claimant: addressOf(CLAIMER),
      locked: 0n,
      lockedWithdrawn: 0n,
      unlocked: AMOUNT,
    })
    expect(decodeDistributor(read(distributor))).toEqual({ ...expected, claimedTotal: AMOUNT, claimedNodes: 1n })
    chain.advance(Number(31n * DAY))
    land(await clawbackOf({ opensReceiverFor: addressOf(ADMIN) }), KEEPER)
    used.clawback = units()
    expect(decodeDistributor(read(distributor))?.isClawedBack).toBe(true)
    expect(Buffer.from(read(receiver)!.data).readBigUInt64LE(64)).toBe(3n * TOTAL - AMOUNT)
    land(
      await creationOf({
        airdropCount: 1,
        payer: addressOf(KEEPER),
        deposit: 0n,
        opensReceiver: true,
        ...later(chain),
      }),
      KEEPER,
    )
    used['creation with an account'] = units()
    await annotate(JSON.stringify(used), 'units')
    expect(Math.max(used.creation!, used['creation with an account']!) * 1.2).toBeLessThan(CREATION_UNITS)
    expect(used.claim! * 1.2).toBeLessThan(AIRDROP_CLAIM_UNITS)
    expect(used.clawback! * 1.2).toBeLessThan(CLAWBACK_UNITS)
  })

  const later = (chain: { unixTimestamp(): number }) => {
    const startsAt = BigInt(chain.unixTimestamp()) + 300n
    return { startsAt, endsAt: startsAt + 1n, clawbackAt: startsAt + 1n + DAY }
  }

  it('reads accounts of other programs as null', async () => {
    const { chain } = await made()
    const account = chain.account(distributor)!
    expect(decodeDistributor(null)).toBeNull()
    expect(decodeDistributor({ ...account, owner: addressOf(ADMIN) })).toBeNull()
    expect(decodeDistributor({ ...account, data: account.data.slice(0, 233) })).toBeNull()
    expect(decodeClaimStatus(account)).toBeNull()
    const cut = { ...account, data: new Uint8Array(0) }
    expect([decodeDistributor(cut), decodeClaimStatus(cut)]).toEqual([null, null])
  })
})

describe('a message to the distributor', () => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new PublicKey(bytes).toBase58())
  const u64 = fc.bigInt(0n, MAX_U64)
  const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })

  it('of a claim is read as it was built', { tags: 'sampled' }, async () => {
    const arbitrary = fc.record({
      payer: key,
      distributor: key,
      mint: key,
      leaf: fc.record({ amount: u64, locked: u64, proof: fc.array(hash, { maxLength: MOST_SIBLINGS - 1 }) }),
      takesVested: fc.boolean(),
      opensAccount: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(arbitrary, async (claim) => {
        const { transaction } = await buildAirdropClaim({ ...claim, recentBlockhash: GOLDEN_BLOCKHASH })
        const { distributor, payer: claimer } = claim
        const status = await claimStatusAddress(distributor, claimer)
        const vested = { kind: 'vested_claimed', distributor, claimer, status }
        expect(distributorChangesIn(decodeWireTransaction(transaction).message)).toEqual([
          {
            kind: 'claimed',
            distributor: claim.distributor,
            claimer: claim.payer,
            ...claim.leaf,
            proof: claim.leaf.proof.map((sibling) => Uint8Array.from(sibling)),
          },
          ...(claim.takesVested ? [vested] : []),
        ])
      }),
      { numRuns: runs(12, 60) },
    )
  })

  it('of a creation or a clawback is read as it was built', { tags: 'sampled' }, async () => {
    const arbitrary = fc.record({
      payer: key,
      mint: key,
      airdropCount: fc.integer({ min: 0, max: 65_535 }),
      root: hash.map((bytes) => Buffer.from(bytes).toString('hex')),
      maxTotal: u64,
      maxNodes: u64,
      startsAt: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
      deposit: u64,
      opensReceiver: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(arbitrary, async (creation) => {
        const common = { recentBlockhash: GOLDEN_BLOCKHASH, endsAt: 0n, clawbackAt: 0n, decimals: 6 }
        const { payer, mint, airdropCount, root } = creation
        const address = await distributorAddress(creation)
        const { transaction } = await buildCreation({ ...common, ...creation })
        expect(distributorChangesIn(decodeWireTransaction(transaction).message)).toEqual([
          { kind: 'created', distributor: address, mint, version: BigInt(airdropCount), root, admin: payer },
        ])
        const back = await buildClawback({
          ...common,
          payer,
          distributor: address,
          mint,
          receiver: mint,
          opensReceiverFor: null,
        })
        expect(distributorChangesIn(decodeWireTransaction(back.transaction).message)).toEqual([
          { kind: 'clawed_back', distributor: address, receiver: mint },
        ])
      }),
      { numRuns: runs(10, 40) },
    )
  })

  it('with meaningless bytes is read as nothing, without an exception', () => {
    const arbitrary = fc.record({
      data: fc.oneof(
        fc.uint8Array({ maxLength: 80 }),
        fc.uint8Array({ maxLength: 80 }).map((rest) => Buffer.concat([CLAIM, rest])),
      ),
      accounts: fc.uint8Array({ max: 9, maxLength: 8 }),
    })
    fc.assert(
      fc.property(arbitrary, ({ data, accounts }) => {
        const keys = [PROGRAMS.distributor.id, ...Array.from({ length: 5 }, () => addressOf(ADMIN))]
        const changes = distributorChangesIn({
          keys,
          instructions: [{ programIdIndex: 0, accounts, data }],
        } as never)
        expect(changes.length).toBeLessThanOrEqual(1)
      }),
    )
  })

  const CLAIM = Buffer.from('4eb1627bd215bb53', 'hex')
})

/** What a launch in a DAMM v2 pool leaves its creator: no liquidity, no metadata, nothing of the platform's part; with the real programs. */
import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js'
import BN from 'bn.js'
import { describe, expect, it } from 'vitest'
import {
  DAMM_V2_LAUNCH_UNITS,
  type DammV2Pool,
  dammV2PoolAddress,
  type PlatformShare,
  positionAddresses,
  quoteDammV2Swap,
  readPositions,
  type SingleSidedPool,
} from '../../src/chain/programs/damm-v2/index.ts'
import { metadataAddressOf, readTokenState } from '../../src/chain/programs/tokens/index.ts'
import { MAX_TRANSACTION_BYTES } from '../../src/solana/constants.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import {
  type DammV2Chain,
  HAS_DAMM_V2,
  type LaunchKeys,
  launchKeys,
  launchOf,
  openDammV2,
  SIGNATURE_FEE,
  SUPPLY,
  strangersClient,
  wholeLaunchOf,
} from '../support/damm-v2.ts'
import { expectGolden, goldenKey, RECORDING } from '../support/golden.ts'
import { PROGRAMS_DIR, SOL, sharedTestChain } from '../support/local-chain.ts'
import { TOKEN_ACCOUNT_RENT } from '../support/rent.ts'
import { inSoak, runs } from '../support/runs.ts'
import { addressOf } from '../support/wallets.ts'

const shared = sharedTestChain({ programsDir: PROGRAMS_DIR })
const openShared = async () => openDammV2(await shared())
const real = it.skipIf(!HAS_DAMM_V2)
const TIP = { account: addressOf(goldenKey(9)), lamports: 1_000_000n }
const LONGEST = { name: 'N'.repeat(20), symbol: 'S'.repeat(10), uri: `https://${'u'.repeat(192)}` }
const MOST = { ...LONGEST, buyLamports: 500_000_000n, tip: TIP, computeUnitPrice: 1_000_000n }
const TOKEN_2022 = spl.TOKEN_2022_PROGRAM_ID
const THIRTY = 30

const freshKeys = (creator: Keypair): LaunchKeys => ({
  creator,
  mint: Keypair.generate(),
  positionNft: Keypair.generate(),
})

interface Shared {
  keys: LaunchKeys
  platform: Keypair
  platformNft: Keypair
}

const shareOf = ({ platform, platformNft }: Shared, percentage = THIRTY): PlatformShare => ({
  wallet: addressOf(platform),
  positionNft: addressOf(platformNft),
  percentage,
})

const freshShared = (chain: DammV2Chain): Shared => ({
  keys: freshKeys(chain.wallet()),
  platform: chain.wallet(),
  platformNft: Keypair.generate(),
})

/** Lands a launch with the platform's part; the units that each of its transactions took. */
async function landShared(chain: DammV2Chain, shared: Shared, wishes: Partial<SingleSidedPool> = {}) {
  const { keys, platformNft } = shared
  const [token, pool] = await launchOf(keys, { platform: shareOf(shared), ...wishes })
  const units = [
    chain.land(token!, keys.creator, keys.mint),
    chain.land(pool!, keys.creator, keys.positionNft, platformNft),
  ].map(({ unitsConsumed }) => unitsConsumed)
  return { units, pool: await chain.read(await dammV2PoolAddress({ mint: addressOf(keys.mint) })) }
}

const removalOf = async (owner: Keypair, pool: DammV2Pool, nft: Keypair) => {
  const { position, positionNftAccount } = await positionAddresses(addressOf(nft))
  const key = (address: string) => new PublicKey(address)
  return {
    owner: owner.publicKey,
    position: key(position),
    positionNftAccount: key(positionNftAccount),
    pool: key(pool.address),
    tokenAAmountThreshold: new BN(0),
    tokenBAmountThreshold: new BN(0),
    tokenAMint: key(pool.tokenAMint),
    tokenBMint: key(pool.tokenBMint),
    tokenAVault: key(pool.tokenAVault),
    tokenBVault: key(pool.tokenBVault),
    tokenAProgram: key(pool.tokenAProgram),
    tokenBProgram: key(pool.tokenBProgram),
    vestings: [],
    currentPoint: new BN(1_900_000_000),
  }
}

/** Every way that the program has to take liquidity out. */
async function drains(
  owner: Keypair,
  pool: DammV2Pool,
  nft: Keypair,
): Promise<Record<string, TransactionInstruction[]>> {
  const client = strangersClient()
  const input = await removalOf(owner, pool, nft)
  const half = new BN((pool.liquidity / 2n).toString())
  return {
    'a unit': (await client.removeLiquidity({ ...input, liquidityDelta: new BN(1) })).instructions,
    half: (await client.removeLiquidity({ ...input, liquidityDelta: half })).instructions,
    'the position itself': (
      await client.closePosition({
        owner: input.owner,
        pool: input.pool,
        position: input.position,
        positionNftMint: nft.publicKey,
        positionNftAccount: input.positionNftAccount,
      })
    ).instructions,
  }
}

/** UpdateMetadataAccountV2: a new name and URI, a new update authority, mutable again. */
async function renaming(mint: string, authority: PublicKey): Promise<TransactionInstruction[]> {
  const text = (value: string) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(Buffer.byteLength(value))
    return Buffer.concat([length, Buffer.from(value)])
  }
  const [some, none] = [Buffer.from([1]), Buffer.from([0])]
  const texts = [some, text('Other'), text('OTH'), text('https://other.example'), Buffer.alloc(2), none, none, none]
  const accounts = [
    { pubkey: new PublicKey(await metadataAddressOf(mint)), isSigner: false, isWritable: true },
    { pubkey: authority, isSigner: true, isWritable: false },
  ]
  const programId = new PublicKey(PROGRAMS.tokenMetadata.id)
  return [
    Buffer.concat([Buffer.from([15]), ...texts, none, none, none]),
    Buffer.concat([Buffer.from([15]), none, some, authority.toBuffer(), none, none]),
    Buffer.from([15, 0, 0, 0, 1, 1]),
  ].map((data) => new TransactionInstruction({ programId, keys: accounts, data }))
}

describe('a launch in a DAMM v2 pool (needs Meteora DAMM v2 and Metaplex Token Metadata in the cache)', () => {
  real('leaves liquidity that its creator cannot take out, whatever was bought', async () => {
    const chain = await openShared()
    const keys = freshKeys(chain.wallet())
    const pool = await chain.launch(keys)
    const trader = chain.wallet()
    chain.land(await chain.swap(pool, trader, { side: 'buy', amount: 10n * SOL }), trader)
    const before = await chain.read(pool.address)
    expect(before.tokenBAmount).toBeGreaterThan(9n * SOL)
    for (const [what, instructions] of Object.entries(await drains(keys.creator, before, keys.positionNft))) {
      expect(chain.send(instructions, [keys.creator]).err, what).not.toBeNull()
    }
    expect(await chain.read(pool.address)).toEqual(before)
  })

  real('leaves the liquidity to its creator where the lock is not wished', async () => {
    const chain = await openShared()
    const keys = freshKeys(chain.wallet())
    const pool = await chain.launch(keys, { lockLiquidity: false })
    const [position] = await readPositions(chain.connection, pool.address, addressOf(keys.creator))
    expect(position).toMatchObject({ unlockedLiquidity: pool.liquidity, permanentLockedLiquidity: 0n })
    const client = strangersClient()
    const input = await removalOf(keys.creator, pool, keys.positionNft)
    const { instructions } = await client.removeAllLiquidity(input)
    const removed = chain.send(instructions, [keys.creator])
    expect(removed.err, removed.logs?.join('\n')).toBeNull()
    // The program rounds down by a unit.
    expect(chain.tokensOf(keys.creator.publicKey, pool.tokenAMint)).toBeGreaterThanOrEqual(SUPPLY - 1n)
  })

  real('leaves metadata that its creator cannot change in any part', async () => {
    const chain = await openShared()
    const keys = freshKeys(chain.wallet())
    const pool = await chain.launch(keys)
    const { metadata } = await readTokenState(chain.connection, pool.tokenAMint)
    for (const instruction of await renaming(pool.tokenAMint, keys.creator.publicKey)) {
      expect(chain.send([instruction], [keys.creator]).err).not.toBeNull()
    }
    expect((await readTokenState(chain.connection, pool.tokenAMint)).metadata).toEqual(metadata)
  })

  real("gives the platform its part of the locked position in the pool's own transaction", async ({ annotate }) => {
    const chain = await openShared()
    const shared = freshShared(chain)
    const { creator } = shared.keys
    const before = chain.lamportsOf(creator.publicKey)
    const { pool, units } = await landShared(chain, shared)
    await annotate(units.join(', '), 'units')
    const [own, given] = await Promise.all(
      [creator, shared.platform].map((owner) => readPositions(chain.connection, pool.address, addressOf(owner))),
    )
    expect([own!.length, given!.length]).toEqual([1, 1])
    expect(given![0]!.permanentLockedLiquidity).toBe((pool.liquidity * BigInt(THIRTY)) / 100n)
    expect(own![0]!.permanentLockedLiquidity + given![0]!.permanentLockedLiquidity).toBe(pool.liquidity)
    expect([own![0]!.unlockedLiquidity, given![0]!.unlockedLiquidity]).toEqual([0n, 0n])
    expect(chain.tokensOf(creator.publicKey, pool.tokenBMint)).toBeNull()
    // What left the creator is in accounts, and in the fees of five signatures.
    const kept = [
      ...[pool.address, pool.tokenAMint, pool.tokenAVault, pool.tokenBVault, await metadataAddressOf(pool.tokenAMint)],
      spl.getAssociatedTokenAddressSync(new PublicKey(pool.tokenAMint), creator.publicKey).toBase58(),
      ...[shared.keys.positionNft, shared.platformNft].map(addressOf),
      ...[own!, given!].flatMap(([position]) => [position!.position, position!.positionNftAccount]),
    ].reduce((sum, address) => sum + chain.chain.account(address)!.lamports, 5n * SIGNATURE_FEE)
    expect(before - chain.lamportsOf(creator.publicKey)).toBe(kept)
  })

  real("pays the platform's part to the lamport, and nobody else", async () => {
    const chain = await openShared()
    const shared = freshShared(chain)
    const { creator } = shared.keys
    const { pool } = await landShared(chain, shared)
    let paid = 0n
    for (const trader of [chain.wallet(), chain.wallet()]) {
      const order = { side: 'buy', amount: 5_123_456_789n } as const
      const { fee, estimatedOut } = await quoteDammV2Swap(chain.connection, pool, order)
      chain.land(await chain.swap(pool, trader, order), trader)
      const sale = { side: 'sell', amount: estimatedOut / 3n } as const
      paid += fee + (await quoteDammV2Swap(chain.connection, pool, sale)).fee
      chain.land(await chain.swap(pool, trader, sale), trader)
    }
    const positions = (owner: Keypair) => readPositions(chain.connection, pool.address, addressOf(owner))
    const [[own], [given]] = [await positions(creator), await positions(shared.platform)]
    const earned = (paid * 4n) / 5n
    const share = (earned * BigInt(THIRTY)) / 100n
    // Each trade rounds down once for the protocol, and once for each position.
    expect(share - given!.feeB).toBeLessThan(8n)
    expect(share - given!.feeB).toBeGreaterThanOrEqual(0n)
    expect(earned - share - own!.feeB).toBeLessThan(8n)
    const [stolen] = await chain.claim(pool, creator, [given!])
    expect(chain.run(stolen!, creator).err).not.toBeNull()
    const before = chain.lamportsOf(shared.platform.publicKey)
    chain.land((await chain.claim(pool, shared.platform, [given!]))[0]!, shared.platform)
    // The claimer's account of the token is opened once, and stays its own.
    const gained = chain.lamportsOf(shared.platform.publicKey) - before
    expect(gained).toBe(given!.feeB - SIGNATURE_FEE - TOKEN_ACCOUNT_RENT)
    expect(await positions(creator)).toEqual([own])
    const own0 = chain.lamportsOf(creator.publicKey)
    chain.land((await chain.claim(pool, creator, [own!]))[0]!, creator)
    expect(chain.lamportsOf(creator.publicKey) - own0).toBe(own!.feeB - SIGNATURE_FEE)
  })

  real("keeps the platform's position from the creator, and the liquidity from both", async () => {
    const chain = await openShared()
    const shared = freshShared(chain)
    const { keys, platform, platformNft } = shared
    const { creator } = keys
    const { pool } = await landShared(chain, shared)
    const trader = chain.wallet()
    chain.land(await chain.swap(pool, trader, { side: 'buy', amount: 10n * SOL }), trader)
    const { positionNftAccount } = await positionAddresses(addressOf(platformNft))
    const account = new PublicKey(positionNftAccount)
    const own = spl.getAssociatedTokenAddressSync(platformNft.publicKey, creator.publicKey, false, TOKEN_2022)
    const [key, nft] = [creator.publicKey, platformNft.publicKey]
    const { AccountOwner, CloseAccount } = spl.AuthorityType
    const attacks: Record<string, TransactionInstruction[]> = {
      'moves the NFT': [
        spl.createAssociatedTokenAccountInstruction(key, own, key, nft, TOKEN_2022),
        spl.createTransferCheckedInstruction(account, nft, own, key, 1, 0, [], TOKEN_2022),
      ],
      'takes the account back': [spl.createSetAuthorityInstruction(account, key, AccountOwner, key, [], TOKEN_2022)],
      'may close the account': [spl.createSetAuthorityInstruction(account, key, CloseAccount, key, [], TOKEN_2022)],
      'burns the NFT': [spl.createBurnInstruction(account, nft, key, 1, [], TOKEN_2022)],
      'closes the account': [spl.createCloseAccountInstruction(account, key, key, [], TOKEN_2022)],
      'mints another': [
        spl.createAssociatedTokenAccountInstruction(key, own, key, nft, TOKEN_2022),
        spl.createMintToInstruction(nft, own, key, 1, [], TOKEN_2022),
      ],
      'splits it back': (
        await strangersClient().splitPosition2({
          firstPositionOwner: key,
          secondPositionOwner: key,
          pool: new PublicKey(pool.address),
          firstPosition: cpAmm.derivePositionAddress(nft),
          firstPositionNftAccount: account,
          secondPosition: cpAmm.derivePositionAddress(keys.positionNft.publicKey),
          secondPositionNftAccount: cpAmm.derivePositionNftAccount(keys.positionNft.publicKey),
          numerator: 999_999_999,
        })
      ).instructions,
      ...(await drains(creator, pool, keys.positionNft)),
    }
    for (const [what, instructions] of Object.entries(attacks)) {
      expect(chain.send(instructions, [creator]).err, what).not.toBeNull()
    }
    for (const [what, instructions] of Object.entries(await drains(platform, pool, platformNft))) {
      expect(chain.send(instructions, [platform]).err, what).not.toBeNull()
    }
    const held = await readPositions(chain.connection, pool.address, addressOf(platform))
    expect(held).toMatchObject([{ positionNftAccount, permanentLockedLiquidity: (pool.liquidity * 3n) / 10n }])
  })

  real("buys beside the platform's part what a quote on the fresh pool promises, and pays the tip", async () => {
    const chain = await openShared()
    const plain = await chain.launch(freshKeys(chain.wallet()))
    for (const buyLamports of [100n, 2n * SOL, 40n * SOL]) {
      const { estimatedOut } = await quoteDammV2Swap(chain.connection, plain, { side: 'buy', amount: buyLamports })
      const shared = freshShared(chain)
      const tipped = chain.chain.account(TIP.account)?.lamports ?? 0n
      const { pool } = await landShared(chain, shared, { buyLamports, tip: TIP })
      expect(chain.tokensOf(shared.keys.creator.publicKey, pool.tokenAMint), `${buyLamports}`).toBe(estimatedOut)
      expect(chain.tokensOf(shared.keys.creator.publicKey, pool.tokenBMint)).toBeNull()
      expect(chain.chain.account(TIP.account)!.lamports - tipped).toBe(TIP.lamports)
    }
  })

  real.each(inSoak ? [1, 50, 99] : [99])('takes a part of %i percent', { tags: 'sampled' }, async (percentage) => {
    const chain = await openShared()
    const shared = freshShared(chain)
    const { pool } = await landShared(chain, shared, { platform: shareOf(shared, percentage) })
    const [given] = await readPositions(chain.connection, pool.address, addressOf(shared.platform))
    expect(given!.permanentLockedLiquidity).toBe((pool.liquidity * BigInt(percentage)) / 100n)
  })

  real(
    "stays below four fifths of its limits with the platform's part too",
    {
      tags: 'sampled',
    },
    async ({ annotate }) => {
      const chain = await openShared()
      const used = { token: 0, sharedPool: 0, sharedPoolWithBuy: 0 }
      for (let i = 0; i < runs(4, 24); i++) {
        const kind = i % 2 === 0 ? 'sharedPool' : 'sharedPoolWithBuy'
        const { units } = await landShared(chain, freshShared(chain), { ...MOST, buyLamports: BigInt(i % 2) * SOL })
        used.token = Math.max(used.token, units[0]!)
        used[kind] = Math.max(used[kind], units[1]!)
      }
      await annotate(JSON.stringify(used), 'units')
      for (const [kind, units] of Object.entries(used)) {
        expect(units).toBeLessThan(DAMM_V2_LAUNCH_UNITS[kind as keyof typeof DAMM_V2_LAUNCH_UNITS] * 0.8)
      }
    },
  )

  for (const [name, wishes] of Object.entries<Partial<SingleSidedPool>>({ plain: {}, longest: MOST })) {
    it.skipIf(RECORDING && !HAS_DAMM_V2)(
      `with the platform's part is built as recorded: ${name}`,
      async ({ annotate }) => {
        const keys = launchKeys()
        const shared = { keys, platform: goldenKey(40), platformNft: goldenKey(41) }
        const built = await launchOf(keys, { platform: shareOf(shared), ...wishes })
        const signers = [[keys.mint], [keys.positionNft, shared.platformNft]]
        const sizes: number[] = []
        for (const [i, { transaction }] of built.entries()) {
          const arrange = async () => {
            const chain = await openDammV2()
            chain.chain.airdrop(addressOf(keys.creator), 100n * SOL)
            for (const [k, before] of built.slice(0, i).entries()) chain.land(before, keys.creator, ...signers[k]!)
            return chain.test
          }
          sizes.push(await expectGolden(`damm-v2-shared-${name}-${i + 1}`, transaction, arrange))
        }
        await annotate(`${name}: ${sizes.join(', ')} bytes`, 'size')
      },
    )
  }

  it.skipIf(RECORDING && !HAS_DAMM_V2)(
    "with the platform's part is one transaction of version 1, built as recorded",
    async ({ annotate }) => {
      const keys = launchKeys()
      const shared = { keys, platform: goldenKey(40), platformNft: goldenKey(41) }
      const { transaction } = await wholeLaunchOf(keys, { ...MOST, platform: shareOf(shared) })
      const bytes = await expectGolden('damm-v2-shared-v1-longest', transaction, async () => {
        const chain = await openDammV2()
        chain.chain.airdrop(addressOf(keys.creator), 100n * SOL)
        return chain.test
      })
      await annotate(`${bytes} bytes`, 'size')
    },
  )

  real('unlocked is built as recorded', async () => {
    const keys = launchKeys()
    const [token, pool] = await launchOf(keys, { lockLiquidity: false })
    await expectGolden('damm-v2-launch-pool-unlocked', pool!.transaction, async () => {
      const chain = await openDammV2()
      chain.chain.airdrop(addressOf(keys.creator), 100n * SOL)
      chain.land(token!, keys.creator, keys.mint)
      return chain.test
    })
  })
})

describe("the transactions of a launch with the platform's part", () => {
  it('are two, each within the limit with the longest texts, and neither is signed by the platform', async () => {
    const keys = launchKeys()
    const shared = { keys, platform: goldenKey(40), platformNft: goldenKey(41) }
    const built = await launchOf(keys, { ...MOST, platform: shareOf(shared) })
    expect(built.map(({ transaction }) => transaction.length)).toEqual([1010, 1220])
    expect(built.every(({ transaction }) => transaction.length <= MAX_TRANSACTION_BYTES)).toBe(true)
    expect(built.map(({ requiredSigners }) => requiredSigners)).toEqual([
      [keys.creator, keys.mint].map(addressOf),
      [keys.creator, keys.positionNft, shared.platformNft].map(addressOf),
    ])
  })

  it.each([0, 100, 0.5, -1])('are refused for a part of %d percent', async (percentage) => {
    const keys = launchKeys()
    const shared = { keys, platform: goldenKey(40), platformNft: goldenKey(41) }
    await expect(launchOf(keys, { platform: shareOf(shared, percentage) })).rejects.toMatchObject({
      code: 'bad_request',
      param: 'platform_position_percentage',
    })
  })
})

/** The pool of a raise on the real program: from tokens and wrapped SOL that its creator holds, to the raw unit. */
import * as spl from '@solana/spl-token'
import { Keypair, type PublicKey, SystemProgram } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import {
  addToRaisedPool,
  dammV2PoolAddress,
  freshPool,
  openRaisedPool,
  positionAddresses,
  readPositions,
} from '../../src/chain/programs/damm-v2/index.ts'
import { compileUnsigned } from '../../src/chain/sending/unsigned.ts'
import { CLOCK_SYSVAR } from '../../src/solana/program-ids.ts'
import { type PoolPlan, type RaisePool, raisePool, restOf, seedOf } from '../../src/solana/raise-pool.ts'
import type { TransferFee } from '../../src/solana/token-extensions.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { type DammV2Chain, HAS_DAMM_V2, type LaunchKeys, launchKeys, openDammV2 } from '../support/damm-v2.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenTransaction } from '../support/golden.ts'
import { SOL, START_MS } from '../support/local-chain.ts'
import { addressOf } from '../support/wallets.ts'

const real = it.skipIf(!HAS_DAMM_V2)
const RESERVE = 40_000_000_000n
const PLAN: PoolPlan = {
  quote_bps: 5_000,
  reserve: String(RESERVE),
  price: 'raise',
  price_bps: 10_000,
  fee_bps: 100,
  locked_bps: 10_000,
  when: 'after',
  opens_after_seconds: 600,
}
const SUM = { raised: 80n * SOL, price: { quote: 80n * SOL, tokens: 80_000_000_000n } }
/** The tested build opens a pool no later than that, in seconds. */
const SOON = 20n

function poolOf(plan: Partial<PoolPlan> = {}, transferFee: TransferFee | null = null): RaisePool {
  const pool = raisePool({ ...PLAN, ...plan }, { ...SUM, transferFee })
  if (typeof pool === 'string') throw new Error(`The pool ${pool}`)
  return pool
}

/** A creator with the reserve and with 40 wrapped SOL. */
async function arranged(transferFeeBps = 0, given?: LaunchKeys) {
  const chain = await openDammV2()
  const { creator, mint: mintKey, positionNft: nft } = given ?? freshKeys()
  chain.chain.airdrop(addressOf(creator), 100n * SOL)
  const program = transferFeeBps === 0 ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  const mint = newMint(chain, { creator, mint: mintKey }, program, transferFeeBps)
  const wrapped = spl.getAssociatedTokenAddressSync(spl.NATIVE_MINT, creator.publicKey)
  const { publicKey } = creator
  expect(
    chain.send(
      [
        spl.createAssociatedTokenAccountInstruction(publicKey, wrapped, publicKey, spl.NATIVE_MINT),
        SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: wrapped, lamports: 40n * SOL }),
        spl.createSyncNativeInstruction(wrapped),
      ],
      [creator],
    ).err,
  ).toBeNull()
  const address = mint.toBase58()
  const pool = await freshPool({ mint: address, program: program.toBase58() })
  return {
    chain,
    creator,
    mint: address,
    nft,
    pool,
    parts: { creator: addressOf(creator), pool, positionNft: addressOf(nft), feeBps: 100 },
    tokens: () => chain.tokensOf(publicKey, address, program)!,
    quote: () => chain.tokensOf(publicKey, spl.NATIVE_MINT.toBase58())!,
    position: async () => (await readPositions(chain.connection, pool.address, addressOf(creator)))[0]!,
    now: () => Buffer.from(chain.chain.account(CLOCK_SYSVAR)!.data).readBigInt64LE(32),
  }
}

const freshKeys = (): LaunchKeys => ({
  creator: Keypair.generate(),
  mint: Keypair.generate(),
  positionNft: Keypair.generate(),
})

function newMint(
  chain: DammV2Chain,
  { creator: owner, mint }: Omit<LaunchKeys, 'positionNft'>,
  program: PublicKey,
  feeBps: number,
): PublicKey {
  const payer = owner.publicKey
  const extensions = feeBps === 0 ? [] : [spl.ExtensionType.TransferFeeConfig]
  const space = spl.getMintLen(extensions)
  const account = spl.getAssociatedTokenAddressSync(mint.publicKey, payer, false, program)
  const lamports = Number(chain.chain.minimumBalance(space))
  const made = chain.send(
    [
      SystemProgram.createAccount({
        fromPubkey: payer,
        newAccountPubkey: mint.publicKey,
        space,
        lamports,
        programId: program,
      }),
      ...extensions.map(() =>
        spl.createInitializeTransferFeeConfigInstruction(mint.publicKey, payer, payer, feeBps, MAX_U64, program),
      ),
      spl.createInitializeMint2Instruction(mint.publicKey, 6, payer, null, program),
      spl.createAssociatedTokenAccountInstruction(payer, account, payer, mint.publicKey, program),
      spl.createMintToInstruction(mint.publicKey, account, payer, RESERVE, [], program),
    ],
    [owner, mint],
  )
  expect(made.err).toBeNull()
  return mint.publicKey
}

describe('the pool of a raise (needs Meteora DAMM v2 in the cache)', () => {
  real.each([10_000, 2_500, 0])('takes what it says to the raw unit, and locks %i parts of 10,000', async (bps) => {
    const { chain, creator, nft, parts, mint, tokens, quote, position } = await arranged()
    const of = poolOf({ locked_bps: bps })
    const landed = chain.send(await openRaisedPool({ ...parts, of }), [creator, nft])
    expect(landed.err, landed.logs?.join('\n')).toBeNull()
    expect({ tokens: RESERVE - tokens(), quote: 40n * SOL - quote() }).toEqual({ tokens: of.tokens, quote: of.quote })
    const opened = await chain.read(await dammV2PoolAddress({ mint }))
    expect(opened).toMatchObject({ liquidity: of.liquidity, permanentLockLiquidity: of.locked, price: '0.001' })
    expect(opened).toMatchObject({ sqrtPrice: of.sqrtPrice, creator: addressOf(creator), collectFeeMode: 'b' })
    expect(await position()).toMatchObject({
      permanentLockedLiquidity: of.locked,
      unlockedLiquidity: of.liquidity - of.locked,
    })
  })

  real('takes no more than the reserve of a token with a transfer fee', async () => {
    const { chain, creator, nft, parts, tokens, quote } = await arranged(100)
    const of = poolOf({ price: 'reserve' }, { epoch: 0n, basisPoints: 100, maximumFee: MAX_U64 })
    const landed = chain.send(await openRaisedPool({ ...parts, of }), [creator, nft])
    expect(landed.err, landed.logs?.join('\n')).toBeNull()
    expect({ tokens: RESERVE - tokens(), quote: 40n * SOL - quote() }).toEqual({ tokens: of.tokens, quote: of.quote })
  })

  real('opens little before the end, closed to trades, and gets the rest and its lock after it', async () => {
    const { chain, creator, nft, parts, pool, tokens, quote, position, now } = await arranged()
    const of = poolOf({ locked_bps: 9_000, when: 'before_end' })
    const seed = seedOf(of)
    const activationPoint = now() + SOON
    const opening = await openRaisedPool({ ...parts, of: seed, activationPoint, wraps: true })
    const landed = chain.send(opening, [creator, nft])
    expect(landed.err, landed.logs?.join('\n')).toBeNull()
    // What the pool took was wrapped for it.
    expect(quote()).toBe(40n * SOL)
    const trader = chain.wallet()
    const buy = async () =>
      chain.run(
        await chain.swap({ ...pool, ...(await chain.read(pool.address)) }, trader, { side: 'buy', amount: 1_000n }),
        trader,
      )
    expect((await buy()).err).not.toBeNull()
    const { liquidity } = await chain.read(pool.address)
    const rest = restOf(of, liquidity)
    const held = { ...(await positionAddresses(addressOf(nft))), nftMint: addressOf(nft) }
    const added = chain.send(await addToRaisedPool({ ...parts, of: rest, position: held }), [creator])
    expect(added.err, added.logs?.join('\n')).toBeNull()
    expect(RESERVE - tokens()).toBe(seed.tokens + rest.tokens)
    expect(40n * SOL - quote()).toBe(rest.quote)
    expect(await position()).toMatchObject({
      permanentLockedLiquidity: of.locked,
      unlockedLiquidity: of.liquidity - of.locked,
    })
    chain.chain.advance(2 * Number(SOON))
    expect((await buy()).err).toBeNull()
  })

  real('refuses to add at a price that has moved', async () => {
    const { chain, creator, nft, parts, pool } = await arranged()
    const of = poolOf({ when: 'before_end' })
    expect(chain.send(await openRaisedPool({ ...parts, of: seedOf(of), wraps: true }), [creator, nft]).err).toBeNull()
    const trader = chain.wallet()
    chain.land(
      await chain.swap({ ...pool, ...(await chain.read(pool.address)) }, trader, { side: 'buy', amount: 10_000n }),
      trader,
    )
    const held = { ...(await positionAddresses(addressOf(nft))), nftMint: addressOf(nft) }
    const { liquidity } = await chain.read(pool.address)
    const added = chain.send(await addToRaisedPool({ ...parts, of: restOf(of, liquidity), position: held }), [creator])
    expect(JSON.stringify(added.err)).toContain('6002')
  })
})

describe('the built opening of a raised pool', () => {
  const KEYS = launchKeys(80)
  const START = BigInt(START_MS / 1_000)
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

  const opening = async (activationPoint: bigint, version: 0 | 1 = 0) => {
    const creator = addressOf(KEYS.creator)
    const pool = await freshPool({ mint: addressOf(KEYS.mint) })
    const of = seedOf(poolOf({ when: 'before_end' }))
    const parts = { creator, pool, positionNft: addressOf(KEYS.positionNft), feeBps: 100 }
    const envelope = {
      ...{ payer: creator, recentBlockhash: GOLDEN_BLOCKHASH },
      ...(version === 1 ? { messageConfig: GOLDEN_CONFIG } : {}),
    }
    return compileUnsigned(envelope, await openRaisedPool({ ...parts, of, activationPoint, wraps: true }))
  }

  for (const version of [0, 1] as const) {
    it(`before the end, version ${version}, equals the recorded one that the program accepted`, async ({
      annotate,
    }) => {
      const { transaction } = await opening(START + SOON, version)
      const file = `damm-v2-raised-${version === 1 ? 'v1-' : ''}seed`
      const bytes = await expectGolden(file, transaction, async () => (await arranged(0, KEYS)).chain.test)
      await annotate(`${bytes} bytes`, 'size')
    })
  }

  it.each([600n, 31n * 86_400n])(
    '%s seconds ahead differs only in the time, which the tested build refuses',
    async (ahead) => {
      const time = (at: bigint) => {
        const bytes = Buffer.alloc(8)
        bytes.writeBigUInt64LE(at)
        return hex(bytes)
      }
      const late = START + ahead
      const recorded = hex(goldenTransaction('damm-v2-raised-seed.json'))
      expect(recorded.split(time(START + SOON))).toHaveLength(2)
      expect(hex((await opening(late)).transaction)).toBe(recorded.replace(time(START + SOON), time(late)))
    },
  )
})

/** An embedded chain with the real cp_amm on it, where pools are launched, traded in and claimed from. */
import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, VersionedTransaction } from '@solana/web3.js'
import BN from 'bn.js'
import { expect } from 'vitest'
import {
  buildDammV2Swap,
  buildPositionClaim,
  buildSingleSidedPool,
  buildWholeSingleSidedPool,
  type DammV2Pool,
  type DammV2Position,
  dammV2PoolAddress,
  liquidityParts,
  readDammV2Pool,
  readPoolMoment,
  readPositions,
  type SingleSidedPool,
  type SwapOrder,
} from '../../src/chain/programs/damm-v2/index.ts'
import type { UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey } from './golden.ts'
import { hasProgram, openTestChain, PROGRAMS_DIR, SOL, type TestChain } from './local-chain.ts'
import { embeddedNode } from './node.ts'

export const HAS_DAMM_V2 = hasProgram(PROGRAMS.dammV2.id) && hasProgram(PROGRAMS.tokenMetadata.id)
/** Lamports that the golden launches give their mint, which is enough on every chain. */
const MINT_LAMPORTS = 1_461_600n
export const SIGNATURE_FEE = 5_000n
export const SUPPLY = 1_000_000_000_000_000n

/** Everything a launch takes but its keys. */
export const LAUNCH = {
  name: 'Genesis',
  symbol: 'GEN',
  uri: 'https://example.com/genesis.json',
  decimals: 6,
  totalSupply: SUPPLY,
  initialMarketCapLamports: 30n * SOL,
  feeBps: 100,
  lockLiquidity: true,
  platform: null,
  buyLamports: 0n,
  tip: null,
  recentBlockhash: GOLDEN_BLOCKHASH,
  rent: MINT_LAMPORTS,
} as const satisfies Partial<SingleSidedPool>

export interface LaunchKeys {
  creator: Keypair
  mint: Keypair
  positionNft: Keypair
}

export const launchOf = ({ creator, mint, positionNft }: LaunchKeys, wishes: Partial<SingleSidedPool> = {}) =>
  buildSingleSidedPool({
    ...LAUNCH,
    creator: creator.publicKey.toBase58(),
    mint: mint.publicKey.toBase58(),
    positionNft: positionNft.publicKey.toBase58(),
    ...wishes,
  })

/** The same launch as one transaction of version 1. */
export const wholeLaunchOf = (
  { creator, mint, positionNft }: LaunchKeys,
  { tip: _, computeUnitPrice: __, ...wishes }: Partial<SingleSidedPool> = {},
) =>
  buildWholeSingleSidedPool({
    ...LAUNCH,
    payer: creator.publicKey.toBase58(),
    creator: creator.publicKey.toBase58(),
    mint: mint.publicKey.toBase58(),
    positionNft: positionNft.publicKey.toBase58(),
    messageConfig: GOLDEN_CONFIG,
    ...wishes,
  })

export type DammV2Chain = Awaited<ReturnType<typeof openDammV2>>

/** On a chain of its own that ends with the test, or on the given one. */
export async function openDammV2(given?: TestChain) {
  const test = given ?? (await openTestChain({ programsDir: PROGRAMS_DIR }))
  const connection = embeddedNode(test.chain)

  /** Signed by whom it asks for; what it did, or its error. */
  const run = ({ transaction, requiredSigners }: UnsignedTransaction, ...signers: Keypair[]) => {
    expect(requiredSigners).toEqual(signers.map(({ publicKey }) => publicKey.toBase58()))
    const decoded = VersionedTransaction.deserialize(transaction)
    decoded.message.recentBlockhash = test.chain.latestBlockhash().blockhash
    decoded.sign(signers)
    return test.chain.send(decoded.serialize())
  }
  const land = (built: UnsignedTransaction, ...signers: Keypair[]) => {
    const landed = run(built, ...signers)
    expect(landed.err, landed.logs?.join('\n')).toBeNull()
    return landed
  }
  const read = async (pool: string) => (await readDammV2Pool(connection, pool))!
  const lamportsOf = (key: PublicKey) => test.chain.account(key.toBase58())?.lamports ?? 0n
  /** Raw units in the associated token account; null where none is. */
  const tokensOf = (owner: PublicKey, mint: string, program = spl.TOKEN_PROGRAM_ID): bigint | null => {
    const address = spl.getAssociatedTokenAddressSync(new PublicKey(mint), owner, true, program)
    const account = test.chain.account(address.toBase58())
    return account === null ? null : Buffer.from(account.data).readBigUInt64LE(64)
  }
  return {
    ...test,
    test,
    connection,
    run,
    land,
    read,
    lamportsOf,
    tokensOf,
    async launch(keys: LaunchKeys, wishes: Partial<SingleSidedPool> = {}): Promise<DammV2Pool> {
      const [token, pool] = await launchOf(keys, wishes)
      land(token!, keys.creator, keys.mint)
      test.chain.advance(1)
      land(pool!, keys.creator, keys.positionNft)
      return read(await dammV2PoolAddress({ mint: keys.mint.publicKey.toBase58() }))
    },
    swap: (pool: DammV2Pool, trader: Keypair, order: SwapOrder, minimumOut = 0n) =>
      buildDammV2Swap({
        payer: trader.publicKey.toBase58(),
        pool,
        ...order,
        minimumOut,
        recentBlockhash: GOLDEN_BLOCKHASH,
      }),
    claim: (pool: DammV2Pool, owner: Keypair, positions: DammV2Position[], payer = owner) =>
      buildPositionClaim({
        owner: owner.publicKey.toBase58(),
        payer: payer.publicKey.toBase58(),
        pool,
        positions,
        recentBlockhash: GOLDEN_BLOCKHASH,
      }),
  }
}

/** The same keys every time, with lamports for the first. */
export const launchKeys = (seed = 20): LaunchKeys => ({
  creator: goldenKey(seed),
  mint: goldenKey(seed + 1),
  positionNft: goldenKey(seed + 2),
})

/** The pool that a launch of these keys opens. */
export function goldenPool({ mint: { publicKey: mint } }: LaunchKeys) {
  const pool = cpAmm.deriveCustomizablePoolAddress(mint, spl.NATIVE_MINT)
  return {
    address: pool.toBase58(),
    tokenAMint: mint.toBase58(),
    tokenBMint: spl.NATIVE_MINT.toBase58(),
    tokenAVault: cpAmm.deriveTokenVaultAddress(mint, pool).toBase58(),
    tokenBVault: cpAmm.deriveTokenVaultAddress(spl.NATIVE_MINT, pool).toBase58(),
    tokenAProgram: spl.TOKEN_PROGRAM_ID.toBase58(),
    tokenBProgram: spl.TOKEN_PROGRAM_ID.toBase58(),
    baseFeeMode: 0,
  }
}

/** Without a connection: only what it builds is used. */
export const strangersClient = () => new cpAmm.CpAmm(undefined as never)

export interface StrangersPool {
  fee?: Partial<cpAmm.PoolFeesParams>
  collectFeeMode?: cpAmm.CollectFeeMode
  activationType?: cpAmm.ActivationType
  activationPoint?: bigint
  /** Of the mint; by default it is an SPL one. */
  transferFeeBps?: number
}

export const flatFee = (bps: number) =>
  cpAmm.getFeeTimeSchedulerParams(bps, bps, cpAmm.BaseFeeMode.FeeTimeSchedulerLinear, 0, 0)

/** A pool as others make them, by the SDK's own client, over the same prices as LAUNCH. Answers its address. */
export async function openStrangersPool(
  test: TestChain,
  { creator, mint, positionNft }: LaunchKeys,
  wishes: StrangersPool = {},
): Promise<string> {
  const { collectFeeMode = cpAmm.CollectFeeMode.OnlyB, activationType = cpAmm.ActivationType.Timestamp } = wishes
  const [payer, key] = [creator.publicKey, mint.publicKey]
  const program = wishes.transferFeeBps === undefined ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  const extensions = wishes.transferFeeBps === undefined ? [] : [spl.ExtensionType.TransferFeeConfig]
  const space = spl.getMintLen(extensions)
  const account = spl.getAssociatedTokenAddressSync(key, payer, false, program)
  const minted = test.send(
    [
      SystemProgram.createAccount({
        fromPubkey: payer,
        newAccountPubkey: key,
        space,
        lamports: Number(test.chain.minimumBalance(space)),
        programId: program,
      }),
      ...extensions.map(() =>
        spl.createInitializeTransferFeeConfigInstruction(key, payer, payer, wishes.transferFeeBps!, 2n ** 63n, program),
      ),
      spl.createInitializeMint2Instruction(key, 6, payer, null, program),
      spl.createAssociatedTokenAccountInstruction(payer, account, payer, key, program),
      spl.createMintToInstruction(key, account, payer, SUPPLY, [], program),
    ],
    [creator, mint],
  )
  expect(minted.err).toBeNull()
  const tokenAAmount = new BN((SUPPLY / 2n).toString())
  const initSqrtPrice = cpAmm.getSqrtPriceFromPrice('0.00000003', 6, 9)
  const tokenAInfo =
    wishes.transferFeeBps === undefined
      ? {}
      : {
          tokenAInfo: {
            mint: spl.unpackMint(key, infoOf(test, key), program),
            currentEpoch: 0,
          },
        }
  const client = strangersClient()
  const prices = { minSqrtPrice: initSqrtPrice, maxSqrtPrice: cpAmm.MAX_SQRT_PRICE, initSqrtPrice }
  const liquidityDelta = client.preparePoolCreationSingleSide({
    tokenAAmount,
    ...prices,
    collectFeeMode,
    ...tokenAInfo,
  })
  const { tx, pool } = await client.createCustomPool({
    payer,
    creator: payer,
    positionNft: positionNft.publicKey,
    tokenAMint: key,
    tokenBMint: spl.NATIVE_MINT,
    tokenAAmount,
    tokenBAmount: new BN(0),
    sqrtMinPrice: initSqrtPrice,
    sqrtMaxPrice: cpAmm.MAX_SQRT_PRICE,
    liquidityDelta,
    initSqrtPrice,
    poolFees: { baseFee: flatFee(100), compoundingFeeBps: 0, padding: 0, dynamicFee: null, ...wishes.fee },
    hasAlphaVault: false,
    activationType,
    collectFeeMode,
    activationPoint: wishes.activationPoint === undefined ? null : new BN(wishes.activationPoint.toString()),
    tokenAProgram: program,
    tokenBProgram: spl.TOKEN_PROGRAM_ID,
  })
  const made = test.send(tx.instructions, [creator, positionNft])
  expect(made.err, made.logs?.join('\n')).toBeNull()
  return pool.toBase58()
}

function infoOf({ chain }: TestChain, key: PublicKey) {
  const { data, owner, executable, lamports } = chain.account(key.toBase58())!
  return { data: Buffer.from(data), owner: new PublicKey(owner), executable, lamports: Number(lamports) }
}

/** Moves a tenth of the first position's liquidity into a new one of the same owner, with nothing of its fees. */
export async function splitOff(test: TestChain, pool: string, owner: Keypair, firstNft: PublicKey, nft: Keypair) {
  const client = strangersClient()
  const [key, poolKey] = [owner.publicKey, new PublicKey(pool)]
  const created = await client.createPosition({ owner: key, payer: key, pool: poolKey, positionNft: nft.publicKey })
  const split = await client.splitPosition({
    firstPositionOwner: key,
    secondPositionOwner: key,
    pool: poolKey,
    firstPosition: cpAmm.derivePositionAddress(firstNft),
    firstPositionNftAccount: cpAmm.derivePositionNftAccount(firstNft),
    secondPosition: cpAmm.derivePositionAddress(nft.publicKey),
    secondPositionNftAccount: cpAmm.derivePositionNftAccount(nft.publicKey),
    permanentLockedLiquidityPercentage: 0,
    unlockedLiquidityPercentage: 10,
    feeAPercentage: 0,
    feeBPercentage: 0,
    reward0Percentage: 0,
    reward1Percentage: 0,
    innerVestingLiquidityPercentage: 0,
  })
  const done = test.send([...created.instructions, ...split.instructions], [owner, nft])
  expect(done.err, done.logs?.join('\n')).toBeNull()
}

/** Pools of each kind that strangers open. */
export const STRANGERS_POOLS: Record<string, StrangersPool> = {
  'that takes fees in SOL': {},
  'that takes fees from both sides': { collectFeeMode: cpAmm.CollectFeeMode.BothToken },
  'that counts slots': { activationType: cpAmm.ActivationType.Slot },
  'of a token with a transfer fee': { transferFeeBps: 300 },
}

/** A pool of strangers of such a kind, with what its creator has in it, and a wallet that trades. */
export async function openedPool(name: string) {
  const wishes = STRANGERS_POOLS[name] ?? {}
  const chain = await openDammV2()
  const keys = { creator: chain.wallet(), mint: Keypair.generate(), positionNft: Keypair.generate() }
  const address = await openStrangersPool(chain.test, keys, wishes)
  const { publicKey } = keys.creator
  const payer = publicKey.toBase58()
  const program = wishes.transferFeeBps === undefined ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  const wrapped = spl.getAssociatedTokenAddressSync(spl.NATIVE_MINT, publicKey)
  const trader = chain.wallet()
  return {
    chain,
    address,
    creator: keys.creator,
    payer,
    async buy(amount: bigint) {
      chain.chain.advance(1)
      chain.land(await chain.swap(await chain.read(address), trader, { side: 'buy', amount }), trader)
    },
    sol: () => chain.lamportsOf(publicKey) + chain.lamportsOf(wrapped),
    tokens: () => chain.tokensOf(publicKey, keys.mint.publicKey.toBase58(), program) ?? 0n,
    /** Without a position, the first one. */
    async read(position?: string) {
      const pool = await chain.read(address)
      const moment = await readPoolMoment(chain.connection, pool)
      const held = await readPositions(chain.connection, address, payer)
      const found = position === undefined ? held[0]! : held.find((each) => each.position === position)!
      return { pool, moment, position: found, parts: liquidityParts(found, moment.point) }
    },
  }
}

/** Launch curves on a test's own embedded chain: wallets of fixed keys, launches, trades, and what a landing cost. */
import { deriveDbcTokenVaultAddress } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { getAssociatedTokenAddressSync, NATIVE_MINT } from '@solana/spl-token'
import { Keypair, PublicKey, VersionedTransaction } from '@solana/web3.js'
import { expect } from 'vitest'
import type { CurvePreset } from '../../src/api/pool-presets.ts'
import { curvePreset } from '../../src/api/pool-presets.ts'
import {
  buildCurve,
  buildDbcLaunch,
  buildDbcSwap,
  type DbcPool,
  dbcPoolAddress,
  readDbcPool,
} from '../../src/chain/programs/dbc/index.ts'
import type { UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { goldenKey } from './golden.ts'
import { hasProgram, memo, openTestChain, PROGRAMS_DIR, SOL } from './local-chain.ts'
import { mapped } from './mapped.ts'
import { embeddedNode } from './node.ts'
import { addressOf } from './wallets.ts'

export { addressOf }

/** Every program that a launch, a trade and a migration run. */
export const DBC_PROGRAMS = [PROGRAMS.dbc, PROGRAMS.tokenMetadata, PROGRAMS.dammV2, PROGRAMS.lock]
export const lacksDbc = !DBC_PROGRAMS.every(({ id }) => hasProgram(id))

export const [CREATOR, MINT, CONFIG, PARTNER, TRADER, KEEPER] = mapped([11, 12, 13, 14, 15, 16], goldenKey)

/** A billion tokens from 30 to 400 SOL. */
export function presetWith(changes: Record<string, unknown> = {}): CurvePreset {
  return curvePreset.parse({
    total_supply: '1000000000',
    decimals: 6,
    initial_market_cap: 30,
    migration_market_cap: 400,
    fee: { starting_bps: 100, ending_bps: 100 },
    liquidity: { partner: 50, partner_locked: 50 },
    ...changes,
  })
}

export const LOCKED = { amount: '100000000', periods: 10, duration_seconds: 864_000 }

/** The pool of the fixed keys as it would be read, for builders without a chain. */
export async function goldenPool(changes: Partial<DbcPool> = {}): Promise<DbcPool> {
  const address = await dbcPoolAddress({ mint: addressOf(MINT), config: addressOf(CONFIG) })
  const nothing = { claimable: 0n, withdrawn: false }
  const vault = (mint: PublicKey) => deriveDbcTokenVaultAddress(new PublicKey(address), mint).toBase58()
  return {
    address,
    config: addressOf(CONFIG),
    creator: addressOf(CREATOR),
    baseMint: addressOf(MINT),
    quoteMint: NATIVE_MINT.toBase58(),
    baseVault: vault(MINT.publicKey),
    quoteVault: vault(NATIVE_MINT),
    baseProgram: 'spl',
    quoteProgram: 'spl',
    decimals: 6,
    quoteDecimals: 9,
    baseReserve: 0n,
    quoteReserve: 0n,
    threshold: 1n,
    sqrtPrice: 1n,
    migrationSqrtPrice: 1n,
    totalSupply: 1n,
    price: '0',
    partnerQuoteFee: 0n,
    partnerBaseFee: 0n,
    creatorQuoteFee: 0n,
    creatorBaseFee: 0n,
    protocolQuoteFee: 0n,
    protocolBaseFee: 0n,
    protocolMigrationBaseFee: 0n,
    isMigrated: false,
    migrationProgress: 0,
    finishedAt: null,
    feeClaimer: addressOf(PARTNER),
    leftoverReceiver: addressOf(PARTNER),
    migrationOption: 1,
    migratedLockedPercentage: 100,
    migrationFeeOption: 2,
    surplus: nothing,
    creatorSurplus: nothing,
    migrationFee: nothing,
    creatorMigrationFee: nothing,
    creationFee: nothing,
    leftover: { isPossible: true, withdrawn: false },
    earned: {
      tradingFees: { quote: 0n, base: 0n },
      protocolFees: { quote: 0n, base: 0n },
      creatorPercentage: 0,
      surplus: { partner: 0n, creator: 0n, protocol: 0n },
      migrationFee: { partner: 0n, creator: 0n },
      protocolMigration: { quote: 0n, base: 0n },
      creationFee: { partner: 0n, protocol: 0n },
      protocolTookSurplus: false,
    },
    hasVesting: false,
    transferHook: null,
    activatedAt: 0,
    swapShowsInstructions: false,
    raw: { pool: null, config: null, quote_decimals: 9 },
    ...changes,
  }
}

/** Fields that the tests rarely change. */
export const launchOf = async (blockhash: string, changes: Partial<Parameters<typeof buildDbcLaunch>[0]> = {}) => ({
  creator: addressOf(CREATOR),
  mint: addressOf(MINT),
  config: addressOf(CONFIG),
  feeClaimer: addressOf(PARTNER),
  leftoverReceiver: addressOf(PARTNER),
  curve: await buildCurve(presetWith()),
  name: 'Test Coin',
  symbol: 'TST',
  uri: 'https://example.com/coin.json',
  buyLamports: 0n,
  tip: null,
  recentBlockhash: blockhash,
  computeUnitPrice: 0n,
  ...changes,
})

export type DbcChain = Awaited<ReturnType<typeof openDbcChain>>

/** Creator, partner, trader and keeper have 1,000 SOL each. */
export async function openDbcChain() {
  const test = await openTestChain({ programsDir: PROGRAMS_DIR })
  const { chain } = test
  for (const key of [CREATOR, PARTNER, TRADER, KEEPER]) chain.airdrop(addressOf(key), 1_000n * SOL)
  const connection = embeddedNode(chain)
  const keys = new Map([CREATOR, MINT, CONFIG, PARTNER, TRADER, KEEPER].map((key) => [addressOf(key), key]))
  const opened = {
    test,
    chain,
    connection,
    keys,
    units: 0,
    /** What it failed with, null when it landed. Signs with every key it asks for. */
    land({ transaction, requiredSigners }: UnsignedTransaction, secretKeys: readonly Uint8Array[] = []) {
      const extra = secretKeys.map((secret) => Keypair.fromSecretKey(secret))
      const signers = requiredSigners.map((signer) => {
        const key = keys.get(signer) ?? extra.find((each) => addressOf(each) === signer)
        if (key === undefined) throw new Error(`nobody signs for ${signer}`)
        return key
      })
      const decoded = VersionedTransaction.deserialize(transaction)
      decoded.message.recentBlockhash = chain.latestBlockhash().blockhash
      decoded.sign(signers)
      chain.advance(1)
      const trial = chain.simulate(decoded.serialize())
      opened.units = Number(trial.unitsConsumed)
      opened.logs = trial.logs
      return trial.err ?? chain.send(decoded.serialize()).err
    },
    logs: [] as readonly string[],
    /** Brings the account of the clock to the present slot, which the embedded chain does with each run. */
    tick: () => void chain.simulate(test.sign([memo('now')], [KEEPER])),
    /** Raw units of the launched token that a wallet holds. */
    held: ({ baseMint }: DbcPool, owner: Keypair) =>
      opened.tokens(getAssociatedTokenAddressSync(new PublicKey(baseMint), owner.publicKey).toBase58()),
    lamports: (address: string) => chain.account(address)?.lamports ?? 0n,
    /** Raw units in a token account of 165 bytes. */
    tokens: (address: string) => {
      const data = chain.account(address)?.data
      return data === undefined ? 0n : Buffer.from(data).readBigUInt64LE(64)
    },
    /** Lands the whole launch and reads the pool. */
    async launch(changes: Partial<Parameters<typeof buildDbcLaunch>[0]> = {}): Promise<DbcPool> {
      const launch = await launchOf(chain.latestBlockhash().blockhash, changes)
      for (const transaction of await buildDbcLaunch(launch)) {
        expect(opened.land(transaction), opened.logs.join('\n')).toBeNull()
      }
      return opened.read(await dbcPoolAddress({ ...launch, quoteMint: launch.curve.quoteMint }))
    },
    async read(address: string): Promise<DbcPool> {
      const pool = await readDbcPool(connection, address)
      expect(pool).not.toBeNull()
      return pool!
    },
    async trade(pool: DbcPool, side: 'buy' | 'sell', amount: bigint, trader = TRADER) {
      const { blockhash } = chain.latestBlockhash()
      const order = { payer: addressOf(trader), pool, side, amount, minimumOut: 0n, recentBlockhash: blockhash }
      const err = opened.land(await buildDbcSwap(order))
      expect(err, opened.logs.join('\n')).toBeNull()
      return opened.read(pool.address)
    },
    /** Buys what is left of the curve. */
    fill: (pool: DbcPool) => opened.trade(pool, 'buy', 900n * SOL),
  }
  return opened
}

/** As rounding over many trades leaves it, only more: in the pool's account, and as wrapped SOL in its vault. */
export function addSurplus(
  { chain }: Pick<DbcChain, 'chain'>,
  pool: Pick<DbcPool, 'address' | 'quoteVault' | 'quoteReserve'>,
  lamports: bigint,
): void {
  const [state, vault] = [chain.account(pool.address)!, chain.account(pool.quoteVault)!]
  const data = Buffer.from(state.data)
  const reserve = Buffer.alloc(8)
  reserve.writeBigUInt64LE(pool.quoteReserve)
  const at = data.indexOf(reserve)
  data.writeBigUInt64LE(pool.quoteReserve + lamports, at)
  chain.setAccount(pool.address, { ...state, data })
  const tokens = Buffer.from(vault.data)
  tokens.writeBigUInt64LE(tokens.readBigUInt64LE(64) + lamports, 64)
  chain.setAccount(pool.quoteVault, { ...vault, data: tokens, lamports: vault.lamports + lamports })
}

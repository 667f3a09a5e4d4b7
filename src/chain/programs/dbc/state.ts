/** Reads launch curves from the chain: pools with their configs, many at a time, and their progress. */

import type {
  ConfigWithTransferHook,
  PoolConfig,
  TransferHookPool,
  VirtualPool,
} from '@meteora-ag/dynamic-bonding-curve-sdk'
import { internal, notFound } from '../../../platform/errors.ts'
import type { ChainAccount } from '../../../solana/accounts.ts'
import { ACCOUNTS_PER_CALL, SOL_DECIMALS } from '../../../solana/constants.ts'
import { CLOCK_SYSVAR, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { DBC } from '../../../solana/programs/dbc.ts'
import { TOKEN_AMOUNT_OFFSET } from '../../../solana/token-accounts.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { askNode } from '../../nodes/rpc-faults.ts'
import { chainTimeOf } from '../../reads/chain-clock.ts'
import { type AccountsAtSlot, accountsAtSlot, type NodeAccount } from '../../reads/node-reads.ts'
import { addressOfKey } from '../derived-addresses.ts'
import { earnedOf, oneTimeClaimsOf } from './one-time-claims.ts'
import { dbcPriceText } from './prices.ts'
import { bigintOf, openDbc } from './program.ts'
import type { DbcPool } from './types.ts'

const PROGRESS_STEPS = 1_000_000_000n
/** Offset of the decimals in a mint's account, of either token program. */
const MINT_DECIMALS_OFFSET = 44
const LAMPORTS_PER_SOL = 1e9

type DbcAccount = NodeAccount | null

/**
 * Takes two calls at the node's commitment. Returns null for an address without a pool. Throws internal_error
 * when the node fails.
 */
export async function readDbcPool(node: NodeCalls, address: string): Promise<DbcPool | null> {
  const [pool] = await readDbcPools(node, [address])
  return pool ?? null
}

/**
 * Returns pools in the order of the addresses, a hundred accounts per call, with null for an address without a pool.
 */
export async function readDbcPools(node: NodeCalls, addresses: readonly string[]): Promise<(DbcPool | null)[]> {
  return dbcPoolsIn(node, addresses, await readDbcAccounts(node, addresses))
}

/** Returns the same from the accounts of the addresses, which were read before. */
export async function dbcPoolsIn(
  node: NodeCalls,
  addresses: readonly string[],
  { accounts }: Pick<AccountsAtSlot, 'accounts'>,
): Promise<(DbcPool | null)[]> {
  const pools = await Promise.all(accounts.map(decodeDbcPool))
  const configs = [...new Set(pools.flatMap((pool) => (pool === null ? [] : [addressOfKey(pool.poolState.config)])))]
  const decoded = await Promise.all((await readDbcAccounts(node, configs)).accounts.map(decodeConfig))
  const configOf = new Map(configs.map((address, i) => [address, decoded[i] ?? null]))
  const decimalsOf = await readQuoteDecimals(
    node,
    decoded.map((each) => each?.config ?? null),
  )
  const described = addresses.map((address, i) => {
    const pool = pools[i] ?? null
    const settings = pool === null ? null : (configOf.get(addressOfKey(pool.poolState.config)) ?? null)
    if (pool === null || settings === null) return null
    return describe(address, pool, settings, decimalsOf.get(addressOfKey(settings.config.quoteMint)) ?? 0)
  })
  return Promise.all(described)
}

/** Reads the mints of the quotes. If all pools are quoted in SOL, this takes no request. */
async function readQuoteDecimals(
  node: NodeCalls,
  configs: readonly (PoolConfig | null)[],
): Promise<Map<string, number>> {
  const decimals = new Map([[WRAPPED_SOL, SOL_DECIMALS]])
  const quotes = configs.flatMap((config) => (config === null ? [] : [addressOfKey(config.quoteMint)]))
  const mints = [...new Set(quotes)].filter((mint) => mint !== WRAPPED_SOL)
  const { accounts } = await readDbcAccounts(node, mints)
  mints.forEach((mint, i) => {
    decimals.set(mint, accounts[i]?.data[MINT_DECIMALS_OFFSET] ?? 0)
  })
  return decimals
}

/** Returns the progress of the curve from 0 to 1, rounded down to a billionth. It is 1 only once the curve is full. */
export function curveProgressOf({ quoteReserve, threshold }: Pick<DbcPool, 'quoteReserve' | 'threshold'>): number {
  if (quoteReserve >= threshold) return 1
  return Number((quoteReserve * PROGRESS_STEPS) / threshold) / Number(PROGRESS_STEPS)
}

/**
 * Returns the SOL that the whole supply is worth at migration, for display, or null when the quote is another token.
 */
export function migrationMarketCap({
  quoteMint,
  migrationSqrtPrice,
  totalSupply,
}: Pick<DbcPool, 'quoteMint' | 'migrationSqrtPrice' | 'totalSupply'>): number | null {
  if (quoteMint !== WRAPPED_SOL) return null
  return Number((migrationSqrtPrice * migrationSqrtPrice * totalSupply) >> 128n) / LAMPORTS_PER_SOL
}

/** Reads what the program uses to compute a swap, at one slot. */
export async function readForQuote(
  node: NodeCalls,
  { address, config }: Pick<DbcPool, 'address' | 'config'>,
): Promise<{ pool: VirtualPool; slot: bigint; unixSeconds: bigint } & DecodedConfig> {
  const { accounts } = await readDbcAccounts(node, [address, config, CLOCK_SYSVAR])
  const [first, second, clock] = accounts
  const pool = await decodeDbcPool(first ?? null)
  const settings = await decodeConfig(second ?? null)
  if (pool === null || settings === null) throw notFound(`There is no launch curve at ${address}`, { param: 'address' })
  const { slot, unixSeconds } = await chainTimeOf(clock ?? null)
  return { pool, ...settings, slot: BigInt(slot), unixSeconds: BigInt(unixSeconds) }
}

/**
 * Reads accounts that may be launch curves, a hundred per call. `slot` is that of the latest call. Throws
 * internal_error
 * when the node fails.
 */
export async function readDbcAccounts(node: NodeCalls, addresses: readonly string[]): Promise<AccountsAtSlot> {
  const accounts: DbcAccount[] = []
  let slot = 0
  for (let at = 0; at < addresses.length; at += ACCOUNTS_PER_CALL) {
    const part = addresses.slice(at, at + ACCOUNTS_PER_CALL)
    const read = await askNode('Reading launch curves', () => accountsAtSlot(node, part))
    if (read.accounts.length !== part.length)
      throw internal('Reading launch curves failed at the RPC node: accounts are missing')
    slot = Math.max(slot, read.slot)
    accounts.push(...read.accounts)
  }
  return { slot, accounts }
}

/** Returns the launch curves of the token: all accounts of the program that name it. The program permits one. */
export async function findCurves(chain: NodeCalls, mint: string): Promise<string[]> {
  const filters = [{ memcmp: { offset: DBC.offsetOf('virtual_pool', 'base_mint'), bytes: mint } }]
  const options = { filters, encoding: 'base64', dataSlice: { offset: 0, length: 0 }, commitment: 'confirmed' }
  return askNode('Looking for the launch curve of the token', async () => {
    const accounts = await chain.call<unknown>('getProgramAccounts', [DBC.id, options])
    if (!Array.isArray(accounts)) throw new Error('its answer is incomplete')
    return accounts.map(({ pubkey }: { pubkey: string }) => pubkey)
  })
}

/** The receivers that a launch curve's config names, and whether it locks tokens. */
export interface CurveReceivers {
  feeClaimer: string
  leftoverReceiver: string
  hasVesting: boolean
}

/**
 * Returns the receivers of each config, at most a hundred of them in one call; null for an address without a config.
 * Throws internal_error when the node fails.
 */
export async function readReceivers(node: NodeCalls, configs: readonly string[]): Promise<(CurveReceivers | null)[]> {
  const { accounts } = await readDbcAccounts(node, configs)
  const decoded = await Promise.all(accounts.map(decodeConfig))
  return decoded.map((settings) => {
    if (settings === null) return null
    const { config } = settings
    const [feeClaimer, leftoverReceiver] = [addressOfKey(config.feeClaimer), addressOfKey(config.leftoverReceiver)]
    return { feeClaimer, leftoverReceiver, hasVesting: hasVesting(config) }
  })
}

/** Returns the raw units of a pool's supply that are left after the migration. The base vault also holds fees. */
export async function readLeftover(
  node: NodeCalls,
  pool: Pick<
    DbcPool,
    'baseVault' | 'partnerBaseFee' | 'creatorBaseFee' | 'protocolBaseFee' | 'protocolMigrationBaseFee'
  >,
): Promise<bigint> {
  const { accounts } = await readDbcAccounts(node, [pool.baseVault])
  const held = accounts[0]?.data.readBigUInt64LE(TOKEN_AMOUNT_OFFSET) ?? 0n
  const { partnerBaseFee, creatorBaseFee, protocolBaseFee, protocolMigrationBaseFee } = pool
  const left = held - partnerBaseFee - creatorBaseFee - protocolBaseFee - protocolMigrationBaseFee
  return left > 0n ? left : 0n
}

const hasVesting = ({ lockedVestingConfig: { cliffUnlockAmount, amountPerPeriod } }: PoolConfig): boolean =>
  !cliffUnlockAmount.isZero() || !amountPerPeriod.isZero()

/** A config, and the program that each transfer of its tokens calls until their curve is full. */
interface DecodedConfig {
  config: PoolConfig
  transferHook: string | null
}

/** Pools of tokens with a transfer hook have an account of their own kind with the same content. */
const decodeDbcPool = async (account: DbcAccount): Promise<VirtualPool | null> =>
  (await decodeDbcAccount<VirtualPool>(account, 'virtualPool')) ??
  decodeDbcAccount<TransferHookPool>(account, 'transferHookPool')

async function decodeConfig(account: DbcAccount): Promise<DecodedConfig | null> {
  const config = await decodeDbcAccount<PoolConfig>(account, 'poolConfig')
  if (config !== null) return { config, transferHook: null }
  const hooked = await decodeDbcAccount<ConfigWithTransferHook>(account, 'configWithTransferHook')
  return hooked && { config: hooked.config, transferHook: addressOfKey(hooked.transferHookProgram) }
}

/** Returns null for any other account than this kind of the program. */
async function decodeDbcAccount<T>(
  account: DbcAccount,
  name: 'virtualPool' | 'transferHookPool' | 'poolConfig' | 'configWithTransferHook',
): Promise<T | null> {
  if (account?.owner !== DBC.id) return null
  const { coder } = await openDbc()
  try {
    return coder.decode(name, account.data) as T
  } catch {
    // The account has another kind or is truncated.
    return null
  }
}

async function describe(
  address: string,
  pool: VirtualPool,
  { config, transferHook }: DecodedConfig,
  quoteDecimals: number,
): Promise<DbcPool> {
  const { sdk } = await openDbc()
  const state = pool.poolState
  const [quoteReserve, threshold] = [bigintOf(state.quoteReserve), bigintOf(config.migrationQuoteThreshold)]
  const quoteMint = addressOfKey(config.quoteMint)
  const { baseFee } = config.poolFees
  const finishedAt = Number(state.finishCurveTimestamp)
  const byTime = config.activationType === sdk.ActivationType.Timestamp
  return {
    address,
    config: addressOfKey(state.config),
    creator: addressOfKey(state.creator),
    baseMint: addressOfKey(state.baseMint),
    quoteMint,
    baseVault: addressOfKey(state.baseVault),
    quoteVault: addressOfKey(state.quoteVault),
    baseProgram: state.poolType === sdk.TokenType.SPLToken ? 'spl' : 'token2022',
    quoteProgram: config.quoteTokenFlag === sdk.TokenType.SPLToken ? 'spl' : 'token2022',
    decimals: config.tokenDecimal,
    quoteDecimals,
    baseReserve: bigintOf(state.baseReserve),
    quoteReserve,
    threshold,
    sqrtPrice: bigintOf(state.sqrtPrice),
    migrationSqrtPrice: bigintOf(config.migrationSqrtPrice),
    totalSupply: totalSupplyOf(config),
    price: dbcPriceText(bigintOf(state.sqrtPrice), config.tokenDecimal, quoteDecimals),
    partnerQuoteFee: bigintOf(state.partnerQuoteFee),
    partnerBaseFee: bigintOf(state.partnerBaseFee),
    creatorQuoteFee: bigintOf(state.creatorQuoteFee),
    creatorBaseFee: bigintOf(state.creatorBaseFee),
    protocolQuoteFee: bigintOf(state.protocolQuoteFee),
    protocolBaseFee: bigintOf(state.protocolBaseFee),
    protocolMigrationBaseFee: bigintOf(state.protocolMigrationBaseFeeAmount),
    isMigrated: state.isMigrated === 1,
    migrationProgress: state.migrationProgress,
    finishedAt: finishedAt === 0 ? null : finishedAt,
    feeClaimer: addressOfKey(config.feeClaimer),
    leftoverReceiver: addressOfKey(config.leftoverReceiver),
    migrationOption: config.migrationOption,
    migratedLockedPercentage:
      config.partnerPermanentLockedLiquidityPercentage + config.creatorPermanentLockedLiquidityPercentage,
    migrationFeeOption: config.migrationFeeOption,
    ...oneTimeClaimsOf(pool, config),
    get earned() {
      return earnedOf(pool, config)
    },
    hasVesting: hasVesting(config),
    transferHook,
    activatedAt: byTime ? Number(state.activationPoint) : null,
    swapShowsInstructions:
      baseFee.baseFeeMode === sdk.BaseFeeMode.RateLimiter || config.enableFirstSwapWithMinFee === 1,
    // Most readers of a pool build with it and never show it.
    get raw() {
      const hook = transferHook === null ? {} : { transfer_hook: transferHook }
      return { pool: dbcJsonSafe(pool), config: dbcJsonSafe(config), quote_decimals: quoteDecimals, ...hook }
    },
  }
}

/** A supply that is not fixed is the sum of what the curve sells, what migrates and what is locked. */
function totalSupplyOf(config: PoolConfig): bigint {
  if (config.fixedTokenSupplyFlag === 1) return bigintOf(config.preMigrationTokenSupply)
  const { cliffUnlockAmount, amountPerPeriod, numberOfPeriod } = config.lockedVestingConfig
  const locked = bigintOf(cliffUnlockAmount) + bigintOf(amountPerPeriod) * bigintOf(numberOfPeriod)
  return bigintOf(config.swapBaseAmount) + bigintOf(config.migrationBaseThreshold) + locked
}

/** Converts big numbers to digits and addresses to base58. */
function dbcJsonSafe(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dbcJsonSafe)
  if (typeof value !== 'object' || value === null) return value
  if ('toBase58' in value && typeof value.toBase58 === 'function') return value.toBase58()
  if ('toArrayLike' in value) return value.toString()
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, dbcJsonSafe(field)]))
}

/** Bit of the creator in the state of the migration fee. */
const CREATOR_TOOK_FEE = 0b010

type CurveAccount = Pick<ChainAccount, 'owner' | 'data'> | null

/**
 * Returns a value that changes when the creator claims or transfers its role, or null while `wallet` is the creator
 * and nothing was claimed. The claimed amount is all earnings minus the unclaimed ones, of partner and creator
 * together, so claims of the partner change it too.
 */
export function creatorPart(account: CurveAccount, wallet: string): Uint8Array | null {
  const pool = curveIn(account)
  if (pool === null) return null
  const claimed = [
    pool.total_trading_base_fee - pool.partner_base_fee - pool.creator_base_fee,
    pool.total_trading_quote_fee - pool.partner_quote_fee - pool.creator_quote_fee,
    BigInt(pool.is_creator_withdraw_surplus),
    BigInt(pool.migration_fee_withdraw_status & CREATOR_TOOK_FEE),
  ]
  if (pool.creator === wallet && claimed.every((each) => each === 0n)) return null
  return Buffer.from([pool.creator, ...claimed].join(' '))
}

/** Returns the creator that a launch curve's account names, or null for another account. */
export const creatorOf = (account: CurveAccount): string | null => curveIn(account)?.creator ?? null

/** Returns a value that changes when the leftover is paid out, or null before. */
export function leftoverPart(account: CurveAccount): Uint8Array | null {
  const paid = curveIn(account)?.is_withdraw_leftover ?? 0
  return paid === 0 ? null : Uint8Array.of(paid)
}

const curveIn = (account: CurveAccount) =>
  DBC.decode('virtual_pool', account) ?? DBC.decode('transfer_hook_pool', account)

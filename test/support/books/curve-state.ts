/** What each party can claim of a launch curve, read from its accounts and computed anew: nothing of the service's own figures. */
import type { PoolConfig, VirtualPool } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { createDbcProgram, deriveBaseKeyForLocker, deriveEscrow } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { Connection, PublicKey } from '@solana/web3.js'
import type { Beneficiary, FeeClaimKind } from '../../../src/api/fee-claims.ts'
import type { LocalChain } from '../../../src/localnet/types.ts'
import { mapped } from '../mapped.ts'

export type Party = Beneficiary | 'protocol'
export const PARTIES: readonly Party[] = ['partner', 'creator', 'protocol']

/** Raw units of the quote and of the launched token. */
export interface Amounts {
  quote: bigint
  base: bigint
}

export interface CurveState {
  address: string
  config: string
  creator: string
  feeClaimer: string
  baseMint: string
  quoteMint: string
  vaults: Amounts
  vaultAddresses: { quote: string; base: string }
  /** Lamports that the creation of the pool paid, which lie in its own account. */
  creationFee: bigint
  /** What is left of them there. */
  spare: bigint
  reserve: bigint
  threshold: bigint
  fees: Record<Party, Amounts>
  creatorPercentage: bigint
  isFull: boolean
  isMigrated: boolean
  /** What a claim would pay now; null where it is not possible. */
  due(kind: FeeClaimKind, as: Beneficiary): Amounts | null
}

const { program } = createDbcProgram(new Connection('http://127.0.0.1'))
const NOTHING: Amounts = { quote: 0n, base: 0n }
const n = (amount: { toString(): string }): bigint => BigInt(amount.toString())

export function readCurveState(chain: LocalChain, address: string): CurveState {
  const account = chain.account(address)!
  const state = (program.coder.accounts.decode('virtualPool', Buffer.from(account.data)) as VirtualPool).poolState
  const configAddress = state.config.toBase58()
  const configData = Buffer.from(chain.account(configAddress)!.data)
  const config = program.coder.accounts.decode('poolConfig', configData) as PoolConfig
  const amountOf = (key: PublicKey) => tokenAmount(chain, key.toBase58())
  const [reserve, threshold] = [n(state.quoteReserve), n(config.migrationQuoteThreshold)]
  const isFull = reserve >= threshold
  const isMigrated = state.isMigrated === 1
  const fees = {
    partner: { quote: n(state.partnerQuoteFee), base: n(state.partnerBaseFee) },
    creator: { quote: n(state.creatorQuoteFee), base: n(state.creatorBaseFee) },
    protocol: { quote: n(state.protocolQuoteFee), base: n(state.protocolBaseFee) },
  }
  const vaults = { quote: amountOf(state.quoteVault), base: amountOf(state.baseVault) }
  const spare = account.lamports - chain.minimumBalance(account.data.length)
  const of = (as: Beneficiary, amount: bigint, creatorPercentage: number) => {
    const creator = (amount * BigInt(creatorPercentage)) / 100n
    return as === 'creator' ? creator : amount - creator
  }
  const once = (quote: bigint, isTaken: boolean) => (isTaken || !isFull ? null : { quote, base: 0n })
  const due: Record<FeeClaimKind, (as: Beneficiary) => Amounts | null> = {
    dbc: (as) => fees[as],
    surplus(as) {
      const surplus = of(as, ((reserve - threshold) * 80n) / 100n, config.creatorTradingFeePercentage)
      return once(surplus, (as === 'creator' ? state.isCreatorWithdrawSurplus : state.isPartnerWithdrawSurplus) === 1)
    },
    migration_fee(as) {
      const rest = (threshold * BigInt(100 - config.migrationFeePercentage) + 99n) / 100n
      const fee = of(as, threshold - rest, config.creatorMigrationFeePercentage)
      return once(fee, (state.migrationFeeWithdrawStatus & (as === 'creator' ? 0b010 : 0b100)) !== 0)
    },
    leftover() {
      if (!isMigrated || config.fixedTokenSupplyFlag !== 1 || state.isWithdrawLeftover === 1) return null
      const kept = fees.partner.base + fees.creator.base + fees.protocol.base + n(state.protocolMigrationBaseFeeAmount)
      return { quote: 0n, base: vaults.base - kept }
    },
    // Paid out of the pool's own lamports.
    pool_creation_fee: () => ((state.creationFeeBits & 0b010) !== 0 ? null : NOTHING),
    vesting: () => ({ quote: 0n, base: vestedNow(chain, address) }),
    damm_v2: () => null,
  }
  return {
    address,
    config: configAddress,
    creator: state.creator.toBase58(),
    feeClaimer: config.feeClaimer.toBase58(),
    baseMint: state.baseMint.toBase58(),
    quoteMint: config.quoteMint.toBase58(),
    vaults,
    vaultAddresses: { quote: state.quoteVault.toBase58(), base: state.baseVault.toBase58() },
    creationFee: n(config.poolCreationFee),
    spare,
    reserve,
    threshold,
    fees,
    creatorPercentage: BigInt(config.creatorTradingFeePercentage),
    isFull,
    isMigrated,
    due: (kind, as) => due[kind](as),
  }
}

/** Raw units in a token account of either program; 0 where there is none. */
export function tokenAmount(chain: LocalChain, address: string): bigint {
  const data = chain.account(address)?.data
  return data === undefined || data.length < 72 ? 0n : Buffer.from(data).readBigUInt64LE(64)
}

/** Address of the escrow of Jupiter Lock that a migration makes for locked vesting. */
export const escrowOf = (pool: string): PublicKey => deriveEscrow(deriveBaseKeyForLocker(new PublicKey(pool)))

/** What the escrow would pay at the chain's time; 0 without one. */
export function vestedNow(chain: LocalChain, pool: string): bigint {
  const data = chain.account(escrowOf(pool).toBase58())?.data
  if (data === undefined) return 0n
  const at = (offset: number) => Buffer.from(data).readBigUInt64LE(offset)
  const [cliffTime, frequency, cliffAmount, perPeriod, periods, claimed] = mapped([144, 152, 160, 168, 176, 184], at)
  const now = BigInt(chain.unixTimestamp())
  if (now < cliffTime) return 0n
  const passed = (now - cliffTime) / frequency
  return cliffAmount + perPeriod * (passed < periods ? passed : periods) - claimed
}

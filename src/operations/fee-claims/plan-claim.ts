/** Plans a claim: its amount, claimer, recipients and transaction. */

import type { Connection } from '@solana/web3.js'
import type { FeeClaimKind, FeeClaimType } from '../../api/fee-claims.ts'
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import {
  buildPositionClaim,
  claimAccounts,
  type DammV2Pool,
  positionsOf,
  positionsPerClaim,
} from '../../chain/programs/damm-v2/index.ts'
import {
  buildPartnerFeeClaim,
  buildSurplusClaim,
  type DbcPool,
  FEE_CLAIM_UNITS,
  migratedPoolAddress,
} from '../../chain/programs/dbc/index.ts'
import { readWallets, rentFor } from '../../chain/rpc-reads.ts'
import { accountsAt } from '../../chain/runs.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import { type BuiltTransaction, buildTransaction } from '../building.ts'
import { platformWallet } from '../platform-wallet.ts'
import { readPools, requireCurve, requirePool } from '../pools/on-chain.ts'
import { splitAmount } from './split-amount.ts'

type PlanClaimRoute = Api['feeClaims']['create']
type FeeClaimInput = Pick<Input<PlanClaimRoute>, 'address' | 'kind' | 'splits'>

/** The claim as its answer and its event describe it. */
export interface FeeClaimPlan {
  pool_address: string
  kind: FeeClaimKind
  /** Estimated amount in raw units of the quote. */
  estimated_quote: string
  /** Type of the event that reports the confirmed claim. */
  type: FeeClaimType
}

export interface PlannedFeeClaim {
  built: BuiltTransaction
  plan: FeeClaimPlan
}

/** Throws bad_request when there is nothing to claim or a split cannot be paid, not_found without a pool. */
export async function planClaim(context: Context, input: FeeClaimInput, payer: string): Promise<PlannedFeeClaim> {
  if (input.kind === 'damm_v2') return positionClaim(context, input, payer)
  const pool = await requireCurve(context.chain, input.address)
  return input.kind === 'surplus' ? surplusClaim(context, pool, payer) : partnerClaim(context, pool, input, payer)
}

async function partnerClaim(
  context: Context,
  pool: DbcPool,
  { splits }: FeeClaimInput,
  payer: string,
): Promise<PlannedFeeClaim> {
  const amount = pool.partnerQuoteFee
  if (amount === 0n) throw nothingToClaim(pool.address)
  const shares = splitAmount(amount, splits?.map(({ bps }) => bps) ?? [])
  const paid = (splits ?? []).map(({ recipient }, i) => ({ recipient, lamports: shares[i] ?? 0n }))
  await requirePayableSplits(await context.chain.connection(), amount, paid)
  const { feeClaimer } = pool
  const built = await buildTransaction(context, {
    payer,
    fallbackUnits: FEE_CLAIM_UNITS.claim,
    build: (envelope) => buildPartnerFeeClaim({ ...envelope, pool, feeClaimer, lamports: amount, splits: paid }),
  })
  const type = splits === undefined ? 'fee_claim.executed' : 'fee_claim.split_executed'
  return { built, plan: { pool_address: pool.address, kind: 'dbc', estimated_quote: String(amount), type } }
}

async function surplusClaim(context: Context, pool: DbcPool, payer: string): Promise<PlannedFeeClaim> {
  const { address, surplus, isMigrated, feeClaimer } = pool
  if (!isMigrated) {
    throw badRequest(`The pool ${address} has not migrated: its surplus can be withdrawn after that`, { param: 'kind' })
  }
  if (surplus.withdrawn) throw badRequest(`The surplus of ${address} is withdrawn already`, { param: 'kind' })
  if (surplus.claimable === 0n) throw nothingToClaim(address)
  const built = await buildTransaction(context, {
    payer,
    fallbackUnits: FEE_CLAIM_UNITS.surplus,
    build: (envelope) => buildSurplusClaim({ ...envelope, pool, feeClaimer }),
  })
  const estimated_quote = String(surplus.claimable)
  return { built, plan: { pool_address: address, kind: 'surplus', estimated_quote, type: 'fee_claim.executed' } }
}

/** Claims every position of the claimer that fits in one transaction. The address may be that of the curve. */
async function positionClaim(context: Context, { address }: FeeClaimInput, payer: string): Promise<PlannedFeeClaim> {
  const pool = await requirePositionPool(context, address)
  const connection = await context.chain.connection()
  const owner = await platformWallet(context)
  const positions = (await positionsOf(connection, pool.address, owner)).filter(
    ({ feeA, feeB }) => feeA > 0n || feeB > 0n,
  )
  if (positions.length === 0) throw nothingToClaim(pool.address, ` for ${owner}`)
  if (payer !== owner) await requireClaimerRent(connection, pool, owner)
  // Anyone can give the wallet positions that hold almost nothing, so the largest fees come first.
  positions.sort((a, b) => (a.feeB === b.feeB ? (a.feeA < b.feeA ? 1 : -1) : a.feeB < b.feeB ? 1 : -1))
  const chosen = positions.slice(0, positionsPerClaim({ owner, payer }))
  const built = await buildTransaction(context, {
    payer,
    // Half more than the measured cost of the most expensive claim of many positions.
    fallbackUnits: 400_000,
    async build(envelope) {
      const [first] = await buildPositionClaim({ ...envelope, owner, pool, positions: chosen })
      if (first === undefined) throw nothingToClaim(pool.address, ` for ${owner}`)
      return first
    },
  })
  const estimated_quote = String(chosen.reduce((sum, { feeB }) => sum + feeB, 0n))
  return { built, plan: { pool_address: pool.address, kind: 'damm_v2', estimated_quote, type: 'fee_claim.executed' } }
}

/** The claimer opens its own token accounts, whoever pays for the transaction, because it can reclaim their rent. */
async function requireClaimerRent(connection: Connection, pool: DammV2Pool, owner: string): Promise<void> {
  const own = await claimAccounts(pool, owner)
  const [wallet, ...accounts] = await accountsAt(connection, [owner, ...own])
  const missing = BigInt(accounts.filter((account) => account === null).length)
  const needed = missing === 0n ? 0n : missing * (await rentFor(connection, TOKEN_ACCOUNT_SIZE))
  const lamports = wallet?.lamports ?? 0n
  if (lamports >= needed) return
  throw badRequest(
    `The claimer ${owner} has ${lamports} lamports, and needs ${needed} to open its token accounts: send it ${needed - lamports} lamports first`,
    { param: 'payer', details: { claimer: owner, lamports: String(lamports), needed: String(needed) } },
  )
}

async function requirePositionPool({ chain }: Context, address: string): Promise<DammV2Pool> {
  const chainPool = await requirePool(chain, address)
  if (chainPool.type === 'damm_v2') return chainPool.pool
  const [migrated] = chainPool.pool.isMigrated
    ? await readPools(chain, [await migratedPoolAddress(chainPool.pool)])
    : []
  if (migrated?.type === 'damm_v2') return migrated.pool
  throw badRequest(`The pool ${address} has not migrated: claim its fees with kind dbc`, { param: 'kind' })
}

const nothingToClaim = (address: string, owner = '') =>
  badRequest(`There is nothing to claim from ${address}${owner}`, {
    param: 'address',
    details: { reason: 'nothing_to_claim' },
  })

/** The System program has a valid address, but no one owns it. */
const NOT_WALLETS: ReadonlySet<string> = new Set([SYSTEM_PROGRAM])

/** A share of zero, or one that leaves its recipient below rent exemption, fails on chain without an explanation. */
async function requirePayableSplits(
  connection: Connection,
  amount: bigint,
  paid: readonly { recipient: string; lamports: bigint }[],
): Promise<void> {
  for (const [i, { lamports, recipient }] of paid.entries()) {
    if (lamports > 0n) continue
    throw badRequest(`splits.${i}.bps: the share of ${recipient} in ${amount} lamports is zero`, {
      param: `splits.${i}.bps`,
    })
  }
  const accounts = await readWallets(
    connection,
    paid.map(({ recipient }) => recipient),
  )
  const paidTo = (address: string) =>
    paid.reduce((sum, { recipient, lamports }) => (recipient === address ? sum + lamports : sum), 0n)
  const least = paid.length === 0 ? 0n : await rentFor(connection, 0)
  for (const [i, { recipient }] of paid.entries()) {
    const { lamports, isWallet } = accounts[i] ?? { lamports: 0n, isWallet: false }
    const param = `splits.${i}.recipient`
    if (!isWallet || NOT_WALLETS.has(recipient)) {
      throw badRequest(`${param}: ${recipient} is no wallet: what is sent there may be lost`, { param })
    }
    const after = lamports + paidTo(recipient)
    if (after >= least) continue
    throw badRequest(
      `${param}: ${recipient} would have ${after} lamports, and an account must hold at least ${least}: leave it out, or send it lamports first`,
      { param, details: { lamports: String(after), rent_exempt: String(least) } },
    )
  }
}

/** What a claim takes, from whom, for whom, and the transaction that does it. */

import type { Connection } from '@solana/web3.js'
import type { FeeClaimKind, FeeClaimType } from '../../api/fee-claims.ts'
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import { withComputeBudget } from '../../chain/compute-budget.ts'
import {
  buildPositionClaim,
  claimAccounts,
  type DammV2Pool,
  positionsOf,
  positionsPerClaim,
} from '../../chain/programs/damm-v2/index.ts'
import {
  buildClaim,
  buildSurplusClaim,
  CLAIM_UNITS,
  type DbcPool,
  migratedPoolAddress,
} from '../../chain/programs/dbc/index.ts'
import { readLatestBlockhash, readWallets, rentFor } from '../../chain/rpc-reads.ts'
import { accountsAt } from '../../chain/runs.ts'
import type { UnsignedTransaction } from '../../chain/unsigned.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import { platformWallet } from '../platform-wallet.ts'
import { readPools, requireCurve, requirePool } from '../pools/on-chain.ts'
import { splitAmount } from './split.ts'

type PlanClaimRoute = Api['feeClaims']['create']
type Wanted = Pick<Input<PlanClaimRoute>, 'address' | 'kind' | 'splits'>

export interface Claim extends UnsignedTransaction {
  pool_address: string
  kind: FeeClaimKind
  /** Raw units of the quote. */
  estimated_quote: string
  /** Event that its landing is told by. */
  type: FeeClaimType
}

/** Throws bad_request where there is nothing to claim, or a split cannot be paid; not_found without a pool. */
export async function planClaim(context: Context, wanted: Wanted, payer: string): Promise<Claim> {
  if (wanted.kind === 'damm_v2') return positionClaim(context, wanted, payer)
  const pool = await requireCurve(context.chain, wanted.address)
  return wanted.kind === 'surplus' ? surplusClaim(context, pool, payer) : partnerClaim(context, pool, wanted, payer)
}

/** Half more than the costliest claim of many positions was measured at. */
const POSITION_UNITS = 400_000

async function partnerClaim(
  { chain, config }: Context,
  pool: DbcPool,
  { splits }: Wanted,
  payer: string,
): Promise<Claim> {
  const amount = pool.partnerQuoteFee
  if (amount === 0n) throw nothing(pool.address)
  const shares = splitAmount(amount, splits?.map(({ bps }) => bps) ?? [])
  const connection = await chain.connection()
  const paid = (splits ?? []).map(({ recipient }, i) => ({ recipient, lamports: shares[i] ?? 0n }))
  await requirePayable(connection, amount, paid)
  const recentBlockhash = await readLatestBlockhash(connection)
  const built = await withComputeBudget(
    { connection, config },
    (before) =>
      buildClaim({ pool, feeClaimer: pool.feeClaimer, payer, lamports: amount, splits: paid, recentBlockhash, before }),
    CLAIM_UNITS.claim,
  )
  const type = splits === undefined ? 'fee_claim.executed' : 'fee_claim.split_executed'
  return { ...built, pool_address: pool.address, kind: 'dbc', estimated_quote: String(amount), type }
}

async function surplusClaim({ chain, config }: Context, pool: DbcPool, payer: string): Promise<Claim> {
  const { address, surplus, isMigrated } = pool
  if (!isMigrated) {
    throw badRequest(`The pool ${address} has not migrated: its surplus can be withdrawn after that`, { param: 'kind' })
  }
  if (surplus.withdrawn) throw badRequest(`The surplus of ${address} is withdrawn already`, { param: 'kind' })
  if (surplus.claimable === 0n) throw nothing(address)
  const connection = await chain.connection()
  const recentBlockhash = await readLatestBlockhash(connection)
  const built = await withComputeBudget(
    { connection, config },
    (before) => buildSurplusClaim({ pool, feeClaimer: pool.feeClaimer, payer, recentBlockhash, before }),
    CLAIM_UNITS.surplus,
  )
  const estimated_quote = String(surplus.claimable)
  return { ...built, pool_address: address, kind: 'surplus', estimated_quote, type: 'fee_claim.executed' }
}

/** Every position of the claimer, as far as one transaction holds them; the address may be that of the curve. */
async function positionClaim(context: Context, { address }: Wanted, payer: string): Promise<Claim> {
  const { chain, config } = context
  const pool = await requirePositionPool(context, address)
  const connection = await chain.connection()
  const owner = await platformWallet(context)
  const positions = (await positionsOf(connection, pool.address, owner)).filter(
    ({ feeA, feeB }) => feeA > 0n || feeB > 0n,
  )
  if (positions.length === 0) throw nothing(pool.address, ` for ${owner}`)
  if (payer !== owner) await requireRent(connection, pool, owner)
  // Anybody can give the wallet positions that hold next to nothing.
  positions.sort((a, b) => (a.feeB === b.feeB ? (a.feeA < b.feeA ? 1 : -1) : a.feeB < b.feeB ? 1 : -1))
  const chosen = positions.slice(0, positionsPerClaim({ owner, payer }))
  const recentBlockhash = await readLatestBlockhash(connection)
  const built = await withComputeBudget(
    { connection, config },
    async (before) => {
      const [first] = await buildPositionClaim({ owner, payer, pool, positions: chosen, recentBlockhash, before })
      return first!
    },
    POSITION_UNITS,
  )
  const quote = chosen.reduce((sum, { feeB }) => sum + feeB, 0n)
  return {
    ...built,
    pool_address: pool.address,
    kind: 'damm_v2',
    estimated_quote: String(quote),
    type: 'fee_claim.executed',
  }
}

/** The claimer opens its own token accounts, whoever pays the transaction: their rent is the claimer's to take. */
async function requireRent(connection: Connection, pool: DammV2Pool, owner: string): Promise<void> {
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
  const found = await requirePool(chain, address)
  if (found.type === 'damm_v2') return found.pool
  const [migrated] = found.pool.isMigrated ? await readPools(chain, [await migratedPoolAddress(found.pool)]) : []
  if (migrated?.type === 'damm_v2') return migrated.pool
  throw badRequest(`The pool ${address} has not migrated: claim its fees with kind dbc`, { param: 'kind' })
}

const nothing = (address: string, whose = '') =>
  badRequest(`There is nothing to claim from ${address}${whose}`, {
    param: 'address',
    details: { reason: 'nothing_to_claim' },
  })

/** The System program: an address like any other, and nobody's. */
const NOBODY: ReadonlySet<string> = new Set([SYSTEM_PROGRAM])

/** A share of nothing, or one that leaves its recipient below what an account must hold, fails on chain without a word. */
async function requirePayable(
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
  const sums = new Map<string, bigint>()
  for (const { recipient, lamports } of paid) sums.set(recipient, (sums.get(recipient) ?? 0n) + lamports)
  const least = paid.length === 0 ? 0n : await rentFor(connection, 0)
  for (const [i, { recipient }] of paid.entries()) {
    const { lamports, isWallet } = accounts[i]!
    const param = `splits.${i}.recipient`
    if (!isWallet || NOBODY.has(recipient)) {
      throw badRequest(`${param}: ${recipient} is no wallet: what is sent there may be lost`, { param })
    }
    const after = lamports + sums.get(recipient)!
    if (after >= least) continue
    throw badRequest(
      `${param}: ${recipient} would have ${after} lamports, and an account must hold at least ${least}: leave it out, or send it lamports first`,
      { param, details: { lamports: String(after), rent_exempt: String(least) } },
    )
  }
}

/** Whether the platform wallet has what the work that it is planned for will cost. */
import { plannedWork } from '../../store/attention/planned-work.ts'
import { trySigner } from '../signing/require-signer.ts'
import type { LookAt, LookServices } from './looks.ts'

/** What the migration of a full curve costs, up to a quarter more: rent of the new pool and its positions, and fees. */
const MIGRATION_LAMPORTS = 25_000_000n
/** What a scheduled claim costs at a usual priority fee. */
const CLAIM_LAMPORTS = 100_000n
/** The rent of the token account that claims need for a moment. */
const TOKEN_ACCOUNT_LAMPORTS = 2_039_280n
/** An account without data has to keep this, or be empty. */
const LEAST_BALANCE = 890_880n

export const walletLook: LookAt = {
  kinds: ['wallet_low'],
  async look(context) {
    const wallet = (await trySigner(context))?.address
    if (wallet === undefined) return []
    const planned = await plannedCosts(context)
    if (planned.total === 0n || context.chain.isUnused()) return []
    const needed = planned.total + LEAST_BALANCE
    const balance = await readBalance(context, wallet)
    if (balance === null) return null
    if (balance >= needed) return []
    const { migrations, claims, sponsored } = planned
    const facts = { balance: String(balance), needed: String(needed), migrations, claims, sponsored: String(sponsored) }
    return [{ kind: 'wallet_low', subject: wallet, facts }]
  },
}

async function plannedCosts({ store, config }: LookServices) {
  const { fullPools, claims, sponsored } = await plannedWork(store.db)
  const migrations = config.values['pools.crank'] ? fullPools : 0
  const forClaims = claims === 0 ? 0n : BigInt(claims) * CLAIM_LAMPORTS + TOKEN_ACCOUNT_LAMPORTS
  const total = BigInt(migrations) * MIGRATION_LAMPORTS + forClaims + sponsored
  return { migrations, claims, sponsored, total }
}

/** Null if the node does not say; `node_unreachable` and `node_behind` report the node. */
async function readBalance({ chain }: LookServices, wallet: string): Promise<bigint | null> {
  const asked = chain.call<{ value?: unknown } | null>('getBalance', [wallet, { commitment: 'confirmed' }])
  const value = (await asked.catch(() => null))?.value
  return Number.isSafeInteger(value) ? BigInt(value as number) : null
}

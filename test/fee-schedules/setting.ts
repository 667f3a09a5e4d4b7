/** Pools with fees, and schedules that claim them: one chain, and daemons with their own rounds. */
import { Keypair } from '@solana/web3.js'
import { expect } from 'vitest'
import type { Services } from '../../src/context.ts'
import { runFeeSchedules } from '../../src/operations/fee-schedules/run-schedules.ts'
import { followPools } from '../../src/operations/pools/follow-pools.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { SOL } from '../support/local-chain.ts'
import { addressOf, type ChainAndNode, IMAGE, type Platform } from '../support/pool-platform.ts'
import { keypairOf, signWith } from '../support/wallets.ts'

export const [creator, trader] = [Keypair.generate(), Keypair.generate()]
export const HOUR_MS = 3_600_000

export interface Launched {
  address: string
  mint: string
}

/** What tests of schedules do with the chain. */
export function scheduleSetting(base: ChainAndNode) {
  const land = (transaction: string) => {
    expect(base.chain.send(Buffer.from(transaction, 'base64')).err).toBeNull()
    base.clock.advance(1_000)
  }

  async function launch({ request, services }: Platform, symbol: string): Promise<Launched> {
    const body = { creator: addressOf(creator), name: 'A token', symbol, image: IMAGE, preset: 'tiny' }
    const { status, json } = await request('POST', '/v2/pools', { body })
    expect([status, json.error]).toEqual([201, undefined])
    const { pool, transactions, required_signers } = json.data
    const keys = [required_signers.base_mint_secret_key, required_signers.config_secret_key].map(keypairOf)
    for (const text of transactions) land(signWith(text, [creator, ...keys]))
    base.clock.advance(10_000)
    await followPools(services)
    return { address: pool.address, mint: pool.base_mint }
  }

  /** A trade that leaves the partner 0.8 % of the lamports. */
  async function trade({ request }: Platform, pool: string, lamports = SOL / 10n): Promise<void> {
    const body = { payer: addressOf(trader), side: 'buy', amount: String(lamports) }
    const { json } = await request('POST', `/v2/pools/${pool}/swaps`, { body })
    land(signWith(json.data.tx.transaction, [trader]))
  }

  /** The clock comes to the next full hour, and a second more. */
  const nextHour = () => base.clock.advance(HOUR_MS - (base.clock.now() % HOUR_MS) + 1_000)

  async function round(services: Services): Promise<void> {
    await runFeeSchedules(services)
    base.clock.advance(1_000)
    await followTransactions(services)
  }

  return { land, launch, trade, nextHour, round }
}

export async function createSchedule({ request }: Platform, body: object = {}): Promise<string> {
  const { status, json } = await request('POST', '/v2/fee-schedules', { body: { cron: '@hourly', ...body } })
  expect([status, json.error]).toEqual([201, undefined])
  return json.data.id
}

export const runsOf = async ({ request }: Platform, schedule: string) =>
  (await request('GET', `/v2/fee-schedules/${schedule}/runs?limit=100`)).json.data

export const eventsOf = async ({ request }: Platform, type: string) =>
  (await request('GET', `/v2/events?type=${type}&order=asc&limit=100`)).json.data

/** Launches in tests: curves of presets, an image, and what was built signed, landed on the embedded chain and followed. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Keypair } from '@solana/web3.js'
import { expect } from 'vitest'
import type { LandedTransaction, LocalChain } from '../../src/localnet/types.ts'
import { followPools } from '../../src/operations/pools/follow-pools.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { IMAGES } from '../storage/images.ts'
import type { Service } from './service.ts'
import { makeSharedFolder } from './shared-folder.ts'
import { keypairOf, signWith } from './wallets.ts'

export const IMAGE = Buffer.from(IMAGES.png).toString('base64')

/** It takes some 80 SOL to fill. */
export const CURVE = {
  total_supply: '1000000000',
  decimals: 6,
  initial_market_cap: 30,
  migration_market_cap: 400,
  fee: { starting_bps: 100, ending_bps: 100 },
  liquidity: { partner: 50, partner_locked: 50 },
}
/** A SOL or so fills it. */
export const TINY_CURVE = { ...CURVE, total_supply: '1000000', initial_market_cap: 1, migration_market_cap: 3 }

/** Settings of a service that launches on the tiny curve. */
export function tinyCurveSettings() {
  const presets = join(makeSharedFolder('svc-'), 'presets.json')
  writeFileSync(presets, JSON.stringify({ tiny: TINY_CURVE }))
  return { 'pools.presets': presets, 'pools.preset': 'tiny' }
}

/** The keys that an answer has; those that the caller has are empty. */
export const keysIn = (required: Record<string, number[]>): Keypair[] =>
  Object.values(required)
    .filter(({ length }) => length > 0)
    .map(keypairOf)

/** Signs with those of the keys that must sign, and lands it past the service. */
export function landOn(chain: LocalChain, transaction: string, keys: readonly Keypair[]): LandedTransaction {
  const landed = chain.send(Buffer.from(signWith(transaction, keys), 'base64'))
  expect(landed.err, landed.logs.join('\n')).toBeNull()
  chain.advance(1)
  return landed
}

/** Time goes on, and the watcher and the pool worker look once in each round. */
export async function settlePools({ services, clock }: Pick<Service, 'services' | 'clock'>, rounds = 2): Promise<void> {
  const chain = await services.chain.local()
  for (let i = 0; i < rounds; i++) {
    chain.advance(3)
    clock.advance(15_000)
    await followTransactions(services)
    await followPools(services)
  }
}

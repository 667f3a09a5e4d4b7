/** Trades of a scenario, each as quoted to the unit, and its fee divided as the config says. */
import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import { PublicKey } from '@solana/web3.js'
import { expect } from 'vitest'
import { type Amounts, type CurveState, PARTIES } from './curve-state.ts'
import type { World } from './world.ts'

/** Meteora's part of every trading fee. */
const PROTOCOL_PERCENTAGE = 20n

export async function trade(world: World, trader: string, side: 'buy' | 'sell', amount: bigint): Promise<void> {
  const { curve, pool } = world
  const before = world.state()
  if (amount === 0n || (pool === null && before.isFull)) return
  const feesBefore = pool === null ? 0n : await feesOfPool(world, pool)
  const wallet = world.walletOf(trader)
  const held = world.held([wallet])
  const body = { payer: wallet, side, amount: String(amount), slippage_bps: 0 }
  const answer = await world.ask('POST', `/v2/pools/${pool ?? curve}/swaps`, body)
  // What is too little to buy anything is refused by the field.
  if (answer.status === 400 && answer.json.error.param === 'amount') return
  expect([answer.status, answer.json.error]).toEqual([200, undefined])
  const { tx, amount_in, estimated_out, fee } = answer.json.data
  const networkFee = await world.submit(tx.transaction, [world.keyOf(trader)])
  const [paid, received] = [BigInt(amount_in), BigInt(estimated_out)]
  const now = world.held([wallet])
  const gained = {
    quote: now.quote - held.quote + (world.isSol() ? networkFee : 0n),
    base: now.base - held.base,
  }
  expect(gained).toEqual(side === 'buy' ? { quote: -paid, base: received } : { quote: received, base: -paid })
  world.count(`${side} ${pool === null ? 'on the curve' : 'in the pool'}`)
  if (pool === null) return holdFees(world, before, BigInt(fee))
  expect((await feesOfPool(world, pool)) - feesBefore, 'the fee of a trade in the pool').toBe(BigInt(fee))
}

/** All fees that a DAMM v2 pool ever took, in raw units of both sides together: a trade pays on one side. */
async function feesOfPool({ connection }: World, pool: string): Promise<bigint> {
  const { metrics } = await new cpAmm.CpAmm(connection).fetchPoolState(new PublicKey(pool))
  const all = [metrics.totalLpAFee, metrics.totalLpBFee, metrics.totalProtocolAFee, metrics.totalProtocolBFee]
  return all.reduce((sum, each) => sum + BigInt(each.toString()), 0n)
}

/** What a trade paid lies in the vault beside the reserve, and is the three parties' by their shares. */
export function holdFees(world: World, before: CurveState, fee: bigint): void {
  const now = world.state()
  const gained = (side: keyof Amounts) => {
    const parts = PARTIES.map((party) => [party, now.fees[party][side] - before.fees[party][side]] as const)
    const all = parts.reduce((sum, [, part]) => sum + part, 0n)
    const protocol = (all * PROTOCOL_PERCENTAGE) / 100n
    const creator = ((all - protocol) * now.creatorPercentage) / 100n
    expect(Object.fromEntries(parts), `shares of ${all}`).toEqual({
      protocol,
      creator,
      partner: all - protocol - creator,
    })
    return all
  }
  const [quote, base] = [gained('quote'), gained('base')]
  expect(quote + base, 'the fee of a trade').toBe(fee)
  expect(now.vaults.quote - before.vaults.quote - (now.reserve - before.reserve), 'the fee in the vault').toBe(quote)
  for (const party of PARTIES) {
    const delta = (side: keyof Amounts) => now.fees[party][side] - before.fees[party][side]
    world.accrue(party, { quote: delta('quote'), base: delta('base') })
  }
}

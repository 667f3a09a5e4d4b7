/** Random locks on the real program: claims and cancellations at random times pay out the amount to the unit. */
import * as spl from '@solana/spl-token'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LOCK_PARTIES } from '../src/solana/programs/jupiter-lock.ts'
import { lacksLock, type MintOptions } from './support/gold.ts'
import { addressOf, isoOf, locksOn, withFee } from './support/locks.ts'
import { runs } from './support/runs.ts'
import { startService } from './support/service.ts'

const mints: [string, MintOptions | undefined][] = [
  ['SPL Token', undefined],
  ['Token-2022', { program: spl.TOKEN_2022_PROGRAM_ID }],
  ['Token-2022 with a transfer fee', withFee(250, 1_000n)],
]

/** Less than half of the shortest period. */
const SPARE_SECONDS = 25

const plans = fc.record({
  amount: fc.bigInt({ min: 500n, max: 10n ** 12n }),
  cliffShare: fc.integer({ min: 0, max: 100 }),
  periods: fc.integer({ min: 0, max: 60 }),
  frequency: fc.integer({ min: 60, max: 90_000 }),
  startsIn: fc.integer({ min: -200_000, max: 5_000 }),
  cliffAfter: fc.integer({ min: 0, max: 200_000 }),
  cancellableBy: fc.constantFrom(...LOCK_PARTIES),
  /** Where in the lock's life something happens, in thousandths: a claim of all, or of a part of what has unlocked. */
  acts: fc.array(fc.record({ at: fc.integer({ min: 0, max: 1_100 }), part: fc.constantFrom(1, 2, 3) }), {
    maxLength: 5,
  }),
  cancelAt: fc.option(fc.integer({ min: 0, max: 1_100 })),
})

describe.skipIf(lacksLock !== '').each(mints)(`a random lock of a mint of %s ${lacksLock}`, (_, options) => {
  it('pays its recipient what has unlocked, its creator the rest, and nothing else', { tags: 'sampled' }, async () => {
    const it = await locksOn(await startService({ settings: { 'priority-fee': 'none' } }), options, 10n ** 18n)
    const [creator, recipient] = [addressOf(it.creator), addressOf(it.recipient)]
    /** What arrives of a payment. */
    const net = (sent: bigint) => {
      if (options?.extensions === undefined || sent === 0n) return sent
      const fee = (sent * 250n + 9_999n) / 10_000n
      return sent - (fee < 1_000n ? fee : 1_000n)
    }
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const { amount, periods, frequency, cancellableBy, cancelAt } = plan
        const start = it.now() + plan.startsIn
        const cliff = start + plan.cliffAfter
        const cliffAmount = periods === 0 ? amount : (amount * BigInt(plan.cliffShare)) / 200n
        const before = { creator: it.units(it.creator), recipient: it.units(it.recipient) }
        const made = await it.create({
          ...{ amount: String(amount), cliff_amount: String(cliffAmount), periods, frequency },
          ...{ starts_at: isoOf(start), cliff_at: isoOf(cliff), cancellable_by: cancellableBy },
        })
        const path = `/v2/locks/${made.address}`
        const end = cliff + frequency * periods
        const [step, first] = [BigInt(made.amount_per_period), BigInt(made.cliff_amount)]
        expect(first + step * BigInt(periods)).toBe(amount)
        expect(before.creator - it.units(it.creator)).toBe(BigInt(made.deposit))
        const held = net(BigInt(made.deposit))
        expect(held).toBeGreaterThanOrEqual(amount)
        expect((await it.get(made.address)).held).toBe(String(held))
        // The schedule, in the simplest way to say it.
        const unlockedBy = (seconds: number) => {
          if (seconds < cliff) return 0n
          return first + step * BigInt(Math.min(periods, Math.floor((seconds - cliff) / frequency)))
        }
        /** The chain's clock runs on, so nothing happens in the last seconds before a step. */
        const clearOfSteps = (seconds: number) => {
          const next = seconds < cliff ? cliff : seconds + frequency - ((seconds - cliff) % frequency)
          return next - seconds < SPARE_SECONDS ? next : seconds
        }
        const life = Math.max(1, end - it.now())
        const from = it.now()
        const events = [...plan.acts, ...(cancelAt === null ? [] : [{ at: cancelAt, part: 0 as const }])]
        let [claimed, arrived, isCancelled] = [0n, 0n, false]
        for (const { at, part } of events.toSorted((a, b) => a.at - b.at)) {
          if (isCancelled) break
          it.at(clearOfSteps(from + Math.floor((life * at) / 1_000)))
          const claimable = unlockedBy(it.now()) - claimed
          expect(BigInt((await it.get(made.address)).claimable)).toBe(claimable)
          if (part === 0) {
            const by = { none: null, creator: it.creator, recipient: it.recipient, both: it.recipient }[cancellableBy]
            if (by === null) {
              expect((await it.refused('DELETE', path, { payer: creator }))[0]).toBe('payer')
              continue
            }
            const ended = await it.built('DELETE', path, { payer: addressOf(by) })
            it.land(ended, by)
            expect([ended.to_recipient, ended.to_creator]).toEqual([
              String(claimable),
              String(held - claimed - claimable),
            ])
            arrived += net(claimable)
            isCancelled = true
            const returned = net(held - claimed - claimable)
            expect(it.units(it.creator)).toBe(before.creator - BigInt(made.deposit) + returned)
          } else if (claimable === 0n) {
            expect((await it.refused('POST', `${path}/claims`, { payer: recipient }))[0]).toBe('address')
          } else {
            const wanted = claimable / BigInt(part) || claimable
            const claim = await it.built('POST', `${path}/claims`, { payer: recipient, amount: String(wanted) })
            it.land(claim, it.recipient)
            expect([claim.received, claim.remaining]).toEqual([String(net(wanted)), String(amount - claimed - wanted)])
            claimed += wanted
            arrived += net(wanted)
          }
          expect(it.units(it.recipient) - before.recipient).toBe(arrived)
        }
        if (!isCancelled && claimed < amount) {
          it.at(end)
          it.land(await it.built('POST', `${path}/claims`, { payer: recipient }), it.recipient)
          arrived += net(amount - claimed)
        }
        expect(it.units(it.recipient) - before.recipient).toBe(arrived)
        if ((await it.ask('GET', path)).status === 200) {
          it.land(await it.built('POST', `${path}/closings`, { payer: creator }), it.creator)
        }
        expect((await it.ask('GET', path)).status).toBe(404)
        expect(it.units(made.address)).toBe(0n)
      }),
      { numRuns: runs(5, 200) },
    )
  })
})

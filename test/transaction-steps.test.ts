/** What a look at the chain may make of a transaction: properties that hold for any sequence of looks. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SignatureStatus } from '../src/chain/reads/statuses.ts'
import { type StatusSnapshot, type TransactionState, transitionOf } from '../src/following/transition.ts'

const FRESH: TransactionState = {
  lifecycle: 'submitted',
  confirmation_status: null,
  err_json: null,
  slot: 0,
  confirmations: 0,
}
const SLOT = 1_000

const levels = ['processed', 'confirmed', 'finalized'] as const
const status = fc.record<SignatureStatus>({
  slot: fc.integer({ min: SLOT, max: SLOT + 3 }),
  confirmations: fc.option(fc.integer({ min: 0, max: 31 })),
  err: fc.option(fc.constantFrom<unknown>('AccountInUse', { InstructionError: [0, { Custom: 1 }] })),
  confirmationStatus: fc.constantFrom(...levels),
})
const look = fc.record<StatusSnapshot>({
  status: fc.option(status),
  slot: fc.integer({ min: SLOT - 60, max: SLOT + 200 }),
  since: fc.option(fc.integer({ min: SLOT - 100, max: SLOT + 10 })),
})
const run = (looks: readonly StatusSnapshot[]) => {
  const events: string[] = []
  let state = FRESH
  let turns = 0
  for (const each of looks) {
    const step = transitionOf(state, each)
    if (step === null) continue
    events.push(...step.events)
    const turned = state.lifecycle === 'failed' ? step.state.err_json === null : step.state.lifecycle === 'failed'
    turns += step.dropped || turned ? 1 : 0
    state = step.state
    if (step.final) break
  }
  return { state, events, turns }
}

describe('the steps of a transaction', () => {
  it('report a confirmation, a finality and a failure at most once each while no fork turns it over', () => {
    fc.assert(
      fc.property(fc.array(look, { maxLength: 30 }), (looks) => {
        const { events, turns } = run(looks)
        for (const type of new Set(events)) {
          expect(events.filter((event) => event === type).length).toBeLessThanOrEqual(1 + turns)
        }
      }),
      { numRuns: 400 },
    )
  })

  it('never go back but by a fork that is far behind the node', () => {
    const rank = ({ confirmation_status: level }: TransactionState) => levels.indexOf(level as (typeof levels)[number])
    fc.assert(
      fc.property(fc.array(look, { maxLength: 30 }), (looks) => {
        let state = FRESH
        for (const each of looks) {
          const step = transitionOf(state, each)
          if (step === null) continue
          if (rank(step.state) < rank(state)) {
            expect([each.status, step.dropped]).toEqual([null, true])
            expect(each.since).toBeLessThanOrEqual(state.slot)
            expect(each.slot).toBeGreaterThanOrEqual(state.slot + 32)
          }
          state = step.state
        }
      }),
      { numRuns: 400 },
    )
  })

  it('never fail for want of a status, and never fail before the error is confirmed', () => {
    fc.assert(
      fc.property(fc.array(look, { maxLength: 30 }), (looks) => {
        let state = FRESH
        for (const each of looks) {
          const step = transitionOf(state, each)
          if (step === null) continue
          if (step.state.lifecycle === 'failed') {
            expect(each.status?.err).not.toBeNull()
            expect(each.status?.confirmationStatus).not.toBe('processed')
          }
          state = step.state
        }
      }),
      { numRuns: 400 },
    )
  })

  it('that were missed are caught up with: the first sight of a finalized one reports both', () => {
    const finalized = { slot: SLOT, confirmations: null, err: null, confirmationStatus: 'finalized' as const }
    const step = transitionOf(FRESH, { status: finalized, slot: SLOT + 40, since: null })
    expect(step).toMatchObject({
      landed: true,
      final: true,
      events: ['transaction.confirmed', 'transaction.finalized'],
    })
    expect(transitionOf(step!.state, { status: finalized, slot: SLOT + 41, since: 0 })).toBeNull()
  })
})

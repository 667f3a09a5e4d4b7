/** The books of many random launches, until every kind of claim was made by everybody who can, in every way. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BENEFICIARIES_OF, FEE_CLAIM_KINDS } from '../../src/api/fee-claims.ts'
import { playBooks } from '../support/books/play.ts'
import { booksScenario, CLAIM_WAYS } from '../support/books/scenario.ts'
import { type ChainAndNode, lackingPrograms, openChainAndNode } from '../support/pool-platform.ts'

describe.skipIf(lackingPrograms.length > 0)(`the ledger of many launches (${lackingPrograms.join(', ')})`, () => {
  let base: ChainAndNode
  beforeAll(async () => {
    base = await openChainAndNode()
  })
  afterAll(() => base?.close())

  it('balances to the lamport after each step', async ({ annotate }) => {
    const done = new Map<string, number>()
    const property = fc.asyncProperty(booksScenario, (scenario) =>
      playBooks(base, scenario, {
        atEnd(world) {
          for (const [what, times] of world.done) done.set(what, (done.get(what) ?? 0) + times)
        },
      }),
    )
    await fc.assert(property, { numRuns: 60 })
    await annotate(JSON.stringify(Object.fromEntries(done)), 'steps')
    const claims = FEE_CLAIM_KINDS.flatMap((kind) => BENEFICIARIES_OF[kind].map((as) => `${kind} ${as}`))
    const expected = [...claims, ...CLAIM_WAYS, 'protocol', 'hand over']
    expect(expected.filter((what) => !done.has(what))).toEqual([])
  })
})

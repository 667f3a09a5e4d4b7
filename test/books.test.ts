/** Everybody's money over the life of a launch: trades, claims by all parties in any order, migration, and what comes after it. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { playBooks } from './support/books/play.ts'
import { booksScenario } from './support/books/scenario.ts'
import { type ChainAndNode, lackingPrograms, openChainAndNode } from './support/pool-platform.ts'

describe.skipIf(lackingPrograms.length > 0)(`the books of a launch (${lackingPrograms.join(', ')})`, () => {
  let base: ChainAndNode
  beforeAll(async () => {
    base = await openChainAndNode()
  })
  afterAll(() => base?.close())

  it('balance to the lamport after every step, whatever the preset and whoever claims', async () => {
    const property = fc.asyncProperty(booksScenario, (scenario) => playBooks(base, scenario))
    // The same scenarios every time; the soak run draws others.
    await fc.assert(property, { numRuns: 4, seed: 18, interruptAfterTimeLimit: 100_000 })
  })
})

/** The files of a claim page of a million wallets. */
import { expect, it } from 'vitest'
import { largestRequests } from '../support/large-claim-site.ts'

it('two requests of 8 kB together find a wallet among a million in 20 trees', { timeout: 120_000 }, () => {
  expect(largestRequests(20)).toEqual({ files: 4096, isSmall: true })
})

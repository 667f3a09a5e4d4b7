/** The files of a claim page of a million wallets. */
import { expect, it } from 'vitest'
import { largestRequests } from '../support/large-claim-site.ts'

it('a claim page finds a wallet among a million in 20 trees with two requests of 8 kB together', {
  timeout: 120_000,
}, () => {
  expect(largestRequests(20)).toEqual({ files: 4096, isSmall: true })
})

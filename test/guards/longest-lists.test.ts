/** Lists that leave little or no room for guards land all the same, and say what they lack. */
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { createMint, give } from '../support/gold.ts'
import { hasProgram } from '../support/programs.ts'
import { runs } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'
import { addressOf, SOL, signWith, someAddress } from '../support/wallets.ts'

const shared = sharedService({ settings: { 'priority-fee': 'none' } })
const lacking = !hasProgram(PROGRAMS.lighthouse.id)

describe.skipIf(lacking)('transfers to as many wallets as fit (needs Lighthouse in the program cache)', () => {
  it.each([
    { opens: true, tx_version: 0, most: 9, reasons: [null, 'no_room'] },
    // The calls of opening ten accounts and those of guards are more than a transaction may make.
    { opens: true, tx_version: 1, most: 10, reasons: [null, 'fails'] },
    { opens: false, tx_version: 0, most: 19, reasons: [null, 'no_room'] },
    { opens: false, tx_version: 1, most: 60, reasons: [null, 'fails', 'no_room'] },
  ])('land, with guards where there is room: %o', { tags: 'sampled' }, async ({ opens, tx_version, most, reasons }) => {
    const { services, request } = await shared()
    const chain = await services.chain.local()
    const payer = Keypair.generate()
    chain.airdrop(addressOf(payer), 100n * SOL)
    const token = createMint(chain, payer)
    const mint = token.mint.toBase58()
    give(chain, payer, token, payer.publicKey, 100_000n)
    const wallets = Array.from({ length: most }, () => Keypair.generate())
    if (!opens) for (const { publicKey } of wallets) give(chain, payer, token, publicKey, 1n)
    const found = new Set<string | null>()
    for (let count = Math.max(1, most - runs(5, most)); count <= most; count++) {
      const to = opens ? wallets.slice(0, count).map(() => someAddress()) : wallets.slice(0, count).map(addressOf)
      const recipients = to.map((wallet) => ({ wallet, amount: '1' }))
      const body = { payer: addressOf(payer), mint, recipients, tx_version }
      const { json, text } = await request('POST', '/v2/token-transfers', { body })
      expect(json.error, text).toBeUndefined()
      found.add(json.data.guard.reason)
      chain.advance(1)
      const { err, logs } = chain.send(Buffer.from(signWith(json.data.transaction, [payer]), 'base64'))
      expect(err, `${count}: ${logs.join('\n')}`).toBeNull()
    }
    expect([...found]).toEqual(reasons)
  })
})

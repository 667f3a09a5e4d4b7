/** Lists leave room for their guards: as many rows as fit land guarded, and one more is refused. */
import { Keypair, SystemProgram } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { compileUnsigned } from '../../src/chain/sending/unsigned.ts'
import { buildTransaction } from '../../src/operations/building.ts'
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
    { opens: true, tx_version: 0, most: 7 },
    // The calls of opening ten accounts and those of guards are more than a transaction may make.
    { opens: true, tx_version: 1, most: 9 },
    { opens: false, tx_version: 0, most: 14 },
    { opens: false, tx_version: 1, most: 54 },
  ])('land with their guards, and not one more fits: %o', { tags: 'sampled' }, async ({ opens, tx_version, most }) => {
    const { services, request } = await shared()
    const chain = await services.chain.local()
    const payer = Keypair.generate()
    chain.airdrop(addressOf(payer), 100n * SOL)
    const token = createMint(chain, payer)
    const mint = token.mint.toBase58()
    give(chain, payer, token, payer.publicKey, 100_000n)
    const wallets = Array.from({ length: most + 1 }, () => Keypair.generate())
    if (!opens) for (const { publicKey } of wallets) give(chain, payer, token, publicKey, 1n)
    for (let count = Math.max(1, most - runs(5, most)); count <= most + 1; count++) {
      const to = opens ? wallets.slice(0, count).map(() => someAddress()) : wallets.slice(0, count).map(addressOf)
      const recipients = to.map((wallet) => ({ wallet, amount: '1' }))
      const body = { payer: addressOf(payer), mint, recipients, tx_version }
      const { json, text } = await request('POST', '/v2/token-transfers', { body })
      if (count > most) {
        expect(json.error.details).toEqual({ recipients: count, fits: most })
        continue
      }
      expect(json.error, text).toBeUndefined()
      expect(json.data.guard).toMatchObject({ state: 'whole', reason: null })
      chain.advance(1)
      const { err, logs } = chain.send(Buffer.from(signWith(json.data.transaction, [payer]), 'base64'))
      expect(err, `${count}: ${logs.join('\n')}`).toBeNull()
    }
  })
})

describe.skipIf(lacking)(
  'a transaction that executes too much beside guards (needs Lighthouse in the program cache)',
  () => {
    it('is built without them, and says so', async () => {
      const { services } = await shared()
      const chain = await services.chain.local()
      const payer = Keypair.generate()
      chain.airdrop(addressOf(payer), 100n * SOL)
      const toPubkey = Keypair.generate().publicKey
      chain.airdrop(toPubkey.toBase58(), SOL)
      const pays = (lamports: number) => SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports })
      const build = (count: number) =>
        buildTransaction(
          { ...services, txVersion: 1 },
          {
            payer: addressOf(payer),
            fallbackUnits: 100_000,
            build: (envelope) =>
              compileUnsigned(
                envelope,
                Array.from({ length: count }, (_, i) => pays(i + 1)),
              ),
          },
        )
      expect((await build(50)).guarding.reason).toBeNull()
      const { transaction, guarding } = await build(60)
      expect([guarding.guards, guarding.reason]).toEqual([[], 'fails'])
      const text = Buffer.from(transaction).toString('base64')
      expect(chain.send(Buffer.from(signWith(text, [payer]), 'base64')).err).toBeNull()
    })
  },
)

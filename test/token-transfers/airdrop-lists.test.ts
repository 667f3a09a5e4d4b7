/** A list that is sent although it has an airdrop: nobody is paid by a claim and by a transfer. */
import { Keypair } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  addressOf,
  airdropsOn,
  claimBody,
  createBody,
  DAY_S,
  entriesFor,
  lacksDistributor,
} from '../support/airdrops.ts'
import { keypairFile } from '../support/platform-wallet.ts'
import { makeFolder, removeFolder, startService } from '../support/service.ts'

const CREATE = '/v2/token-transfers'
const PLAN = '/v2/token-transfer-plans'

async function opened(settings: Record<string, string> = {}) {
  const all = await airdropsOn(await startService({ settings }))
  const payer = all.wallet()
  const wallets = Array.from({ length: 3 }, () => all.wallet())
  const mint = all.mintFor(payer, 100_000n)
  const entries = entriesFor(wallets)
  const tree = await all.storeTree(mint, entries)
  const body = { payer: addressOf(payer), mint, recipients: entries, airdrop_id: tree.id as string }
  return { ...all, payer, wallets, mint, entries, tree, body }
}

describe('a list that has an airdrop', () => {
  it('is sent if it is not on chain; one of another airdrop, or one that is not stored, is refused', async () => {
    const { ok, refused, body, land, payer, tokensOf, mint, wallets, mintFor, storeTree } = await opened()
    land((await ok('POST', CREATE, body)).transaction, payer)
    expect(wallets.map((wallet) => tokensOf(mint, wallet))).toEqual([1_000n, 2_000n, 3_000n])
    const unknown = await refused('POST', CREATE, { ...body, airdrop_id: 'A'.repeat(46) })
    expect([unknown.status, unknown.param]).toEqual([404, 'airdrop_id'])
    const other = mintFor(payer, 100n)
    const mixed = await refused('POST', CREATE, { ...body, mint: other })
    expect([mixed.param, mixed.details]).toEqual(['airdrop_id', { mint }])
    const vesting = [{ wallet: addressOf(Keypair.generate()), amount: '1', amount_locked: '1' }]
    const locked = await storeTree(mint, vesting, 7)
    const late = await refused('POST', PLAN, { ...body, airdrop_id: locked.id })
    expect([late.param, late.details.reason]).toEqual(['airdrop_id', 'locked_amounts'])
  })

  it.skipIf(lacksDistributor)(
    'is not sent while its vault can pay, and later not to wallets that have claimed',
    async () => {
      const files = makeFolder()
      onTestFinished(() => removeFolder(files))
      const platform = Keypair.generate()
      const all = await opened({ signer: 'keypair', 'signer.keypair': keypairFile(files, platform) })
      const { ok, request, refused, body, payer, wallets, mint, submit, tree, pass, chain, land, tokensOf } = all
      chain.airdrop(addressOf(platform), 1_000_000_000n)
      const limits = { lamports_per_transaction: '10000000', lamports_per_day: '10000000' }
      await request('PATCH', '/v2/signer/policy', { body: limits })
      const make = createBody(payer, mint, tree.root, { clawback_after_days: 1 })
      await submit(await ok('POST', '/v2/airdrops', make), payer)
      await submit(await ok('POST', `/v2/airdrops/${tree.id}/claims`, claimBody(wallets[1]!)), wallets[1]!)
      for (const path of [PLAN, CREATE]) {
        const answer = await refused('POST', path, body)
        expect([answer.status, answer.param, answer.details]).toMatchObject([
          400,
          'airdrop_id',
          { reason: 'funded', vault_balance: '4000' },
        ])
      }
      pass(2 * DAY_S)
      await ok('POST', `/v2/airdrops/${tree.id}/vault-withdrawals`, { amount: '4000' })
      const plan = await ok('POST', PLAN, body)
      expect(plan.recipients.map(({ reason }: { reason: string | null }) => reason)).toEqual([null, 'claimed', null])
      expect(plan.total).toBe('4000')
      const claimed = await refused('POST', CREATE, body)
      expect([claimed.param, claimed.details.reason]).toEqual(['recipients.1.wallet', 'claimed'])
      const rest = { ...body, recipients: [body.recipients[0], body.recipients[2]] }
      land((await ok('POST', CREATE, rest)).transaction, payer)
      expect(wallets.map((wallet) => tokensOf(mint, wallet))).toEqual([1_000n, 2_000n, 3_000n])
    },
  )
})

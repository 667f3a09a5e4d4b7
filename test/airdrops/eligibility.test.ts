/** In which stored airdrops a wallet is, and whether it can claim from each. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { airdropEligibilityVerb } from '../../commands/airdrops/index.ts'
import type { Session } from '../../commands/cli/session.ts'
import {
  addressOf,
  airdropsOn,
  claimBody,
  createBody,
  DAY_S,
  entriesFor,
  lacksDistributor,
} from '../support/airdrops.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { clientOf } from '../support/request.ts'
import { inSoak } from '../support/runs.ts'
import { sharedService, startService } from '../support/service.ts'
import { entries } from '../support/trees.ts'

const ROOT = 'cd'.repeat(32)

const shared = sharedService()

describe('the airdrops of a wallet', () => {
  it('are those of the stored trees that contain it, newest first, by mint, page by page', async () => {
    const all = await airdropsOn(await shared())
    const [claimer, other] = [Keypair.generate(), Keypair.generate()]
    const mints = [all.mintFor(all.wallet(), 1n), all.mintFor(all.wallet(), 1n)]
    const stored: [string, string, number][] = []
    const others = entries(300).map(({ wallet }) => ({ wallet, amount: '1' }))
    for (let n = 0; n < 12; n++) {
      const isIn = n % 3 !== 0
      const wallets = isIn ? [other, claimer] : [other]
      const list = [...others, ...entriesFor(wallets, () => BigInt(n + 1))]
      const mint = mints[n % 2]!
      const tree = await all.storeTree(mint, list, n)
      if (isIn) stored.unshift([tree.id, mint, n])
    }
    const path = `/v2/wallets/${addressOf(claimer)}/airdrops`
    const found = await all.ok('GET', `${path}?limit=100`)
    expect(found).toEqual(
      stored.map(([id, mint, n]) => ({
        id,
        mint,
        airdrop_count: n,
        amount: String(n + 1),
        amount_locked: '0',
        status: 'tree_built',
        claimed: false,
        claimed_amount: '0',
        claimable_amount: '0',
        vested: '0',
        next_vesting_at: null,
        starts_at: null,
        ends_at: null,
        clawback_at: null,
        claimable: false,
        reason: 'not_initialized',
        note: expect.stringMatching(/is not on chain yet: initialize it first/),
      })),
    )
    const walked: string[] = []
    for (let cursor = ''; ; ) {
      const { json } = await all.request('GET', `${path}?limit=3${cursor}`)
      walked.push(...json.data.map(({ id }: { id: string }) => id))
      if (json.meta.next_cursor === null) break
      cursor = `&cursor=${json.meta.next_cursor}`
    }
    expect(walked).toEqual(stored.map(([id]) => id))
    const filtered = await all.ok('GET', `${path}?mint=${mints[1]}`)
    expect(filtered.map(({ id }: { id: string }) => id)).toEqual(
      stored.filter(([, mint]) => mint === mints[1]).map(([id]) => id),
    )
    expect(await all.ok('GET', `/v2/wallets/${addressOf(Keypair.generate())}/airdrops`)).toEqual([])
    const { next_cursor } = (await all.request('GET', `${path}?limit=3`)).json.meta
    const foreign = await all.refused(
      'GET',
      `/v2/wallets/${addressOf(other)}/airdrops?cursor=${next_cursor}`,
      undefined as never,
    )
    expect([foreign.status, foreign.param]).toEqual([400, 'cursor'])
    expect((await all.refused('GET', '/v2/wallets/nobody/airdrops', undefined as never)).param).toBe('wallet')
  })

  it.skipIf(!inSoak)(
    'are found behind any number of trees that do not contain the wallet',
    { tags: 'sampled' },
    async () => {
      const all = await airdropsOn(await startService())
      const [claimer, other] = [Keypair.generate(), Keypair.generate()]
      const mint = all.mintFor(all.wallet(), 1n)
      const oldest = await all.storeTree(mint, entriesFor([claimer]))
      for (let n = 1; n <= 250; n++) await all.storeTree(mint, entriesFor([other]), n)
      const path = `/v2/wallets/${addressOf(claimer)}/airdrops`
      const first = (await all.request('GET', path)).json
      expect([first.data, first.meta.next_cursor]).toEqual([[], expect.any(String)])
      const second = (await all.request('GET', `${path}?cursor=${first.meta.next_cursor}`)).json
      expect([second.data.map(({ id }: { id: string }) => id), second.meta.next_cursor]).toEqual([[oldest.id], null])

      // The command asks for all pages; one that was asked for tells that there are more.
      const client = clientOf(all.request)
      const session = { client, ui: { progress: () => () => undefined } } as unknown as Session
      const ask = (more: object) =>
        airdropEligibilityVerb.run({ wallet: addressOf(claimer), ...more } as never, session)
      expect(await ask({})).toMatchObject({ data: [{ id: oldest.id }], notes: [] })
      const more = expect.stringMatching(/^None on this page\. More: repeat with --cursor \S+ \(or --all\)$/)
      expect(await ask({ limit: 20 })).toMatchObject({ data: [], notes: [more] })
      expect(await ask({ limit: 20, all: true })).toMatchObject({ data: [{ id: oldest.id }], notes: [] })
      expect(await ask({ mint: all.mintFor(all.wallet(), 1n) })).toMatchObject({ data: [], notes: ['None found.'] })
    },
  )

  it('include those behind a damaged tree', async () => {
    const all = await airdropsOn(await shared())
    const claimer = Keypair.generate()
    const mint = all.mintFor(all.wallet(), 1n)
    const good = await all.storeTree(mint, entriesFor([claimer]), 0)
    const bad = await all.storeTree(mint, entriesFor([claimer]), 1)
    await all.services.store.write((tx) =>
      tx
        .updateTable('merkle_blobs')
        .set({ bytes: Buffer.alloc(9) })
        .where('tree_id', '=', bad.id)
        .execute(),
    )
    const found = await all.ok('GET', `/v2/wallets/${addressOf(claimer)}/airdrops`)
    expect(found.map(({ id }: { id: string }) => id)).toEqual([good.id])
  })
})

describe.skipIf(lacksDistributor)('an airdrop on chain (needs the Jito merkle distributor)', () => {
  it('says whether it can be claimed now, and why not; a claim is built exactly if it can', async () => {
    const all = await airdropsOn(await startPlatform())
    const { ok, submit, wallet, refused } = all
    const [payer, claimer] = [wallet(), wallet()]
    const mint = all.mintFor(payer, 100_000n)
    const make = async (airdrop_count: number, more: object = {}, root?: string) => {
      const tree = await all.storeTree(mint, entriesFor([claimer, wallet(0n)]), airdrop_count)
      const body = createBody(payer, mint, root ?? tree.root, { airdrop_count, ...more })
      await submit(await ok('POST', '/v2/airdrops', body), payer)
      return tree.id as string
    }
    const drained = await make(0, { clawback_after_days: 1 })
    all.pass(2 * DAY_S)
    await ok('POST', `/v2/airdrops/${drained}/vault-withdrawals`, { amount: '3000' })
    const claimed = await make(1)
    await submit(await ok('POST', `/v2/airdrops/${claimed}/claims`, claimBody(claimer)), claimer)
    const unfunded = await make(2, { fund_amount: '999' })
    const ready = await make(3)
    const absent = (await all.storeTree(mint, entriesFor([claimer]), 4)).id
    // Taken before the tree is stored.
    const squatter = wallet()
    await submit(await ok('POST', '/v2/airdrops', createBody(squatter, mint, ROOT, { airdrop_count: 5 })), squatter)
    const other = (await all.storeTree(mint, entriesFor([claimer]), 5)).id
    const found = await ok('GET', `/v2/wallets/${addressOf(claimer)}/airdrops`)
    const rows = found.map((row: Record<string, unknown>) => [
      row.id,
      row.status,
      row.claimed,
      row.claimable,
      row.reason,
    ])
    expect(rows).toEqual([
      [other, 'tree_built', false, false, 'other_root'],
      [absent, 'tree_built', false, false, 'not_initialized'],
      [ready, 'initialized', false, true, null],
      [unfunded, 'initialized', false, false, 'unfunded'],
      [claimed, 'claiming', true, false, 'already_claimed'],
      [drained, 'vault_drained', false, false, 'clawed_back'],
    ])
    for (const { id, claimable, note, reason } of found) {
      const path = `/v2/airdrops/${id}/claims`
      if (claimable) await ok('POST', path, claimBody(claimer))
      else {
        const { message, details } = await refused('POST', path, claimBody(claimer))
        expect(details.reason).toBe(reason)
        if (reason !== 'not_initialized') expect(message).toBe(note)
      }
    }
    // What was claimed from another airdrop at this id is not of this tree.
    const list = entriesFor([claimer], () => 7n)
    const own = await ok('POST', '/v2/merkle-trees', { mint, airdrop_count: 6, entries: list, persist: false })
    const more = { airdrop_count: 6, fund_amount: '7' }
    await submit(await ok('POST', '/v2/airdrops', createBody(payer, mint, own.root, more)), payer)
    const given = claimBody(claimer, { amount: '7', proof: [] })
    await submit(await ok('POST', `/v2/airdrops/${own.id}/claims`, given), claimer)
    await all.storeTree(mint, entriesFor([claimer]), 6)
    const [foreign] = await ok('GET', `/v2/wallets/${addressOf(claimer)}/airdrops`)
    expect([foreign.id, foreign.claimed, foreign.reason]).toEqual([own.id, false, 'other_root'])
    const account = spl.getAssociatedTokenAddressSync(new PublicKey(mint), claimer.publicKey)
    all.run(
      [spl.createFreezeAccountInstruction(account, new PublicKey(mint), all.authority.publicKey)],
      [all.authority],
    )
    const frozen = (await ok('GET', `/v2/wallets/${addressOf(claimer)}/airdrops`))[3]
    expect([frozen.claimable, frozen.reason]).toEqual([false, 'account_unusable'])
  })
})

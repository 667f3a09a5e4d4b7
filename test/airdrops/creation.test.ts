/** Making an airdrop: what it takes, each refusal in words with the way out, and what the platform wallet signs for it. */
import { createHash } from 'node:crypto'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  buildCreation,
  decodeDistributor,
  distributorChangesIn,
} from '../../src/chain/programs/merkle-distributor/index.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import {
  addressOf,
  airdropsOn,
  claimBody,
  createBody,
  DAY_S,
  entriesFor,
  lacksDistributor,
} from '../support/airdrops.ts'
import { aroundAccounts } from '../support/node-accounts.ts'
import { GENEROUS, startPlatform } from '../support/platform-wallet.ts'
import { inSoak } from '../support/runs.ts'
import { sharedService, startService } from '../support/service.ts'

const ROOT = 'ab'.repeat(32)
const MAX_U64 = 2n ** 64n - 1n
const PATH = '/v2/airdrops'

const shared = sharedService()

async function opened() {
  const all = await airdropsOn(await shared())
  const payer = all.wallet()
  return { ...all, payer }
}

describe('an airdrop is refused before anything is built', () => {
  it('if its root is not that of the stored tree; case and 0x prefix do not matter', async () => {
    const { payer, mintFor, storeTree, refused } = await opened()
    const mint = mintFor(payer, 100n)
    const tree = await storeTree(mint, entriesFor([Keypair.generate()]))
    const other = await refused('POST', PATH, createBody(payer, mint, ROOT))
    expect(other).toMatchObject({ status: 400, param: 'merkle_root', details: { stored_root: tree.root } })
    expect(other.message).toContain(tree.root)
    const same = await refused('POST', PATH, createBody(payer, mint, `0x${tree.root.toUpperCase()}`))
    expect(same.param).not.toBe('merkle_root')
  })

  it('if the mint does not exist, even without the program, or is of Token-2022', async () => {
    const { payer, mintFor, refused } = await opened()
    const nowhere = addressOf(Keypair.generate())
    const absent = await refused('POST', PATH, createBody(payer, nowhere, ROOT))
    expect(absent).toMatchObject({ status: 404, param: 'mint', message: `There is no token mint at ${nowhere}` })
    const wallet = await refused('POST', PATH, createBody(payer, addressOf(payer), ROOT))
    expect([wallet.status, wallet.param]).toEqual([404, 'mint'])
    const newer = mintFor(payer, 5n, spl.TOKEN_2022_PROGRAM_ID)
    const token2022 = await refused('POST', PATH, createBody(payer, newer, ROOT))
    expect(token2022).toMatchObject({ status: 400, param: 'mint' })
    expect(token2022.message).toMatch(/is a Token-2022 mint.*SPL Token/)
  })

  it('without the program, and the refusal names the missing program', async () => {
    const all = await airdropsOn(await startService({ settings: { 'programs-dir': '/nonexistent' } }))
    const payer = all.wallet()
    const { status, message } = await all.refused('POST', PATH, createBody(payer, all.mintFor(payer, 1n), ROOT))
    expect([status, message]).toEqual([500, expect.stringMatching(/Jito merkle distributor.*svc localnet pull/)])
  })

  it('if the amount to fund is unknown, or is more than can be claimed', async () => {
    const { payer, mintFor, storeTree, refused } = await opened()
    const mint = mintFor(payer, 100n)
    const unknown = await refused('POST', PATH, createBody(payer, mint, ROOT, { fund: true }))
    expect(unknown).toMatchObject({ status: 400, param: 'fund' })
    expect(unknown.message).toMatch(/no tree is stored .* send fund_amount, or store the tree first/)
    const tree = await storeTree(
      mint,
      entriesFor([Keypair.generate()], () => 50n),
    )
    const more = await refused('POST', PATH, createBody(payer, mint, tree.root, { fund_amount: '51' }))
    expect(more).toMatchObject({ status: 400, param: 'fund_amount', details: { total: '50' } })
  })

  it('if the sum of the tree is more than a vault can hold', async () => {
    const { payer, mintFor, storeTree, refused } = await opened()
    const mint = mintFor(payer, 100n)
    const tree = await storeTree(
      mint,
      entriesFor([Keypair.generate(), Keypair.generate()], () => MAX_U64),
    )
    const much = await refused('POST', PATH, createBody(payer, mint, tree.root, { fund: false }))
    expect(much).toMatchObject({ status: 400, param: 'airdrop_count', details: { total: String(2n * MAX_U64) } })
  })
})

describe.skipIf(lacksDistributor)('an airdrop (needs the Jito merkle distributor)', () => {
  it('whose payer has too few tokens is refused with the balance and the need', async () => {
    const { payer, mintFor, storeTree, refused, run, authority, chain } = await opened()
    const mint = mintFor(payer, 99n)
    const tree = await storeTree(
      mint,
      entriesFor([Keypair.generate()], () => 100n),
    )
    const account = spl.getAssociatedTokenAddressSync(new PublicKey(mint), payer.publicKey)
    const less = await refused('POST', PATH, createBody(payer, mint, tree.root))
    expect(less).toMatchObject({
      status: 400,
      param: 'payer',
      details: { have: '99', need: '100', account: account.toBase58(), mint },
    })
    expect(less.message).toMatch(/has 99 of .* and the deposit is 100: .*fund: false/)
    const poor = Keypair.generate()
    expect(await refused('POST', PATH, createBody(poor, mint, tree.root))).toMatchObject({
      param: 'payer',
      details: { have: '0', need: '100' },
    })
    run([spl.createMintToInstruction(new PublicKey(mint), account, authority.publicKey, 1n)], [authority])
    run([spl.createFreezeAccountInstruction(account, new PublicKey(mint), authority.publicKey)], [authority])
    const frozen = await refused('POST', PATH, createBody(payer, mint, tree.root))
    expect([frozen.param, frozen.message]).toEqual(['payer', expect.stringMatching(/is frozen/)])
    run([spl.createThawAccountInstruction(account, new PublicKey(mint), authority.publicKey)], [authority])
    chain.airdrop(addressOf(payer), 1_000_000n)
    run(
      [
        spl.createSetAuthorityInstruction(
          account,
          payer.publicKey,
          spl.AuthorityType.AccountOwner,
          authority.publicKey,
        ),
      ],
      [payer],
    )
    const given = await refused('POST', PATH, createBody(payer, mint, tree.root, { fund: false }))
    expect([given.param, given.message]).toEqual(['payer', expect.stringContaining(addressOf(authority))])
  })

  it('has the caps, the vault and the times of the request', async () => {
    const { payer, mintFor, storeTree, ok, submit, tokensOf, vaultOf, chain, settle } = await opened()
    const mint = mintFor(payer, 1_000n)
    const caps: [object, number, string | null][] = [
      [{}, 30, '300'],
      [{ fund: true }, 30, '300'],
      [{ fund: false }, 30, '0'],
      [{ fund_amount: '7', clawback_after_days: 1 }, 1, '7'],
      [{ fund_amount: '0', clawback_after_days: 3650 }, 3650, '0'],
    ]
    for (const [airdrop_count, [more, days, vault]] of caps.entries()) {
      const wallets = [Keypair.generate(), Keypair.generate()]
      const tree = await storeTree(
        mint,
        entriesFor(wallets, (n) => BigInt(100 + n * 100)),
        airdrop_count,
      )
      const built = await ok('POST', PATH, createBody(payer, mint, tree.root, { airdrop_count, ...more }))
      const now = chain.unixTimestamp()
      const kept = tokensOf(mint, payer)!
      await submit(built, payer)
      expect([airdrop_count, kept - tokensOf(mint, payer)!]).toEqual([airdrop_count, BigInt(vault!)])
      const { distributor } = await vaultOf(mint, airdrop_count)
      expect(tokensOf(mint, distributor)).toBe(BigInt(vault!))
      expect(decodeDistributor(chain.account(distributor))).toMatchObject({ maxTotal: 300n, maxNodes: 2n })
      await settle()
      const read = await ok('GET', `${PATH}/${tree.id}`)
      expect(read).toMatchObject({ status: 'initialized', vault_balance: vault, leaf_count: 2, total: '300' })
      const left = Date.parse(read.clawback_at) / 1000 - now - days * DAY_S
      expect(left).toBeGreaterThan(0)
      expect(left).toBeLessThan(310)
      expect(read.vault_lacks).toBe(String(300 - Number(vault)))
      expect(read.note).toEqual(
        vault === '300' ? null : expect.stringMatching(/The vault \S+ lacks \d+ of what can still be claimed$/),
      )
    }
  })

  it('without a stored tree has no caps, is read from the chain, and is reported by its message', async () => {
    const { payer, mintFor, ok, submit, settle, eventsOf, chain, vaultOf } = await opened()
    const mint = mintFor(payer, 10n)
    const built = await ok('POST', PATH, createBody(payer, mint, ROOT, { fund_amount: '10', airdrop_count: 65_535 }))
    const id = built.tracked_resource.resource_id
    await submit(built, payer)
    const { distributor } = await vaultOf(mint, 65_535)
    expect(decodeDistributor(chain.account(distributor))).toMatchObject({ maxTotal: MAX_U64, maxNodes: MAX_U64 })
    await settle()
    expect(await ok('GET', `${PATH}/${id}`)).toMatchObject({
      ...{ id, mint, airdrop_count: 65_535, root: ROOT, leaf_count: 0, status: 'initialized', created_at: null },
      ...{ total: null, vault_balance: '10', admin: addressOf(payer), note: expect.stringMatching(/not stored here/) },
    })
    expect(await eventsOf(id)).toEqual(['airdrop.initialized'])
    expect(await ok('GET', `${PATH}?mint=${mint}`)).toEqual([])
  })

  it('opens the account for the remaining tokens if the payer has none', async () => {
    const { mintFor, wallet, ok, submit, tokensOf } = await opened()
    const mint = mintFor(wallet(), 10n)
    const payer = wallet()
    await submit(await ok('POST', PATH, createBody(payer, mint, ROOT)), payer)
    expect(tokensOf(mint, payer)).toBe(0n)
  })

  it('whose number is taken is refused with its owner, its root and the next free number', async () => {
    const { payer, mintFor, storeTree, ok, submit, refused, wallet, vaultOf } = await opened()
    const mint = mintFor(payer, 1_000n)
    const squatter = wallet()
    await submit(await ok('POST', PATH, createBody(squatter, mint, ROOT)), squatter)
    const tree = await storeTree(mint, entriesFor([Keypair.generate()]))
    await storeTree(mint, entriesFor([Keypair.generate()]), 1)
    const { distributor } = await vaultOf(mint)
    const taken = await refused('POST', PATH, createBody(payer, mint, tree.root))
    expect(taken).toMatchObject({
      status: 400,
      param: 'airdrop_count',
      details: { reason: 'taken', distributor, root: ROOT, admin: addressOf(squatter), next_airdrop_count: 2 },
    })
    expect(taken.message).toMatch(/is taken: .* with the root abab.*: use airdrop_count 2$/)
    const read = await ok('GET', `${PATH}/${tree.id}`)
    expect(read).toMatchObject({
      ...{ status: 'tree_built', root: tree.root, total: '1000', on_chain_root: ROOT, admin: addressOf(squatter) },
      ...{ vault_balance: '0', claimed_amount: '0', clawed_back: false, vault_lacks: null },
    })
    expect(read.note).toMatch(/another root: .* made it for another list. Store this list under another airdrop_count/)
    // The way out that it names.
    const free = await storeTree(mint, entriesFor([Keypair.generate()]), 2)
    await submit(await ok('POST', PATH, createBody(payer, mint, free.root, { airdrop_count: 2 })), payer)
    const again = await refused('POST', PATH, createBody(payer, mint, free.root, { airdrop_count: 2 }))
    expect(again).toMatchObject({
      param: 'airdrop_count',
      details: { reason: 'already_initialized', vault_balance: '1000', next_airdrop_count: 3 },
    })
    expect(again.message).toMatch(/is on chain already: .* with this root, and its vault holds 1000. Continue with it/)
  })

  it.skipIf(!inSoak)(
    'that somebody else copied with its root is never taken for the payer’s own',
    { tags: 'sampled' },
    async () => {
      const { payer, mintFor, storeTree, ok, submit, refused, wallet, vaultOf, run, settle } = await opened()
      const mint = mintFor(payer, 1_000n)
      const claimer = wallet()
      const tree = await storeTree(mint, entriesFor([claimer]))
      const thief = wallet()
      await submit(await ok('POST', PATH, createBody(thief, mint, tree.root, { fund: false })), thief)
      const { distributor } = await vaultOf(mint)
      const receiver = spl.getAssociatedTokenAddressSync(new PublicKey(mint), thief.publicKey).toBase58()
      const body = createBody(payer, mint, tree.root)
      const copied = await refused('POST', PATH, body)
      expect(copied).toMatchObject({
        status: 400,
        param: 'airdrop_count',
        details: { reason: 'taken', admin: addressOf(thief), clawback_receiver: receiver, next_airdrop_count: 1 },
      })
      expect(copied.message).toMatch(/with the same root. Unclaimed tokens go to .*, not back to .*Do not fund it: use/)
      // The program lets an admin make another one, and keep what is left.
      run(
        [
          new TransactionInstruction({
            programId: new PublicKey(PROGRAMS.distributor.id),
            keys: [
              { pubkey: new PublicKey(distributor), isSigner: false, isWritable: true },
              { pubkey: thief.publicKey, isSigner: true, isWritable: true },
              { pubkey: payer.publicKey, isSigner: false, isWritable: true },
            ],
            data: createHash('sha256').update('global:set_admin').digest().subarray(0, 8),
          }),
        ],
        [thief],
      )
      await settle()
      const read = await ok('GET', `${PATH}/${tree.id}`)
      expect(read).toMatchObject({ admin: addressOf(payer), clawback_receiver: receiver })
      const warning = `Unclaimed tokens go to ${receiver}, which is not the token account of its admin ${addressOf(payer)}`
      expect(read.note).toBe(warning)
      const claim = await refused('POST', `${PATH}/${tree.id}/claims`, claimBody(claimer))
      expect(claim.details).toMatchObject({ reason: 'unfunded', clawback_receiver: receiver })
      expect(claim.message).toMatch(new RegExp(`less than the 0.001 of ${mint} to claim. ${warning}$`))
      const [found] = await ok('GET', `/v2/wallets/${addressOf(claimer)}/airdrops`)
      expect(found).toMatchObject({ reason: 'unfunded', note: claim.message })
      const proof = claimBody(claimer, { amount: '1000', proof: [] })
      expect((await refused('POST', `${PATH}/${tree.id}/claims`, proof)).message).toBe(claim.message)
      expect((await refused('POST', PATH, body)).details).toMatchObject({ reason: 'taken', admin: addressOf(payer) })
    },
  )

  it('that cannot pay out the whole tree is not continued, even if it is the payer’s own', async () => {
    const { payer, mintFor, storeTree, ok, refused, land, chain } = await opened()
    for (const [caps, words] of [
      [{ maxTotal: 2_999n }, 'pays out at most 2999 to 2 wallets'],
      [{ maxNodes: 1n }, 'pays out at most 3000 to 1 wallet'],
    ] as const) {
      const mint = mintFor(payer, 10_000n)
      const claimer = Keypair.generate()
      const tree = await storeTree(mint, entriesFor([claimer, Keypair.generate()]))
      const startsAt = BigInt(chain.unixTimestamp()) + 300n
      const made = await buildCreation({
        ...{ payer: addressOf(payer), recentBlockhash: chain.latestBlockhash().blockhash, mint, airdropCount: 0 },
        ...{ root: tree.root, maxTotal: 3_000n, maxNodes: 2n, startsAt, endsAt: startsAt + 1n },
        ...{ clawbackAt: startsAt + 1n + BigInt(DAY_S), decimals: 6, deposit: 0n, opensReceiver: false, ...caps },
      })
      land(Buffer.from(made.transaction).toString('base64'), payer)
      const receiver = spl.getAssociatedTokenAddressSync(new PublicKey(mint), payer.publicKey).toBase58()
      const again = await refused('POST', PATH, createBody(payer, mint, tree.root))
      expect(again).toMatchObject({ status: 400, details: { reason: 'taken', next_airdrop_count: 1 } })
      const rest = `${words}, less than the tree has: the last wallets cannot claim, and unclaimed tokens go to ${receiver}`
      expect(again.message).toContain(`${rest}. Do not fund it: use airdrop_count 1`)
      expect((await ok('GET', `${PATH}/${tree.id}`)).note).toBe(`The distributor ${rest}`)
      const claim = await refused('POST', `${PATH}/${tree.id}/claims`, claimBody(claimer))
      expect(claim.message).toMatch(new RegExp(`less than the 0.001 of ${mint} to claim. The distributor ${rest}$`))
    }
  })

  it.skipIf(!inSoak)(
    'whose vault somebody opened before is refused too; lamports sent ahead do no harm',
    { tags: 'sampled' },
    async () => {
      const { payer, mintFor, ok, submit, refused, wallet, vaultOf, run } = await opened()
      const mint = mintFor(payer, 1_000n)
      const griefer = wallet()
      const [first, second] = [await vaultOf(mint, 0), await vaultOf(mint, 1)]
      run(
        [
          spl.createAssociatedTokenAccountInstruction(
            griefer.publicKey,
            new PublicKey(first.vault),
            new PublicKey(first.distributor),
            new PublicKey(mint),
          ),
          ...[second.distributor, second.vault].map((address) =>
            SystemProgram.transfer({
              fromPubkey: griefer.publicKey,
              toPubkey: new PublicKey(address),
              lamports: 10_000_000,
            }),
          ),
        ],
        [griefer],
      )
      const body = createBody(payer, mint, ROOT, { fund_amount: '1000' })
      const refusal = await refused('POST', PATH, body)
      expect(refusal).toMatchObject({
        status: 400,
        param: 'airdrop_count',
        details: { reason: 'vault_exists', vault: first.vault, next_airdrop_count: 1 },
      })
      await submit(await ok('POST', PATH, { ...body, airdrop_count: 1 }), payer)
    },
  )

  it.skipIf(!inSoak)(
    'never lets its tree be replaced once its distributor is on chain, seen or not',
    { tags: 'sampled' },
    async () => {
      const { payer, mintFor, storeTree, ok, refused, land, services } = await opened()
      const mint = mintFor(payer, 10_000n)
      const tree = await storeTree(mint, entriesFor([Keypair.generate()]))
      const { transaction } = await ok('POST', PATH, createBody(payer, mint, tree.root))
      // Another tool sends it: nobody tells this daemon.
      land(transaction, payer)
      const stored = services.store.db.selectFrom('merkle_trees').select('status').where('id', '=', tree.id)
      const row = await stored.executeTakeFirstOrThrow()
      expect(row.status).toBe('tree_built')
      const body = { mint, entries: entriesFor([Keypair.generate()]), replace: true }
      const replaced = await refused('POST', '/v2/merkle-trees', body)
      expect(replaced).toMatchObject({ status: 400, param: 'airdrop_count', details: { stored_root: tree.root } })
      expect(replaced.message).toMatch(/is already on chain, made by .* use another airdrop_count than 0/)
      // Nor where the node leaves out of its answer what was asked for.
      const restore = aroundAccounts(services.chain, async (read, addresses) => ({
        ...(await read(addresses)),
        value: [],
      }))
      const torn = await refused('POST', '/v2/merkle-trees', body)
      expect([torn.status, torn.message]).toEqual([
        500,
        expect.stringMatching(/Reading accounts failed at the RPC node/),
      ])
      restore()
      expect((await ok('GET', `/v2/merkle-trees/${tree.id}`)).root).toBe(tree.root)
    },
  )

  it.skipIf(!inSoak)(
    'keeps its tree while a transaction that creates it is pending, tracked or not',
    { tags: 'sampled' },
    async () => {
      const { payer, mintFor, storeTree, ok, refused, sign, settle, services, pass } = await opened()
      const mint = mintFor(payer, 10_000n)
      const { chain } = services
      const call = chain.call.bind(chain)
      for (const [airdrop_count, isTracked] of [true, false].entries()) {
        const tree = await storeTree(mint, entriesFor([Keypair.generate()]), airdrop_count)
        const built = await ok('POST', PATH, createBody(payer, mint, tree.root, { airdrop_count }))
        const { tracked_resource } = built
        const body = {
          transaction: sign(built.transaction, [payer]),
          ...(isTracked ? { tracked_resource } : {}),
        }
        // It reaches no validator for a while.
        chain.call = async (method, ...rest) => (method === 'sendTransaction' ? null : call(method, ...rest)) as never
        const { signature } = await ok('POST', '/v2/transactions', body)
        const entries = entriesFor([Keypair.generate()])
        const other = { mint, airdrop_count, entries, replace: true }
        const replaced = await refused('POST', '/v2/merkle-trees', other)
        expect(replaced).toMatchObject({
          status: 400,
          param: 'airdrop_count',
          details: { stored_root: tree.root, status: 'tree_built', signature },
        })
        expect(replaced.message).toMatch(/may still land. Wait until it is confirmed or has failed, or use another/)
        if (isTracked) {
          // Expired: nothing is under way any more.
          for (let n = 0; n < 4; n++) {
            pass(200)
            await settle()
          }
          expect((await ok('GET', `/v2/transactions/${signature}`)).lifecycle).toBe('failed')
          await ok('POST', '/v2/merkle-trees', other)
        } else {
          chain.call = call
          await settle()
          await settle()
          expect((await ok('GET', `${PATH}/${tree.id}`)).status).toBe('initialized')
          expect((await refused('POST', '/v2/merkle-trees', other)).message).toMatch(
            /is already on chain \(initialized\)/,
          )
        }
        chain.call = call
      }
    },
  )

  it.skipIf(!inSoak)(
    'keeps its tree for a transaction that only tracks it, but accepts the list that is on its way',
    { tags: 'sampled' },
    async () => {
      const { payer, mintFor, storeTree, ok, refused, sign, services } = await opened()
      const mint = mintFor(payer, 10_000n)
      const { call } = services.chain
      onTestFinished(() => {
        services.chain.call = call
      })
      services.chain.call = async (method, ...rest) =>
        (method === 'sendTransaction' ? null : call(method, ...rest)) as never
      const [old, other] = [entriesFor([Keypair.generate()]), entriesFor([Keypair.generate()])]
      const tree = await storeTree(mint, old)
      const { transaction } = await ok('POST', PATH, createBody(payer, mint, tree.root))
      await storeTree(mint, other, 0, { replace: true })
      await ok('POST', '/v2/transactions', { transaction: sign(transaction, [payer]) })
      const third = { mint, entries: entriesFor([Keypair.generate()]), replace: true }
      expect((await refused('POST', '/v2/merkle-trees', third)).message).toMatch(/may still land/)
      expect((await storeTree(mint, old, 0, { replace: true })).root).toBe(tree.root)
      // A program that calls the distributor does not show it.
      const second = await storeTree(mint, old, 1)
      const plain = await ok('POST', PATH, createBody(payer, mint, ROOT, { airdrop_count: 2 }))
      const tracked_resource = { resource_type: 'airdrop', resource_id: second.id, related_events: [] }
      await ok('POST', '/v2/transactions', { transaction: sign(plain.transaction, [payer]), tracked_resource })
      const refusal = await refused('POST', '/v2/merkle-trees', { ...third, airdrop_count: 1 })
      expect(refusal.message).toMatch(/may still land/)
    },
  )

  it.skipIf(!inSoak)(
    'whose tree was replaced before it landed gets it back when the list on chain is sent',
    { tags: 'sampled' },
    async () => {
      const { payer, mintFor, wallet, storeTree, ok, refused, submit, settle } = await opened()
      const [mint, claimer] = [mintFor(payer, 10_000n), wallet()]
      const [old, other] = [entriesFor([claimer]), entriesFor([claimer, Keypair.generate()])]
      const tree = await storeTree(mint, old)
      const built = await ok('POST', PATH, createBody(payer, mint, tree.root))
      const replaced = await storeTree(mint, other, 0, { replace: true })
      await submit(built, payer)
      await settle({ worker: true })
      const path = `${PATH}/${tree.id}`
      expect(await ok('GET', path)).toMatchObject({
        status: 'tree_built',
        root: replaced.root,
        on_chain_root: tree.root,
      })
      const claims = `${path}/claims`
      expect((await refused('POST', claims, claimBody(claimer))).details).toMatchObject({ reason: 'other_root' })
      const third = entriesFor([claimer, Keypair.generate(), Keypair.generate()])
      for (const [entries, replace] of [
        [old, false],
        [third, true],
      ] as const) {
        const refusal = await refused('POST', '/v2/merkle-trees', { mint, entries, replace })
        expect(refusal).toMatchObject({ status: 400, param: 'airdrop_count', details: { stored_root: replaced.root } })
      }
      expect((await storeTree(mint, old, 0, { replace: true })).root).toBe(tree.root)
      expect(await ok('GET', path)).toMatchObject({ status: 'initialized', root: tree.root, vault_balance: '1000' })
      await settle({ worker: true })
      expect((await ok('GET', `${PATH}?mint=${mint}`))[0].status).toBe('initialized')
      const events: { type: string; data: { object: { source?: string } } }[] = await ok(
        'GET',
        `/v2/events?order=asc&resource_type=airdrop&resource_id=${tree.id}`,
      )
      // The hint of the build tells of a distributor that the list of that moment does not fit.
      expect(events.map(({ type, data }) => [type, data.object.source])).toEqual([
        ['airdrop.tree_built', undefined],
        ['airdrop.tree_built', undefined],
        ['airdrop.initialized', 'hint'],
        ['airdrop.tree_built', undefined],
        ['airdrop.initialized', 'chain'],
      ])
      await submit(await ok('POST', claims, claimBody(claimer)), claimer)
    },
  )
})

describe.skipIf(lacksDistributor)('an airdrop by the platform wallet (needs the Jito merkle distributor)', () => {
  async function platform(tokens: { mint?: string; per_transaction: string; per_day: string }[] = []) {
    const service = await startPlatform()
    const all = await airdropsOn(service)
    const { wallet } = service
    const mint = all.mintFor(wallet, 10_000n)
    const limits = { ...GENEROUS, tokens: tokens.map((each) => ({ mint, ...each })) }
    expect((await all.request('PATCH', '/v2/signer/policy', { body: limits })).status).toBe(200)
    const tree = await all.storeTree(
      mint,
      entriesFor([Keypair.generate()], () => 4_000n),
    )
    const body = createBody(Keypair.generate(), mint, tree.root, { mode: 'signed' })
    return { ...all, signer: wallet, mint, tree, body }
  }
  const CAP = [{ per_transaction: '5000', per_day: '7000' }]

  it('is signed, funded and reported once, whatever is repeated', async () => {
    const { ok, request, body, mint, tree, signer, tokensOf, chain, settle, eventsOf } = await platform(CAP)
    const headers = { 'idempotency-key': 'one' }
    const done = await ok('POST', PATH, body, headers)
    expect(done).toEqual({ mode: 'signed', signature: expect.any(String) })
    const again = await request('POST', PATH, { body, headers })
    expect([again.json.data, again.headers.get('idempotent-replayed')]).toEqual([done, 'true'])
    await settle()
    expect(tokensOf(mint, signer)).toBe(6_000n)
    const read = await ok('GET', `${PATH}/${tree.id}`)
    expect(read).toMatchObject({ status: 'initialized', admin: addressOf(signer), vault_balance: '4000' })
    expect(await eventsOf(tree.id)).toEqual(['airdrop.tree_built', 'airdrop.initialized'])
    const [change] = distributorChangesIn(decodeWireTransaction(chain.transaction(done.signature)!.raw).message)
    expect(change).toMatchObject({ kind: 'created', mint, version: 0n, root: tree.root, admin: addressOf(signer) })
  })

  it('is refused by the cap of its token for a transaction or a day, and nothing is signed', async () => {
    const none = await platform()
    const unlisted = await none.refused('POST', PATH, none.body)
    expect(unlisted).toMatchObject({
      status: 400,
      details: { rule: 'tokens_per_transaction', mint: none.mint, asked: '4000', cap: '0' },
    })
    const { refused, body, mint, storeTree, ok, services } = await platform(CAP)
    const large = await storeTree(
      mint,
      entriesFor([Keypair.generate()], () => 5_001n),
      1,
    )
    const over = await refused('POST', PATH, { ...body, airdrop_count: 1, merkle_root: large.root })
    expect(over.details).toMatchObject({ rule: 'tokens_per_transaction', asked: '5001', cap: '5000' })
    await ok('POST', PATH, body)
    const second = await storeTree(
      mint,
      entriesFor([Keypair.generate()], () => 4_000n),
      2,
    )
    const daily = await refused('POST', PATH, { ...body, airdrop_count: 2, merkle_root: second.root })
    expect(daily.details).toMatchObject({ rule: 'tokens_per_day', spent: '4000', left: '3000' })
    const signings = await services.store.db.selectFrom('signings').select('state').execute()
    expect(signings).toEqual([{ state: 'signed' }])
  })

  it('goes only to a distributor that is among the destinations, if destinations are listed', async () => {
    const { request, refused, ok, body, vaultOf, mint } = await platform(CAP)
    const limits = (destinations: string[]) => request('PATCH', '/v2/signer/policy', { body: { destinations } })
    const { distributor, vault } = await vaultOf(mint)
    await limits([addressOf(Keypair.generate())])
    const stranger = await refused('POST', PATH, body)
    expect(stranger).toMatchObject({
      status: 400,
      details: { rule: 'destination', address: vault, owner: distributor },
    })
    expect((await limits([distributor])).status).toBe(200)
    await ok('POST', PATH, body)
  })

  it('needs its scope, and tokens of the platform wallet itself', async () => {
    const { request, key, refused, body, mint, storeTree, signer } = await platform(CAP)
    for (const scopes of [[], ['airdrop:write', 'fees:claim']]) {
      const { status, json } = await request('POST', PATH, { body, key: await key({ scopes }) })
      expect([status, json.error.message]).toEqual([403, expect.stringContaining('airdrop:admin')])
    }
    const tree = await storeTree(
      mint,
      entriesFor([Keypair.generate()], () => 10_001n),
      3,
    )
    const poor = await refused('POST', PATH, { ...body, airdrop_count: 3, merkle_root: tree.root })
    expect(poor).toMatchObject({ status: 400, param: 'mode', details: { have: '10000', need: '10001' } })
    expect(poor.message).toContain(`The platform wallet ${addressOf(signer)}`)
    const bearer = await key({ scopes: ['airdrop:admin'] })
    expect((await request('POST', PATH, { body, key: bearer })).status).toBe(200)
  })

  it('without a signer is refused with that reason', async () => {
    const { refused, payer, mintFor } = await opened()
    const body = createBody(payer, mintFor(payer, 1n), ROOT, { mode: 'signed' })
    const { status, message } = await refused('POST', PATH, body)
    expect([status, message]).toEqual([500, expect.stringMatching(/No signer is configured/)])
  })
})

describe('the builder of an airdrop', () => {
  it('puts mint, number and root into the message, and needs only the signature of the payer', async () => {
    const [payer, mint] = [Keypair.generate(), Keypair.generate()]
    const built = await buildCreation({
      payer: addressOf(payer),
      recentBlockhash: addressOf(mint),
      mint: addressOf(mint),
      airdropCount: 258,
      root: ROOT,
      maxTotal: 5n,
      maxNodes: 1n,
      startsAt: 1n,
      endsAt: 2n,
      clawbackAt: 3n,
      decimals: 6,
      deposit: 5n,
      opensReceiver: true,
    })
    expect(built.requiredSigners).toEqual([addressOf(payer)])
    const [change] = distributorChangesIn(decodeWireTransaction(built.transaction).message)
    expect(change).toMatchObject({ kind: 'created', mint: addressOf(mint), version: 258n, root: ROOT })
  })
})

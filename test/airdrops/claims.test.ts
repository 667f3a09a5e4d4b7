/** Claims: built from the stored tree or from a given proof, checked before anything is signed; each refusal in words. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { buildCreation, distributorAddress } from '../../src/chain/programs/merkle-distributor/index.ts'
import { listFromEntries } from '../../src/merkle/entry-list.ts'
import { buildTree, proofAt, toHex } from '../../src/merkle/tree.ts'
import { CLOCK_SYSVAR } from '../../src/solana/program-ids.ts'
import {
  addressOf,
  airdropsOn,
  claimBody,
  createBody,
  DAY_S,
  entriesFor,
  lacksDistributor,
} from '../support/airdrops.ts'
import { aroundAccounts, clockAt } from '../support/node-accounts.ts'
import { WALLET_RENT } from '../support/rent.ts'
import { type Service, sharedService, startService } from '../support/service.ts'

const MAX_U64 = 2n ** 64n - 1n
const claimsOf = (id: string) => `/v2/airdrops/${id}/claims`

const shared = sharedService()

/** An airdrop of four wallets that have 1,000 to 4,000. */
async function opened(more: object = {}, service?: Service) {
  const all = await airdropsOn(service ?? (await shared()))
  const payer = all.wallet()
  const wallets = Array.from({ length: 4 }, () => all.wallet())
  const mint = all.mintFor(payer, 100_000n)
  const entries = entriesFor(wallets)
  const tree = await all.storeTree(mint, entries)
  const make = async (fields: object = more) => {
    await all.submit(await all.ok('POST', '/v2/airdrops', createBody(payer, mint, tree.root, fields)), payer)
    return all.vaultOf(mint)
  }
  return { ...all, payer, wallets, mint, entries, tree, id: tree.id as string, path: claimsOf(tree.id), make }
}

/** A distributor as another tool makes it. */
async function foreign(
  { land, chain, payer }: Pick<Awaited<ReturnType<typeof opened>>, 'land' | 'chain' | 'payer'>,
  mint: string,
  root: string,
  changes: Partial<Parameters<typeof buildCreation>[0]> = {},
) {
  const now = BigInt(chain.unixTimestamp())
  const startsAt = now + 300n
  const built = await buildCreation({
    payer: addressOf(payer),
    recentBlockhash: chain.latestBlockhash().blockhash,
    mint,
    airdropCount: 0,
    root,
    maxTotal: MAX_U64,
    maxNodes: MAX_U64,
    startsAt,
    endsAt: startsAt + 1n,
    clawbackAt: startsAt + 1n + BigInt(DAY_S),
    decimals: 6,
    deposit: 10_000n,
    opensReceiver: false,
    ...changes,
  })
  land(Buffer.from(built.transaction).toString('base64'), payer)
}

describe('a claim', () => {
  it('without a tree, for a wallet that is not in it, or of an airdrop that is not on chain is not found', async () => {
    const { refused, wallets, path, mint } = await opened()
    const [first] = wallets
    const elsewhere = Buffer.concat([new PublicKey(mint).toBuffer(), Buffer.from([0, 9])]).toString('base64url')
    const none = await refused('POST', claimsOf(elsewhere), claimBody(first!))
    expect([none.status, none.param]).toEqual([404, 'proof'])
    expect(none.message).toContain(`There is no merkle tree ${elsewhere}: to claim without a stored tree, send the`)
    const stranger = await refused('POST', path, claimBody(Keypair.generate()))
    expect([stranger.status, stranger.param]).toEqual([404, 'claimer'])
    const early = await refused('POST', path, claimBody(first!))
    expect(early).toMatchObject({ status: 404, param: 'id', details: { reason: 'not_initialized' } })
    expect(early.message).toMatch(/is not on embedded.*: initialize it first/)
  })

  it('signed by the server is refused, whatever the scopes of the key', async () => {
    const { request, key, path, wallets } = await opened()
    for (const scopes of [['*'], ['airdrop:admin']]) {
      const body = claimBody(wallets[0]!, { mode: 'signed' })
      const { status, json } = await request('POST', path, { body, key: await key({ scopes }) })
      expect([status, json.error.param]).toEqual([400, 'mode'])
    }
  })

  it('with an id that only looks valid is refused', async () => {
    const { refused, wallets } = await opened()
    const bad = await refused('POST', claimsOf(`${'!'.repeat(45)}A`), claimBody(wallets[0]!))
    expect([bad.status, bad.param]).toEqual([400, 'id'])
  })
})

describe.skipIf(lacksDistributor)('a claim on chain (needs the Jito merkle distributor)', () => {
  it('takes amount and proof from the stored tree, whatever amount is sent', async () => {
    const { ok, submit, make, wallets, mint, path, tokensOf, id } = await opened()
    await make()
    for (const [n, amount] of ['0', 'many', '-1', 1.5].entries()) {
      const built = await ok('POST', path, claimBody(wallets[n]!, { amount }))
      expect(Object.keys(built).sort()).toEqual([
        'amount',
        'guard',
        'last_valid_block_height',
        'mode',
        'requiredSigners',
        'swap_transaction',
        'tracked_resource',
        'transaction',
      ])
      expect(built).toMatchObject({
        mode: 'unsigned',
        requiredSigners: [addressOf(wallets[n]!)],
        swap_transaction: null,
        tracked_resource: { resource_type: 'airdrop', resource_id: id, related_events: ['airdrop.claimed'] },
      })
      await submit(built, wallets[n]!)
      expect(tokensOf(mint, wallets[n]!)).toBe(BigInt(n + 1) * 1_000n)
    }
  })

  it('uses the given amount and proof if no tree is stored, in every notation', async () => {
    const { refused, ok, submit, wallet, payer, mintFor, tokensOf, chain, land } = await opened()
    const [mint, claimers] = [mintFor(payer, 10_000n), Array.from({ length: 3 }, () => wallet())]
    const tree = buildTree(
      listFromEntries(claimers.map((key, n) => ({ wallet: addressOf(key), amount: BigInt(n + 1) }))),
    )
    const root = toHex(tree.root)
    await foreign({ land, chain, payer }, mint, root)
    const id = Buffer.concat([new PublicKey(mint).toBuffer(), Buffer.alloc(2)]).toString('base64url')
    const proofs = claimers.map((_, n) => proofAt(tree, n).map(toHex))
    const without = await refused('POST', claimsOf(id), claimBody(claimers[0]!, { amount: '1' }))
    expect([without.status, without.param]).toEqual([404, 'proof'])
    expect(without.message).toMatch(/send the amount and proof of/)
    const written: object[] = [
      { amount: '1', proof: proofs[0] },
      { amount: 2, proof: proofs[1]!.map((hash) => `0x${hash.toUpperCase()}`) },
      { amount: '0003', proof: proofs[2] },
    ]
    for (const [n, given] of written.entries()) {
      await submit(await ok('POST', claimsOf(id), claimBody(claimers[n]!, given)), claimers[n]!)
      expect(tokensOf(mint, claimers[n]!)).toBe(BigInt(n + 1))
    }
  })

  it('with a proof that does not lead to the root on chain is refused before it is built', async () => {
    const { refused, make, wallets, ok, path, id, tree } = await opened()
    await make()
    const { proof, amount } = await ok('GET', `/v2/merkle-trees/${id}/proofs/${addressOf(wallets[1]!)}`)
    const wrong: [Keypair, object][] = [
      [wallets[0]!, { amount, proof }],
      [wallets[1]!, { amount: String(BigInt(amount) + 1n), proof }],
      [wallets[1]!, { amount, proof: proof.slice(1) }],
      [wallets[1]!, { amount, proof: [...proof, proof[0]] }],
      [wallets[1]!, { amount, proof: [] }],
      [wallets[1]!, { amount, proof: [...proof].reverse() }],
    ]
    for (const [claimer, given] of wrong) {
      const fault = await refused('POST', path, claimBody(claimer, given))
      expect(fault).toMatchObject({ status: 400, param: 'proof', details: { root: tree.root } })
    }
    const long = await refused('POST', path, claimBody(wallets[1]!, { amount, proof: Array(21).fill(tree.root) }))
    expect([long.param, long.message]).toEqual(['proof', expect.stringMatching(/21 hashes do not fit.*at most 20/)])
    expect((await refused('POST', path, claimBody(wallets[1]!, { amount: '1.5', proof }))).param).toBe('amount')
  })

  it('is refused if the distributor on chain belongs to another airdrop', async () => {
    const opening = await opened()
    await foreign(opening, opening.mint, 'ab'.repeat(32))
    const other = await opening.refused('POST', opening.path, claimBody(opening.wallets[0]!))
    expect(other).toMatchObject({
      status: 400,
      param: 'id',
      details: { reason: 'other_root', root: 'ab'.repeat(32), stored_root: opening.tree.root },
    })
    expect(other.message).toMatch(/it is another airdrop/)
  })

  it('from a vault with too few tokens is refused with its balance, and works once it is funded', async () => {
    const { refused, make, wallets, ok, submit, path, mintInto, mint } = await opened()
    const { vault } = await make({ fund_amount: '999' })
    const empty = await refused('POST', path, claimBody(wallets[0]!))
    expect(empty).toMatchObject({
      status: 400,
      param: 'id',
      details: { reason: 'unfunded', vault, vault_balance: '999', amount: '1000' },
    })
    expect(empty.message).toMatch(/holds 0.000999 of .*, less than the 0.001 of .* to claim: it has to be funded first/)
    mintInto(mint, vault, 1n)
    await submit(await ok('POST', path, claimBody(wallets[0]!)), wallets[0]!)
  })

  it('before a start that another tool set is refused with the time, but a formal start is ignored', async () => {
    const opening = await opened()
    const { refused, ok, submit, path, wallets, mint, tree, chain, pass } = opening
    const now = BigInt(chain.unixTimestamp())
    const startsAt = now + 2n * BigInt(DAY_S)
    await foreign(opening, mint, tree.root, { startsAt, endsAt: startsAt + 1n, clawbackAt: now + 30n * BigInt(DAY_S) })
    const early = await refused('POST', path, claimBody(wallets[0]!))
    expect(early).toMatchObject({ status: 400, param: 'id', details: { reason: 'not_started' } })
    expect(early.message).toContain(`it starts at ${new Date(Number(startsAt) * 1000).toISOString()}`)
    pass(2 * DAY_S + 1)
    await submit(await ok('POST', path, claimBody(wallets[0]!)), wallets[0]!)
  })

  it('is built even if the node is behind the one that the airdrop was made with', async () => {
    const { make, chain, services, path, wallets, ok, refused } = await opened()
    await make()
    const lag = { seconds: 0 }
    const restore = aroundAccounts(services.chain, async (read, addresses) => {
      const { context, value } = await read(addresses)
      const seconds = BigInt(chain.unixTimestamp() - lag.seconds)
      const isClock = (i: number) => addresses[i] === CLOCK_SYSVAR
      return {
        context,
        value: value.map((account, i) => (account && isClock(i) ? clockAt(account, seconds) : account)),
      }
    })
    for (lag.seconds of [1, 60, 3_200]) await ok('POST', path, claimBody(wallets[0]!))
    // The start is five minutes ahead: a whole hour is no lag any more.
    lag.seconds = 3_400
    const late = await refused('POST', path, claimBody(wallets[0]!))
    expect(late.details).toMatchObject({ reason: 'not_started' })
    restore()
  })

  it('of a vesting plan that starts in a minute waits for it', async () => {
    const opening = await opened()
    const now = BigInt(opening.chain.unixTimestamp())
    const plan = { startsAt: now + 60n, endsAt: now + 120n, clawbackAt: now + 120n + BigInt(DAY_S) }
    await foreign(opening, opening.mint, opening.tree.root, plan)
    const early = await opening.refused('POST', opening.path, claimBody(opening.wallets[0]!))
    expect(early.details).toMatchObject({ reason: 'not_started' })
    opening.pass(61)
    await opening.ok('POST', opening.path, claimBody(opening.wallets[0]!))
  })

  it('beyond the caps of a distributor is refused, and the refusal has its caps', async () => {
    const byTotal = await opened()
    await foreign(byTotal, byTotal.mint, byTotal.tree.root, { maxTotal: 1_999n })
    expect(await byTotal.refused('POST', byTotal.path, claimBody(byTotal.wallets[1]!))).toMatchObject({
      status: 400,
      details: { reason: 'cap_reached', max_total: '1999' },
    })
    const byCount = await opened()
    await foreign(byCount, byCount.mint, byCount.tree.root, { maxNodes: 1n })
    const [first, second] = byCount.wallets
    await byCount.submit(await byCount.ok('POST', byCount.path, claimBody(first!)), first!)
    const full = await byCount.refused('POST', byCount.path, claimBody(second!))
    expect(full.details).toMatchObject({ reason: 'cap_reached', max_claims: '1' })
    expect((await byCount.ok('GET', `/v2/airdrops/${byCount.id}`)).note).toMatch(/pays out at most .* to 1 wallet/)
  })

  it('after the vault was withdrawn is refused, and says so to wallets that had claimed before', async () => {
    const { refused, make, wallets, ok, submit, path, pass, land, chain, payer, mint } = await opened()
    const { distributor } = await make()
    await submit(await ok('POST', path, claimBody(wallets[0]!)), wallets[0]!)
    pass(31 * DAY_S)
    const { buildClawback } = await import('../../src/chain/programs/merkle-distributor/index.ts')
    const clawback = await buildClawback({
      payer: addressOf(payer),
      recentBlockhash: chain.latestBlockhash().blockhash,
      distributor,
      mint,
      receiver: spl.getAssociatedTokenAddressSync(new PublicKey(mint), payer.publicKey).toBase58(),
      opensReceiverFor: null,
    })
    land(Buffer.from(clawback.transaction).toString('base64'), payer)
    const late = await refused('POST', path, claimBody(wallets[1]!))
    expect(late).toMatchObject({ status: 400, param: 'id', details: { reason: 'clawed_back' } })
    expect(late.message).toMatch(/was withdrawn after its clawback time, \d{4}-.*: it can no longer be claimed/)
    const before = await refused('POST', path, claimBody(wallets[0]!))
    expect(before.details).toEqual({ reason: 'already_claimed', claimed: '1000' })
  })

  it('works after the clawback time, until somebody withdraws the vault', async () => {
    const { make, wallets, ok, submit, path, pass } = await opened()
    await make()
    pass(31 * DAY_S)
    await submit(await ok('POST', path, claimBody(wallets[0]!)), wallets[0]!)
  })

  it('into a token account that is frozen or belongs to somebody else is refused', async () => {
    const { make, wallets, refused, run, mint, authority, path } = await opened()
    await make()
    const key = new PublicKey(mint)
    const [first, second] = wallets.map((owner) => ({
      owner,
      account: spl.getAssociatedTokenAddressSync(key, owner.publicKey),
    }))
    for (const { owner, account } of [first!, second!]) {
      run([spl.createAssociatedTokenAccountInstruction(owner.publicKey, account, owner.publicKey, key)], [owner])
    }
    run([spl.createFreezeAccountInstruction(first!.account, key, authority.publicKey)], [authority])
    const { owner, account } = second!
    const to = authority.publicKey
    run([spl.createSetAuthorityInstruction(account, owner.publicKey, spl.AuthorityType.AccountOwner, to)], [owner])
    for (const [n, words] of ['is frozen', `belongs to ${addressOf(authority)}`].entries()) {
      const fault = await refused('POST', path, claimBody(wallets[n]!))
      expect(fault).toMatchObject({ status: 400, param: 'claimer', details: { reason: 'account_unusable' } })
      expect(fault.message).toContain(words)
    }
  })

  it('from a frozen vault is refused, as its withdrawal would be', async () => {
    const { make, wallets, refused, run, mint, authority, path, id, ok } = await opened()
    const { vault } = await make()
    run(
      [spl.createFreezeAccountInstruction(new PublicKey(vault), new PublicKey(mint), authority.publicKey)],
      [authority],
    )
    const frozen = await refused('POST', path, claimBody(wallets[0]!))
    expect(frozen).toMatchObject({ status: 400, param: 'id', details: { reason: 'vault_frozen', vault } })
    const [found] = await ok('GET', `/v2/wallets/${addressOf(wallets[0]!)}/airdrops`)
    expect(found).toMatchObject({ id, claimable: false, reason: 'vault_frozen', note: frozen.message })
  })

  it('pays the platform fee inside the same transaction, to the platform wallet', async () => {
    const wallet = addressOf(Keypair.generate())
    const { make, wallets, ok, submit, path, chain } = await opened(
      {},
      await startService({ settings: { 'platform-wallet': wallet } }),
    )
    await make()
    const built = await ok('POST', path, claimBody(wallets[0]!, { platform_fee: 2_000_000, guard: 'off' }))
    expect(
      VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64')).message.compiledInstructions.length,
    ).toBe(
      // Compute limit, token account, claim, fee: no price without a busy chain.
      4,
    )
    await submit(built, wallets[0]!)
    expect(chain.account(wallet)!.lamports).toBe(2_000_000n)
  })

  it('with a platform fee is refused if the platform wallet is empty and would stay below the rent minimum', async () => {
    const wallet = addressOf(Keypair.generate())
    const { make, wallets, refused, path } = await opened(
      {},
      await startService({ settings: { 'platform-wallet': wallet } }),
    )
    await make()
    const small = await refused('POST', path, claimBody(wallets[0]!, { platform_fee: Number(WALLET_RENT) - 1 }))
    expect([small.status, small.param]).toEqual([400, 'platform_fee'])
  })

  it('with a platform fee but without a platform wallet says which setting is missing', async () => {
    const { make, wallets, refused, path } = await opened()
    await make()
    const { status, message } = await refused('POST', path, claimBody(wallets[0]!, { platform_fee: 1 }))
    expect([status, message]).toEqual([500, expect.stringMatching(/No platform wallet is configured/)])
  })

  it('opens a token account for a wallet without one, and uses an existing one', async () => {
    const { make, wallets, ok, submit, path, mint, run, tokensOf } = await opened()
    await make()
    const [owner] = wallets
    const account = spl.getAssociatedTokenAddressSync(new PublicKey(mint), owner!.publicKey)
    run(
      [spl.createAssociatedTokenAccountInstruction(owner!.publicKey, account, owner!.publicKey, new PublicKey(mint))],
      [owner!],
    )
    const built = await ok('POST', path, claimBody(owner!, { guard: 'off' }))
    const { message } = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
    expect(message.compiledInstructions.length).toBe(2)
    await submit(built, owner!)
    expect(tokensOf(mint, owner!)).toBe(1_000n)
  })

  it('of a tree of one wallet, or of an amount of zero, is like any other claim', async () => {
    const all = await airdropsOn(await shared())
    const [payer, claimer] = [all.wallet(), all.wallet()]
    const mint = all.mintFor(payer, 5n)
    const tree = await all.storeTree(mint, [{ wallet: addressOf(claimer), amount: '0' }])
    await all.submit(await all.ok('POST', '/v2/airdrops', createBody(payer, mint, tree.root)), payer)
    await all.submit(await all.ok('POST', claimsOf(tree.id), claimBody(claimer)), claimer)
    expect(all.tokensOf(mint, claimer)).toBe(0n)
    await all.settle({ worker: true })
    expect((await all.ok('GET', `/v2/airdrops/${tree.id}`)).status).toBe('fully_claimed')
  })

  it('names the same distributor as the pdas route', async () => {
    const { mint, ok } = await opened()
    const args = { mint, airdrop_count: 7 }
    const { address } = await ok('POST', '/v2/pdas/merkle_distributor', { args })
    expect(await distributorAddress({ mint, airdropCount: 7 })).toBe(address)
  })
})

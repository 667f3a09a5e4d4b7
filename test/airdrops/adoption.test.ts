/** Airdrops whose distributor another tool made: found by address, adopted with their list, claimed and followed here. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { airdropAdoptVerb } from '../../commands/airdrops/adopt.ts'
import { airdropEntitlementVerb } from '../../commands/airdrops/index.ts'
import type { Session } from '../../commands/cli/session.ts'
import type { Problem } from '../../commands/ui/problem.ts'
import { buildCreation, distributorAddress } from '../../src/chain/programs/merkle-distributor/index.ts'
import { claimStatusAddress } from '../../src/chain/programs/pdas.ts'
import { keyFromBase58 } from '../../src/merkle/base58.ts'
import { listFromEntries } from '../../src/merkle/entry-list.ts'
import { recipientTree } from '../../src/merkle/recipient-tree.ts'
import { jitoTreeChunks } from '../../src/merkle/tree-files/jito-writer.ts'
import { encodeTreeId } from '../../src/merkle/tree-id.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { naiveRoot, type Recipient, recipientsOf } from '../merkle/reference.ts'
import { addressOf, airdropsOn, claimBody, DAY_S, lacksDistributor } from '../support/airdrops.ts'
import { someone } from '../support/local-chain.ts'
import { clientOf } from '../support/request.ts'
import { inSoak, runs } from '../support/runs.ts'
import { sharedService, temporaryFolder } from '../support/service.ts'

const START_S = 600

interface Foreign {
  version?: number
  startsIn?: number
  seconds?: number
  deposit?: bigint
}

const shared = sharedService()

async function opened() {
  const all = await airdropsOn(await shared())
  const folder = temporaryFolder()
  const bar = () => undefined
  const ui = { progress: () => bar, clear: bar }
  const session = { client: clientOf(all.request), ui } as unknown as Session
  const csv = (recipients: readonly Recipient[], write = (amount: bigint) => String(amount)) => {
    const file = join(folder, `${someone().toBase58()}.csv`)
    const rows = recipients.map((row) => `${row.wallet},${write(row.amount)},${write(row.locked ?? 0n)}\n`)
    writeFileSync(file, `wallet,amount,locked\n${rows.join('')}`)
    return file
  }
  return {
    ...all,
    csv,
    folder,
    /** As a tool does it that never heard of this service; answers the distributor. */
    async foreign(recipients: readonly Recipient[], { version = 0, startsIn, seconds, deposit }: Foreign = {}) {
      const maker = all.wallet()
      const total = recipients.reduce((sum, { amount, locked = 0n }) => sum + amount + locked, 0n)
      const mint = all.mintFor(maker, total + 1n)
      const startsAt = BigInt(all.chain.unixTimestamp() + (startsIn ?? START_S))
      const endsAt = startsAt + BigInt(seconds ?? 7 * DAY_S)
      const { transaction } = await buildCreation({
        payer: addressOf(maker),
        recentBlockhash: all.chain.latestBlockhash().blockhash,
        mint,
        airdropCount: version,
        root: naiveRoot(recipients),
        maxTotal: total,
        maxNodes: BigInt(recipients.length),
        startsAt,
        endsAt,
        clawbackAt: endsAt + BigInt(30 * DAY_S),
        decimals: 6,
        deposit: deposit ?? total,
        opensReceiver: false,
      })
      all.land(Buffer.from(transaction).toString('base64'), maker)
      const distributor = await distributorAddress({ mint, airdropCount: version })
      return { maker, mint, distributor, total, id: encodeTreeId(keyFromBase58(mint)!, version) }
    },
    adopt: (distributor: string, file?: string, more: object = {}) =>
      airdropAdoptVerb.run({ distributor, file, replace: false, ...more } as never, session),
    async notAdopted(...args: [distributor: string, file?: string, more?: object]): Promise<Problem> {
      const [distributor, file, more = {}] = args
      const input = { distributor, file, replace: false, ...more }
      return airdropAdoptVerb.run(input as never, session).then(
        () => expect.fail('it was adopted'),
        (error) => error,
      )
    },
    entitlement: (id: string, key: Keypair) =>
      airdropEntitlementVerb.run({ id, wallet: addressOf(key) } as never, session),
    async claim(id: string, key: Keypair) {
      return all.submit(await all.ok('POST', `/v2/airdrops/${id}/claims`, claimBody(key)), key)
    },
  }
}
const listed = (key: Keypair, amount: bigint, locked: bigint): Recipient => ({ wallet: addressOf(key), amount, locked })

describe.skipIf(lacksDistributor)('a distributor that another tool made (needs the Jito merkle distributor)', () => {
  it('can be read by its address, adopted with its list, claimed from and reported to the last unit', async () => {
    const { wallet, foreign, ok, adopt, csv, entitlement, claim, pass, settle, tokensOf, eventsOf } = await opened()
    const [first, second] = [wallet(), wallet()]
    const recipients = [listed(first, 1_000n, 7_000n), listed(second, 0n, 11n)]
    const { distributor, id, mint, maker } = await foreign(recipients, { version: 7 })
    const found = await ok('GET', `/v2/distributors/${distributor}`)
    expect(found).toMatchObject({ id, mint, airdrop_count: 7, distributor, admin: addressOf(maker), total: null })
    expect(found).toEqual(await ok('GET', `/v2/airdrops/${id}`))

    const root = naiveRoot(recipients)
    const looked = await adopt(distributor)
    expect(looked).toMatchObject({ data: { id, root, stored: false, total: null } })
    expect(looked.notes).toContainEqual(expect.stringContaining(`its tree must have the root ${root}`))
    expect(await ok('GET', `/v2/merkle-trees?mint=${mint}`)).toEqual([])

    const list = csv(recipients)
    for (let n = 0; n < 2; n++) {
      const { data, record, notes } = await adopt(distributor, list)
      expect(data).toMatchObject({ id, root, stored: true, total: '8011', total_locked: '7011', leaf_count: 2 })
      expect([String(record?.total), notes]).toEqual(['0.008011', []])
    }
    expect((await adopt(distributor)).data).toMatchObject({ stored: true })
    expect(await ok('GET', `/v2/distributors/${distributor}`)).toEqual(await ok('GET', `/v2/airdrops/${id}`))

    await settle({ worker: true })
    await claim(id, first)
    expect(tokensOf(mint, first)).toBe(1_000n)
    const deadline = expect.stringMatching(/^From \S+Z on the maker can withdraw what is not claimed, vested or not/)
    const owed = await entitlement(id, first)
    const shown = JSON.parse(JSON.stringify(owed.record))
    expect(shown).toMatchObject({ amount: '0.001', amount_locked: '0.007', claimed_amount: '0.001', vested: '0' })
    expect(owed.data).toMatchObject({ claimable: false, reason: 'nothing_vested', next_vesting_at: expect.any(String) })
    expect(owed.notes).toEqual([expect.any(String), deadline])
    pass(START_S + 8 * DAY_S)
    expect(await entitlement(id, first)).toMatchObject({ data: { claimable_amount: '7000' }, notes: [deadline] })
    for (const key of [first, second]) await claim(id, key)
    expect([tokensOf(mint, first), tokensOf(mint, second)]).toEqual([8_000n, 11n])
    expect(await entitlement(id, first)).toMatchObject({ data: { claimed_amount: '8000', reason: 'already_claimed' } })
    expect((await entitlement(id, first)).notes).toHaveLength(1)
    await settle({ worker: true })
    await settle({ worker: true })
    const events = await eventsOf(id)
    expect(events.slice(0, 3)).toEqual(['airdrop.tree_built', 'airdrop.initialized', 'airdrop.claim_started'])
    expect(events.at(-1)).toBe('airdrop.fully_claimed')
    expect((await ok('GET', `/v2/airdrops/${id}`)).status).toBe('fully_claimed')
  })

  it('of any list and version gets the id of its mint and version, and pays each wallet its amount', {
    tags: 'sampled',
  }, async () => {
    const { wallet, foreign, adopt, csv, claim, pass, tokensOf } = await opened()
    const amount = fc.bigInt({ min: 1n, max: 2n ** 40n })
    const locked = fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 2n ** 40n }))
    const lists = fc.array(fc.tuple(amount, locked), { minLength: 1, maxLength: 9 })
    await fc.assert(
      fc.asyncProperty(lists, fc.integer({ min: 0, max: 65_535 }), async (amounts, version) => {
        const keys = amounts.map(() => wallet())
        const recipients = amounts.map((of, n) => listed(keys[n]!, ...of))
        const { distributor, id, mint } = await foreign(recipients, { version, seconds: DAY_S })
        expect((await adopt(distributor, csv(recipients))).data).toMatchObject({ id, airdrop_count: version })
        pass(START_S + DAY_S)
        for (const key of keys) await claim(id, key)
        expect(keys.map((key) => tokensOf(mint, key))).toEqual(amounts.map(([at, later]) => at + later))
        expect(tokensOf(mint, distributor)).toBe(0n)
      }),
      { numRuns: runs(2, 8) },
    )
  })

  it('is adopted with the file of the tool that made it, if all parts of the file belong together', async () => {
    const { foreign, adopt, notAdopted, folder, ok } = await opened()
    const recipients = recipientsOf(9).map((row, n) => ({ ...row, amount: BigInt(n) + 1n, locked: BigInt(n) * 3n }))
    const { distributor, mint, id } = await foreign(recipients, { version: 2 })
    const tree = recipientTree(listFromEntries(recipients))
    const file = join(folder, 'merkle_tree.json')
    const text = [...jitoTreeChunks(tree)].join('')
    const changed = text.replace('"total_unlocked_staker": 5,', '"total_unlocked_staker": 6,')
    expect(changed).not.toBe(text)
    writeFileSync(file, changed)
    const { lines } = await notAdopted(distributor, file)
    expect(lines).toContainEqual(expect.stringMatching(/tree_nodes\.4: the proof does not lead from/))
    expect(await ok('GET', `/v2/merkle-trees?mint=${mint}`)).toEqual([])
    writeFileSync(file, text)
    expect((await adopt(distributor, file)).data).toMatchObject({ id, stored: true, total_locked: '108' })
  })

  it('is not adopted with a list that has another root; the refusal says which form is expected', async () => {
    const { foreign, notAdopted, csv, ok } = await opened()
    const recipients = recipientsOf(40).map((row, n) => ({ ...row, amount: BigInt(n) * 1_001n + 7n }))
    const { distributor, mint } = await foreign(recipients)
    const whole = csv(recipients, (units) => `${units / 1_000n}.${String(units % 1_000n).padStart(3, '0')}`)
    const wrong = await notAdopted(distributor, whole, { decimals: 6 })
    expect([wrong.code, wrong.message, wrong.next]).toEqual([
      'bad_request',
      expect.stringMatching(/with 40 rows has the root [0-9a-f]{64}, and the distributor [0-9a-f]{64}$/),
      'when read with --decimals 3, it has the root of the distributor',
    ])
    const swapped = await notAdopted(distributor, csv(recipients.toReversed()))
    expect(swapped.next).toMatch(/the order of rows/)
    const changed = recipients.map((row, n) => (n === 5 ? { ...row, amount: row.amount + 1n } : row))
    expect((await notAdopted(distributor, csv(changed))).code).toBe('bad_request')
    expect(await ok('GET', `/v2/merkle-trees?mint=${mint}`)).toEqual([])
  })

  it('replaces a stored list that has another root only if asked to, and can then be claimed from', async () => {
    const { wallet, foreign, storeTree, notAdopted, adopt, csv, claim, pass, tokensOf, ok } = await opened()
    const key = wallet()
    const recipients = [listed(key, 5n, 0n)]
    const { distributor, mint, id } = await foreign(recipients)
    const other = await storeTree(mint, [{ wallet: addressOf(key), amount: '50' }])
    expect((await adopt(distributor)).data).toMatchObject({ stored: false })
    const kept = await notAdopted(distributor, csv(recipients))
    expect(kept.message).toContain(`is stored with the root ${other.root}`)
    expect(kept.next).toContain('nobody can claim from the stored list')
    expect((await ok('GET', `/v2/merkle-trees/${id}`)).root).toBe(other.root)
    expect((await adopt(distributor, csv(recipients), { replace: true })).data).toMatchObject({ stored: true })
    pass(START_S)
    await claim(id, key)
    expect(tokensOf(mint, key)).toBe(5n)
  })

  it('says how much its vault lacks, and who gets the remainder', async () => {
    const { foreign, adopt, csv } = await opened()
    const recipients = recipientsOf(3)
    const { distributor, total } = await foreign(recipients, { deposit: 1n })
    const { notes } = await adopt(distributor, csv(recipients))
    expect(notes).toEqual([expect.stringContaining(`lacks ${total - 1n} of what can still be claimed`)])
  })

  const tooMany = 'is not cut into parts with other roots if it has more wallets than one stored tree holds'
  it.skipIf(!inSoak)(tooMany, { tags: 'sampled' }, async () => {
    const { foreign, notAdopted, csv } = await opened()
    const many = recipientsOf(50_001).map(({ wallet }) => ({ wallet, amount: 1n }))
    const { distributor } = await foreign(many, { deposit: 0n })
    const { message, next } = await notAdopted(distributor, csv(many))
    expect(message).toBe('50001 leaves do not fit in one stored tree of 50000')
    expect(next).toContain('--proof FILE')
  })

  it('is refused if the address is something else, and the refusal names it', async () => {
    const { chain, wallet, foreign, request, adopt, csv, claim, pass, ok } = await opened()
    const key = wallet()
    const recipients = [listed(key, 5n, 0n)]
    const { distributor, mint, id } = await foreign(recipients)
    await adopt(distributor, csv(recipients))
    pass(START_S)
    await claim(id, key)
    const refused = async (address: string) => {
      const { status, json } = await request('GET', `/v2/distributors/${address}`)
      return [status, json.error.param, json.error.details?.reason, json.error.message]
    }
    const copy = (address: string, version?: bigint) => {
      const account = chain.account(distributor)!
      const data = Buffer.from(account.data)
      if (version !== undefined) data.writeBigUInt64LE(version, 9)
      chain.setAccount(address, { ...account, data })
      return address
    }
    const nowhere = someone().toBase58()
    for (const empty of [nowhere, addressOf(key)]) {
      expect(await refused(empty)).toEqual([404, 'address', 'not_initialized', expect.stringContaining(empty)])
    }
    const claimed = await claimStatusAddress(distributor, addressOf(key))
    for (const [address, what] of [
      [mint, /it is an account of the program Token/],
      [claimed, new RegExp(`it is the record of a claim by ${addressOf(key)}$`)],
      [PROGRAMS.distributor.id, /it is an account of the program BPFLoader/],
    ] as const) {
      expect(await refused(address)).toEqual([400, 'address', 'no_distributor', expect.stringMatching(what)])
    }
    const moved = await refused(copy(someone().toBase58()))
    expect(moved).toEqual([
      400,
      'address',
      'other_address',
      expect.stringContaining(`the program derives ${distributor} for these`),
    ])
    for (const version of [65_536n, 2n ** 64n - 1n]) {
      const high = await refused(copy(someone().toBase58(), version))
      expect(high).toEqual([400, 'address', 'version_too_high', expect.stringContaining(`has the version ${version},`)])
    }
    expect((await request('GET', `/v2/distributors/${id}`)).status).toBe(400)
    expect((await ok('GET', `/v2/distributors/${distributor}`)).id).toBe(id)
  })
})

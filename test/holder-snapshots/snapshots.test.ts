/** Snapshots of holders over HTTP: both token programs, collections, vaults, and what does not add up. */

import { base58 } from '@scure/base'
import * as spl from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { HOLDER_ROW_BYTES, holderAddress, holderAt, holderRows } from '../../src/merkle/allocation/holder-rows.ts'
import { addressOf } from '../../src/solana/addresses.ts'
import { INCINERATOR, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { DAMM_V2_POOL_AUTHORITY, DBC_POOL_AUTHORITY, PROGRAMS } from '../../src/solana/programs.ts'
import { airdropsOn, createBody, lacksDistributor } from '../support/airdrops.ts'
import {
  keyBytes,
  keyOf,
  namedOwners,
  type PutHolder,
  putAssets,
  putHolders,
  putOwned,
  putWallet,
} from '../support/holders.ts'
import { u64 } from '../support/little-endian.ts'
import { inSoak } from '../support/runs.ts'
import { type Service, startService } from '../support/service.ts'

const CREATE = '/v2/holder-snapshots'

async function opened() {
  const service = await startService()
  const chain = await service.services.chain.local()
  const snapshot = async (body: object) => {
    const { status, json, text } = await service.request('POST', CREATE, { body })
    expect(status, text).toBe(201)
    return json.data
  }
  const refused = async (body: object) => {
    const { status, json } = await service.request('POST', CREATE, { body })
    expect(status).not.toBe(201)
    return { status, ...json.error }
  }
  return { service, chain, snapshot, refused }
}

async function holdersOf(service: Service, id: string) {
  const all: { wallet: string; amount: string; kind: string; program: string | null; frozen: boolean }[] = []
  for (let cursor = ''; ; ) {
    const { json, text } = await service.request('GET', `${CREATE}/${id}/holders?limit=7${cursor}`)
    expect(json.data, text).toBeDefined()
    all.push(...json.data)
    if (json.meta.next_cursor === null) return all
    cursor = `&cursor=${json.meta.next_cursor}`
  }
}

const [WALLET_A, WALLET_B, WALLET_C] = namedOwners('wallet', 3) as [Uint8Array, Uint8Array, Uint8Array]
const [PDA, DISTRIBUTOR, ESCROW, OTHER] = namedOwners('derived', 4, false) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
]

describe('a snapshot of a mint of SPL Token', () => {
  const mint = keyOf('spl mint')
  const holders: PutHolder[] = [
    { owner: WALLET_A, amount: 500n },
    { owner: WALLET_A, amount: 7n, name: 'second' },
    { owner: WALLET_B, amount: 0n },
    { owner: WALLET_C, amount: 40n, frozen: true },
    { owner: base58.decode(DAMM_V2_POOL_AUTHORITY), amount: 1_000n },
    { owner: base58.decode(DBC_POOL_AUTHORITY), amount: 2_000n },
    { owner: base58.decode(INCINERATOR), amount: 3n },
    { owner: DISTRIBUTOR, amount: 60n },
    { owner: ESCROW, amount: 70n },
    { owner: OTHER, amount: 80n },
    { owner: PDA, amount: 90n },
    { owner: keyBytes('spl mint'), amount: 2n },
  ]
  const total = holders.reduce((sum, { amount }) => sum + amount, 0n)
  let open: Awaited<ReturnType<typeof opened>>

  const setUp = async () => {
    open = await opened()
    const { chain } = open
    putOwned(chain, DISTRIBUTOR, PROGRAMS.distributor.id)
    putOwned(chain, ESCROW, PROGRAMS.lock.id)
    putOwned(chain, OTHER, keyOf('some program'))
    putWallet(chain, WALLET_A)
    await putHolders(chain, { mint, holders })
  }

  it('adds up the balance of each owner, and gives its kind', async () => {
    await setUp()
    const { service, snapshot, chain } = open
    const before = chain.slot('finalized')
    const record = await snapshot({ mint, externalUid: 'drop-1' })
    expect(record).toMatchObject({
      ...{
        mint,
        collection: null,
        token_program: 'spl',
        decimals: 6,
        supply: String(total),
        accounts: 12,
        holders: 10,
      },
      ...{ withheld: '0', confidential: '0', owners: 'all', pieces: 1, external_uid: 'drop-1' },
      block_time: new Date(chain.blockTime(record.slot) * 1000).toISOString(),
    })
    expect(record.slot).toBeGreaterThanOrEqual(before)
    expect(record.slot).toBeLessThanOrEqual(chain.slot('finalized'))
    const found = await holdersOf(service, record.id)
    const byWallet = Object.fromEntries(found.map(({ wallet, ...rest }) => [wallet, Object.values(rest).join(' ')]))
    const isMintWallet = found.find(({ wallet }) => wallet === mint)
    expect(isMintWallet).toMatchObject({ kind: 'program', program: TOKEN_PROGRAM })
    expect(byWallet).toMatchObject({
      [addressOf(WALLET_A)]: '507 wallet  false',
      [addressOf(WALLET_C)]: '40 wallet  true',
      [DAMM_V2_POOL_AUTHORITY]: '1000 damm_v2_vault  false',
      [DBC_POOL_AUTHORITY]: '2000 dbc_vault  false',
      [INCINERATOR]: '3 burn  false',
      [addressOf(DISTRIBUTOR)]: `60 distributor_vault ${PROGRAMS.distributor.id} false`,
      [addressOf(ESCROW)]: `70 lock_escrow ${PROGRAMS.lock.id} false`,
      [addressOf(OTHER)]: `80 program ${keyOf('some program')} false`,
      [addressOf(PDA)]: '90 pda  false',
    })
    expect(found.map(({ wallet }) => Buffer.from(base58.decode(wallet)).toString('hex'))).toEqual(
      [...found.map(({ wallet }) => Buffer.from(base58.decode(wallet)).toString('hex'))].sort(),
    )
    expect(record.kinds).toContainEqual({ kind: 'wallet', holders: 2, amount: '547' })
  })

  it('returns the same rows packed, under their hash', async () => {
    await setUp()
    const { service, snapshot } = open
    const record = await snapshot({ mint })
    const { json } = await service.request('GET', `${CREATE}/${record.id}/pieces/0`)
    const bytes = Buffer.from(json.data.bytes, 'base64')
    expect(bytes.length).toBe(10 * HOLDER_ROW_BYTES)
    const rows = holderRows(bytes)
    const listed = await holdersOf(service, record.id)
    expect(listed.map(({ wallet, amount, kind }) => [wallet, amount, kind])).toEqual(
      listed.map((_, i) => [
        addressOf(holderAddress(rows, i)),
        String(holderAt(rows, i).amount),
        holderAt(rows, i).kind,
      ]),
    )
    const missing = await service.request('GET', `${CREATE}/${record.id}/pieces/1`)
    expect(missing.json.error).toMatchObject({ code: 'not_found', message: expect.stringMatching(/has no piece 1/) })
    for (const n of ['01', '-1', 'x', '1000']) {
      expect((await service.request('GET', `${CREATE}/${record.id}/pieces/${n}`)).status).toBe(400)
    }
  })

  it('with owners off the curve only, includes those that have a key', async () => {
    await setUp()
    const { snapshot } = open
    const record = await snapshot({ mint, owners: 'off_curve' })
    expect(record.kinds).toContainEqual({ kind: 'distributor_vault', holders: 1, amount: '60' })
    expect(record.owners).toBe('off_curve')
  })

  it.skipIf(lacksDistributor)(
    'is the same for the real programs: minted, sent, burned, closed, and an airdrop',
    async () => {
      const { service, snapshot } = await opened()
      const all = await airdropsOn(service)
      const [payer, friend] = [all.wallet(), all.wallet()]
      const real = all.mintFor(payer, 1_000n)
      const [key, from] = [new PublicKey(real), payer.publicKey]
      const [source, target] = [from, friend.publicKey].map((owner) =>
        spl.getAssociatedTokenAddressSync(key, owner),
      ) as [PublicKey, PublicKey]
      const opening = spl.createAssociatedTokenAccountInstruction(from, target, friend.publicKey, key)
      all.run([opening, spl.createTransferInstruction(source, target, from, 300n)], [payer])
      all.run([spl.createBurnInstruction(source, key, from, 50n)], [payer])
      const tree = await all.storeTree(real, [{ wallet: addressOf(WALLET_A), amount: '400' }])
      const built = await all.ok('POST', '/v2/airdrops', createBody(payer, real, tree.root))
      all.land(built.transaction, payer)
      const { vault, distributor } = await all.vaultOf(real)
      const record = await snapshot({ mint: real })
      expect(record).toMatchObject({ supply: '950', accounts: 3, holders: 3 })
      const found = Object.fromEntries((await holdersOf(service, record.id)).map((each) => [each.wallet, each]))
      expect(found[addressOf(from.toBytes())]).toMatchObject({ amount: '250', kind: 'wallet' })
      expect(found[addressOf(friend.publicKey.toBytes())]).toMatchObject({ amount: '300', kind: 'wallet' })
      expect(found[distributor]).toMatchObject({
        amount: '400',
        kind: 'distributor_vault',
        program: PROGRAMS.distributor.id,
      })
      expect(found[vault]).toBeUndefined()
    },
  )

  it.skipIf(!inSoak)('is refused if accounts and supply differ, after several tries', { tags: 'sampled' }, async () => {
    const { chain, refused, service } = await opened()
    await putHolders(chain, { mint, holders, supply: total + 1n })
    const fault = await refused({ mint })
    expect(fault).toMatchObject({ status: 400, code: 'bad_request' })
    expect(fault.message).toMatch(
      new RegExp(
        `could not be read whole in 4 tries: its 12 accounts hold ${total} raw units at slot \\d+, and the supply is ${total + 1n}. Nothing was stored; try again`,
      ),
    )
    const { json } = await service.request('GET', CREATE)
    expect(json.data).toEqual([])
  })

  it('is refused without a source, with two sources, for an address that is not a mint, and for wrapped SOL', async () => {
    const { refused, chain } = await opened()
    putOwned(chain, OTHER, TOKEN_PROGRAM)
    expect(await refused({})).toMatchObject({
      code: 'bad_request',
      param: 'mint',
      message: expect.stringMatching(/is required, unless collection is sent/),
    })
    expect(await refused({ mint, collection: mint })).toMatchObject({ param: 'mint' })
    expect(await refused({ mint: keyOf('nothing') })).toMatchObject({ status: 404, param: 'mint' })
    expect(await refused({ mint: addressOf(OTHER) })).toMatchObject({ status: 404 })
    expect(await refused({ collection: addressOf(OTHER) })).toMatchObject({ status: 404, param: 'collection' })
    expect(await refused({ mint: 'So11111111111111111111111111111111111111112' })).toMatchObject({
      status: 400,
      param: 'mint',
    })
  })
})

describe('a snapshot of a mint of Token-2022', () => {
  const mint = keyOf('extended mint')
  const feeConfig = (withheld: bigint) =>
    [1, Buffer.concat([new Uint8Array(64), u64(withheld), new Uint8Array(36)])] as const
  const withheld = (value: bigint) => [2, u64(value)] as const
  const [immutable, confidentialMint, confidentialAccount] = [
    [7, new Uint8Array()] as const,
    [4, new Uint8Array(65)] as const,
    [5, new Uint8Array(295)] as const,
  ]

  it('counts withheld fees to the supply and to no owner', async () => {
    const { chain, snapshot } = await opened()
    const holders: PutHolder[] = [
      { owner: WALLET_A, amount: 100n, extensions: [immutable, withheld(5n)] },
      { owner: WALLET_B, amount: 50n, extensions: [withheld(2n)] },
      { owner: WALLET_C, amount: 0n, extensions: [withheld(1n)] },
    ]
    await putHolders(chain, { mint, holders, supply: 169n, extensions: [feeConfig(11n)] })
    const record = await snapshot({ mint })
    expect(record).toMatchObject({ token_program: 'token2022', supply: '169', withheld: '19', holders: 2, accounts: 3 })
  })

  it('is refused with confidential balances, unless the request excludes them', async () => {
    const { chain, snapshot, refused } = await opened()
    const holders: PutHolder[] = [
      { owner: WALLET_A, amount: 100n, extensions: [immutable, confidentialAccount] },
      { owner: WALLET_B, amount: 50n },
    ]
    await putHolders(chain, { mint, holders, supply: 400n, extensions: [confidentialMint] })
    expect(await refused({ mint })).toMatchObject({
      ...{ code: 'bad_request', param: 'allow_confidential', details: { missing: '250', accounts: 1 } },
      message: expect.stringMatching(
        /250 raw units of .* are in confidential balances of up to 1 accounts, or the node left accounts out/,
      ),
    })
    expect(await snapshot({ mint, allow_confidential: true })).toMatchObject({ confidential: '250', holders: 2 })
  })

  it('is refused with a confidential supply', async () => {
    const { chain, refused } = await opened()
    await putHolders(chain, {
      mint,
      holders: [{ owner: WALLET_A, amount: 1n }],
      extensions: [[24, new Uint8Array(196)]],
    })
    expect(await refused({ mint, allow_confidential: true })).toMatchObject({
      param: 'mint',
      message: expect.stringMatching(/supply .* is confidential/),
    })
  })
})

describe('a snapshot of a collection', () => {
  const collection = keyOf('collection')

  it('counts the assets of each owner', async () => {
    const { chain, snapshot, service } = await opened()
    await putAssets(chain, { collection: keyOf('another collection'), owners: [WALLET_A] })
    await putAssets(chain, { collection, owners: [WALLET_A, WALLET_B, WALLET_A, PDA] })
    const record = await snapshot({ collection })
    expect(record).toMatchObject({ mint: null, collection, decimals: null, supply: '4', accounts: 4, holders: 3 })
    const found = await holdersOf(service, record.id)
    expect(found).toContainEqual({
      wallet: addressOf(WALLET_A),
      amount: '2',
      kind: 'wallet',
      program: null,
      frozen: false,
    })
    expect(found.find(({ kind }) => kind === 'pda')).toMatchObject({ wallet: addressOf(PDA), amount: '1' })
    const listed = async (query: string) => (await service.request('GET', `${CREATE}?${query}`)).json.data.length
    expect([await listed(`address=${collection}`), await listed(`address=${keyOf('x')}`)]).toEqual([1, 0])
  })

  it.skipIf(!inSoak)('is refused if the node shows fewer assets than exist', { tags: 'sampled' }, async () => {
    const { chain, refused } = await opened()
    await putAssets(chain, { collection, owners: [WALLET_A], size: 2 })
    expect((await refused({ collection })).message).toMatch(/it shows 1 assets at slot \d+, and the collection has 2/)
  })
})

describe('requests for snapshots', () => {
  let service: Service

  it('need the scope, and one is read at a time', async () => {
    const open = await opened()
    service = open.service
    const mint = keyOf('busy mint')
    await putHolders(open.chain, { mint, holders: [{ owner: WALLET_A, amount: 1n }] })
    const key = await service.key()
    expect((await service.request('POST', CREATE, { body: { mint }, key })).status).toBe(403)
    const writer = await service.key({ scopes: ['airdrop:write'] })
    const create = () => service.request('POST', CREATE, { body: { mint }, key: writer })
    // The node holds its answer to the first one back until the second was refused.
    const { chain } = service.services
    const { callLarge } = chain
    let [release, reached] = [() => {}, () => {}]
    const isReached = new Promise<void>((resolve) => (reached = resolve))
    const held = new Promise<void>((resolve) => (release = resolve))
    chain.callLarge = async (...call) => {
      reached()
      await held
      return callLarge(...call)
    }
    const first = create()
    await isReached
    const second = await create()
    release()
    expect([(await first).status, second.status]).toEqual([201, 400])
    expect(second.json.error.message).toMatch(/one snapshot is read at a time/)
    chain.callLarge = callLarge
    expect((await create()).status).toBe(201)
  })
})

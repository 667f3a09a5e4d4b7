/** Locks beside what else is there: gold locks, launches' vesting, vaults, frozen accounts, hostile texts and nodes. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { findLocks, lockChangesIn, onLock, vestingClaimsIn } from '../src/chain/programs/jupiter-lock/index.ts'
import { actsIn, type KnownAddresses } from '../src/operations/ledger/acts.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { decodeWireTransaction } from '../src/solana/messages.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { createMint, give, lacksLock, run, tokenAccountOf, unitsIn } from './support/gold.ts'
import { addressOf, locksOn } from './support/locks.ts'
import { startService } from './support/service.ts'
import { lacksTreasury, sharedTreasury, type Treasury } from './support/treasury.ts'
import { signWith } from './support/wallets.ts'

describe.skipIf(lacksLock !== '')(`a lock of the gold mint ${lacksLock}`, () => {
  it('is no gold lock and has none of its events, and a gold lock is listed beside it', async () => {
    const key = Keypair.generate()
    const service = await startService({ settings: { 'gold.mint': addressOf(key), 'priority-fee': 'none' } })
    const it = await locksOn(service, { key })
    const submit = async (built: { transaction: string; tracked_resource: object }) => {
      const transaction = signWith(built.transaction, [it.creator])
      await it.built('POST', '/v2/transactions', { transaction, tracked_resource: built.tracked_resource })
      it.chain.advance(20)
      service.clock.advance(20_000)
      await followTransactions(service.services)
    }
    const eventsOf = async () => {
      const { json } = await it.ask('GET', '/v2/events?limit=100')
      return json.data.map(({ type }: { type: string }) => type).filter((type: string) => type.startsWith('gold.'))
    }
    const payer = addressOf(it.creator)
    const made = await it.built('POST', '/v2/locks', { payer, mint: it.mint, recipient: payer, amount: '5' })
    await submit(made)
    await submit(await it.built('POST', `/v2/locks/${made.address}/claims`, { payer }))
    expect((await it.ask('GET', `/v2/locks/${made.address}`)).status).toBe(404)
    expect(await eventsOf()).toEqual([])
    const gold = { user: payer, platform_id: 'acme', amount: '400', lock_duration_days: 1 }
    await submit(await it.built('POST', '/v2/gold-locks', gold))
    expect(await eventsOf()).toEqual(['gold.locked'])
    const other = await it.create({ recipient: payer })
    const { data } = (await it.ask('GET', `/v2/locks?mint=${it.mint}`)).json
    expect(new Map(data.map((each: { origin: string; amount: string }) => [each.origin, each.amount]))).toEqual(
      new Map([
        ['gold', '400'],
        ['other', '1000'],
      ]),
    )
    expect((await it.get(other.address)).origin).toBe('other')
  })
})

describe.skipIf(lacksLock !== '')(`a lock whose tokens are frozen ${lacksLock}`, () => {
  it('is refused with the account and who can thaw it', async () => {
    const it = await locksOn(await startService({ settings: { 'priority-fee': 'none' } }))
    const made = await it.create({ cancellable_by: 'creator' })
    const frozen = tokenAccountOf(it.gold, it.creator.publicKey)
    const freeze = spl.createFreezeAccountInstruction(frozen, it.gold.mint, it.issuer.publicKey)
    expect(run(it.chain, [freeze], [it.issuer]).err).toBeNull()
    const payer = addressOf(it.creator)
    const body = { payer, mint: it.mint, recipient: addressOf(it.recipient), amount: '1000' }
    expect(await it.refused('POST', '/v2/locks', body)).toEqual([
      'payer',
      expect.stringContaining('must thaw it first'),
    ])
    const [param, message] = await it.refused('DELETE', `/v2/locks/${made.address}`, { payer })
    expect(param).toBe('address')
    expect(message).toBe(
      `The lock ${made.address} cannot be cancelled: the token account ${frozen.toBase58()} of the wallet is frozen, its freeze authority ${addressOf(it.issuer)} must thaw it first`,
    )
    it.land(await it.built('POST', `/v2/locks/${made.address}/claims`, { payer: body.recipient }), it.recipient)
  })
})

describe.skipIf(lacksLock !== '')(`what strangers write about a lock ${lacksLock}`, () => {
  it('is shown as one clean line, and a node that answers nonsense is named', async () => {
    const service = await startService({ settings: { 'priority-fee': 'none' } })
    const it = await locksOn(service)
    const made = await it.create()
    const lock = { address: made.address, mint: it.mint, tokenProgram: 'spl' as const }
    const payer = addressOf(it.creator)
    const texts = { title: 'Te\u202eam\u001b[31m\nx', description: '\u0000'.repeat(50) }
    const { blockhash: recentBlockhash } = it.chain.latestBlockhash()
    const { transaction } = await onLock({ payer, recentBlockhash }, lock, ({ entitle }) => entitle(payer, texts))
    it.land({ transaction: Buffer.from(transaction).toString('base64') }, it.creator)
    expect(await it.get(made.address)).toMatchObject({ title: 'Te am [31m x', description: null })
    const account = { owner: PROGRAMS.lock.id, data: ['', 'base64'], space: 296 }
    for (const item of [
      null,
      {},
      { pubkey: 'x' },
      { pubkey: it.mint },
      { pubkey: it.mint, account: { ...account, owner: it.mint } },
    ]) {
      const callLarge = async (_: unknown, onItem: (item: unknown) => void) => {
        onItem(item)
        return { context: { slot: 9 }, value: [] }
      }
      const found = findLocks({ callLarge } as never, { mint: it.mint }, 9)
      await expect(found, JSON.stringify(item)).rejects.toMatchObject({ code: 'internal_error' })
    }
    const stale = async () => ({ context: { slot: 8 }, value: [] })
    await expect(findLocks({ callLarge: stale } as never, {}, 9)).rejects.toMatchObject({ code: 'internal_error' })
  })
})

describe.skipIf(lacksLock !== '')(`the ledger's acts about a lock ${lacksLock}`, () => {
  it('are a lock, a claim and its end, for the wallets that do them', async () => {
    const it = await locksOn(await startService({ settings: { 'priority-fee': 'none' } }))
    const [creator, recipient] = [addressOf(it.creator), addressOf(it.recipient)]
    const known: KnownAddresses = {
      ...{ platform: new Set([creator]), creators: new Map(), vestings: new Map(), goldMint: it.mint },
      ...{ holders: new Set(), isSubmitted: true },
    }
    const messageOf = ({ transaction }: { transaction: string }) =>
      decodeWireTransaction(Buffer.from(transaction, 'base64')).message
    const acts = (data: { transaction: string }) =>
      actsIn(messageOf(data), known).map(({ kind, detail, holder, actor, party }) => [
        kind,
        detail,
        holder,
        actor,
        party,
      ])
    const body = { payer: creator, mint: it.mint, recipient, amount: '1000', cancellable_by: 'creator' }
    const made = await it.built('POST', '/v2/locks', { ...body, frequency: 10, periods: 100 })
    expect(acts(made)).toEqual([['lock', 'vesting', made.address, creator, 'platform']])
    it.land(made, it.creator)
    it.at(it.now() + 20)
    const claim = await it.built('POST', `/v2/locks/${made.address}/claims`, { payer: recipient })
    expect(acts(claim)).toEqual([['claim', 'vesting', made.address, recipient, 'other']])
    expect(vestingClaimsIn(messageOf(claim))).toHaveLength(1)
    const end = await it.built('DELETE', `/v2/locks/${made.address}`, { payer: creator })
    expect(lockChangesIn(messageOf(end)).map(({ kind }) => kind)).toEqual(['cancelled', 'closed'])
    expect(acts(end).map(([kind]) => kind)).toEqual(['unlock', 'unlock'])
  })
})

describe.skipIf(lacksTreasury !== '' || lacksLock !== '')(`a lock of a vault ${lacksTreasury}${lacksLock}`, () => {
  let at: Treasury
  sharedTreasury((opened) => {
    at = opened
  })

  it('is made, claimed and cancelled by its members', async () => {
    const { vault, a, stranger, chain, post, ask, approver, put, follow, carryOut } = at
    const token = createMint(chain, stranger)
    give(chain, stranger, token, new PublicKey(vault), 5_000n)
    const mint = token.mint.toBase58()
    const act = async (method: string, path: string, body: object) => {
      const { data, error } = await ask(method, path, { ...body, payer: vault, approver: approver() })
      expect(error).toBeUndefined()
      put(data.proposal, a)
      await follow()
      await carryOut(data.proposal.id)
      return data
    }
    const terms = { mint, amount: '1000', frequency: 100_000, periods: 10, cancellable_by: 'creator' }
    const made = await act('POST', '/v2/locks', { ...terms, recipient: stranger.publicKey.toBase58() })
    const path = `/v2/locks/${made.address}`
    expect((await ask('GET', path)).data).toMatchObject({ creator: vault, held: '1000', amount: '1000' })
    expect(await act('DELETE', path, {})).toMatchObject({ to_creator: '1000', to_recipient: '0', closes: true })
    expect((await ask('GET', path)).status).toBe(404)

    const { json } = await at.service.request('POST', '/v2/locks', {
      body: { ...terms, payer: stranger.publicKey.toBase58(), recipient: vault, periods: 0, allow_programs: true },
    })
    expect(json.error?.param).toBe('amount')
    give(chain, stranger, token, stranger.publicKey, 1_000n)
    const body = { mint, amount: '1000', payer: stranger.publicKey.toBase58(), recipient: vault }
    expect((await ask('POST', '/v2/locks', body)).error.param).toBe('recipient')
    const ours = await post('/v2/locks', { ...body, allow_programs: true })
    at.landed(ours.transaction, stranger)
    await act('POST', `/v2/locks/${ours.address}/claims`, {})
    expect(unitsIn(chain, tokenAccountOf(token, new PublicKey(vault)))).toBe(6_000n)
  })
})

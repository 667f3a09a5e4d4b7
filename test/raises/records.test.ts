/** A raise as it is read from the chain, and its row: what transactions that are sent here do to it, and when it is looked at again. */
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import {
  creatorWithdrawalInstruction,
  decodeRaise,
  depositInstruction,
  escrowInstruction,
  raiseEscrowAddress,
} from '../../src/chain/programs/presale/index.ts'
import { rowStateOf, unseenLook } from '../../src/operations/raises/record.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import type { PlainInstruction } from '../../src/solana/programs/table.ts'
import { createMint, give, tokenAccountOf } from '../support/gold.ts'
import { signed } from '../support/local-chain-transactions.ts'
import { addressOf, FIRST_COME, HOUR, isoOf, lacksPresale, raisesOn } from '../support/new-raises.ts'
import { sdk } from '../support/raises.ts'
import { startService } from '../support/service.ts'
import { SOL, signWith } from '../support/wallets.ts'

/** A first-come raise of 1,000 to 5,000 units of a quote of its own, of which a buyer has some. */
async function openRaise(more: object = {}) {
  const it = await raisesOn(await startService({ settings: { 'priority-fee': 'none' } }))
  const { service, chain, issuer, seller } = it
  const quote = createMint(chain, issuer, { isFreezable: false })
  const buyer = Keypair.generate()
  chain.airdrop(addressOf(buyer), 10n * SOL)
  const other = Keypair.generate()
  chain.airdrop(addressOf(other), 10n * SOL)
  for (const { publicKey } of [buyer, other]) give(chain, issuer, quote, publicKey, 10_000n)
  const to = give(chain, issuer, quote, seller.publicKey, 0n)
  const terms = {
    ...FIRST_COME,
    quote_mint: quote.mint.toBase58(),
    min: '1000',
    max: '5000',
    early_end: false,
    ...more,
  }
  const made = await it.build({ ...terms, supply: '5000' })
  const follow = async () => {
    chain.advance(3)
    service.clock.advance(60_000)
    await followTransactions(service.services)
  }
  const submit = async (transaction: string, tracked_resource?: object) => {
    const body = { transaction, ...(tracked_resource && { tracked_resource }) }
    const { status, text } = await it.ask('POST', '/v2/transactions', body)
    expect(status, text).toBeLessThan(300)
    await follow()
  }
  const submitActs = (acts: PlainInstruction[], by: Keypair) => {
    const bytes = signed(acts.map(sdk), [by], { blockhash: chain.latestBlockhash().blockhash })
    return submit(Buffer.from(bytes).toString('base64'))
  }
  const onChain = () => decodeRaise(made.id, chain.account(made.id))!
  return {
    ...it,
    ...{ made, submit, onChain, other },
    due: async () => (await it.read(made.id)).due.map(({ act, by }: { act: string; by: string }) => `${act} by ${by}`),
    row: async () => (await it.rows())[0]!,
    deposit: (amount: bigint, isFirst = true, key = buyer) => {
      const [payer, from] = [addressOf(key), tokenAccountOf(quote, key.publicKey).toBase58()]
      const place = { escrow: raiseEscrowAddress(made.id, payer), owner: payer }
      const by = { payer, from, amount }
      const joining = isFirst ? [escrowInstruction(made.id, { ...place, ...by })] : []
      return submitActs([...joining, depositInstruction(onChain(), { ...place, ...by })], key)
    },
    withdraw: () => submitActs([creatorWithdrawalInstruction(onChain(), 'completed', to.toBase58())], seller),
  }
}

describe.skipIf(lacksPresale !== '')(`the row of a raise ${lacksPresale}`, () => {
  it('follows its creation, its deposits and the withdrawal, and then rests', async () => {
    const it = await openRaise()
    expect(await it.row()).toMatchObject({ state: 'pending', deposited: '0', withdrawn: 0 })
    await it.submit(signWith(it.made.transaction, [it.seller]), it.made.tracked_resource)
    expect(await it.row()).toMatchObject({ state: 'ongoing', deposited: '0' })
    await it.deposit(700n)
    expect(await it.row()).toMatchObject({ state: 'ongoing', deposited: '700' })
    await it.deposit(800n, false)
    const { deposited, next_check_at } = await it.row()
    expect([deposited, next_check_at]).toEqual(['1500', it.service.clock.now() + 60_000])
    it.chain.advance(HOUR)
    await it.withdraw()
    expect(await it.row()).toMatchObject({ state: 'completed', withdrawn: 1, next_check_at: null })
    const { data } = (await it.ask('GET', '/v2/events')).json
    expect(data.filter(({ type }: { type: string }) => !type.startsWith('transaction.'))).toEqual([])
  })

  it('keeps its wait after a failed settlement, and belongs to its chain', async () => {
    const it = await openRaise()
    await it.submit(signWith(it.made.transaction, [it.seller]))
    const change = (values: object) =>
      it.service.services.store.write((tx) => tx.updateTable('raises').set(values).execute())
    await change({ settle_failures: 3, next_check_at: 77 })
    await it.deposit(700n)
    expect(await it.row()).toMatchObject({ deposited: '700', next_check_at: 77 })
    await change({ genesis: 'another' })
    await it.deposit(300n, false)
    expect(await it.row()).toMatchObject({ deposited: '700' })
  })

  it('of another tool is not there, whatever is sent', async () => {
    const it = await openRaise()
    it.land(it.made, it.seller)
    await it.service.services.store.write((tx) => tx.deleteFrom('raises').execute())
    await it.deposit(700n)
    expect(await it.rows()).toEqual([])
    expect(await it.read(it.made.id)).toMatchObject({ deposited: '700', buyers: '1', created_at: null })
  })
})

describe.skipIf(lacksPresale !== '')(`a raise as it is read ${lacksPresale}`, () => {
  it('says in each state what can be done, and by whom', async () => {
    const it = await openRaise({
      starts_at: isoOf(Math.floor(Date.now() / 1_000) + 7_200),
      ends_at: isoOf(Math.floor(Date.now() / 1_000) + 10_800),
    })
    it.land(it.made, it.seller)
    const read = () => it.read(it.made.id)
    expect(await read()).toMatchObject({
      ...{ state: 'not_started', state_text: `It starts at ${it.made.starts_at}`, due: [], price: null },
      ...{ decimals: 9, quote_decimals: 9, buyers: '0', url: null, root: null, settle_error: null },
    })
    it.at(Date.parse(it.made.starts_at) / 1_000)
    expect(await it.due()).toEqual(['deposit by buyers'])
    await it.deposit(1_500n)
    const sum = (of: string) => `0.0000015 of ${of} of at least 0.000001 of ${of} and at most 0.000005 of ${of}`
    expect(await read()).toMatchObject({
      ...{
        state: 'ongoing',
        deposited: '1500',
        buyers: '1',
        price: '0.3',
        rounds: [{ deposited: '1500', buyers: '1' }],
      },
      state_text: `It takes deposits and ends at ${it.made.ends_at}; deposited are ${sum(it.made.quote_mint)}`,
    })
    it.at(Date.parse(it.made.ends_at) / 1_000)
    expect(await it.due()).toEqual(['claim by buyers', 'withdraw by creator'])
    await it.withdraw()
    expect(await read()).toMatchObject({ state: 'completed', withdrawn: true, due: [{ act: 'claim', by: 'buyers' }] })
  })

  it('that failed lets buyers take back what they paid, and the creator the tokens', async () => {
    const it = await openRaise()
    it.land(it.made, it.seller)
    await it.deposit(999n)
    it.chain.advance(HOUR + 60)
    expect(await it.read(it.made.id)).toMatchObject({ state: 'failed' })
    expect(await it.due()).toEqual(['refund by buyers', 'withdraw_tokens by creator'])
  })

  it('of pro rata can be withdrawn from, takes more than its maximum, and returns it', async () => {
    const it = await openRaise({ sale_mode: 'pro_rata', buyer_max: '5000', lock_seconds: HOUR })
    it.land(it.made, it.seller)
    await it.deposit(4_000n)
    expect(await it.due()).toEqual(['deposit by buyers', 'withdraw by buyers'])
    await it.deposit(2_000n, true, it.other)
    it.chain.advance(HOUR + 60)
    expect(await it.due()).toEqual(['refund by buyers', 'withdraw by creator'])
    it.chain.advance(HOUR)
    expect(await it.due()).toEqual(['claim by buyers', 'refund by buyers', 'withdraw by creator'])
    expect(await it.read(it.made.id)).toMatchObject({ deposited: '6000', price: '1' })
  })

  it('is listed by mint and creator, and is not found at another address', async () => {
    const it = await openRaise()
    const listed = async (query: string) => (await it.ask('GET', `/v2/raises${query}`)).json.data
    const [only] = await listed('')
    expect(only).toMatchObject({
      id: it.made.id,
      state: 'pending',
      pool_address: null,
      settle: false,
      withdrawn: false,
    })
    expect(await listed(`?mint=${it.mint}&creator=${addressOf(it.seller)}`)).toEqual([only])
    expect(await listed(`?mint=${it.made.quote_mint}`)).toEqual([])
    const { status, json } = await it.ask('GET', `/v2/raises/${it.mint}`)
    expect([status, json.error.param]).toEqual([404, 'id'])
    expect((await it.ask('GET', `/v2/raises/${it.made.id}`)).status).toBe(404)
  })
})

describe.skipIf(lacksPresale !== '')(`a raise is looked at again ${lacksPresale}`, () => {
  it('at its start, each minute, and less and less often while its creator takes nothing', async () => {
    const it = await openRaise()
    it.land(it.made, it.seller)
    const raise = { ...it.onChain(), startsAt: 10_000n, endsAt: 20_000n, deposited: 1_000n }
    const none = { pool_json: null, pool_address: null }
    const wait = (chainSeconds: number, of = raise, row: Parameters<typeof rowStateOf>[2] = none) =>
      rowStateOf(of, { chainSeconds, now: 0 }, row).next_check_at
    expect([wait(1_000), wait(9_800), wait(9_999)]).toEqual([300_000, 200_000, 1_000])
    expect([wait(10_000), wait(19_970)]).toEqual([60_000, 30_000])
    expect([wait(20_000), wait(24_000), wait(9_000_000)]).toEqual([60_000, 1_000_000, 86_400_000])
    const taken = { ...raise, creatorWithdrawn: true, unsoldDone: true }
    const planned = { pool_json: '{}', pool_address: null }
    expect(wait(24_000, taken)).toBeNull()
    expect(wait(24_000, taken, planned)).toBe(1_000_000)
    expect(wait(24_000, taken, { ...planned, pool_address: 'here' })).toBeNull()
  })

  it('until its end if it was never sent', () => {
    const row = { created_at: 0, ends_at: 100_000_000 }
    const look = (now: number) => unseenLook(row, { chainSeconds: now / 1_000, now })
    expect([look(0), look(400_000), look(99_000_000)]).toEqual([60_000, 500_000, 102_600_000])
    expect(look(100_000_000)).toBeNull()
  })
})

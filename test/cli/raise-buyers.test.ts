/** `svc raises deposit`, `withdraw`, `claim` and `refund` on the real program, from the first deposit to the last lamport. */
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { walletOf } from '../merkle/reference.ts'
import { lamportsOf } from '../support/gold.ts'
import { listedRaise } from '../support/listed-raises.ts'
import { addressOf, isoOf, lacksPresale, PRO_RATA, raisesOn } from '../support/new-raises.ts'
import { SOL } from '../support/wallets.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
let daemon: Served

beforeAll(async () => {
  if (lacksPresale !== '') return
  Object.assign(cli.env, { SVC_PRIORITY_FEE: 'none' })
  daemon = await serveHere(cli.dataDir, cli.env)
})
afterAll(() => daemon?.stop())

/** Raises on the chain of the service, and buyers with a key file. */
async function sales() {
  const chain = await daemon.local()
  const on = await raisesOn({ request: daemon.request, services: { chain: { local: async () => chain } } } as never)
  const buyer = () => {
    const key = Keypair.generate()
    chain.airdrop(addressOf(key), 10n * SOL)
    const { file } = cli.keypair(`${addressOf(key).slice(0, 8)}.json`, key)
    const act = (verb: string, ...more: string[]) => ['raises', verb, ...more, '-k', file]
    return { key, act, lamports: () => lamportsOf(chain, key.publicKey) }
  }
  const create = (more: object) => on.create({ ends_at: isoOf(on.now() + 3_600), deposit_fee_bps: 100, ...more })
  const end = async (id: string) => on.at(Date.parse((await on.read(id)).ends_at) / 1_000 + 1)
  return { ...on, buyer, create, end }
}

describe.skipIf(lacksPresale !== '')(`svc raises ${lacksPresale}`, () => {
  it('deposits, withdraws and claims at a fixed price', async () => {
    const on = await sales()
    const { id, mint } = await on.create({ withdrawable: true })
    const buyer = on.buyer()
    const before = buyer.lamports()
    const preview = await cli.svc([...buyer.act('deposit', id, '2'), '--dry-run'])
    const lines = [
      'pays      2 SOL',
      'on top    0.020202021 SOL of fee, which a withdrawal does not return',
      `buys      1,999.999999999 of ${mint}`,
      'checked   here: it deposits this amount into this raise, in your name',
    ]
    for (const line of lines) expect(preview.stdout).toContain(line)
    expect(buyer.lamports()).toBe(before)
    const paid = await cli.json(buyer.act('deposit', id, '2'))
    expect(paid).toMatchObject({ id, round: 1, amount: '2000000000', fee: '20202021' })
    const taken = await cli.json(buyer.act('withdraw', id, '0.5'))
    expect(taken).toMatchObject({ amount: '500000000', fee_lost: '5050506', remaining: '1500000000' })
    await on.end(id)
    const claimed = await cli.json(buyer.act('claim', id))
    expect(claimed).toMatchObject({ remaining: '0', refunded: '0', next_claim_at: null, closes: true })
    expect(on.units(buyer.key)).toBe(BigInt(claimed.amount))
    await cli.refused(buyer.act('claim', id), 'has no deposit in round 1')
  })

  it('returns the whole deposit before the end, and all of a failed raise to the lamport', async () => {
    const on = await sales()
    const { id } = await on.create({ withdrawable: true })
    const [leaving, staying] = [on.buyer(), on.buyer()]
    await cli.json(leaving.act('deposit', id, '700000000', '--raw'))
    expect(await cli.json(leaving.act('withdraw', id))).toMatchObject({ amount: '700000000', remaining: '0' })
    const before = staying.lamports()
    await cli.json(staying.act('deposit', id, '0.7'))
    await on.end(id)
    expect(await cli.json(staying.act('refund', id))).toMatchObject({ amount: '707070708', closes: true })
    // Two network fees.
    expect(before - staying.lamports()).toBe(10_000n)
  })

  it('returns the excess of a pro rata raise with the claim', async () => {
    const on = await sales()
    const { id } = await on.create({ ...PRO_RATA, deposit_fee_bps: 0 })
    const buyers = [on.buyer(), on.buyer()]
    for (const { act } of buyers) await cli.json(act('deposit', id, '5'))
    await on.end(id)
    const [first] = buyers
    const preview = await cli.svc([...first!.act('claim', id), '--dry-run'])
    expect(preview.stdout).toContain('excess    2.5 SOL comes back')
    const claimed = { amount: '2500000000000', refunded: '2500000000', closes: true }
    for (const { act } of buyers) expect(await cli.json(act('claim', id))).toMatchObject(claimed)
  })

  it('pays another token than SOL in the round of a stored allowlist', async () => {
    const made = await listedRaise({ ...daemon, visit: fetch })
    const buyer = made.buyer(1)
    const { key } = buyer
    const { file } = cli.keypair(`${made.id.slice(0, 8)}.json`, key)
    await made.store([
      { wallet: addressOf(key), cap: '700', round: 2 },
      { wallet: walletOf(1), cap: '5', round: 1 },
    ])
    await made.open({ url: 'https://sale.example.com/raise' })
    const deposit = (amount: string, ...more: string[]) => ['raises', 'deposit', made.id, amount, '-k', file, ...more]
    const paid = await cli.json(deposit('700', '--raw', '--round', '2'))
    expect(paid).toMatchObject({ round: 2, amount: '700', fee: '0', quote_mint: made.place.quoteMint })
    expect(made.escrowOf(buyer)?.deposited).toBe(700n)
    await cli.refused(deposit('1', '--raw'), 'is not in round 1 of the allowlist')
    await cli.refused(deposit('1', '--raw', '--round', '3'), '--round: the raise has rounds 1 to 2')
    await cli.refused(['raises', 'withdraw', made.id, '0.0000001', '-k', file, '--round', '2', '--yes'], '--raw')
  })

  it('refuses wrong input by its name', async () => {
    const on = await sales()
    const { id } = await on.create({})
    const { act } = on.buyer()
    await cli.refused(act('deposit', id, '0'), 'AMOUNT must be more than 0')
    await cli.refused(act('deposit', id, '1.0000000001'), 'AMOUNT has more than 9 fractional digits')
    await cli.refused(act('deposit', id, 'many'), 'AMOUNT must be an amount like 1.5')
    await cli.refused(act('deposit', 'nowhere', '1'), 'RAISE: ')
    await cli.refused(act('claim', id, '--round', '2'), '--round: the raise has one round')
    await cli.refused(act('refund', walletOf(1)), 'There is no raise at', 3)
    await cli.refused(act('withdraw', id), 'has no deposit in round 1')
  })
})

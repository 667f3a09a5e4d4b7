/** `svc raises deposit`, `withdraw`, `claim` and `refund` on the real program, from the first deposit to the last lamport. */
import { readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { Keypair, SystemProgram } from '@solana/web3.js'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { merkleRootAddress } from '../../src/chain/programs/presale/index.ts'
import { walletOf } from '../merkle/reference.ts'
import { lamportsOf, run } from '../support/gold.ts'
import { listedRaise } from '../support/listed-raises.ts'
import { addressOf, isoOf, lacksPresale, PRO_RATA, raisesOn } from '../support/new-raises.ts'
import { listening } from '../support/ports.ts'
import { allowlistFiles } from '../support/raise-site.ts'
import { itInSoak, runs } from '../support/runs.ts'
import { SOL } from '../support/wallets.ts'
import { commandLine, PROGRAM } from './command-line.ts'
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
    return { key, file, address: addressOf(key), act, lamports: () => lamportsOf(chain, key.publicKey) }
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

  itInSoak('returns the whole deposit before the end, and all of a failed raise to the lamport', async () => {
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
    const shown = await cli.svc(deposit('700', '--raw', '--round', '2', '--dry-run'))
    expect(shown.stdout + shown.stderr).toContain('the round has a deposit fee of 0 % (reported by the API')
    const paid = await cli.json(deposit('700', '--raw', '--round', '2'))
    expect(paid).toMatchObject({ round: 2, amount: '700', fee: '0', quote_mint: made.place.quoteMint })
    expect(made.escrowOf(buyer)?.deposited).toBe(700n)
    await cli.refused(deposit('1', '--raw'), 'is not in round 1 of the allowlist')
    await cli.refused(deposit('1', '--raw', '--round', '3'), '--round: the raise has rounds 1 to 2')
    await cli.refused(['raises', 'withdraw', made.id, '0.0000001', '-k', file, '--round', '2', '--yes'], '--raw')
  })

  it('is admitted by a line of an allowlist that is kept elsewhere', async () => {
    const made = await listedRaise({ ...daemon, visit: fetch })
    const buyer = made.buyer(1)
    const { file } = cli.keypair(`${made.id.slice(0, 8)}.json`, buyer.key)
    const lines = [
      { wallet: addressOf(buyer.key), round: 1, cap: 700n },
      { wallet: walletOf(1), round: 0, cap: 5n },
    ]
    const list = allowlistFiles(merkleRootAddress(made.id, 0n), lines)
    await made.open({ root: list.root.toString('hex'), url: 'https://sale.example.com/raise' })
    const told = (path: string) => cli.file(`${path.slice(0, 6)}.json`.replace('/', '-'), String(list.files.get(path)))
    const own = told(`1/${addressOf(buyer.key)}`)
    const deposit = (...more: string[]) => ['raises', 'deposit', made.id, '700', '--raw', '-k', file, ...more]
    await cli.refused(deposit('--round', '2'), 'with another list send cap and proof')
    await cli.refused(deposit('--round', '2', '--proof', told(`0/${walletOf(1)}`)), 'it leads to no root of the raise')
    await cli.refused(
      deposit('--round', '2', '--proof', cli.file('half.json', '{"deposit_cap":1}')),
      'it has no deposit_cap',
    )
    await cli.refused(deposit('--round', '2', '--proof', cli.file('text.json', '{')), 'it is not JSON')
    expect(await cli.json(deposit('--round', '2', '--proof', own))).toMatchObject({ round: 2, amount: '700' })
    expect(made.escrowOf(buyer)?.deposited).toBe(700n)
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

/** A list of own keys, written like its rows below the home, and the command that goes through it. */
function listed(id: string, name: string) {
  const write = (...rows: string[]) => cli.file(name, `keypair,amount,round\n${rows.join('\n')}\n`)
  const file = join(cli.home, name)
  const args = (verb: string, ...more: string[]) => ['raises', verb, id, '--from', file, ...more]
  const run = async (verb: string, ...more: string[]) => {
    const { exitCode, stdout, stderr } = await cli.svc([...args(verb, ...more), '--json'])
    expect(stdout, stderr).not.toBe('')
    return { exitCode, ...JSON.parse(stdout), stderr }
  }
  return { write, file, args, run }
}

/** The API behind a proxy that changes what is asked, or never answers what was submitted. */
async function meddling(change: { asks?(body: string): string; holds?: 'before' | 'after'; onHeld?(): void }) {
  const proxy: Server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const headers = new Headers(request.headers as Record<string, string>)
    for (const name of ['host', 'content-length', 'connection', 'accept-encoding']) headers.delete(name)
    const isSubmitted = request.method === 'POST' && request.url === '/v2/transactions'
    if (isSubmitted && change.holds === 'before') return change.onHeld?.()
    const sent = body === '' ? {} : { body: change.asks?.(body) ?? body }
    const answer = await fetch(`${daemon.url}${request.url}`, { method: request.method ?? 'GET', headers, ...sent })
    const text = await answer.text()
    if (isSubmitted && change.holds === 'after') return change.onHeld?.()
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text)
  })
  const key = cli.file('operator.key', daemon.operator, 0o600)
  const url = await listening(proxy)
  const close = () => {
    proxy.close()
    proxy.closeAllConnections()
  }
  return { env: { SVC_API: url, SVC_API_KEY_FILE: key }, close }
}

describe.skipIf(lacksPresale !== '')(`svc raises with a list of own keys ${lacksPresale}`, () => {
  const names = (buyers: { file: string }[]) => buyers.map(({ file }) => file.slice(cli.home.length + 1))

  it('deposits for each key but the one that fails, and in the next run for that one alone', async () => {
    const on = await sales()
    const { id } = await on.create({ buyer_max: String(SOL) })
    const buyers = [on.buyer(), on.buyer(), on.buyer()]
    const [a, b, c] = names(buyers)
    const list = listed(id, 'three.csv')
    list.write(`${a},0.5,`, `${b},2,1`, `${c},0.25,`)
    const before = buyers.map(({ lamports }) => lamports())

    const dry = await cli.svc(list.args('deposit', '--dry-run'))
    const question = `Deposit 0.75 SOL into the raise ${id} with 2 rows of ${list.file}`
    for (const line of [
      question,
      'rows      3, of which 2 are left to deposit',
      'pays      0.75 SOL',
      '0.007575759 SOL of fee',
    ])
      expect(dry.stderr + dry.stdout).toContain(line)
    expect(buyers.map(({ lamports }) => lamports())).toEqual(before)
    expect(statSync(`${list.file}.deposit.json`, { throwIfNoEntry: false })).toBeUndefined()

    const first = await list.run('deposit')
    expect(first).toMatchObject({ exitCode: 1, id, total: 3, deposited: 2, failed: 1 })
    expect(first.buyers).toMatchObject([
      { line: 2, wallet: buyers[0]!.address, round: 1, amount: '500000000', fee: '5050506', status: 'deposited' },
      { line: 3, amount: null, status: 'failed', error: expect.stringContaining('2 SOL cannot be deposited now') },
      { line: 4, amount: '250000000', status: 'deposited', signature: expect.any(String) },
    ])
    expect(statSync(`${list.file}.deposit.json`).mode & 0o777).toBe(0o600)

    list.write(`${a},0.5,`, `${b},1,1`, `${c},0.25,`)
    const second = await list.run('deposit')
    expect(second).toMatchObject({ exitCode: 0, deposited: 1, done_already: 2, failed: 0 })
    expect(second.buyers[0]).toEqual({ ...first.buyers[0], status: 'deposited already' })
    expect((await on.read(id)).deposited).toBe('1750000000')
    expect(await list.run('deposit')).toMatchObject({ exitCode: 0, deposited: 0, done_already: 3 })
    // A journal of somebody else's counts for nothing that the chain does not show.
    const journal = `${list.file}.deposit.json`
    const kept = readFileSync(journal, 'utf8')
    const [of1, of2] = [first.buyers[0].signature, first.buyers[2].signature]
    cli.file('three.csv.deposit.json', kept.replaceAll(of1, of2), 0o600)
    const doubted = await list.run('deposit')
    expect(doubted).toMatchObject({ exitCode: 1, unknown: 1, done_already: 2, deposited: 0 })
    expect(doubted.buyers[0].error).toContain('is on chain and did something else')
    cli.file('three.csv.deposit.json', kept, 0o600)
    // Another amount of a row that is done would be a second deposit.
    list.write(`${a},0.6,`, `${b},1,1`, `${c},0.25,`)
    await cli.refused(list.args('deposit'), `:2: ${buyers[0]!.address} was begun with another amount`)
    const other = await on.create({})
    list.write(`${a},0.5,`)
    await cli.refused(listed(other.id, 'three.csv').args('deposit'), 'was started with the raise')
  })

  it('refuses wrong rows with their places, and wallets that cannot pay, before anything is signed', async () => {
    const on = await sales()
    const { id } = await on.create({ max: String(20n * SOL) })
    const [rich, poor] = [on.buyer(), on.buyer()]
    const [a = '', b = ''] = names([rich, poor])
    const list = listed(id, 'wrong.csv')
    cli.file('open.json', JSON.stringify([...Keypair.generate().secretKey]), 0o644)
    list.write(`${a},1,`, `nobody.json,1,`, `${a},2,1`, `${b},0,`, `${b},x,2`, `open.json,1,`, `,1,`, `${b},,`)
    const said = await cli.refused(list.args('deposit'), ':3:1: there is no keypair at')
    for (const fault of [
      `:4:1: the key of ${rich.address} is in row 1 too, for the same round`,
      `:5:${b.length + 2}: the amount must be more than 0`,
      `:6:${b.length + 2}: the amount must be an amount like 1.5`,
      `:6:${b.length + 4}: the round: the raise has one round`,
      ':7:1: the keypair file',
      ':8:1: the keypair is missing',
      `:9:${b.length + 2}: the amount is missing`,
    ])
      expect(said).toContain(fault)
    cli.file('wrong.csv', `wallet,amount\n${a},1\n`)
    await cli.refused(list.args('deposit'), '"wallet" is not a column; they are keypair, amount, round')
    cli.file('wrong.csv', `keypair,amount\n${a},1\n`)
    await cli.refused(list.args('claim'), '"amount" is not a column; they are keypair, round')
    await cli.refused(list.args('deposit', '-k', rich.file), '--keypair cannot be used with --from')
    await cli.refused(
      ['raises', 'deposit', id, '1', '--from', list.file],
      'AMOUNT> cannot be used with --from'.slice(8),
    )
    const before = rich.lamports()
    list.write(`${a},1,`, `${b},11,`)
    await cli.refused(list.args('deposit'), `:3:1: ${poor.address} has 10 SOL, but 11.`)
    expect(rich.lamports()).toBe(before)
  })

  const KILLS = [
    ['after it is sent', 'after', 0],
    ['before it is sent', 'before', 0],
    ['long before it is sent', 'before', 600],
  ] as const
  it.each(KILLS.slice(0, runs(1, 3)))(
    'is killed %s, and deposits nothing twice',
    { tags: 'sampled' },
    async (_, holds, seconds) => {
      const on = await sales()
      const { id } = await on.create({})
      const buyers = [on.buyer(), on.buyer()]
      const [a, b] = names(buyers)
      const list = listed(id, `killed-${holds}-${seconds}.csv`)
      list.write(`${a},0.5,`, `${b},0.25,`)
      let onHeld = () => {}
      const held = new Promise<void>((settle) => {
        onHeld = settle
      })
      const api = await meddling({ holds, onHeld: () => onHeld() })
      const child = execa(process.execPath, [PROGRAM, ...list.args('deposit', '--yes')], {
        ...{ cwd: cli.home, env: { ...cli.env, ...api.env }, extendEnv: false, reject: false },
      })
      await Promise.race([held, child.then(({ stderr }) => Promise.reject(new Error(stderr)))])
      child.kill('SIGKILL')
      await child
      api.close()
      const [, first = ''] = readFileSync(`${list.file}.deposit.json`, 'utf8').split('\n')
      if (seconds > 0) on.chain.advance(seconds)
      const again = await list.run('deposit')
      expect(again, again.stderr).toMatchObject({ exitCode: 0, deposited: 2, failed: 0 })
      // What can land no more is signed anew.
      expect(again.buyers[0].signature === JSON.parse(first).sending.signature).toBe(seconds === 0)
      expect((await on.read(id)).deposited).toBe('750000000')
      expect(await list.run('deposit')).toMatchObject({ deposited: 0, done_already: 2 })
      expect((await on.read(id)).deposited).toBe('750000000')
    },
  )

  itInSoak('refuses the row for which the API builds another amount, and goes on', async () => {
    const on = await sales()
    const { id } = await on.create({})
    const buyers = [on.buyer(), on.buyer()]
    const list = listed(id, 'lied.csv')
    list.write(...names(buyers).map((file) => `${file},0.5,`))
    const [cheated] = buyers
    const asks = (body: string) => (body.includes(cheated!.address) ? body.replace('"500000000"', '"600000000"') : body)
    const api = await meddling({ asks })
    const { exitCode, stdout } = await cli.svc([...list.args('deposit', '--yes'), '--json'], { env: api.env })
    api.close()
    expect([exitCode, JSON.parse(stdout).buyers]).toMatchObject([
      1,
      [
        { status: 'failed', error: expect.stringContaining('it would pay 0.6 SOL'), signature: null },
        { status: 'deposited' },
      ],
    ])
    expect((await on.read(id)).deposited).toBe('500000000')
  })

  itInSoak('withdraws amounts once and all of the rest, and claims for whoever has something', async () => {
    const on = await sales()
    const { id } = await on.create({ withdrawable: true, deposit_fee_bps: 0 })
    const buyers = [on.buyer(), on.buyer(), on.buyer()]
    const [a, b, c] = names(buyers)
    const list = listed(id, 'out.csv')
    list.write(`${a},1,`, `${b},1,`, `${c},1,`)
    expect(await list.run('deposit')).toMatchObject({ deposited: 3 })
    list.write(`${a},0.25,`, `${b},,`)
    expect(await list.run('withdraw')).toMatchObject({ exitCode: 0, withdrawn: 2 })
    expect(await list.run('withdraw')).toMatchObject({ exitCode: 0, done_already: 1, nothing_now: 1 })
    expect((await on.read(id)).deposited).toBe('1750000000')
    await on.end(id)
    cli.file('out.csv', `keypair\n${[a, b, c].join('\n')}\n`)
    const claimed = await list.run('claim')
    expect(claimed).toMatchObject({ exitCode: 0, claimed: 3 })
    const [first, emptied] = claimed.buyers
    // The account of the one that has withdrawn everything is closed, which returns its rent.
    expect(emptied).toMatchObject({ amount: '0', closes: true })
    expect(on.units(buyers[0]!.key)).toBe(BigInt(first.amount))
    expect(await list.run('claim')).toMatchObject({ exitCode: 0, claimed: 0, nothing_now: 3 })
  })

  it('refuses a claim for which a wallet lacks SOL, before anything is signed', async () => {
    const on = await sales()
    const { id } = await on.create({ deposit_fee_bps: 0 })
    const buyers = [on.buyer(), on.buyer()]
    const list = listed(id, 'poor.csv')
    list.write(...names(buyers).map((file) => `${file},1,`))
    expect(await list.run('deposit')).toMatchObject({ deposited: 2 })
    await on.end(id)
    const [, emptied] = buyers
    const [from, to] = [emptied!.key.publicKey, buyers[0]!.key.publicKey]
    // The fee is left, and the least that a wallet keeps.
    const spent = SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: emptied!.lamports() - 1_000_000n })
    expect(run(on.chain, [spent], [emptied!.key]).err).toBeNull()
    const before = buyers.map(({ lamports }) => lamports())
    cli.file('poor.csv', `${names(buyers).join('\n')}\n`)
    const lacks = new RegExp(`${emptied!.address} has 0.000995 SOL, and 0.00214368 SOL is needed`)
    await cli.refused(list.args('claim'), lacks, 1)
    const dry = await cli.svc(list.args('claim', '--dry-run'))
    expect([dry.exitCode, dry.stderr]).toEqual([1, expect.stringContaining('missing   0.00114868 SOL')])
    expect(buyers.map(({ lamports }) => lamports())).toEqual(before)
  })

  itInSoak('pays another token in the rounds of a stored allowlist', async () => {
    const made = await listedRaise({ ...daemon, visit: fetch })
    const buyers = [made.buyer(1), made.buyer(1)]
    const [a, b] = buyers.map(({ key }, i) => cli.keypair(`${made.id.slice(0, 8)}-${i}.json`, key).file)
    await made.store(buyers.map(({ key }, i) => ({ wallet: addressOf(key), cap: '700', round: 2 - i })))
    await made.open({ url: 'https://sale.example.com/raise' })
    const list = listed(made.id, 'rounds.csv')
    list.write(`${a},300,2`, `${b},0.5,1`, `${b},1,3`)
    await cli.refused(list.args('deposit', '--raw'), ':3:')
    list.write(`${a},300,2`, `${b},400,`, `${b},1,2`)
    // What each alone would buy cannot be added up.
    const dry = await cli.svc(list.args('deposit', '--raw', '--dry-run'))
    expect(dry.stderr + dry.stdout).toMatch(/^ {2}pays {6}0\.\d+ of /m)
    expect(dry.stderr + dry.stdout).not.toMatch(/^ {2}buys/m)
    const { exitCode, buyers: rows } = await list.run('deposit', '--raw')
    expect([exitCode, rows]).toMatchObject([
      1,
      [
        { round: 2, amount: '300', status: 'deposited' },
        { round: 1, amount: '400', status: 'deposited' },
        { round: 2, status: 'failed', error: expect.stringContaining('is not in round 2 of the allowlist') },
      ],
    ])
    expect(made.escrowOf(buyers[0]!)?.deposited).toBe(300n)
    list.write(`${a},0.0000001,2`)
    await cli.refused(list.args('withdraw'), 'amounts of this raise need --raw here')
    list.write(`${a},100,2`)
    expect(await list.run('withdraw', '--raw')).toMatchObject({ exitCode: 0, withdrawn: 1 })
    expect(made.escrowOf(buyers[0]!)?.deposited).toBe(200n)
  })

  itInSoak('takes back the deposits of a failed raise to the lamport', async () => {
    const on = await sales()
    const { id } = await on.create({})
    const buyers = [on.buyer(), on.buyer()]
    const list = listed(id, 'failed.csv')
    const before = buyers.map(({ lamports }) => lamports())
    list.write(...names(buyers).map((file) => `${file},0.3,`))
    expect(await list.run('deposit')).toMatchObject({ deposited: 2 })
    await on.end(id)
    cli.file('failed.csv', `${names(buyers).join('\n')}\n`)
    expect(await list.run('claim')).toMatchObject({ exitCode: 1, failed: 2 })
    expect(await list.run('refund')).toMatchObject({ exitCode: 0, refunded: 2, buyers: [{ amount: '303030304' }, {}] })
    expect(buyers.map(({ lamports }, i) => before[i]! - lamports())).toEqual([10_000n, 10_000n])
    expect(await list.run('refund')).toMatchObject({ exitCode: 0, refunded: 0, nothing_now: 2 })
  })
})

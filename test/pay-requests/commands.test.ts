/** `--qr` and `svc pay`: what a command shows is what the wallet on a phone fetches, signs and sends. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fetchTransaction } from '@solana/pay'
import { Connection, Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { payRequestsWorker } from '../../daemon/workers/workers.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { CONFIRMED, commandLine } from '../cli/command-line.ts'
import { type Served, serveHere } from '../cli/served.ts'
import { lacksDistributor } from '../support/airdrops.ts'
import { hasProgram } from '../support/programs.ts'
import { inSoak, itInSoak } from '../support/runs.ts'
import { someAddress } from '../support/wallets.ts'

const PUBLIC_URL = 'https://pay.example.com'
const cli = commandLine()
const lacksPrograms = lacksDistributor || !hasProgram(PROGRAMS.tokenMetadata.id)

describe('a command with --qr', () => {
  let daemon: Served
  let connection: Connection
  const phone = Keypair.generate()
  const wallet = phone.publicKey.toBase58()
  beforeAll(async () => {
    daemon = await serveHere(cli.dataDir, { SVC_PUBLIC_URL: PUBLIC_URL }, [payRequestsWorker])
    connection = new Connection(daemon.rpcUrl, 'confirmed')
    ;(await daemon.local()).airdrop(wallet, 10_000_000_000n)
  })
  afterAll(() => daemon?.stop())

  const newest = async () => (await daemon.request('GET', '/v2/pay-requests?limit=1')).json.data[0]
  /** What a wallet does with the newest code, once there is one after `before`. */
  async function payNewest(before: string | undefined, payer = phone): Promise<string> {
    for (let tries = 0; ; tries++) {
      const made = await newest()
      if (made !== undefined && made.id !== before) {
        const url = made.url.replace(PUBLIC_URL, daemon.url)
        const transaction = await fetchTransaction(connection, payer.publicKey, url)
        transaction.partialSign(payer)
        return connection.sendRawTransaction(transaction.serialize())
      }
      expect(tries).toBeLessThan(200)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  it('waits until the phone has sent it, and answers its signature', async () => {
    const before = (await newest())?.id
    const args = ['wallet', 'send', someAddress(), '0.5', '--payer', wallet, '--qr']
    const [ran, signature] = await Promise.all([cli.svc(args), payNewest(before)])
    expect([ran.exitCode, ran.stdout], ran.stderr).toEqual([0, expect.stringContaining(signature)])
    expect(ran.stderr).toMatch(/[▀▄█]{4}/)
    expect(ran.stderr).toContain('checked   here: one transfer, of this amount to this recipient')
    expect(ran.stdout).toMatch(/LIFECYCLE +(confirmed|finalized)/)
  })

  itInSoak('works for a token, whose mint is new in every transaction', async () => {
    const before = (await newest())?.id
    const texts = ['--name', 'Paid', '--symbol', 'PAID', '--uri', 'https://example.com/a.json', '--supply', '5']
    const args = ['tokens', 'create', ...texts, '--token-program', 'token2022', '--payer', wallet]
    const file = join(cli.home, 'code.svg')
    const answer = cli.json([...args, `--qr=${file}`])
    const [{ signature, lifecycle, tracked_resource }, sent] = await Promise.all([answer, payNewest(before)])
    expect([signature, lifecycle]).toEqual([sent, CONFIRMED])
    expect(tracked_resource.resource_type).toBe('token')
    expect(readFileSync(file, 'utf8')).toMatch(/^<svg /)
  })

  it.skipIf(lacksPrograms || !inSoak)(
    'claims an airdrop, whose event comes once (needs the Jito merkle distributor and Token Metadata)',
    { tags: 'sampled' },
    async () => {
      const owner = cli.keypair('owner.json')
      ;(await daemon.local()).airdrop(owner.address, 10_000_000_000n)
      const texts = ['--name', 'Drop', '--symbol', 'DROP', '--uri', 'https://example.com/a.json', '--supply', '100']
      const { mint } = await cli.json(['tokens', 'create', ...texts, '--token-program', 'spl', '-k', owner.file])
      const list = cli.file('list.csv', `${wallet},3\n${someAddress()},4\n`)
      const launch = ['airdrops', 'launch', list, '--mint', mint, '--decimals', '6', '-k', owner.file, '--yes']
      const [{ id }] = await cli.json(launch)
      const before = (await newest())?.id
      const claim = cli.json(['airdrops', 'claim', id, '--payer', wallet, `--qr=${join(cli.home, 'claim.svg')}`])
      const [{ signature, tracked_resource }, sent] = await Promise.all([claim, payNewest(before)])
      expect([signature, tracked_resource.resource_id]).toEqual([sent, id])
      const claimed = async () =>
        (await daemon.request('GET', `/v2/events?resource_id=${id}&type=airdrop.claimed`)).json.data.length
      for (let tries = 0; (await claimed()) === 0 && tries < 100; tries++)
        await new Promise((resolve) => setTimeout(resolve, 200))
      expect(await claimed()).toBe(1)
    },
  )

  it('shows no code if the API builds another transaction', async () => {
    const lying = createServer(async (asked, answer) => {
      const body = Buffer.concat(await asked.toArray())
      const headers = { authorization: `Bearer ${daemon.operator}`, 'content-type': 'application/json' }
      const sent = { method: asked.method ?? 'GET', headers, ...(body.length === 0 ? {} : { body }) }
      const told = await fetch(`${daemon.url}${asked.url}`, sent)
      let text = await told.text()
      if (/^\/v2\/pay-requests\/\w+\/transactions$/.test(asked.url ?? '')) {
        const theft = { payer: wallet, recipient: someAddress(), lamports: '100000000' }
        const { json } = await daemon.request('POST', '/v2/sol-transfers', { body: theft })
        const honest = JSON.parse(text)
        honest.data.build.transaction = json.data.transaction
        text = JSON.stringify(honest)
      }
      answer.writeHead(told.status, { 'content-type': 'application/json' }).end(text)
    })
    await new Promise<void>((listening) => lying.listen(0, '127.0.0.1', listening))
    onTestFinished(() => void lying.close())
    const api = `http://127.0.0.1:${(lying.address() as AddressInfo).port}`
    const key = cli.file('api.key', 'some-key', 0o600)
    const args = [
      'wallet',
      'send',
      someAddress(),
      '0.1',
      '--payer',
      wallet,
      '--qr',
      '--api',
      api,
      '--api-key-file',
      key,
    ]
    const stderr = await cli.refused(
      args,
      /the API built another transaction than requested: its transfer has another/,
      1,
    )
    expect(stderr).not.toMatch(/[▀▄█]{4}/)
  })

  it('answers the link alone with --wait none', async () => {
    const args = ['wallet', 'send', someAddress(), '0.1', '--payer', wallet, '--wait', 'none', '--qr']
    const { id, link, url } = await cli.json(args)
    expect([url, link]).toEqual([`${PUBLIC_URL}/v2/pay/${id}`, `solana:${encodeURIComponent(url)}`])
    expect(await newest()).toMatchObject({ id, account: wallet, state: 'open', builds: 0 })
  })

  it('refuses what it cannot show, what a code cannot give, and other file names', async () => {
    const send = ['wallet', 'send', someAddress(), '0.1', '--payer', wallet]
    await cli.refused([...send, '--qr', '--json'], /nobody sees the QR code in this output/, 1)
    await cli.refused([...send, '--qr', 'code.png'], /--qr writes a file that ends in .svg, not "code.png"/, 2)
    await cli.refused([...send, '--qr', '--dry-run'], /--qr cannot be used with --dry-run/, 2)
    await cli.refused([...send, '--qr', '--tx-version', '1'], /must be 0/, 2)
  })

  it('of a wallet without funds fails before a code is shown', async () => {
    const poor = someAddress()
    const { exitCode, stderr } = await cli.svc(['wallet', 'send', someAddress(), '0.1', '--payer', poor, '--qr'])
    expect(exitCode).not.toBe(0)
    expect(stderr).not.toMatch(/[▀▄█]{4}/)
  })

  it('is made, listed, read, watched and revoked by `svc pay`', async () => {
    const before = (await newest())?.id
    const body = JSON.stringify({ recipient: someAddress(), lamports: '1000000' })
    const made = await cli.json(['pay', 'create', '/v2/sol-transfers', '--body', body, '--expires-in', '600'])
    expect(made).toMatchObject({ state: 'open', account: null, request: { method: 'POST', path: '/v2/sol-transfers' } })
    const [watched, signature] = await Promise.all([cli.json(['pay', 'watch', made.id]), payNewest(before)])
    expect(watched).toMatchObject({ id: made.id, state: 'paid', signature })
    const file = cli.file('body.json', body)
    const other = await cli.json(['pay', 'create', '/v2/sol-transfers', '--body', `@${file}`])
    expect((await cli.json(['pay', 'list'])).map(({ id }: { id: string }) => id)).toContain(other.id)
    const shown = await cli.svc(['pay', 'get', other.id, '--qr'])
    expect([shown.exitCode, shown.stderr]).toEqual([0, expect.stringMatching(/[▀▄█]{4}/)])
    expect((await cli.json(['pay', 'revoke', other.id])).deleted).toBe(true)
    await cli.refused(['pay', 'watch', other.id], `${other.id} is revoked, and nothing was paid`, 1)
    await cli.refused(['pay', 'create', '/v2/pools', '--body', '{}'], /is not a route that builds one transaction/, 2)
    await cli.refused(['pay', 'create', '/v2/sol-transfers', '--body', '{'], /--body is not valid JSON/, 2)
  })
})

describe('a command with --qr but without a daemon', () => {
  const alone = commandLine()
  it('says that a phone needs one', async () => {
    const env = { SVC_PUBLIC_URL: PUBLIC_URL }
    const args = ['wallet', 'send', someAddress(), '0.1', '--payer', someAddress(), '--qr']
    await alone.refused(args, /from a running daemon, and none runs: start `svc serve`/, 2, { env })
  })
})

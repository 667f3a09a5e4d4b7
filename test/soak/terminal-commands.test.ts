/** What commands that cost or lock something ask and show on a terminal, on a chain where a mistake costs something. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandLine, MINT, onTerminal } from '../cli/command-line.ts'
import { type Served, serveHere } from '../cli/served.ts'
import { lacksLock } from '../support/gold.ts'
import { freePort } from '../support/ports.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'

const cli = commandLine()
const { json } = cli
const texts = ['--name', 'Test Token', '--symbol', 'TST', '--uri', 'https://example.com/t.json']
const token2022 = ['tokens', 'create', ...texts, '--token-program', 'token2022']
const payer = cli.keypair('id.json')
cli.env.SVC_KEYPAIR = payer.file
const plainTerminal = { ...cli, env: { ...cli.env, NO_COLOR: '1' } }
/** By its URL alone the chain of a daemon is a cluster that commands do not take for a free one. */
let daemon: Served
let cluster = { url: '', host: '' }
const served = { SVC_DATA_DIR: join(cli.home, 'served'), SVC_PROGRAMS_DIR: PROGRAMS_DIR }

beforeAll(async () => {
  await json(['localnet', 'airdrop', payer.address, '100'])
  mkdirSync(served.SVC_DATA_DIR)
  daemon = await serveHere(served.SVC_DATA_DIR, served)
  await json(['localnet', 'airdrop', payer.address, '20'], { env: served })
  cluster = { url: daemon.rpcUrl, host: new URL(daemon.rpcUrl).host }
})
afterAll(() => daemon?.stop())

describe('svc tokens', () => {
  it('create asks if it costs something, sends nothing if the answer is no, and sends it if it is yes', async () => {
    const { url, host } = cluster
    const lamports = async () => (await json(['accounts', 'get', payer.address, '-u', url])).lamports
    const before = await lamports()
    const args = [...token2022, '--supply', '1', '-u', url]
    const refused = await onTerminal(cli, args, [[`on ${host}?`, 'n']])
    expect(refused.exitCode, refused.screen).toBe(130)
    expect(refused.screen).toContain('rent')
    expect(await lamports()).toBe(before)
    const agreed = await onTerminal(plainTerminal, args, [[`on ${host}?`, 'y']])
    expect(agreed.exitCode, agreed.screen).toBe(0)
    expect(await lamports()).not.toBe(before)
  })

  it('create does not ask on the embedded chain, where a mistake costs nothing, but shows what it does', async () => {
    const agreed = await onTerminal(plainTerminal, [...token2022, '--supply', '1'], [])
    expect(agreed.exitCode, agreed.screen).toBe(0)
    expect(agreed.screen).toContain('rent')
    expect(agreed.screen).toMatch(/signature \w{80,}\r\n/)
    expect(agreed.screen).toMatch(/LIFECYCLE +(confirmed|finalized)/)
  })

  it('revoke says "for good" before it removes an authority', async () => {
    const { url, host } = cluster
    const { mint } = await json([...token2022, '--supply', '1', '--yes', '-u', url])
    const { exitCode, screen } = await onTerminal(
      plainTerminal,
      ['tokens', 'revoke', mint, 'mint', '-u', url],
      [['●', 'n']],
    )
    expect(exitCode, screen).toBe(130)
    expect(screen.replace(/[│\s]+/g, ' ')).toContain(`for good on ${host}?`)
    expect((await json(['tokens', 'get', mint, '-u', url])).raw.mint_authority).toBe(payer.address)
  })

  it('create says where to look if Ctrl-C ends the waiting', async () => {
    // On Tower a transaction is final after seconds; Alpenglow would finalize it before anyone can press Ctrl-C.
    const tower = { SVC_DATA_DIR: join(cli.home, 'tower'), SVC_CONSENSUS: 'tower' }
    await json(['localnet', 'airdrop', payer.address, '10'], { env: tower })
    const { exitCode, screen } = await onTerminal(
      { ...cli, env: { ...cli.env, ...tower } },
      [...token2022, '--supply', '1', '--wait', 'finalized', '--yes'],
      [['waiting until finalized', '\u0003']],
    )
    expect(exitCode, screen).toBe(130)
    expect(screen).toMatch(/Stopped waiting: see\s+`svc tx watch \w{80,}`/)
  })
})

describe('svc signer', () => {
  it('test asks on a cluster where signing costs something', async () => {
    const signer = { SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: payer.file }
    const args = ['signer', 'test', '--submit', '-u', 'mainnet-beta']
    const { exitCode, screen } = await onTerminal({ ...cli, env: { ...cli.env, ...signer } }, args, [
      ['submit it on mainnet-beta?', 'n'],
    ])
    expect(exitCode, screen).toBe(130)
  })
})

describe('svc webhooks', () => {
  it('create asks for missing inputs', async () => {
    const env = { ...plainTerminal.env, ...served }
    const { exitCode, screen } = await onTerminal(
      { ...cli, env: { ...env, SVC_WEBHOOKS_ALLOW_PRIVATE: 'true' } },
      ['webhooks', 'create', '--yes', '--data-dir', join(cli.home, 'hooks')],
      [
        ['Where events are posted', `http://127.0.0.1:${await freePort()}/hooks\r`],
        ['Event types, or *', 'pool.live, pool.failed\r'],
      ],
    )
    expect(exitCode, screen).toBe(0)
    expect(screen).toMatch(/ENABLED EVENTS +pool\.live, pool\.failed/)
  })
})

describe('svc airdrops', () => {
  it('export warns of a list that another API key stored, with its root', async () => {
    const list = cli.file('theirs.csv', `${payer.address},900000\n`)
    const { key } = await json(['keys', 'create', '--name', 'thief', '--scopes', 'airdrop:write'], { env: served })
    const env = { ...served, SVC_API_KEY: key }
    const { id, root } = await json(['merkle', 'build', list, '--mint', MINT, '--raw', '--persist'], { env })
    const terminal = { ...cli, env: { ...cli.env, ...served } }
    const args = ['airdrops', 'export', id, '--out', join(cli.home, 'seen')]
    const { exitCode, screen } = await onTerminal(terminal, args, [], 400)
    expect([exitCode, screen]).toEqual([
      0,
      expect.stringContaining(`was not stored with this API key; its root is ${root}`),
    ])
  })
})

describe('svc wallet', () => {
  it('new asks for the passphrase without showing it', async () => {
    const { exitCode, screen } = await onTerminal(
      { ...cli, env: { ...cli.env, XDG_CONFIG_HOME: join(cli.home, 'config-typed') } },
      ['wallet', 'new', 'ops'],
      [
        ['Passphrase for the new wallet', 'short\r'],
        ['has fewer than 8', `${'\u007f'.repeat(5)}correct horse battery\r`],
        ['Repeat the passphrase', 'another one\r'],
        ['does not match', `${'\u007f'.repeat(11)}correct horse battery\r`],
      ],
    )
    expect(screen).toContain('The wallet ops has the address')
    expect(exitCode).toBe(0)
    expect(screen).not.toContain('horse')
  })
})

describe.skipIf(lacksLock !== '')(`svc gold ${lacksLock}`, () => {
  it('lock asks until when, says that nobody can cancel it, and locks nothing if the answer is no', async () => {
    const { mint } = await json([...token2022, '--supply', '1000', '--yes', '-u', cluster.url])
    const settings = { SVC_PRIORITY_FEE: 'none', SVC_GOLD_MINT: mint }
    const own = { ...settings, SVC_DATA_DIR: join(cli.home, 'asked') }
    const terminal = { ...plainTerminal, env: { ...plainTerminal.env, ...own } }
    const args = ['gold', 'lock', '--amount', '1', '--days', '30', '-u', cluster.url]
    const { exitCode, screen } = await onTerminal(terminal, args, [['●', 'n']])
    expect(exitCode, screen).toBe(130)
    const text = screen.replace(/\s+/g, ' ')
    expect(text).toContain(`Lock 1 of ${mint}, with no way to cancel it, for 30 days, until 2`)
    expect(text).toMatch(
      /until \d{4}-\d\d-\d\d [\d:]+ (?:UTC|[+-]\d\d:\d\d) \(30 days\); nobody can cancel or shorten it/,
    )
    const lock = await cli.svc(['gold', 'get', payer.address, '-u', cluster.url], { env: own })
    expect([lock.exitCode, lock.stderr]).toEqual([3, expect.stringContaining('no gold lock')])
  })
})

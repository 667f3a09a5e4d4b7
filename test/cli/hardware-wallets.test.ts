/** Commands that a Ledger signs, on the embedded chain: transfers, tokens, launches and files, and what a person does meanwhile. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWallet } from '../../commands/machine/wallets/wallet.ts'
import { decodeTransaction } from '../../src/chain/sending/transactions.ts'
import { decodeMessage } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { png } from '../storage/images.ts'
import { lacksCore } from '../support/assets.ts'
import { LedgerEmulator, REJECTED } from '../support/ledger-emulator.ts'
import { lacksGuards } from '../support/programs.ts'
import { inSoak, itInSoak } from '../support/runs.ts'
import { someAddress } from '../support/wallets.ts'
import { lacksPrograms } from './cold-key.ts'
import { CONFIRMED, commandLine, STACK_FRAME } from './command-line.ts'
import { started } from './following.ts'
import { type Served, serveHere } from './served.ts'

const OK = 0x9000
const TRANSPORT = '@ledgerhq/hw-transport-node-hid-noevents'
/** More slots than a blockhash lasts, in seconds of the embedded chain. */
const A_WHILE = '120'
const cli = commandLine()
let daemon: Served
beforeAll(async () => {
  mkdirSync(cli.dataDir)
  const signer = cli.keypair('platform.json')
  daemon = await serveHere(cli.dataDir, { SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: signer.file })
  await cli.json(['localnet', 'airdrop', signer.address, '1'])
})
afterAll(() => daemon?.stop())

const lamportsOf = async (wallet: string) => BigInt((await cli.json(['wallet', 'balance', wallet])).lamports)

/** A Ledger whose key at the path has 5 SOL. */
async function connected(seed: string, key: readonly number[] = []) {
  const ledger = new LedgerEmulator(seed)
  const url = key.length === 0 ? 'usb://ledger' : `usb://ledger?key=${key.join('/')}`
  const { address } = ledger.key(["44'/501'", ...key.map((index) => `${index}'`)].join('/'))
  await cli.json(['localnet', 'airdrop', address, '5'])
  const ledgers = LedgerEmulator.at(ledger)
  const svc = (...args: string[]) => cli.svc(args, { ledgers })
  const json = (...args: string[]) => cli.json(args, { ledgers })
  return {
    ledger,
    ledgers,
    url,
    address,
    svc,
    json,
    person: (act: typeof ledger.state.person) => Object.assign(ledger.state, { person: act }),
  }
}

describe('A Ledger', () => {
  it('shows its addresses, also as the keypair of a profile, and nothing is confirmed for that', async () => {
    const { svc, json, ledger, address, url } = await connected('addresses', [0, 2])
    expect(await json('wallet', 'address', url)).toEqual({ address })
    expect((await svc('wallet', 'address', 'usb://ledger')).stdout).toBe(`${ledger.key("44'/501'").address}\n`)
    expect(await json('config', 'set', 'keypair', url, '--profile', 'cold')).toMatchObject({ value: url })
    expect(await json('wallet', 'address', '--profile', 'cold')).toEqual({ address })
    expect(await json('wallet', 'balance', '--profile', 'cold')).toMatchObject({
      wallet: address,
      lamports: '5000000000',
    })
    const wrong = await svc('config', 'set', 'keypair', 'usb://ledger?key=x', '--profile', 'cold')
    expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('has "x" in ?key=') })
    // What hides credentials hides nothing of it.
    expect(wrong.stderr).not.toContain('***')
    const inEnvironment = await cli.json(['wallet', 'address'], {
      ledgers: LedgerEmulator.at(ledger),
      env: { SVC_KEYPAIR: url },
    })
    expect(inEnvironment).toEqual({ address })
    expect(ledger.shown).toEqual([])
  })

  it('is a named wallet, whose device is needed only to sign', async () => {
    const { svc, json, ledger, url, address } = await connected('named', [3])
    const made = await json('wallet', 'import', 'cold', url)
    expect(made).toMatchObject({ name: 'cold', address, kind: 'ledger' })
    ledger.state.isConnected = false
    expect(await json('wallet', 'list')).toMatchObject([{ name: 'cold', address, kind: 'ledger', in_use: false }])
    expect(await json('wallet', 'address', 'cold')).toEqual({ address })
    const send = ['wallet', 'send', someAddress(), '1', '-k', 'cold']
    expect((await svc(...send, '--dry-run')).exitCode).toBe(0)
    expect(await svc(...send)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no Ledger is connected') })
    ledger.state.isConnected = true
    expect(await json(...send)).toMatchObject({ lifecycle: CONFIRMED })
    const exported = await svc('wallet', 'export', 'cold', 'cold.json', '--yes')
    expect(exported).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('never leaves it') })
    const kept = await svc('wallet', 'import', 'colder', url, '--keychain')
    expect(kept).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('stays in the Ledger') })
  })

  it('is checked by svc doctor if it is the keypair of the settings', async () => {
    const { ledger, ledgers, url, address } = await connected('doctor')
    const checked = async (keypair = url) => {
      const { stdout } = await cli.svc(['doctor', '--json'], { ledgers, env: { SVC_KEYPAIR: keypair } })
      return JSON.parse(stdout).find(({ check }: { check: string }) => check === 'ledger')
    }
    expect(await checked()).toMatchObject({ status: 'ok', detail: `${url} has the address ${address}` })
    ledger.state.status = 0x5515
    expect(await checked()).toMatchObject({
      status: 'warn',
      detail: 'the Ledger is locked',
      fix: expect.stringContaining('PIN'),
    })
    expect(await checked('usb://trezor')).toMatchObject({ status: 'fail', detail: expect.stringContaining('"trezor"') })
  })

  it('sends SOL once the person has confirmed, and tells where to look', async () => {
    const { svc, ledger, url, address } = await connected('sends')
    const recipient = someAddress()
    const sent = await svc('wallet', 'send', recipient, '1.5', '-k', url)
    expect(sent.exitCode, sent.stderr).toBe(0)
    expect(sent.stderr).toContain('Confirm the transaction on the Ledger')
    expect(sent.stderr).toMatch(/If the device shows a message hash, it must be \w{43,44}/)
    expect([await lamportsOf(recipient), ledger.shown.length]).toEqual([1_500_000_000n, 1])
    const dry = await svc('wallet', 'send', recipient, '1', '-k', url, '--dry-run')
    expect([dry.exitCode, ledger.shown.length]).toEqual([0, 1])
    const built = await svc('wallet', 'send', recipient, '1', '--payer', address, '--build-only', '--json')
    expect([built.exitCode, ledger.shown.length]).toEqual([0, 1])
  })

  it.skipIf(lacksGuards || !inSoak)(
    'is shown what it signs without guards, and a hash with them if they are asked for',
    { tags: 'sampled' },
    async () => {
      const { svc, ledger, url } = await connected('guards')
      const programsOf = () => {
        const { keys, instructions } = decodeMessage(ledger.shown.at(-1)!.message)
        return instructions.map(({ programIdIndex }) => keys[programIdIndex])
      }
      const send = (...more: string[]) => svc('wallet', 'send', someAddress(), '0.5', '-k', url, ...more)
      const plain = await send()
      expect(plain.stderr).toContain('not guarded: guards are off')
      expect(programsOf()).not.toContain(PROGRAMS.lighthouse.id)
      expect((await send('--guard', 'required')).exitCode).toBe(0)
      expect(programsOf()).toContain(PROGRAMS.lighthouse.id)
    },
  )

  it.skipIf(lacksGuards)('of the settings leaves the guards of what another payer signs', async () => {
    const { ledgers, url } = await connected('elsewhere')
    const { address } = cli.keypair('elsewhere.json')
    await cli.json(['localnet', 'airdrop', address, '1'])
    const build = ['wallet', 'send', someAddress(), '0.5', '--payer', address, '--build-only']
    const { transaction } = await cli.json(build, { ledgers, env: { SVC_KEYPAIR: url } })
    const { message } = decodeTransaction(transaction)
    expect(message.keys).toContain(PROGRAMS.lighthouse.id)
  })

  it('is recognised without a device and without a key', async () => {
    const places = ['usb://ledger', 'usb://ledger?key=1', join(cli.dataDir, 'no-such-file.json')]
    expect(await Promise.all(places.map(createWallet().isDevice))).toEqual([true, true, false])
  })

  it('creates a token, whose mint signs here', async () => {
    const { json, ledger, url, address } = await connected('tokens', [1])
    const token = ['--name', 'Cold', '--symbol', 'CLD', '--uri', 'https://example.com/cold.json', '--supply', '9']
    const made = await json('tokens', 'create', ...token, '--token-program', 'token2022', '-k', url)
    expect(made).toMatchObject({ lifecycle: CONFIRMED })
    expect(await json('tokens', 'get', made.mint)).toMatchObject({ raw: { mint_authority: address } })
    expect(ledger.shown).toHaveLength(1)
  })

  it('adds its signature to a file, and says if it is not a signer', async () => {
    const { json, svc, ledger, url, address } = await connected('files')
    const recipient = someAddress()
    const built = await json('wallet', 'send', recipient, '0.5', '--payer', address, '--build-only')
    const file = cli.file('built.json', JSON.stringify(built))
    const signed = await json('tx', 'sign', `@${file}`, '-k', url)
    expect(signed).toMatchObject({ signed_by: [address], missing_signers: [] })
    expect(await json('tx', 'submit', signed.transaction)).toMatchObject({ lifecycle: CONFIRMED })
    expect(await lamportsOf(recipient)).toBe(500_000_000n)
    const other = await svc('tx', 'sign', `@${file}`, '-k', 'usb://ledger?key=5')
    expect(other).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is not a signer of this transaction') })
    expect(ledger.shown).toHaveLength(1)
  })

  it('gives a build that soon expires a fresh blockhash before it asks', async () => {
    const { svc, json, ledger, url, address } = await connected('soon')
    const built = await json('wallet', 'send', someAddress(), '0.5', '--payer', address, '--build-only')
    const soon = { ...built, expires_at: new Date(Date.now() + 20_000).toISOString() }
    const fresh = await svc('tx', 'sign', `@${cli.file('soon.json', JSON.stringify(soon))}`, '-k', url)
    expect(fresh.exitCode, fresh.stderr).toBe(0)
    expect(fresh.stderr).toContain('the build has a fresh blockhash')
    // A blockhash that cannot be replaced is used as long as it lasts.
    const offline = await svc('tx', 'sign', `@${cli.file('soon.json', JSON.stringify(soon))}`, '-k', url, '--offline')
    expect(offline.exitCode, offline.stderr).toBe(0)
    expect(ledger.shown).toHaveLength(2)
  })

  it('sends nothing if the person rejects, and says so in one sentence', async () => {
    const { svc, url, address, person } = await connected('rejects')
    person(() => REJECTED)
    const before = await lamportsOf(address)
    const refused = await svc('wallet', 'send', someAddress(), '1', '-k', url)
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refused.stderr).toContain('the transaction was rejected on the Ledger; the transaction was not signed')
    expect(refused.stderr).not.toMatch(STACK_FRAME)
    const asJson = await svc('wallet', 'send', someAddress(), '1', '-k', url, '--json')
    expect(JSON.parse(asJson.stderr)).toMatchObject({ error: { message: expect.stringContaining('was rejected') } })
    expect(await lamportsOf(address)).toBe(before)
  })

  it('asks again with a fresh blockhash if the person took longer than one lasts', async () => {
    const { svc, ledger, url, person } = await connected('slow')
    const recipient = someAddress()
    person(async () => {
      if (ledger.shown.length === 1) await cli.json(['localnet', 'advance', A_WHILE])
      return OK
    })
    const sent = await svc('wallet', 'send', recipient, '1', '-k', url)
    expect(sent.exitCode, sent.stderr).toBe(0)
    expect(sent.stderr).toMatch(
      /the blockhash expired before you had confirmed, so nothing was sent: confirm again, within/,
    )
    expect([ledger.shown.length, await lamportsOf(recipient)]).toEqual([2, 1_000_000_000n])
  })

  it('gives up after three times, and nothing was sent', async () => {
    const { svc, ledger, url, person } = await connected('too slow')
    const recipient = someAddress()
    person(async () => {
      await cli.json(['localnet', 'advance', A_WHILE])
      return OK
    })
    const late = await svc('wallet', 'send', recipient, '1', '-k', url)
    expect([late.exitCode, ledger.shown.length, await lamportsOf(recipient)]).toEqual([1, 3, 0n])
    expect(late.stderr).toContain('a blockhash expired 3 times before you had confirmed; nothing of it was sent')
    expect(late.stderr).toMatch(/confirm within about \d+ seconds/)
  })

  itInSoak('that can sign later lets the person take any time, and is asked once', async () => {
    const { svc, json, ledger, url, person } = await connected('later')
    ledger.state.signsDelayed = true
    const recipient = someAddress()
    person(async () => {
      await cli.json(['localnet', 'advance', A_WHILE])
      return OK
    })
    const sent = await svc('wallet', 'send', recipient, '1', '-k', url)
    expect(sent.exitCode, sent.stderr).toBe(0)
    expect(sent.stderr).not.toContain('expired')
    expect([ledger.shown.length, await lamportsOf(recipient)]).toEqual([1, 1_000_000_000n])
    // The key of the mint signs again, too.
    const token = ['--name', 'Late', '--symbol', 'LATE', '--uri', 'https://example.com/late.json', '--supply', '9']
    const made = await json('tokens', 'create', ...token, '--token-program', 'token2022', '-k', url)
    expect(made).toMatchObject({ lifecycle: CONFIRMED })
    expect(ledger.shown).toHaveLength(2)
  })

  itInSoak('pays a list one batch at a time', async () => {
    const { json, ledger, url } = await connected('batches')
    const token = ['--name', 'Paid', '--symbol', 'PAID', '--uri', 'https://example.com/paid.json', '--supply', '1000']
    const { mint } = await json('tokens', 'create', ...token, '--token-program', 'token2022', '-k', url)
    const wallets = Array.from({ length: 30 }, someAddress)
    const list = cli.file('paid.csv', ['wallet,amount', ...wallets.map((wallet) => `${wallet},1`)].join('\n'))
    let open = 0
    ledger.state.person = async () => {
      expect(++open).toBe(1)
      // The first of each two takes too long, and is asked again.
      if (ledger.shown.length % 2 === 0) await cli.json(['localnet', 'advance', A_WHILE])
      open--
      return OK
    }
    await json('airdrops', 'send', list, '--mint', mint, '--decimals', '6', '-k', url)
    const held = async (wallet: string) => (await json('wallet', 'balance', wallet, '--mint', mint)).tokens[0]?.amount
    expect([await held(wallets[0] ?? ''), await held(wallets[29] ?? '')]).toEqual(['1000000', '1000000'])
    expect(ledger.shown.length).toBeGreaterThan(3)
  })

  it.skipIf(lacksCore || !inSoak)(
    'whose person rejects one asset of a list is not asked for it again',
    { tags: 'sampled' },
    async () => {
      const { svc, json, ledger, url } = await connected('rejected assets')
      const { collection } = await json(
        'collections',
        'create',
        '--name',
        'No',
        '--uri',
        'https://example.com/n',
        '-k',
        url,
      )
      ledger.state.person = () => REJECTED
      const list = cli.file('rejected.csv', 'name,uri\nA,https://example.com/a\nB,https://example.com/b\n')
      const refused = await svc('nfts', 'mint', '--from', list, '--collection', collection, '-k', url)
      expect(refused.exitCode).not.toBe(0)
      expect(`${refused.stdout}${refused.stderr}`).toContain('was rejected on the Ledger')
      expect(ledger.shown).toHaveLength(2)
    },
  )

  it('whose app does not know version 1 is refused before anything is sent, and signs it once it does', async () => {
    const { svc, json, ledger, url, address } = await connected('versions')
    const before = await lamportsOf(address)
    const send = ['wallet', 'send', someAddress(), '1', '-k', url, '--tx-version', '1']
    const refused = await svc(...send)
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain('does not sign transactions of version 1')
    expect(refused.stderr).toContain('use --tx-version 0')
    expect(await lamportsOf(address)).toBe(before)
    ledger.state.knowsVersion1 = true
    expect(await json(...send)).toMatchObject({ lifecycle: CONFIRMED })
  })

  it('that is not connected, or another one, ends a command before it builds anything', async () => {
    const { svc, ledger, url, address } = await connected('absent')
    const other = new LedgerEmulator('other')
    const named = `usb://ledger/${address}`
    const wrong = await cli.svc(['wallet', 'send', someAddress(), '1', '-k', named], {
      ledgers: LedgerEmulator.at(other),
    })
    expect(wrong).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('this is another Ledger') })
    ledger.state.isConnected = false
    const absent = await svc('wallet', 'send', someAddress(), '1', '-k', url)
    expect(absent).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no Ledger is connected') })
  })

  it('approves an act that needs approvals, with the text that it shows', async () => {
    const { svc, ledger, url, address, person } = await connected('approves', [4])
    const accepted = async (method: string, path: string, body: object, status: number) => {
      const answer = await daemon.request(method, path, { body })
      expect(answer.status, answer.text).toBe(status)
      return answer.json.data
    }
    await accepted('POST', '/v2/approvers', { address, name: 'cold' }, 201)
    const never = { tokens: [], destination: false, authority: false, delegate: false, power: false, close: false }
    const limits = { lamports_per_transaction: '1000000', lamports_per_day: '1000000' }
    const rules = { ...limits, ...never, operations: [], hours: null }
    await accepted('PATCH', '/v2/signer/policy', { approvals: { needed: 1, expires_in: 3600, rules } }, 200)
    const { proposal } = await accepted('POST', '/v2/signer/tests', { submit: true, memo: 'cold' }, 202)
    person(() => REJECTED)
    const refused = await svc('proposals', 'approve', proposal.id, '-k', url, '--yes')
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refused.stderr).toContain('the text was rejected on the Ledger; the text was not signed')
    person(() => OK)
    const approved = await svc('proposals', 'approve', proposal.id, '-k', url, '--yes')
    expect(approved.exitCode, approved.stderr).toBe(0)
    expect(approved.stdout).toContain(`Executed ${proposal.id}`)
    const shown = ledger.shown.map(({ kind, message }) => `${kind} ${message.toString('latin1', 85)}`)
    expect(shown).toEqual(Array(2).fill(expect.stringMatching(/^text svc: approve this act \| .* \| proposal /)))
  })

  it.skipIf(lacksCore)('mints a list one asset at a time', async () => {
    const { json, ledger, url } = await connected('assets')
    const { collection } = await json(
      'collections',
      'create',
      '--name',
      'Cold',
      '--uri',
      'https://example.com/c',
      '-k',
      url,
    )
    const rows = ['name,uri,owner', ...[1, 2, 3].map((n) => `A${n},https://example.com/${n},${someAddress()}`)]
    const list = cli.file('assets.csv', `${rows.join('\n')}\n`)
    let open = 0
    ledger.state.person = async () => {
      expect(++open).toBe(1)
      await new Promise((resolve) => setImmediate(resolve))
      open--
      return OK
    }
    const minted = await json('nfts', 'mint', '--from', list, '--collection', collection, '-k', url)
    expect(minted.minted ?? minted).toBeTruthy()
    expect(ledger.shown).toHaveLength(4)
  })
})

describe('The built command', () => {
  const send = () => ['wallet', 'send', someAddress(), '1', '-k', 'usb://ledger']
  /** A folder of packages in which the one of the transport has this text; the others are those of the clone. */
  const packages = (name: string, text: string) => {
    const folder = join(cli.home, name, TRANSPORT)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'index.js'), text)
    return { NODE_PATH: join(cli.home, name) }
  }

  it('without the packages says in one sentence how to install them', async () => {
    const { exitCode, stdout, stderr } = await cli.spawned(send())
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`a Ledger needs the package ${TRANSPORT}, which is not installed`)
    expect(stderr).toMatch(/npm install --\S+ @ledgerhq\/hw-app-solana@\d+\.\d+\.\d+ @ledgerhq\/hw-transport-node-hid-/)
    expect(stderr).not.toMatch(STACK_FRAME)
  })

  it('with packages that do not load says why, and how to install them again', async () => {
    for (const text of [
      'require("./gone")',
      'exports.default = { list() { throw new Error("Could not locate the bindings file. Tried:\\n x") } }',
    ]) {
      const { exitCode, stderr } = await cli.spawned(send(), { env: packages(`broken-${text.length}`, text) })
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('the packages of a Ledger do not load here: ')])
      expect(stderr).toContain('install them again: `npm install')
    }
  })

  it('ends at Ctrl-C while a thread waits for the device', async () => {
    const { address } = await connected('process')
    const key = new LedgerEmulator('process').key("44'/501'")
    expect(key.address).toBe(address)
    const pipe = join(cli.home, 'never-written')
    await execa('mkfifo', [pipe])
    // As the package of the transport reads: in a thread that nothing but the device wakes.
    const text = `
      const Transport = require(${JSON.stringify(createRequire(import.meta.url).resolve('@ledgerhq/hw-transport'))}).default
      class Waiting extends Transport {
        async exchange(apdu) {
          if (apdu[1] === 4) return Buffer.from('00000109029000', 'hex')
          if (apdu[1] === 5) return Buffer.from('${Buffer.from(key.publicKey).toString('hex')}9000', 'hex')
          return require('node:fs').promises.readFile(${JSON.stringify(pipe)})
        }
      }
      exports.default = { list: async () => ['one'], open: async () => new Waiting() }`
    const running = started(cli, send(), packages('waiting', text))
    await running.says('If the device shows a message hash')
    // No exit code: the signal itself has ended it, for which a shell reports 130.
    expect(await running.stopped('SIGINT')).toBeUndefined()
  })
})

describe.skipIf(lacksPrograms)('A launch', () => {
  let logo = ''
  beforeAll(() => {
    logo = cli.file('logo.png', png())
  })
  const launchOf = (name: string, symbol: string, url: string) => [
    ...['pools', 'create', '--name', name, '--symbol', symbol, '--image', logo, '--buy', '0.1', '-k', url],
    // The mint is a key of the user's, which signs here besides the device.
    ...['--mint-keypair', cli.keypair(`${symbol}.json`).file],
  ]

  it('is confirmed on a Ledger one transaction at a time, each with a blockhash of its own', async () => {
    const { svc, ledger, url, person } = await connected('launches')
    person(async () => {
      // Both together take longer than the 15 seconds of a blockhash here.
      await cli.json(['localnet', 'advance', '10'])
      return OK
    })
    const launched = await svc(...launchOf('Cold', 'COLD', url), '--json')
    expect(launched.exitCode, launched.stderr).toBe(0)
    const { address } = JSON.parse(launched.stdout)
    expect(await cli.json(['pools', 'verify', address])).toMatchObject({ verified: true })
    expect(ledger.shown.length).toBeGreaterThan(1)
  })

  itInSoak('is confirmed on a Ledger that can sign later, whatever time that takes', async () => {
    const { svc, ledger, url, person } = await connected('late launches')
    ledger.state.signsDelayed = true
    person(async () => {
      await cli.json(['localnet', 'advance', A_WHILE])
      return OK
    })
    const launched = await svc(...launchOf('Late', 'LATE', url), '--json')
    expect(launched.exitCode, launched.stderr).toBe(0)
    expect(await cli.json(['pools', 'verify', JSON.parse(launched.stdout).address])).toMatchObject({ verified: true })
    expect(ledger.shown).toHaveLength(2)
  })

  itInSoak('that is rejected halfway is continued by the same command', async () => {
    const { svc, ledger, url, person } = await connected('half')
    person(() => (ledger.shown.length === 2 ? REJECTED : OK))
    const launch = launchOf('Half', 'HLF', url)
    const half = await svc(...launch)
    expect(half.exitCode).toBe(1)
    expect(half.stderr).toContain('Confirm the transaction 2 of')
    expect(half.stderr).toContain('was rejected on the Ledger')
    expect(half.stderr).toContain('landed before it: ')
    expect(half.stderr).toContain('run the same command again: it continues this launch')
    const rest = await svc(...launch, '--json')
    expect(rest.exitCode, rest.stderr).toBe(0)
    expect(rest.stderr).not.toContain('transaction 1 of')
  })
})

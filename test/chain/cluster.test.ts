/** Which chain the settings lead to, what of an RPC URL is ever shown, and how a process opens its chain. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { openChain } from '../../src/chain/connection.ts'
import { chainOwner, claimChain } from '../../src/chain/owner.ts'
import { requireProgram } from '../../src/chain/programs/required-program.ts'
import { lockFolder } from '../../src/platform/folder-lock.ts'
import { clusterOf, parseCluster, publicRpcUrl } from '../../src/settings/cluster.ts'
import { loadConfig, redactUrl, type SettingName } from '../../src/settings/config.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { web3Over } from '../support/node.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

const home = makeSharedFolder('svc-cluster-')
afterAll(() => rmSync(home, { recursive: true, force: true }))
let folders = 0

/** A configuration in a home of its own; `solana` is the text of the Solana CLI's file. */
function config({
  url,
  env = {},
  project,
  profile = {},
  solana,
  flags = {},
}: {
  url?: string
  env?: Record<string, string>
  project?: Record<string, unknown>
  profile?: Record<string, unknown>
  solana?: string
  flags?: Partial<Record<SettingName, unknown>>
} = {}) {
  const folder = join(home, String(folders++))
  mkdirSync(join(folder, '.config/solana/cli'), { recursive: true })
  if (solana !== undefined) writeFileSync(join(folder, '.config/solana/cli/config.yml'), solana)
  if (project !== undefined) writeFileSync(join(folder, 'svc.json'), JSON.stringify(project))
  return loadConfig({
    flags: { ...flags, ...(url === undefined ? {} : { url }) },
    env: { HOME: folder, ...env },
    cwd: folder,
    profile,
  })
}

describe('a cluster', () => {
  it.each([
    ['embedded', 'embedded', 'http://127.0.0.1:8899', 'ws://127.0.0.1:8900/'],
    ['m', 'mainnet-beta', 'https://api.mainnet-beta.solana.com', 'wss://api.mainnet-beta.solana.com/'],
    ['mainnet-beta', 'mainnet-beta', 'https://api.mainnet-beta.solana.com', 'wss://api.mainnet-beta.solana.com/'],
    ['d', 'devnet', 'https://api.devnet.solana.com', 'wss://api.devnet.solana.com/'],
    ['devnet', 'devnet', 'https://api.devnet.solana.com', 'wss://api.devnet.solana.com/'],
    ['t', 'testnet', 'https://api.testnet.solana.com', 'wss://api.testnet.solana.com/'],
    ['testnet', 'testnet', 'https://api.testnet.solana.com', 'wss://api.testnet.solana.com/'],
    ['l', 'localhost', 'http://127.0.0.1:8899', 'ws://127.0.0.1:8900/'],
    ['localhost', 'localhost', 'http://127.0.0.1:8899', 'ws://127.0.0.1:8900/'],
  ])('is named %s as in the Solana CLI', (moniker, kind, rpcUrl, wsUrl) => {
    expect(parseCluster(moniker)).toEqual({ kind, label: kind, rpcUrl, wsUrl })
    expect(clusterOf(config({ url: moniker })).kind).toBe(kind)
  })

  it.each([
    ['https://api.devnet.solana.com/', 'devnet', 'devnet', 'wss://api.devnet.solana.com/'],
    ['http://localhost:8899', 'localhost', 'localhost', 'ws://localhost:8900/'],
    ['https://rpc.example.com/v2/key?api-key=k', 'custom', 'rpc.example.com', 'wss://rpc.example.com/v2/key?api-key=k'],
    ['http://10.0.0.7:9000/x', 'custom', '10.0.0.7:9000', 'ws://10.0.0.7:9001/x'],
    ['http://user:pass@[::1]:8899', 'custom', '[::1]:8899', 'ws://user:pass@[::1]:8900/'],
    ['https://api.devnet.solana.com/?key=k', 'custom', 'api.devnet.solana.com', 'wss://api.devnet.solana.com/?key=k'],
  ])('with the URL %s has its WebSocket on the next port if the URL has a port', (url, kind, label, wsUrl) => {
    expect(parseCluster(url)).toMatchObject({ kind, label, wsUrl, rpcUrl: new URL(url).href })
  })

  it('follows rpc-port if it is the embedded one', () => {
    expect(clusterOf(config({ flags: { 'rpc-port': '9001' } }))).toMatchObject({
      kind: 'embedded',
      rpcUrl: 'http://127.0.0.1:9001',
      wsUrl: 'ws://127.0.0.1:9002/',
    })
  })

  it('is refused by the name of the setting if it is neither a word nor a URL, without repeating a possible key', () => {
    for (const url of ['mainnet', 'ftp://h/secret', 'https//h?key=secret', 'http://', 'rpc.example.com/secret']) {
      const refusal = () => config({ env: { SVC_URL: url } })
      expect(refusal).toThrow(/^url \(SVC_URL\) must be embedded, mainnet-beta, .* or an http or https URL$/)
    }
    expect(() => config({ flags: { 'public-rpc-url': 'embedded' } })).toThrow(
      'public-rpc-url (--public-rpc-url) must be an http or https URL',
    )
  })
})

describe('the settings of a cluster', () => {
  const solana = 'json_rpc_url: "https://api.testnet.solana.com"\nwebsocket_url: ""\n'

  it('choose by flag, environment, project, profile, then the Solana CLI, then the embedded chain', () => {
    const all = {
      env: { SVC_URL: 'd' },
      project: { url: 'localhost' },
      profile: { url: 'http://profile' },
      solana,
    }
    const chosen = (given: Parameters<typeof config>[0]) => {
      const settled = config(given)
      return [clusterOf(settled).label, settled.origins.url]
    }
    expect(chosen({ ...all, url: 'm' })).toEqual(['mainnet-beta', 'flag'])
    expect(chosen(all)).toEqual(['devnet', 'environment'])
    expect(chosen({ ...all, env: {} })).toEqual(['localhost', 'project'])
    expect(chosen({ profile: all.profile, solana })).toEqual(['profile', 'profile'])
    expect(chosen({ solana })).toEqual(['testnet', 'solana'])
    expect(chosen({})).toEqual(['embedded', 'default'])
    expect(chosen({ env: { SVC_URL: '' }, solana })).toEqual(['testnet', 'solana'])
    expect(chosen({ url: 'embedded', solana })).toEqual(['embedded', 'flag'])
  })

  it.each([
    ['---\njson_rpc_url: http://127.0.0.1:8899\nkeypair_path: x\n', 'localhost'],
    ["json_rpc_url: 'https://rpc.example.com/k'  # mine\r\n", 'rpc.example.com'],
    ['json_rpc_url:\t"https://rpc.example.com/#a"\n', 'rpc.example.com'],
    ['json_rpc_url: ""\n', 'embedded'],
    ['# json_rpc_url: "https://rpc.example.com"\n', 'embedded'],
    ['other:\n  json_rpc_url: "https://rpc.example.com"\n', 'embedded'],
    ['json_rpc_url: !!js/function "https://rpc.example.com"\n', 'embedded'],
    ['json_rpc_url: "file:///etc/passwd"\n', 'embedded'],
    ['json_rpc_url: "https://\\u0061"\n', 'embedded'],
    ['json_rpc_url: [\n', 'embedded'],
    ['\0\xff', 'embedded'],
  ])('read no more than json_rpc_url from the Solana CLI: %j', (text, label) => {
    expect(clusterOf(config({ solana: text })).label).toBe(label)
  })

  it('ignore a file of the Solana CLI that is too long', () => {
    const text = `#${'x'.repeat(70_000)}\njson_rpc_url: "https://rpc.example.com"\n`
    expect(clusterOf(config({ solana: text })).label).toBe('embedded')
  })

  it('give clients the public URL, and only the host of a private one', () => {
    const shown = (given: Parameters<typeof config>[0]) => {
      const settled = config(given)
      return publicRpcUrl(settled, clusterOf(settled))
    }
    expect(shown({ url: 'https://rpc.example.com/secret?api-key=secret' })).toBe('https://rpc.example.com')
    expect(
      shown({ url: 'https://u:secret@rpc.example.com', flags: { 'public-rpc-url': 'https://pub.example/x' } }),
    ).toBe('https://pub.example/x')
    expect(shown({ url: 'd' })).toBe('https://api.devnet.solana.com')
    expect(shown({})).toBe('http://127.0.0.1:8899')
  })

  it('never show what is beside the host of a URL', () => {
    const key = fc.stringMatching(/^[a-zA-Z0-9]{12,40}$/)
    fc.assert(
      fc.property(key, key, key, fc.constantFrom('http', 'https'), (user, path, query, protocol) => {
        const url = `${protocol}://${user}:${user}@rpc.example.com:7777/${path}/v0?api-key=${query}#${query}`
        expect(redactUrl(url)).toBe('rpc.example.com:7777')
        expect(parseCluster(url).label).toBe('rpc.example.com:7777')
      }),
    )
  })
})

describe('the chain of a process', () => {
  const opened = (given: Parameters<typeof config>[0] = {}, lockTimeoutMs = 0) => {
    const settled = config(given)
    const chain = openChain(settled, { lockTimeoutMs })
    onTestFinished(() => chain.close())
    return { settled, chain }
  }

  it('opens the embedded one at its first use, answers in process and keeps its state', async () => {
    const { settled, chain } = opened()
    await chain.ping()
    expect(() => mkdirSync(settled.dataDir, { recursive: false })).toThrow('ENOENT')
    const { Keypair } = await import('@solana/web3.js')
    const wallet = Keypair.generate().publicKey
    const connection = web3Over(chain)
    const signature = (await chain.local()).airdrop(wallet.toBase58(), 1_500_000_000n)
    expect(await connection.getBalance(wallet, 'processed')).toBe(1_500_000_000)
    await chain.ping()
    await chain.close()
    const again = openChain(settled)
    onTestFinished(() => again.close())
    expect((await again.local()).transaction(signature)?.err).toBeNull()
  })

  it('says which process has the embedded one, and opens it as soon as that process releases it', async () => {
    const first = opened()
    await first.chain.local()
    const second = openChain(first.settled, { lockTimeoutMs: 0 })
    onTestFinished(() => second.close())
    await expect(second.local()).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining(`in use by process ${process.pid}`),
    })
    await expect(second.call('getSlot', [])).rejects.toMatchObject({ code: 'internal_error' })
    await first.chain.close()
    expect((await second.local()).slot()).toBeGreaterThan(0)
  })

  it('asks the process that serves the embedded one, if its file names a running one', async () => {
    const seen: string[] = []
    const url = await answering((body) => {
      seen.push(JSON.parse(body).method)
      return { status: 200, text: JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, result: 77 }) }
    })
    const { settled, chain } = opened()
    mkdirSync(settled.dataDir, { recursive: true })
    claimChain(settled.dataDir, { rpc_url: url, ws_url: 'ws://127.0.0.1:1' })
    const file = join(settled.dataDir, 'localnet.json')
    const unlock = await lockFolder(settled.dataDir, 'chain')
    onTestFinished(() => unlock?.())
    writeFileSync(file, JSON.stringify({ pid: process.ppid, rpc_url: url, ws_url: 'ws://127.0.0.1:1' }))
    expect(await chain.call('getSlot', [])).toBe(77)
    expect(chain.endpoint()).toEqual({ rpcUrl: url, wsUrl: 'ws://127.0.0.1:1' })
    await expect(chain.local()).rejects.toThrow(`in use by process ${process.ppid}`)
    writeFileSync(file, JSON.stringify({ pid: 2 ** 22 + 1, rpc_url: url, ws_url: 'ws://127.0.0.1:1' }))
    expect((await chain.local()).slot()).toBeGreaterThan(0)
    expect(seen).toEqual(['getSlot'])
  })

  it('ignores the file of a process that ended, even if its id is in use again', async () => {
    const { settled, chain } = opened()
    mkdirSync(settled.dataDir, { recursive: true })
    const file = join(settled.dataDir, 'localnet.json')
    writeFileSync(
      file,
      JSON.stringify({ pid: process.ppid, rpc_url: 'http://127.0.0.1:1', ws_url: 'ws://127.0.0.1:2' }),
    )
    expect(chainOwner(settled.dataDir)).toBeUndefined()
    const unlock = await lockFolder(settled.dataDir, 'chain')
    expect(chainOwner(settled.dataDir)?.pid).toBe(process.ppid)
    expect(chainOwner(settled.dataDir)?.pid).toBe(process.ppid)
    expect(await lockFolder(settled.dataDir, 'chain')).toBeUndefined()
    unlock?.()
    expect(chainOwner(settled.dataDir)).toBeUndefined()
    expect(chain.endpoint()).toBeNull()
    expect((await chain.local()).slot()).toBeGreaterThan(0)
  })

  it('sends the user of a cluster URL in a header', async () => {
    const seen: (string | undefined)[] = []
    const url = await answering((body, authorization) => {
      seen.push(authorization)
      return { status: 200, text: JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, result: 42 }) }
    })
    const { chain } = opened({ url: url.replace('//', '//someone:pass%20word@') })
    expect(await chain.call('getSlot', [])).toBe(42)
    expect(seen).toEqual([`Basic ${Buffer.from('someone:pass word').toString('base64')}`])
  })

  it('reaches a cluster through its URL, and names only the host in a failure', async () => {
    const url = await answering((body) => ({
      status: 200,
      text: JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, result: 42 }),
    }))
    const reached = opened({ url: `${url}/secret-path?api-key=secret-query` })
    expect(await reached.chain.call('getSlot', [])).toBe(42)
    await reached.chain.ping()
    await expect(reached.chain.local()).rejects.toThrow('is not the embedded chain')

    const host = `127.0.0.1:${await closedPort()}`
    const closed = opened({ url: `http://${host}/secret-path?api-key=secret-query` })
    const failure = await closed.chain.ping().catch((error) => error)
    expect(failure.code).toBe('internal_error')
    expect(failure.message).toBe(`The RPC node of ${host}, from --url, cannot be reached (ECONNREFUSED)`)
    expect(JSON.stringify(failure) + failure.stack).not.toContain('secret')
  })

  it('names the missing program and how to get it', async () => {
    const { chain } = opened()
    await expect(requireProgram(chain, PROGRAMS.dbc)).rejects.toMatchObject({
      code: 'internal_error',
      message: `Meteora DBC (${PROGRAMS.dbc.id}) is not on embedded: fill the program cache with \`svc localnet pull\``,
    })
    const token = { name: 'SPL Token', id: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', accounts: [] }
    await requireProgram(chain, token)
    // A mint is an account, and no program.
    const mint = { name: 'a mint', id: 'So11111111111111111111111111111111111111112', accounts: [] }
    await expect(requireProgram(chain, mint)).rejects.toThrow('a mint')
  })
})

/** A port that nothing listens on. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A server that answers every POST with what `answer` says; closed with the test. */
async function answering(
  answer: (body: string, authorization?: string) => { status: number; text: string },
): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text) => {
      body += text
    })
    request.on('end', () => {
      const { status, text } = answer(body, request.headers.authorization)
      response.writeHead(status, { 'content-type': 'application/json' }).end(text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Filling the program cache, from a real JSON-RPC server and from a folder, and what is refused on the way. */

import { hash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readCache, readManifest } from '../../src/chain/program-cache/cache.ts'
import { checkElf } from '../../src/chain/program-cache/elf.ts'
import { type Pulled, pullPrograms } from '../../src/chain/program-cache/pull.ts'
import { folderSource, rpcSource } from '../../src/chain/program-cache/source.ts'
import { openLocalChain } from '../../src/localnet/index.ts'
import { type LocalnetServer, serveLocalnet } from '../../src/localnet/server.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import { LOADER_V1, LOADER_V2, LOADER_V4, UPGRADEABLE_LOADER } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

const ATA_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
const NOW = Date.UTC(2026, 5, 1, 12)
const home = makeSharedFolder('svc-programs-')

let chain: LocalChain
let server: LocalnetServer
/** A real program, as the runtime carries it. */
let elf: Uint8Array

beforeAll(async () => {
  chain = await openLocalChain({ dataDir: join(home, 'chain'), programsDir: join(home, 'none') })
  server = await serveLocalnet({ chain, port: 0 })
  elf = chain.account(ATA_PROGRAM)!.data
})
afterAll(async () => {
  await server.close()
  chain.close()
  rmSync(home, { recursive: true, force: true })
})

const folder = () => mkdtempSync(join(home, 'cache-'))
const key = (seed: number) => base58.encode(new Uint8Array(32).fill(seed))
const held = (owner: string, data: Uint8Array, executable = false) => ({
  lamports: 10n ** 10n,
  owner,
  data,
  executable,
})

/** Program and program data accounts, laid out as the upgradeable loader does; the runtime verifies what is executable. */
function deploy(id: string, dataAddress: string, binary: Uint8Array, padding = 0, executable = true): void {
  const program = Buffer.alloc(36)
  program.writeUInt32LE(2)
  program.set(base58.decode(dataAddress), 4)
  const header = Buffer.alloc(45)
  header.writeUInt32LE(3)
  header.writeBigUInt64LE(7n, 4)
  header[12] = 1
  chain.setAccount(dataAddress, held(UPGRADEABLE_LOADER, Buffer.concat([header, binary, Buffer.alloc(padding)])))
  chain.setAccount(id, held(UPGRADEABLE_LOADER, program, executable))
}

const source = () => rpcSource({ rpcUrl: server.url, label: 'test cluster' })
const pull = (into: string, programs?: string[], from = source()) =>
  pullPrograms({ folder: into, source: from, programs, now: () => NOW })
const short = (rows: Pulled[]) => rows.map(({ status, address, error }) => [status, address, error])
const only = (address: string) => (row: Pulled) => row.address === address

describe('a pull from a cluster', () => {
  it('extracts programs of every loader from their accounts, and clones the accounts they need', async () => {
    deploy(PROGRAMS.core.id, key(1), elf, 64)
    chain.setAccount(PROGRAMS.lock.id, held(LOADER_V2, elf, true))
    chain.setAccount(PROGRAMS.distributor.id, held(LOADER_V1, elf, true))
    const header = Buffer.alloc(48, 1)
    chain.setAccount(PROGRAMS.tokenMetadata.id, held(LOADER_V4, Buffer.concat([header, elf]), true))
    deploy(PROGRAMS.dbc.id, key(2), elf)
    const [pool] = PROGRAMS.dbc.accounts
    chain.setAccount(pool, { ...held(key(9), Uint8Array.of(1, 2, 3)), lamports: 9_007_199_254_740_991n })

    const cache = folder()
    const steps: [number, number][] = []
    const rows = await pullPrograms({
      folder: cache,
      source: source(),
      programs: ['core', 'lock', 'distributor', 'token-metadata', PROGRAMS.dbc.id],
      now: () => NOW,
      onProgress: (done, total) => steps.push([done, total]),
    })
    expect(rows.map(({ status, kind }) => [status, kind])).toEqual([
      ['written', 'program'],
      ['written', 'program'],
      ['written', 'program'],
      ['written', 'program'],
      ['written', 'program'],
      ['written', 'account'],
    ])
    expect([steps[0], steps.at(-1)]).toEqual([
      [0, 6],
      [6, 6],
    ])
    const padded = Buffer.concat([elf, Buffer.alloc(64)])
    for (const [id, bytes] of [
      [PROGRAMS.core.id, padded],
      [PROGRAMS.lock.id, elf],
      [PROGRAMS.distributor.id, elf],
      [PROGRAMS.tokenMetadata.id, elf],
      [PROGRAMS.dbc.id, elf],
    ] as const) {
      expect(readFileSync(join(cache, `${id}.so`)).equals(bytes), id).toBe(true)
    }
    expect(JSON.parse(readFileSync(join(cache, 'accounts', `${pool}.json`), 'utf8'))).toEqual({
      lamports: '9007199254740991',
      owner: key(9),
      data: 'AQID',
      executable: false,
    })
    const manifest = readManifest(cache)!
    expect(manifest.programs[PROGRAMS.core.id]).toEqual({
      name: 'Metaplex Core',
      loader: UPGRADEABLE_LOADER,
      sha256: hash('sha256', padded, 'hex'),
      size: padded.length,
      source: 'test cluster',
      slot: expect.any(Number),
      fetched_at: '2026-06-01T12:00:00.000Z',
    })
    expect(Object.values(manifest.programs).map(({ loader }) => loader)).toEqual([
      UPGRADEABLE_LOADER,
      LOADER_V2,
      LOADER_V1,
      LOADER_V4,
      UPGRADEABLE_LOADER,
    ])
    expect(manifest.accounts[pool]).toMatchObject({ size: expect.any(Number), source: 'test cluster' })
    expect(readdirSync(cache).sort()).toEqual(
      [
        `${PROGRAMS.core.id}.so`,
        `${PROGRAMS.lock.id}.so`,
        'accounts',
        `${PROGRAMS.dbc.id}.so`,
        `${PROGRAMS.distributor.id}.so`,
        'manifest.json',
        `${PROGRAMS.tokenMetadata.id}.so`,
      ].sort(),
    )
  })

  it('gives a chain working programs and their accounts', async () => {
    deploy(PROGRAMS.dbc.id, key(2), elf, 1000)
    const [pool] = PROGRAMS.dbc.accounts
    chain.setAccount(pool, held(key(9), Uint8Array.of(1, 2, 3)))
    const cache = folder()
    await pull(cache, ['dbc'])
    const other = await openLocalChain({ dataDir: folder(), programsDir: cache })
    onTestFinished(() => other.close())
    const { programs, warnings } = other.status()
    expect(warnings).toEqual([])
    expect(programs.find(({ id }) => id === PROGRAMS.dbc.id)?.loaded).toBe(true)
    expect(other.account(PROGRAMS.dbc.id)?.executable).toBe(true)
    expect(other.account(pool)).toMatchObject({ owner: key(9), data: Uint8Array.of(1, 2, 3) })
  })

  it('leaves equal files unchanged, and replaces new or locally changed ones', async () => {
    deploy(PROGRAMS.core.id, key(1), elf)
    const cache = folder()
    await pull(cache, ['core'])
    const manifest = readFileSync(join(cache, 'manifest.json'), 'utf8')
    expect(short(await pull(cache, ['core']))).toEqual([['unchanged', PROGRAMS.core.id, null]])
    expect(readFileSync(join(cache, 'manifest.json'), 'utf8')).toBe(manifest)

    writeFileSync(join(cache, `${PROGRAMS.core.id}.so`), 'changed')
    expect(readCache(cache).find(({ key }) => key === 'core')).toMatchObject({
      sha256: hash('sha256', 'changed', 'hex'),
      entry: { sha256: hash('sha256', elf, 'hex') },
    })
    expect(short(await pull(cache, ['core']))).toEqual([['written', PROGRAMS.core.id, null]])

    deploy(PROGRAMS.core.id, key(1), elf, 8)
    expect(short(await pull(cache, ['core']))).toEqual([['written', PROGRAMS.core.id, null]])
    expect(readManifest(cache)!.programs[PROGRAMS.core.id]!.size).toBe(elf.length + 8)

    rmSync(join(cache, 'manifest.json'))
    expect(short(await pull(cache, ['core']))).toEqual([['unchanged', PROGRAMS.core.id, null]])
    expect(readManifest(cache)!.programs[PROGRAMS.core.id]!.sha256).toBe(
      readCache(cache).find(({ key }) => key === 'core')!.sha256,
    )
  })

  it('reports why a program is left out, writes nothing of it and continues with the rest', async () => {
    deploy(PROGRAMS.core.id, key(1), elf)
    deploy(PROGRAMS.lock.id, key(3), elf.subarray(0, elf.length - 100), 0, false)
    deploy(PROGRAMS.distributor.id, key(4), Buffer.from('not a program'), 0, false)
    const dangling = Buffer.alloc(36)
    dangling.writeUInt32LE(2)
    dangling.set(base58.decode(key(5)), 4)
    chain.setAccount(PROGRAMS.tokenMetadata.id, held(UPGRADEABLE_LOADER, dangling))
    chain.setAccount(PROGRAMS.dbc.id, held(key(6), elf))
    // Anybody can make an account that looks like program data.
    const [header, program] = [Buffer.alloc(45), Buffer.alloc(36)]
    header.writeUInt32LE(3)
    program.writeUInt32LE(2)
    program.set(base58.decode(key(7)), 4)
    chain.setAccount(key(7), held(key(8), Buffer.concat([header, elf])))
    chain.setAccount(PROGRAMS.dammV2.id, held(UPGRADEABLE_LOADER, program))
    const cache = folder()
    writeFileSync(join(cache, `${PROGRAMS.lock.id}.so`), elf)
    const rows = await pull(cache)
    const of = (id: string) => rows.find(only(id))
    expect(of(PROGRAMS.core.id)).toMatchObject({ status: 'written' })
    expect(of(PROGRAMS.lock.id)).toMatchObject({
      status: 'failed',
      error: `the ELF file is cut short: ${elf.length - 100} bytes of ${elf.length}`,
    })
    expect(of(PROGRAMS.distributor.id)).toMatchObject({ status: 'failed', error: 'it is not an ELF file' })
    expect(of(PROGRAMS.tokenMetadata.id)).toMatchObject({ status: 'failed', error: expect.stringContaining('closed') })
    expect(of(PROGRAMS.dbc.id)).toMatchObject({ status: 'failed', error: expect.stringContaining(key(6)) })
    expect(of(PROGRAMS.dammV2.id)).toMatchObject({
      status: 'failed',
      error: `its program data account belongs to ${key(8)}, which is not a loader`,
    })
    expect(
      readdirSync(cache)
        .filter((name) => name.endsWith('.so'))
        .sort(),
    ).toEqual([`${PROGRAMS.core.id}.so`, `${PROGRAMS.lock.id}.so`].sort())
    expect(readFileSync(join(cache, `${PROGRAMS.lock.id}.so`)).equals(elf)).toBe(true)
    expect(Object.keys(readManifest(cache)!.programs)).toEqual([PROGRAMS.core.id])
  })

  it('refuses an unknown program, and names the known ones', async () => {
    await expect(pull(folder(), ['serum'])).rejects.toThrow(/there is no program "serum"; there are dbc, damm-v2/)
  })
})

describe('a faulty RPC node', () => {
  it.each([
    ['404', 404, 'nothing here', 'the RPC node answers 404', 1],
    ['an HTML page', 200, '<html>', 'the RPC node answers something that is not JSON-RPC', 1],
    ['no account', 200, '{"result":{"value":3}}', 'the RPC node answers something that is not an account', 1],
    [
      'an error',
      200,
      '{"error":{"code":-32601,"message":"Method not found"}}',
      'the RPC node refuses: Method not found',
      1,
    ],
    ['429 for ever', 429, '', 'the RPC node answers 429', 5],
    ['503 for ever', 503, '', 'the RPC node answers 503', 5],
    ['more than any account', 200, ' '.repeat(20 * 1024 * 1024 + 1), 'the RPC node answers too much', 1],
  ])('with %s is reported, without its URL', async (_, status, text, fault, asked) => {
    const node = await rpcNode(() => ({ status, text }))
    const waits: number[] = []
    const from = rpcSource(
      { rpcUrl: `${node.url}/secret?key=secret`, label: 'node' },
      { wait: async (milliseconds) => void waits.push(milliseconds) },
    )
    const rows = await pull(folder(), ['core'], from)
    expect(short(rows)).toEqual([['failed', PROGRAMS.core.id, fault]])
    expect(node.requests).toHaveLength(asked)
    expect(waits).toEqual([500, 1000, 2000, 4000].slice(0, asked - 1))
  })

  it('is asked again after the time that it names, with the user of its URL', async () => {
    const good = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      result: {
        context: { slot: 5 },
        value: {
          lamports: 1,
          owner: LOADER_V2,
          executable: true,
          data: [Buffer.from(elf).toString('base64'), 'base64'],
        },
      },
    })
    const node = await rpcNode((count) =>
      count === 1 ? { status: 429, text: '', retryAfter: '2' } : { status: 200, text: good },
    )
    const waits: number[] = []
    const from = rpcSource(
      { rpcUrl: node.url.replace('//', '//user:pa%3Ass@'), label: 'node' },
      { wait: async (milliseconds) => void waits.push(milliseconds) },
    )
    expect(short(await pull(folder(), ['core'], from))).toEqual([['written', PROGRAMS.core.id, null]])
    expect(waits).toEqual([2000])
    expect(node.requests.map(({ authorization }) => authorization)).toEqual(
      Array(2).fill(`Basic ${Buffer.from('user:pa:ss').toString('base64')}`),
    )
    expect(node.requests[1]!.body).toMatchObject({
      method: 'getAccountInfo',
      params: [PROGRAMS.core.id, { encoding: 'base64', commitment: 'finalized' }],
    })
  })

  it('is reported as unreachable if nothing listens', async () => {
    const node = await rpcNode(() => ({ status: 200, text: '' }))
    await node.close()
    const rows = await pull(folder(), ['core'], rpcSource({ rpcUrl: node.url, label: 'node' }))
    expect(short(rows)).toEqual([['failed', PROGRAMS.core.id, 'the RPC node cannot be reached (ECONNREFUSED)']])
  })
})

describe('a pull from a folder', () => {
  it('copies programs and accounts, in the form of the Solana CLI too, after the same checks', async () => {
    const from = folder()
    const [first, second, third] = PROGRAMS.dammV2.accounts
    writeFileSync(join(from, `${PROGRAMS.core.id}.so`), elf)
    writeFileSync(join(from, `${PROGRAMS.dammV2.id}.so`), elf)
    writeFileSync(join(from, `${PROGRAMS.lock.id}.so`), elf.subarray(0, 70))
    mkdirSync(join(from, 'accounts'))
    const flat = { lamports: '7', owner: key(9), data: 'AQID', executable: false }
    writeFileSync(join(from, 'accounts', `${first}.json`), JSON.stringify(flat))
    const foreign = { ...flat, lamports: 7, data: ['AQID', 'base64'], rentEpoch: 0, space: 3 }
    writeFileSync(join(from, 'accounts', `${second}.json`), JSON.stringify({ pubkey: second, account: foreign }))
    writeFileSync(join(from, 'accounts', `${third}.json`), JSON.stringify({ pubkey: first, account: foreign }))

    const cache = folder()
    const rows = await pull(cache, ['core', 'damm_v2', 'lock', 'distributor'], folderSource(from))
    const of = (address: string) => rows.find(only(address))
    expect(of(PROGRAMS.core.id)).toMatchObject({ status: 'written', size: elf.length })
    expect(of(PROGRAMS.lock.id)).toMatchObject({ status: 'failed', error: expect.stringContaining('cut short') })
    expect(of(PROGRAMS.distributor.id)).toMatchObject({ status: 'missing' })
    for (const address of [first, second]) {
      expect(of(address)).toMatchObject({ status: 'written', kind: 'account' })
      expect(JSON.parse(readFileSync(join(cache, 'accounts', `${address}.json`), 'utf8'))).toEqual(
        address === second ? { ...flat, rentEpoch: '0' } : flat,
      )
    }
    expect(of(third)).toMatchObject({ status: 'failed', error: `it is of account ${first}` })
    expect(existsSync(join(cache, 'accounts', `${third}.json`))).toBe(false)
    expect(readManifest(cache)!.programs[PROGRAMS.core.id]).toMatchObject({ source: from, slot: null, loader: null })
  })

  it('reads a pulled cache as a source, with the same result the second time', async () => {
    deploy(PROGRAMS.core.id, key(1), elf)
    const [cache, copy] = [folder(), folder()]
    await pull(cache, ['core'])
    cpSync(join(cache, `${PROGRAMS.core.id}.so`), join(copy, `${PROGRAMS.core.id}.so`))
    const rows = await pull(copy, ['core'], folderSource(cache))
    expect(short(rows)).toEqual([['unchanged', PROGRAMS.core.id, null]])
    expect(readManifest(copy)!.programs[PROGRAMS.core.id]).toMatchObject({ source: cache })
  })

  it('reports an unreadable manifest instead of losing it', async () => {
    const cache = folder()
    for (const text of ['{ torn', '{"version":2}', 'null']) {
      writeFileSync(join(cache, 'manifest.json'), text)
      await expect(pull(cache, ['core'])).rejects.toThrow(/manifest\.json cannot be read: .*; remove it and pull again/)
    }
  })
})

describe('a program binary', () => {
  it('is a complete ELF file for the virtual machine, or refused wherever it is cut', () => {
    checkElf(elf)
    checkElf(Buffer.concat([elf, Buffer.alloc(100)]))
    for (let length = 0; length < elf.length; length += 997) {
      expect(() => checkElf(elf.subarray(0, length)), String(length)).toThrow(/ELF/)
    }
    const foreign = Uint8Array.from(elf)
    foreign[0x12] = 62
    expect(() => checkElf(foreign)).toThrow('not for the Solana virtual machine')
  })
})

interface Seen {
  authorization: string | undefined
  body: unknown
}

/** An RPC node that answers as told; `count` is 1 for the first request. */
async function rpcNode(answer: (count: number) => { status: number; text: string; retryAfter?: string }) {
  const requests: Seen[] = []
  const node = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text) => {
      body += text
    })
    request.on('end', () => {
      requests.push({ authorization: request.headers.authorization, body: JSON.parse(body) })
      const { status, text, retryAfter } = answer(requests.length)
      response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end(text)
    })
  })
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      node.close(() => resolve())
      node.closeAllConnections()
    })
  onTestFinished(close)
  return { url: `http://127.0.0.1:${(node.address() as AddressInfo).port}`, requests, close }
}

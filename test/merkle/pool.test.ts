/** The worker thread: the same results as in this thread, without stalling it, and a life after a crash. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { buildFromCsv, buildFromRequest } from '../../src/merkle/built-tree.ts'
import { readCsv } from '../../src/merkle/csv.ts'
import { MerkleInputError } from '../../src/merkle/errors.ts'
import {
  createTreePool,
  type TreePool,
  TreePoolBusyError,
  type TreePoolOptions,
  TreeWorkerError,
} from '../../src/merkle/pool.ts'
import { blobsOf, openHead } from '../../src/merkle/stored-tree.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { naiveRoot, recipientsOf, walletOf } from './reference.ts'

const recipients = recipientsOf(3_000)
const folder = makeSharedFolder('merkle-pool-')
const pools: TreePool[] = []

const bodyOf = (rest: object = {}, count = recipients.length): Uint8Array<ArrayBuffer> => {
  const entries = recipients.slice(0, count).map(({ wallet, amount }) => ({ wallet, amount: String(amount) }))
  return new TextEncoder().encode(JSON.stringify({ mint: walletOf(0), entries, ...rest }))
}

function open(options?: TreePoolOptions): TreePool {
  const pool = createTreePool(options)
  pools.push(pool)
  return pool
}

function workerOf(name: string, source: string): URL {
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, source)
  return pathToFileURL(file)
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('the tree worker', () => {
  it('builds from a request body the same tree as this thread', async () => {
    const fields = { airdrop_count: 3, metadata: { a: 'b' } }
    const inline = buildFromRequest(bodyOf(fields, 2000))
    const built = await open().buildFromRequest(bodyOf(fields, 2000))
    expect(built.fields).toEqual({ mint: walletOf(0), ...fields })
    expect(built.root).toBe(naiveRoot(recipients.slice(0, 2000)))
    const plain = ({ encoded, ...rest }: typeof built) => ({
      ...rest,
      blobs: [...blobsOf(encoded!)].map((b) => ({ ...b, bytes: b.bytes.toString('hex') })),
    })
    expect(plain(built)).toEqual(plain(inline))
    expect(openHead(built.encoded!.head, Buffer.from(built.root, 'hex')).count).toBe(2000)
  })

  it('builds from a CSV the same tree as this thread', async () => {
    const text = `wallet,amount\n${recipients
      .slice(0, 500)
      .map(({ wallet }, i) => `${wallet},${i}.5\n`)
      .join('')}`
    const built = await open().buildFromCsv(new TextEncoder().encode(text), { name: 'a.csv', decimals: 1 })
    const inline = buildFromCsv(Buffer.from(text), { decimals: 1 })
    expect([built.root, built.total, built.listHash]).toEqual([inline.root, inline.total, inline.listHash])
    expect(built.fields).toEqual({})
  })

  it('sends buffers with the parts to store and nothing else', async () => {
    const [list, csv] = await Promise.all([
      open().buildFromRequest(bodyOf({}, 200)),
      open().buildFromCsv(Buffer.from(`wallet,amount\n${recipients.map(({ wallet }) => `${wallet},7\n`).join('')}`)),
    ])
    for (const { leafCount, encoded } of [list, csv]) {
      const { head, leaves, index } = encoded!
      expect([leaves.length, index.length]).toEqual([40 * leafCount, 36 * leafCount])
      for (const part of [head, leaves, index]) expect(part.buffer.byteLength).toBe(part.length)
    }
  })

  it('encodes nothing for the store when persist is false', async () => {
    const built = await open().buildFromRequest(bodyOf({ persist: false }, 10))
    expect(built.encoded).toBeUndefined()
    expect(built.leafCount).toBe(10)
  })

  it('refuses what this thread refuses, with the same issues', async () => {
    const csv = `${walletOf(1)},1\nnope,x\n`
    const inline = () => readCsv(Buffer.from(csv), { name: 'b.csv' })
    const error: unknown = await open()
      .buildFromCsv(new TextEncoder().encode(csv), { name: 'b.csv' })
      .catch((e) => e)
    expect(error).toBeInstanceOf(MerkleInputError)
    try {
      inline()
      expect.unreachable()
    } catch (expected) {
      expect((error as MerkleInputError).issues).toEqual((expected as MerkleInputError).issues)
      expect((error as MerkleInputError).message).toBe((expected as MerkleInputError).message)
    }
  })

  it('takes over a whole buffer, and leaves the rest of a shared one unchanged', async () => {
    const pool = open()
    const whole = bodyOf({}, 3)
    await pool.buildFromRequest(whole)
    expect(whole.length).toBe(0)
    const body = bodyOf({}, 3)
    const shared = new Uint8Array(body.length + 10)
    shared.set(body, 5)
    await pool.buildFromRequest(shared.subarray(5, 5 + body.length))
    expect(shared.subarray(5, 5 + body.length)).toEqual(body)
  })

  it('answers many requests at once, each with its own tree', async () => {
    const pool = open()
    const sizes = [1, 2, 3, 10, 100, 257, 1000]
    const built = await Promise.all(sizes.map((size) => pool.buildFromRequest(bodyOf({}, size))))
    expect(built.map(({ leafCount }) => leafCount)).toEqual(sizes)
    expect(built.map(({ root }) => root)).toEqual(sizes.map((size) => naiveRoot(recipients.slice(0, size))))
  })
})

describe('a tree pool', () => {
  it('rejects the build whose worker dies, and builds the next ones with a new worker', async () => {
    const workerUrl = workerOf(
      'crashing',
      `import { parentPort } from 'node:worker_threads'
      parentPort.on('message', ({ bytes }) => {
        if (bytes.length === 1) process.exit(7)
        if (bytes.length === 2) throw new Error('out of luck')
        parentPort.postMessage({ built: { leafCount: bytes.length } })
      })`,
    )
    const pool = open({ workerUrl })
    const results = await Promise.allSettled(
      [3, 1, 4, 2, 5].map((size) => pool.buildFromRequest(new ArrayBuffer(size))),
    )
    const told = results.map((result) => {
      return result.status === 'fulfilled' ? result.value.leafCount : (result.reason as Error).message
    })
    expect(told).toEqual([3, 'the merkle worker stopped with code 7', 4, 'the merkle worker failed: out of luck', 5])
    expect(results[1]).toMatchObject({ reason: expect.any(TreeWorkerError) })
  })

  it('rejects every build if the worker file is missing', async () => {
    const pool = open({ workerUrl: new URL('absent.mjs', pathToFileURL(`${folder}/`)) })
    const results = await Promise.allSettled([1, 2].map(() => pool.buildFromRequest(new ArrayBuffer(1))))
    for (const result of results)
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(TreeWorkerError) })
  })

  it('queues no more builds than its limit', async () => {
    const pool = open({ maxQueued: 2 })
    const builds = [1, 2, 3, 4].map((size) => pool.buildFromRequest(bodyOf({}, size)))
    await expect(builds[3]).rejects.toThrow(TreePoolBusyError)
    expect((await Promise.all(builds.slice(0, 3))).map(({ leafCount }) => leafCount)).toEqual([1, 2, 3])
  })

  it('queues no more bytes than its limit, but accepts one body of any size', async () => {
    const size = bodyOf({}, 2).byteLength
    const pool = open({ maxQueuedBytes: size + 1 })
    const builds = [1, 2, 3].map(() => pool.buildFromRequest(bodyOf({}, 2)))
    await expect(builds[2]).rejects.toThrow(TreePoolBusyError)
    expect((await Promise.all(builds.slice(0, 2))).map(({ leafCount }) => leafCount)).toEqual([2, 2])
    const narrow = open({ maxQueuedBytes: 1 })
    expect((await narrow.buildFromRequest(bodyOf({}, 2))).leafCount).toBe(2)
  })

  it('rejects running, waiting and later builds when it is closed', async () => {
    const pool = open()
    const builds = [pool.buildFromRequest(bodyOf()), pool.buildFromRequest(bodyOf({}, 1))]
    const settled = Promise.allSettled(builds)
    await pool.close()
    for (const result of await settled)
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(TreeWorkerError) })
    await expect(pool.buildFromRequest(bodyOf({}, 1))).rejects.toThrow('closed')
  })
})

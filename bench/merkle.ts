/** Merkle work against floors of the same run: whole processes from CSV to root, request bodies, the worker, proofs. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { pathToFileURL } from 'node:url'
import { buildFromRequest } from '../src/merkle/built-tree.ts'
import { bytesSource } from '../src/merkle/csv-source.ts'
import { readCsvInEngine } from '../src/merkle/engine/csv-reader.ts'
import { walletAt } from '../src/merkle/entry-list.ts'
import { createTreePool } from '../src/merkle/pool.ts'
import { blobsOf, lookUpProof, openHead, type ReadBlob } from '../src/merkle/stored-tree.ts'
import { readTreeRequest } from '../src/merkle/tree-request.ts'
import { collidingWallet } from '../test/merkle/reference.ts'
import { bundle } from '../test/support/bundle.ts'
import { recipients } from './merkle/recipients.ts'
import { callTime, median, processTimes } from './merkle/timing.ts'
import { csvOf, growthCurve, wholeCommand } from './merkle/whole-commands.ts'

/** How long the event loop may stand still while 50,000 entries are built, in milliseconds. */
const MOST_STALL_MS = 7

export interface Measurement {
  name: string
  /** In milliseconds, unless `unit` says otherwise. */
  ms: number
  unit?: string
  ratio: number
  floor: string
}

/** All merkle figures; some minutes, most of them of merkletreejs. Needs a built dist/. */
export async function merkle(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-merkle-'))
  try {
    for (const name of ['csv-to-root', 'hashes-alone', 'merkletreejs-root'])
      await bundle(`bench/merkle/${name}.ts`, join(folder, `${name}.mjs`))
    await bundle('src/merkle/worker.ts', join(folder, 'worker.mjs'))
    copyFileSync('dist/merkle-engine.wasm', join(folder, 'merkle-engine.wasm'))
    return [
      ...wholeCommand(folder, 50_000, 9, false),
      ...wholeCommand(folder, 1_000_000, 3, true),
      ...growthCurve(folder, [10_000, 30_000, 100_000, 300_000, 1_000_000], 5),
      ...fromCsv(folder, 50_000, 9),
      ...fromCsv(folder, 1_000_000, 3),
      ...(await fromBody(folder)),
      await craftedList(),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Whole processes, in ratio to bare node plus the hashing nobody can leave out. */
function fromCsv(folder: string, rows: number, rounds: number): Measurement[] {
  const csv = csvOf(folder, rows)
  const [bare = 0, hashes = 0, whole = 0] = processTimes(rounds, [
    ['-e', '0'],
    [join(folder, 'hashes-alone.mjs'), String(rows)],
    [join(folder, 'csv-to-root.mjs'), csv],
  ])
  const name = `CSV to root, ${rows.toLocaleString('en')} rows`
  return [
    { name: `${name}, process`, ms: whole, ratio: whole / bare, floor: 'node -e 0' },
    { name: `${name}, process`, ms: whole, ratio: whole / hashes, floor: 'process that only hashes' },
    { name: `${name}, work`, ms: whole - bare, ratio: (whole - bare) / (hashes - bare), floor: 'the hashing alone' },
  ]
}

/** A full request body of 50,000 entries: read, built inline, built in the worker; then proofs from what was stored. */
async function fromBody(folder: string): Promise<Measurement[]> {
  const entries = Array.from(recipients(50_000), ([wallet, amount]) => ({ wallet, amount }))
  const text = JSON.stringify({ mint: entries[0]!.wallet, entries })
  const bytes = Buffer.from(text)
  const parse = await callTime(9, () => JSON.parse(bytes.toString()))
  const read = await callTime(9, () => readTreeRequest(bytes))
  const inline = await callTime(5, () => buildFromRequest(bytes))

  const pool = createTreePool({ workerUrl: pathToFileURL(join(folder, 'worker.mjs')) })
  const stalls: number[] = []
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const inWorker = await callTime(5, async () => {
    const body = new Uint8Array(bytes)
    delay.reset()
    delay.enable()
    await pool.buildFromRequest(body)
    delay.disable()
    stalls.push(delay.max / 1e6)
  })
  await pool.close()

  const { encoded, root } = buildFromRequest(bytes)
  const blobs = new Map(Array.from(blobsOf(encoded!), (blob) => [`${blob.kind} ${blob.n}`, blob.bytes]))
  const stored: ReadBlob = (kind, n) => blobs.get(`${kind} ${n}`)
  const head = openHead(blobs.get('head 0')!, Buffer.from(root, 'hex'))
  const { list } = readTreeRequest(bytes)
  const lookUps = 200
  const proofs = await callTime(5, async () => {
    for (let i = 0; i < lookUps; i++) await lookUpProof(head, walletAt(list, (i * 7919) % list.count), stored)
  })

  return [
    { name: 'request body, 50,000 entries read', ms: read, ratio: read / parse, floor: 'JSON.parse' },
    { name: 'request body, built inline', ms: inline, ratio: inline / read, floor: 'reading it' },
    { name: 'request body, built in the worker', ms: inWorker, ratio: inWorker / inline, floor: 'built inline' },
    { name: 'longest stall meanwhile', ms: median(stalls), ratio: median(stalls) / MOST_STALL_MS, floor: '7 ms' },
    {
      name: 'proof looked up and verified',
      ms: proofs / lookUps,
      ratio: proofs / lookUps / inline,
      floor: 'built inline',
    },
  ]
}

/** A list that was crafted to collide in the search for wallets that stand twice. */
async function craftedList(): Promise<Measurement> {
  const count = 20_000
  const wallets = [Array.from(recipients(count), ([wallet]) => wallet)]
  wallets.push(Array.from({ length: count }, (_, n) => collidingWallet(n)))
  const [any = 0, crafted = 0] = await Promise.all(
    wallets.map((list) => {
      const csv = Buffer.from(list.map((wallet) => `${wallet},1\n`).join(''))
      return callTime(5, () => readCsvInEngine(bytesSource(csv), {}))
    }),
  )
  return { name: 'CSV crafted to collide', ms: crafted, ratio: crafted / any, floor: 'any other CSV' }
}

/** The engine against the TypeScript path: the same rows, roots and faults for any bytes, and no byte outside its buffers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CsvOptions, type CsvRows, readCsv } from '../../src/merkle/csv.ts'
import { bytesSource } from '../../src/merkle/csv-source.ts'
import { newEngine } from '../../src/merkle/engine/module.ts'
import { listFromBytes, listFromEntries, RECORD_BYTES, totalAmount } from '../../src/merkle/entry-list.ts'
import { MerkleInputError } from '../../src/merkle/errors.ts'
import { readCsvInEngine, recipientRoot, recipientTree, treeHasher } from '../../src/merkle/recipient-tree.ts'
import { buildTree, toHex } from '../../src/merkle/tree.ts'
import { PROGRAM } from '../cli/command-line.ts'
import { inSoak, runs } from '../support/runs.ts'
import { anyAmount, anyWallet, collidingWallet, recipientsOf, sha256, walletOf } from './reference.ts'

/** What a reader says of a CSV, comparable: the list and its counts, or every fault. */
function said(read: () => CsvRows | undefined): unknown {
  try {
    const rows = read()
    if (rows === undefined) return undefined
    const { list, ...rest } = rows
    return { ...rest, count: list.count, total: totalAmount(list), list: Buffer.from(list.bytes).toString('hex') }
  } catch (error) {
    if (error instanceof MerkleInputError) return { issues: error.issues, issueCount: error.issueCount }
    throw error
  }
}

/** Fails where the engine reads a list that TypeScript refuses or reads in another way; tells whether it read it. */
function compare(bytes: Uint8Array, options: CsvOptions = {}): boolean {
  const expected = said(() => readCsv(bytes, options))
  const actual = said(() => readCsvInEngine(bytesSource(bytes), options))
  if (actual !== undefined) expect(actual).toEqual(expected)
  return actual !== undefined
}
const read = (text: string | Uint8Array, options: CsvOptions = {}) =>
  compare(typeof text === 'string' ? Buffer.from(text) : text, options)

const [A, B] = [walletOf(1), walletOf(2)]
const ENGINE_FILE = join(PROGRAM, '../merkle-engine.wasm')
const optionsOf = fc.record(
  {
    decimals: fc.option(fc.integer({ min: 0, max: 18 }), { nil: undefined }),
    duplicates: fc.constantFrom('reject' as const, 'sum' as const),
  },
  { requiredKeys: ['duplicates'] },
)

describe('the WebAssembly engine', () => {
  it('is built, and runs on this machine', () => {
    expect(newEngine()).toBeDefined()
  })

  it.each([
    ['lines', `${A},5\n${B},6\n`],
    ['no line end at the end', `${A},5\n${B},6`],
    ['a header', `wallet,amount\n${A},5\n${B},6\n`],
    ['CRLF', `wallet,amount\r\n${A},5\r\n${B},6\r\n`],
    ['CR alone', `wallet,amount\r${A},5\r${B},6\r`],
    ['a BOM', `\ufeffwallet,amount\n${A},5\n${B},6\n`],
    ['a BOM and no header', `\ufeff${A},5\n${B},6\n`],
    ['columns turned', `amount,address\n5,${A}\n6,${B}\n`],
    ['columns between', `id,Recipient,note,AMOUNT\n1,${A},x,5\n2,${B},,6\n`],
    ['quotes', `"wallet","amount"\n"${A}","5"\n"${B}",6\n`],
    ['quoted line ends and commas', `note,wallet,amount\n"a,\n""b""",${A},5\n"\r\n",${B},6\n`],
    ['a line end inside the wallet cell', `wallet,amount\n"\n${A}\n",5\n${B},6\n`],
    ['blank lines', `\n\nwallet,amount\n\n${A},5\n  \t\n${B},6\n\n\n`],
    ['rows of commas alone', `wallet,amount\n${A},5\n,\n${B},6\n , \n`],
    ['comments', `# list\nwallet,amount\n#${A},1\n${A},5\n  # more, and more\n${B},6\n#`],
    ['spaces around cells', ` ${A} ,\t5 \n  ${B},6\t\n`],
    ['spaces around quotes', `wallet, "amount"\n "${A}" , "5" \n${B},6\n`],
    ['leading zeros', `${A},005\n${B},00000000000000000000000000006\n`],
    ['the largest amount', `${A},18446744073709551615\n${B},0\n`],
    ["Jito's and Streamflow's form", `pubkey,amount_unlocked,amount_locked,category\n${A},5,0,Staker\n${B},6,0.0,\n`],
  ])('reads a CSV with %s itself', (_, text) => {
    expect(read(text)).toBe(true)
  })

  it('reads decimals and sums itself', () => {
    expect(read(`${A},12.5\n${B},0.000001\n`, { decimals: 6 })).toBe(true)
    expect(read(`${A},18446744073709.551615\n`, { decimals: 6 })).toBe(true)
    expect(read(`${A},0\n${B},6\n${A},7\n${A},0\n`, { duplicates: 'sum' })).toBe(true)
  })

  it.each([
    ['', ''],
    ['a header alone', 'wallet,amount\n'],
    ['UTF-16', Buffer.from(`\ufeff${A},5\n`, 'utf16le')],
    ['no amount', `${A},5\n${B}\n`],
    ['an empty amount', `${A},5\n${B},\n`],
    ['a sign', `${A},5\n${B},-6\n`],
    ['a point', `${A},5\n${B},6.\n`],
    ['a fraction without decimals', `${A},5\n${B},6.5\n`],
    ['more than u64', `${A},5\n${B},18446744073709551616\n`],
    ['another character', `${A},5\n${B.slice(0, -1)}0,6\n`],
    ['a short wallet', `${A},5\n${B.slice(0, 31)},6\n`],
    ['a wallet of 45 characters', `${A},5\n1${'z'.repeat(44)},6\n`],
    ['a wallet of 33 bytes', `${A},5\n${'z'.repeat(44)},6\n`],
    ['a wallet with a 1 too many', `${A},5\n1${B.slice(1)},6\n`],
    ['bytes that are not UTF-8', Buffer.concat([Buffer.from(`${A},5\n`), Buffer.from([0xc3, 0x28, 0xff, 0x2c, 0x35])])],
    ['a thousands separator', `${A},5,x\n${B},1,000\n`],
    ['too many cells', `${A},5\n${B},6,7\n`],
    ['a lock', `pubkey,amount,amount_locked\n${A},5,0\n${B},6,1\n`],
    ['an open quote', `${A},5\n"${B},6\n`],
    ['text after a quote', `${A},5\n"${B}"x,6\n`],
    ['a wallet twice', `${A},5\n${B},6\n${A},7\n`],
  ])('leaves a CSV with %s to TypeScript', (_, text) => {
    expect(read(text)).toBe(false)
    expect(read(text, { duplicates: 'sum', decimals: 0 })).toBe(text.includes(`${A},7`))
  })

  it('finds no repeated wallet in a list that was crafted to collide', { tags: 'sampled' }, () => {
    const rows = Array.from({ length: runs(5_000, 20_000) }, (_, n) => `${collidingWallet(n)},1\n`)
    expect(readCsvInEngine(bytesSource(Buffer.from(rows.join(''))), {})?.list.count).toBe(runs(5_000, 20_000))
  })

  it('leaves a sum of more than u64 to TypeScript', () => {
    expect(read(`${A},18446744073709551615\n${B},6\n${A},1\n`, { duplicates: 'sum' })).toBe(false)
  })

  it('reads and refuses what TypeScript does, for any cells, quotes, line ends and wallets', {
    tags: 'sampled',
  }, () => {
    const cell = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(A, B, ...Array.from({ length: 20 }, (_, i) => walletOf(10 + i))) },
      { weight: 6, arbitrary: anyAmount.map(String) },
      { weight: 2, arbitrary: anyWallet },
      { weight: 1, arbitrary: fc.tuple(fc.nat(99), fc.nat(9999)).map((parts) => parts.join('.')) },
      { weight: 1, arbitrary: fc.string({ maxLength: 50 }) },
      { weight: 1, arbitrary: fc.constantFrom('', '0', '00', '0.0', '000', '123', '1'.repeat(32), 'z'.repeat(44)) },
    )
    const quotedCell = fc
      .tuple(cell, fc.nat(9), fc.constantFrom('', ' ', '\t'), fc.constantFrom('', '\n', ' '))
      .map(([text, kind, around, within]) =>
        kind > 1 ? text : `${around}"${within}${kind > 0 ? text : text.replaceAll('"', '""')}${within}"${around}`,
      )
    const row = fc.oneof(
      { weight: 9, arbitrary: fc.tuple(anyWallet, fc.nat(1e9).map(String)).map((cells) => cells.join(',')) },
      { weight: 1, arbitrary: fc.array(quotedCell, { minLength: 1, maxLength: 4 }).map((cells) => cells.join(',')) },
      { weight: 1, arbitrary: fc.constantFrom('', '#', '# note', ' ', ',', ' , ', ',,') },
    )
    const lineEnd = fc.constantFrom('\n', '\n', '\r\n', '\r')
    const header = fc.constantFrom('', '', '\ufeff', 'wallet,amount\n', '\ufeffamount,wallet\r\n', 'a,b,c\n', ',\n')
    const csv = fc.tuple(header, fc.array(fc.tuple(row, lineEnd), { maxLength: 12 }), fc.boolean()).map(
      ([first, rows, cut]) =>
        first +
        rows
          .map((parts) => parts.join(''))
          .join('')
          .slice(0, cut ? -1 : undefined),
    )
    let taken = 0
    fc.assert(
      fc.property(csv, optionsOf, (text, options) => {
        if (read(text, options as CsvOptions)) taken++
      }),
      { numRuns: runs(60, 1500) },
    )
    // Else the property would say nothing about what the engine reads itself.
    expect(taken).toBeGreaterThan(runs(3, 200))
  })

  it('never reads a damaged list differently from TypeScript: bytes changed, removed, repeated', {
    tags: 'sampled',
  }, () => {
    const good = Buffer.from(
      `wallet,amount\n${recipientsOf(20)
        .map(({ wallet }, i) => `${wallet},${i * 7}`)
        .join('\n')}\n`,
    )
    const hostile = [0, 9, 10, 13, 32, 34, 35, 44, 45, 46, 47, 48, 49, 58, 73, 79, 108, 123, 127, 128, 0xc3, 0xff]
    const damage = fc.record({
      at: fc.nat(good.length - 1),
      length: fc.nat(60),
      byte: fc.oneof(fc.constantFrom(...hostile), fc.nat(255)),
      kind: fc.constantFrom('change', 'remove', 'repeat', 'insert'),
    })
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 3 }), optionsOf, (all, options) => {
        let bytes: Buffer = Buffer.from(good)
        for (const { at, length, byte, kind } of all) {
          if (kind === 'change') bytes[Math.min(at, bytes.length - 1)] = byte
          const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
          if (kind === 'remove') bytes = Buffer.concat([before, after.subarray(length)])
          if (kind === 'repeat') bytes = Buffer.concat([before, after.subarray(0, length), after])
          if (kind === 'insert') bytes = Buffer.concat([before, Buffer.alloc(length, byte), after])
        }
        compare(bytes, options as CsvOptions)
      }),
      { numRuns: runs(60, 1500) },
    )
  })

  it('reads rows across the ends of its pieces, and leaves a row that is longer than a piece', {
    tags: 'sampled',
  }, () => {
    const recipients = recipientsOf(runs(2_500, 6_000))
    for (const end of ['\n', '\r\n', '\r', '\n\n# note\n']) {
      expect(read(recipients.map(({ wallet, amount }) => `${wallet},${amount}${end}`).join(''))).toBe(end !== '\r')
    }
    const quoted = recipients.map(({ wallet, amount }, i) => `"${'x\n""'.repeat(i % 50)}",${wallet},${amount}\n`)
    expect(read(`note,wallet,amount\n${quoted.join('')}`)).toBe(true)
    expect(read(`note,wallet,amount\n"${'x'.repeat(70_000)}",${A},5\n`)).toBe(false)
    expect(read(`${A},5\n${' '.repeat(70_000)}\n#${'x'.repeat(70_000)}\n${B},6\n`)).toBe(false)
  })

  it('finds and sums repeated wallets as TypeScript does in a long list', { tags: 'sampled' }, () => {
    const lines = recipientsOf(runs(1_500, 5_000)).map(({ wallet }, i) => `${wallet},${i % 3}\n`)
    const mixed = lines.flatMap((line, i) => (i % 4 === 0 ? [line, lines[(i * 31) % lines.length]!] : [line]))
    expect(read(mixed.join(''), { duplicates: 'sum' })).toBe(true)
    expect(read(mixed.join(''))).toBe(false)
  })

  it('adds up amounts that exceed u64 together', () => {
    const most = 2n ** 64n - 1n
    const rows = recipientsOf(2000).map(({ wallet }, i) => `${wallet},${most - BigInt(i % 3)}\n`)
    expect(read(rows.join(''))).toBe(true)
    const one = readCsvInEngine(bytesSource(Buffer.from(`${A},${most}\n${B},1\n`)), {})
    expect(one?.list.total).toBe(2n ** 64n)
  })

  it('writes nothing outside its buffers, whatever the bytes', { tags: 'sampled' }, () => {
    const engine = newEngine()!
    const [text, records, capacity, size] = [engine.heapBase(), 262_144, 10, 4096]
    const hashes = records + capacity * RECORD_BYTES
    engine.hashKeys(hashes)
    engine.memory.grow(8)
    const memory = new Uint8Array(engine.memory.buffer)
    const written = [
      [0, engine.heapBase()],
      [records, hashes + 8 * capacity],
    ]
    const rows = fc.array(
      fc.oneof(
        fc.tuple(anyWallet, fc.nat(99)).map((cells) => Buffer.from(`${cells.join(',')}\n`)),
        fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        fc.constantFrom(...['"', '""', ',,,,,,,', '\n', '\r\n', '#', ' '].map((part) => Buffer.from(part))),
      ),
      { maxLength: 20 },
    )
    fc.assert(
      fc.property(rows, fc.nat(1), fc.nat(70), fc.integer({ min: -1, max: 18 }), (parts, isLast, width, decimals) => {
        const bytes = Buffer.concat(parts).subarray(0, size)
        memory.fill(0xa5, engine.heapBase())
        memory.set(bytes, text)
        engine.configure(0, 1, -1, width, 4n, -1, decimals)
        engine.readRows(text, text + bytes.length, isLast, records, capacity)
        expect(engine.count.value).toBeLessThanOrEqual(capacity)
        expect(engine.position.value).toBeLessThanOrEqual(text + bytes.length)
        expect(Buffer.compare(memory.subarray(text, text + bytes.length), bytes)).toBe(0)
        const outside = [memory.subarray(text + bytes.length, records), memory.subarray(written[1]![1])]
        for (const part of outside) expect(part.every((byte) => byte === 0xa5)).toBe(true)
      }),
      { numRuns: runs(15, 150) },
    )
  })
})

describe('a tree of the engine', () => {
  it('has the nodes and the root of the TypeScript path at sizes around every boundary', { tags: 'sampled' }, () => {
    const hasher = treeHasher()!
    const all = listFromEntries(recipientsOf(runs(4_097, 12_300))).bytes
    const small = [1, 2, 3, 4, 5, 7, 8, 31, 1023, 4095, 4096, 4097]
    for (const size of [...small, ...(inSoak ? [4098, 8191, 8192, 8193, 12_289, 12_300] : [])]) {
      const list = listFromBytes(all.subarray(0, size * RECORD_BYTES))
      const expected = buildTree(list)
      const { nodes, offsets, counts } = hasher.levels(list)
      expect(counts).toEqual(expected.counts)
      expect(offsets).toEqual(expected.offsets)
      expect(nodes.equals(expected.nodes)).toBe(true)
      expect(toHex(hasher.root(list))).toBe(toHex(expected.root))
    }
  })

  it('is that of the TypeScript path for any list', () => {
    const hasher = treeHasher()!
    const any = fc.uint8Array({ minLength: RECORD_BYTES, maxLength: 60 * RECORD_BYTES })
    fc.assert(
      fc.property(any, (bytes) => {
        const list = listFromBytes(bytes.subarray(0, bytes.length - (bytes.length % RECORD_BYTES)))
        expect(toHex(hasher.root(list))).toBe(toHex(buildTree(list).root))
      }),
    )
  })

  it('orders siblings with equal beginnings, and equal ones, as the TypeScript path does', () => {
    const engine = newEngine()!
    const [below, above] = [Math.ceil(engine.heapBase() / 16) * 16, 180_000]
    engine.memory.grow(4)
    const memory = Buffer.from(engine.memory.buffer)
    fc.assert(
      fc.property(
        fc.nat(31),
        fc.nat(31),
        fc.nat(255),
        fc.nat(255),
        fc.integer({ min: 1, max: 9 }),
        (x, y, a, b, count) => {
          memory.fill(7, below, below + 32 * count)
          for (let i = 0; i < count; i++) {
            memory[below + 32 * i + x] = i % 2 === 0 ? a : b
            memory[below + 32 * i + y] = i % 3 === 0 ? b : a
          }
          const pairs = (count + 1) >> 1
          engine.hashPairs(below, above, 0, pairs, count)
          for (let i = 0; i < pairs; i++) {
            const left = memory.subarray(below + 64 * i, below + 64 * i + 32)
            const right = 2 * i + 1 < count ? memory.subarray(below + 64 * i + 32, below + 64 * i + 64) : left
            const pair = [left, right].sort(Buffer.compare)
            const expected = sha256(Buffer.from([1]), ...pair)
            expect(memory.subarray(above + 32 * i, above + 32 * i + 32).equals(expected)).toBe(true)
          }
        },
      ),
    )
  })

  it('is used for long lists, and reports progress as the TypeScript path does', { tags: 'sampled' }, () => {
    const list = listFromEntries(recipientsOf(runs(17_000, 40_000)))
    const callsOf = (build: typeof buildTree) => {
      const calls: [number, number, string][] = []
      const tree = build(list, { onProgress: (...call) => calls.push(call) })
      return { calls, root: toHex(tree.root), nodes: tree.nodes.length }
    }
    expect(callsOf(recipientTree)).toEqual(callsOf(buildTree))
    expect(toHex(recipientRoot(list))).toBe(toHex(buildTree(list).root))
    expect(() => recipientRoot({ count: 0, bytes: new Uint8Array() })).toThrow('at least one leaf')
  })
})

describe('the shipped WebAssembly engine', () => {
  const csv = recipientsOf(3000)
    .map(({ wallet, amount }) => `${wallet},${amount}\n`)
    .join('')
  /** Tells of every module that is compiled or run, in this process and in its workers. */
  const telling = `data:text/javascript,import{writeSync}from'node:fs';const{Module,Instance}=WebAssembly;WebAssembly.Module=class extends Module{constructor(bytes){super(bytes);writeSync(2,'compiled '+bytes.length+' ')}};WebAssembly.Instance=class extends Instance{constructor(...args){super(...args);writeSync(2,'runs ')}}`
  const compiled = `compiled ${readFileSync(ENGINE_FILE).length}`

  async function build(): Promise<string> {
    const args = ['--import', telling, PROGRAM, 'merkle', 'build', '-', '--mint', walletOf(0), '-o', 'json']
    const { stdout, stderr } = await execa(process.execPath, args, { input: csv })
    expect(JSON.parse(stdout).root).toBe(toHex(buildTree(readCsv(Buffer.from(csv)).list).root))
    return stderr.match(/compiled \d+|runs/g)?.join(' ') ?? ''
  }

  it('reads and hashes the list of `svc merkle build`, compiled once', async () => {
    expect(await build()).toBe(`${compiled} runs runs`)
  })
})

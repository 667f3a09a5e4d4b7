/** The tree engine in processes: in the worker of the daemon, without WebAssembly, and as long as it builds. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { readCsv } from '../../src/merkle/csv.ts'
import { buildTree, toHex } from '../../src/merkle/tree.ts'
import { PROGRAM } from '../cli/command-line.ts'
import { naiveRoot, recipientsOf, walletOf } from '../merkle/reference.ts'
import { bundle } from '../support/bundle.ts'
import { temporaryFolder } from '../support/service.ts'

const ENGINE_FILE = join(PROGRAM, '../merkle-engine.wasm')

describe('the shipped WebAssembly engine', () => {
  const csv = recipientsOf(3000)
    .map(({ wallet, amount }) => `${wallet},${amount}\n`)
    .join('')
  /** Tells of every module that is compiled or run, in this process and in its workers. */
  const telling = `data:text/javascript,import{writeSync}from'node:fs';const{Module,Instance}=WebAssembly;WebAssembly.Module=class extends Module{constructor(bytes){super(bytes);writeSync(2,'compiled '+bytes.length+' ')}};WebAssembly.Instance=class extends Instance{constructor(...args){super(...args);writeSync(2,'runs ')}}`
  const compiled = `compiled ${readFileSync(ENGINE_FILE).length}`

  it('hashes in the worker of the daemon', async () => {
    const entries = recipientsOf(3000).map(({ wallet, amount }) => ({ wallet, amount: String(amount) }))
    const body = JSON.stringify({ mint: walletOf(0), entries })
    const script = `
      const worker = new (require('node:worker_threads').Worker)(${JSON.stringify(join(PROGRAM, '../merkle-worker.js'))})
      worker.on('message', ({ built }) => { process.stdout.write(built.root); worker.terminate() })
      worker.postMessage({ kind: 'request', bytes: new Uint8Array(require('node:fs').readFileSync(0)) })`
    const { stdout, stderr } = await execa(process.execPath, ['--import', telling, '-e', script], { input: body })
    expect(stderr).toContain(compiled)
    expect(stdout).toBe(toHex(buildTree(readCsv(Buffer.from(csv)).list).root))
  })
})

describe('svc merkle build without WebAssembly', () => {
  it('reads the same list and finds the same root, and names the same faults', async () => {
    const lines = recipientsOf(3000).map(({ wallet, amount }) => `${wallet},${amount}\n`)
    const build = (flags: string[], csv: string) =>
      execa(process.execPath, [...flags, PROGRAM, 'merkle', 'build', '-', '--mint', walletOf(0), '-o', 'json'], {
        input: csv,
        reject: false,
      })
    for (const csv of [lines.join(''), [...lines, `${walletOf(7)},1\n`, 'nobody,2\n'].join('')]) {
      const [fast, plain] = await Promise.all([build([], csv), build(['--no-expose-wasm'], csv)])
      expect([plain.exitCode, plain.stdout, plain.stderr]).toEqual([fast.exitCode, fast.stdout, fast.stderr])
    }
  })
})

describe('a tree pool', () => {
  it('keeps a process alive while it builds, and not after', async () => {
    const folder = temporaryFolder()
    const recipients = recipientsOf(20)
    const merkle = join(import.meta.dirname, '../../src/merkle')
    const script = join(folder, 'pool.js')
    await bundle(join(merkle, 'pool.ts'), script)
    await bundle(join(merkle, 'worker.ts'), join(folder, 'merkle-worker.js'))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    const entries = recipients.map(({ wallet, amount }) => ({ wallet, amount: String(amount) }))
    const body = Buffer.from(JSON.stringify({ mint: walletOf(0), entries })).toString('base64')
    appendFileSync(
      script,
      `createTreePool().buildFromRequest(new Uint8Array(Buffer.from('${body}', 'base64'))).then(({ root }) => console.log(root))`,
    )
    const output = execFileSync(process.execPath, [script], { encoding: 'utf8', timeout: 100_000 })
    expect(output.trim()).toBe(naiveRoot(recipients))
  })
})

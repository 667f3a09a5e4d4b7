/** The heap of a daemon: it holds a bounded share of garbage, unless whoever starts it says otherwise. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { bundle } from './support/bundle.ts'
import { startDaemon } from './support/daemon.ts'
import { makeSharedFolder } from './support/shared-folder.ts'

const folder = makeSharedFolder('heap-growth-')
const MIB = 1024 * 1024

/**
 * Prints the most memory that the heap took, beside about 35 MiB that live in it, while old objects become garbage. V8
 * sets its first limit before it has seen a collection, so the first half is not looked at.
 */
const CHURN = `
  const { boundHeapGrowth } = require('./heap.cjs')
  const { getHeapStatistics } = require('node:v8')
  boundHeapGrowth()
  const live = Array.from({ length: 500_000 }, (_, n) => ({ n, of: [n] }))
  const recent = []
  let most = 0
  for (let n = 0; n < 6_000_000; n++) {
    recent[n % 200_000] = { n, of: [n] }
    if (n > 3_000_000 && n % 10_000 === 0) most = Math.max(most, getHeapStatistics().used_heap_size)
  }
  console.log(live.length && most)
`

async function mostOfHeap(...flags: string[]): Promise<number> {
  await bundle('daemon/heap.ts', join(folder, 'heap.cjs'), 'cjs')
  return Number(execFileSync(process.execPath, [...flags, '-e', CHURN], { cwd: folder, encoding: 'utf8' })) / MIB
}

afterAll(() => rmSync(folder, { recursive: true }))

describe('the heap of a daemon', () => {
  it('grows by no more than a share of what lives in it', async () => {
    expect(await mostOfHeap()).toBeLessThan(170)
  })

  it('grows as far as the command line of Node says', async () => {
    expect(await mostOfHeap('--heap-growing-percent=300')).toBeGreaterThan(220)
    expect(await mostOfHeap('--heap_growing_percent=300')).toBeGreaterThan(220)
  })

  it('is bounded when the daemon listens', async () => {
    const dataDir = join(folder, 'data')
    mkdirSync(dataDir, { mode: 0o700 })
    const watch = join(folder, 'watch.cjs')
    writeFileSync(
      watch,
      `const v8 = require('node:v8'); v8.setFlagsFromString = (flag) => process.stderr.write('set ' + flag + '\\n')`,
    )
    let log = ''
    const daemon = await startDaemon({
      dataDir,
      env: { NODE_OPTIONS: `--require ${watch}` },
      onLog: (text) => {
        log += text
      },
    })
    await daemon.stop()
    expect(log.match(/^set .*$/gm)).toEqual(['set --heap-growing-percent=30'])
  })
})

/** `svc merkle build` of a million rows as a process: its time against merkletreejs, and its peak memory. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../test/support/bundle.ts'
import { SVC_PROGRAM } from './http/server.ts'
import { type Cost, type Measurement, medianOf, ratiosOf } from './measurement.ts'
import { MINT, recipientCsv } from './merkle/recipients.ts'

const ROUNDS = 3
const MOST_MIB = 150
/** Reports at its end what the process used. */
const USAGE = `data:text/javascript,import{writeSync}from'node:fs';process.on('exit',()=>writeSync(2,'usage '+JSON.stringify(process.resourceUsage())))`

/** Two minutes, most of them of merkletreejs. Needs a built dist/. */
export async function merkle(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-merkle-'))
  try {
    const csv = join(folder, 'recipients.csv')
    writeFileSync(csv, recipientCsv(1_000_000))
    const other = join(folder, 'merkletreejs-root.mjs')
    await bundle('bench/merkle/merkletreejs-root.ts', other)
    const [own, floors]: [Run[], Run[]] = [[], []]
    for (let round = 0; round < ROUNDS; round++) {
      own.push(runOf([SVC_PROGRAM, 'merkle', 'build', csv, '--mint', MINT, '--json']))
      floors.push(runOf([other, csv]))
    }
    const mib = Math.max(...own.map((run) => run.mib))
    return [
      {
        name: 'svc merkle build, 1,000,000 rows',
        value: medianOf(own, 'wall'),
        unit: 'ms',
        ...ratiosOf(floors, own),
        floor: 'merkletreejs',
      },
      { name: 'its peak memory', value: mib, unit: 'MiB', ratio: mib / MOST_MIB, floor: `${MOST_MIB} MiB` },
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

interface Run extends Cost {
  mib: number
}

function runOf(args: readonly string[]): Run {
  const from = performance.now()
  const { status, stderr } = spawnSync(process.execPath, ['--import', USAGE, ...args], { encoding: 'utf8' })
  const wall = performance.now() - from
  if (status !== 0) throw new Error(stderr)
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(/usage (.*)/.exec(stderr)?.[1] ?? '')
  return { wall, processor: (userCPUTime + systemCPUTime) / 1_000, mib: maxRSS / 1024 }
}

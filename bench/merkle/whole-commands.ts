/** `svc merkle build` as a process, from a CSV to its root: against bare node, its own start-up, TypeScript and merkletreejs. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Measurement } from '../merkle.ts'
import { recipients } from './recipients.ts'
import { median, processTimes } from './timing.ts'

const SVC = join(import.meta.dirname, '..', '..', 'dist', 'svc.js')
const MINT = 'So11111111111111111111111111111111111111112'
const BARE = ['-e', '0']
const START_UP = [SVC, 'merkle', '--help']
/** Without WebAssembly the command takes the TypeScript path. */
const TYPESCRIPT = '--no-expose-wasm'
/** Prints the peak of the resident memory, in KiB, when the process ends. */
const PEAK = `data:text/javascript,import{writeSync}from'node:fs';process.on('exit',()=>writeSync(2,'peak '+process.resourceUsage().maxRSS))`

const shown = (rows: number) => `${rows.toLocaleString('en')} rows`
const build = (csv: string) => [SVC, 'merkle', 'build', csv, '--mint', MINT, '--json']

/** Writes the CSV of so many recipients and returns its path. */
export function csvOf(folder: string, rows: number): string {
  const csv = join(folder, `${rows}.csv`)
  const lines = Array.from(recipients(rows), ([wallet, amount]) => `${wallet},${amount}\n`)
  writeFileSync(csv, `wallet,amount\n${lines.join('')}`)
  return csv
}

/** One size; merkletreejs takes long, so it is asked for where its ratio counts. */
export function wholeCommand(folder: string, rows: number, rounds: number, withOthers: boolean): Measurement[] {
  const csv = csvOf(folder, rows)
  const others = withOthers ? [[join(folder, 'merkletreejs-root.mjs'), csv]] : []
  const [bare = 0, startUp = 0, engine = 0, plain = 0, other] = processTimes(rounds, [
    BARE,
    START_UP,
    build(csv),
    [TYPESCRIPT, ...build(csv)],
    ...others,
  ])
  const name = `svc merkle build, ${shown(rows)}`
  const row = (what: string, ms: number, floor: number, of: string) => ({
    name: what,
    ms,
    ratio: ms / floor,
    floor: of,
  })
  return [
    row(name, engine, bare, 'node -e 0'),
    row(`without its start-up: ${name}`, engine - startUp, bare, 'node -e 0'),
    row(`${name}, in TypeScript alone`, plain, engine, 'with the engine'),
    ...(other === undefined ? [] : [row(`merkletreejs, ${shown(rows)}`, other, engine, 'svc merkle build')]),
    ...peak(csv, rows),
  ]
}

/** The most memory that was resident, against what a command may take at a million rows. */
function peak(csv: string, rows: number): Measurement[] {
  const peaks = [0, 1, 2].map(() => {
    const { stderr } = spawnSync(process.execPath, ['--import', PEAK, ...build(csv)], { encoding: 'utf8' })
    return Number(/peak (\d+)/.exec(stderr)?.[1]) / 1024
  })
  const mib = median(peaks)
  return [
    { name: `svc merkle build, ${shown(rows)}, peak memory`, ms: mib, unit: 'MiB', ratio: mib / 150, floor: '150 MiB' },
  ]
}

/** How cost grows: µs a row above the start-up at each size, in ratio to the first size. */
export function growthCurve(folder: string, sizes: readonly number[], rounds: number): Measurement[] {
  const csvs = sizes.map((rows) => csvOf(folder, rows))
  const [startUp = 0, ...times] = processTimes(rounds, [START_UP, ...csvs.map(build)])
  const perRow = times.map((ms, i) => (ms - startUp) / (sizes[i] ?? 1))
  return times.map((ms, i) => ({
    name: `svc merkle build, ${shown(sizes[i] ?? 0)}: cost of a row`,
    ms,
    ratio: (perRow[i] ?? 0) / (perRow[0] ?? 1),
    floor: `a row of ${shown(sizes[0] ?? 0)}`,
  }))
}

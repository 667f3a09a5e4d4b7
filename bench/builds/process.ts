/** Run as a process: measures every kind of build and prints the measurements as one line of JSON. */

import { median } from '../merkle/timing.ts'
import type { Measurement } from '../merkle.ts'
import { airdropKinds, goldKinds } from './airdrops.ts'
import { assetKinds } from './assets.ts'
import { type BuildKind, bareCall, budgetedCall } from './floor.ts'
import { meteoraKinds } from './meteora.ts'
import { openStage, type Stage } from './stage.ts'
import { tokenKinds } from './tokens.ts'

const BUILDS_A_ROUND = 20
const BUILD_ROUNDS = 7
const WARM_UP_ROUNDS = 2
const MICROSECONDS = 1_000

/** Medians of the processor time of a build. */
async function allKinds(): Promise<Measurement[]> {
  const stage = await openStage()
  try {
    const kinds = [
      ...(await meteoraKinds(stage)),
      ...(await assetKinds(stage)),
      ...(await tokenKinds(stage)),
      ...(await airdropKinds(stage)),
      ...(await goldKinds(stage)),
    ]
    const measurements: Measurement[] = []
    for (const kind of kinds) measurements.push(...(await measured(stage, kind)))
    return measurements
  } finally {
    await stage.close()
  }
}

async function measured({ node, connection }: Stage, kind: BuildKind): Promise<Measurement[]> {
  const calls = [kind.build, () => budgetedCall(connection, kind), () => bareCall(connection, kind)]
  const times = calls.map((): number[] => [])
  for (let round = -WARM_UP_ROUNDS; round < BUILD_ROUNDS; round++) {
    // What the warm-up asked of the chain is known from here on.
    if (round === -WARM_UP_ROUNDS) node.startKind(kind.name)
    const asked = node.asked()
    for (const [i, call] of calls.entries()) {
      const before = process.cpuUsage()
      for (let n = 0; n < BUILDS_A_ROUND; n++) await call()
      const { user, system } = process.cpuUsage(before)
      if (round >= 0) times[i]?.push((user + system) / MICROSECONDS / BUILDS_A_ROUND)
    }
    if (round >= 0 && node.asked() > asked) throw new Error(`${kind.name}: a warm build asked for something new`)
  }
  const [own = [], budgeted = [], bare = []] = times
  const row = (name: string, floors: readonly number[], floor: string): Measurement => ({
    name,
    ms: median(own),
    ratio: median(own.map((ms, round) => ms / (floors[round] ?? Number.NaN))),
    floor,
  })
  return [
    row(`build: ${kind.name}`, budgeted, `${kind.sdk}, with the compute budget`),
    row(`  without one: ${kind.name}`, bare, `${kind.sdk} alone`),
  ]
}

// A failure ends the process, which says why.
void allKinds().then((measurements) => process.stdout.write(`${JSON.stringify(measurements)}\n`))

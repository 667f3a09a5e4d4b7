/** What guards cost: bytes, compute units and lent lamports of every kind of act, against the same act without them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { createApp } from '../daemon/app.ts'
import { openServices, operatorKey } from '../daemon/services.ts'
import { loadConfig } from '../src/settings/config.ts'
import { ACTS_PRESET } from '../test/support/act-kinds.ts'
import { type ActCost, openGuardedActs } from '../test/support/guarded-acts.ts'
import { PROGRAMS_DIR } from '../test/support/programs.ts'
import { randomOf } from '../test/support/random.ts'
import type { Measurement } from './measurement.ts'

const FLOOR = 'without guards'

/** The whole app in this process, on an embedded chain. Needs all programs in the program cache. */
export async function guards(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-guards-'))
  const presets = join(folder, 'presets.json')
  writeFileSync(presets, JSON.stringify({ acts: ACTS_PRESET }))
  const partner = Keypair.generate()
  const flags = {
    ...{ 'data-dir': folder, 'programs-dir': PROGRAMS_DIR, 'priority-fee': 'none' },
    ...{ 'platform-wallet': partner.publicKey.toBase58(), 'pools.presets': presets, 'pools.preset': 'acts' },
  }
  const services = await openServices(loadConfig({ flags, env: {}, cwd: folder }))
  const key = await operatorKey(services)
  const app = await createApp(services)
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await app.fetch(new Request(`http://svc.test${path}`, { method, headers, ...sent }))
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${text}`)
    return JSON.parse(text).data
  }
  try {
    const acts = await openGuardedActs({ chain: await services.chain.local(), ask, random: randomOf(44), partner })
    const costs: ActCost[] = []
    for (const kind of acts.kinds) costs.push(...(await acts.perform(kind)))
    return costs.flatMap(measurementsOf)
  } finally {
    await app.close()
    await services.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function measurementsOf({ kind, bytes, units, lent }: ActCost): Measurement[] {
  const of = ([without, guarded]: [number, number], unit: string): Measurement => ({
    ...{ name: kind, value: guarded, unit, ratio: guarded / without, floor: FLOOR },
  })
  const lending = {
    name: `${kind}, lent`,
    value: Number(lent),
    unit: 'lamports',
    ratio: Number(lent) / 1e9,
    floor: '1 SOL',
  }
  return [of(bytes, 'bytes'), of(units, 'units'), ...(lent === 0n ? [] : [lending])]
}

/** Random acts of every kind: none fails with guards that succeeds without, and each costs its payer the same. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { ACTS_PRESET } from '../support/act-kinds.ts'
import { type ActCost, costTable, openGuardedActs } from '../support/guarded-acts.ts'
import { hasProgram } from '../support/programs.ts'
import { randomOf } from '../support/random.ts'
import { runs } from '../support/runs.ts'
import { startService } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { addressOf } from '../support/wallets.ts'

const lacking = Object.values(PROGRAMS).filter(({ id }) => !hasProgram(id))
const presets = join(makeSharedFolder('svc-'), 'presets.json')
writeFileSync(presets, JSON.stringify({ acts: ACTS_PRESET }))

describe.skipIf(lacking.length > 0)(`random acts (needs ${lacking.map(({ name }) => name).join(', ')})`, () => {
  it('land with guards, and take from their payer what they take without', { tags: 'sampled' }, async ({
    annotate,
  }) => {
    const random = randomOf(Number(process.env.SOAK_SEED ?? 44))
    const partner = Keypair.generate()
    const service = await startService({
      settings: {
        ...{ 'priority-fee': 'none', 'platform-wallet': addressOf(partner) },
        ...{ 'pools.presets': presets, 'pools.preset': 'acts' },
      },
    })
    const ask = async (method: string, path: string, body?: object) => {
      const { json, text } = await service.request(method, path, body === undefined ? {} : { body })
      if (json?.data === undefined) throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${text}`)
      return json.data
    }
    const acts = await openGuardedActs({ chain: await service.services.chain.local(), ask, random, partner })
    const costs: ActCost[] = []
    const count = runs(25, 500)
    for (let i = 0; i < count; i++) {
      // Each kind at least once.
      const kind = acts.kinds[i] ?? random.pick(acts.kinds)
      costs.push(...(await acts.perform(kind, i < acts.kinds.length ? 0 : (random.below(2) as 0 | 1))))
    }
    for (const { kind, lamports } of costs) expect(lamports[1], kind).toBe(lamports[0])
    const unguarded = new Set(costs.filter(({ guards }) => guards.length === 0).map(({ kind }) => kind))
    expect([...unguarded].filter((kind) => !kind.startsWith('launch'))).toEqual([])
    await annotate(costTable(costs), 'costs')
  })
})

/** `svc raises settle`, `get` and `list` on the real programs: a raise with its pool, and one that failed. */
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HAS_DAMM_V2 } from '../support/damm-v2.ts'
import { addressOf, isoOf, lacksPresale, raisesOn } from '../support/new-raises.ts'
import { POOL } from '../support/settled-raises.ts'
import { SOL } from '../support/wallets.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const lacks = lacksPresale || (HAS_DAMM_V2 ? '' : 'needs Meteora DAMM v2 in the program cache')
const cli = commandLine()
let daemon: Served

beforeAll(async () => {
  if (lacks !== '') return
  Object.assign(cli.env, { SVC_PRIORITY_FEE: 'none' })
  daemon = await serveHere(cli.dataDir, cli.env)
})
afterAll(() => daemon?.stop())

async function sale(more: object, paid: string) {
  const chain = await daemon.local()
  const on = await raisesOn({ request: daemon.request, services: { chain: { local: async () => chain } } } as never)
  const { id, mint } = await on.create({ ends_at: isoOf(on.now() + 3_600), ...more })
  const buyer = Keypair.generate()
  chain.airdrop(addressOf(buyer), 10n * SOL)
  const { file } = cli.keypair(`${id.slice(0, 8)}.json`, buyer)
  await cli.json(['raises', 'deposit', id, paid, '-k', file])
  const own = cli.keypair(`${id.slice(0, 8)}-creator.json`, on.seller).file
  const end = async () => on.at(Date.parse((await on.read(id)).ends_at) / 1_000 + 1)
  const settle = (...flags: string[]) => ['raises', 'settle', id, '-k', own, ...flags]
  return { ...on, id, mint, buyer, end, settle }
}

describe.skipIf(lacks !== '')(`svc raises settle ${lacks}`, () => {
  it('takes what was raised and opens the planned pool, whose amounts must be typed without a terminal', async () => {
    const on = await sale({ pool: POOL, deposit_fee_bps: 100 }, '2')
    expect((await cli.json(on.settle())).acts).toEqual(['close_price'])
    await cli.refused(on.settle(), 'before it ends')
    expect((await cli.svc(['raises', 'get', on.id])).stdout).toContain('ongoing')
    await on.end()
    const read = await cli.json(['raises', 'get', on.id])
    expect(read).toMatchObject({ state: 'completed', withdrawn: false })
    const shown = (await cli.svc(['raises', 'get', on.id])).stdout
    expect(shown).toContain(`svc raises settle ${on.id}`)
    expect(shown).not.toContain('\\u000a')
    await cli.refused(on.settle(), '--pool-quote')
    const preview = await cli.json(on.settle('--dry-run', '--pool-quote', '1', '--pool-tokens', '1000'))
    expect((await cli.svc(on.settle('--dry-run', '--pool-quote', '1', '--pool-tokens', '1000'))).stdout).toMatch(
      / {2}does +take what was raised\n +open the planned pool\n/,
    )
    const whole = ['--pool-quote', '1', '--pool-tokens', '1000']
    await cli.refused(on.settle(...whole, '--then-pool', 'standard'), `${on.mint} has 9 decimals`)
    const raw = ['--pool-quote', '1000000000', '--pool-tokens', '1000000000000', '--raw']
    await cli.refused(on.settle(...raw), '--then-pool')
    const typed = [...raw, '--then-pool', 'standard']
    await cli.refused(on.settle('--pool-quote', '0.9', '--pool-tokens', '1000'), '--pool-quote')
    expect(preview).toBeDefined()
    const done = await cli.json(on.settle(...typed))
    expect(done.acts.slice(0, 3)).toEqual(['withdraw', 'open_pool', 'lock_liquidity'])
    expect(done.left).toEqual([])
    expect(done.signatures).toHaveLength(2)
    expect(done.signatures[1]).toBe(done.signature)
    const again = await cli.svc([...on.settle(...typed), '--json'])
    expect([again.exitCode, JSON.parse(again.stdout)]).toEqual([0, { id: on.id, acts: [], left: [] }])
    expect(again.stderr).toContain('is settled: nothing is left for its creator')
    expect((await cli.svc(['raises', 'list', '--mint', on.mint])).stdout).toMatch(/completed +2 +5 /)
    const [listed] = await cli.json(['raises', 'list', '--mint', on.mint])
    expect(listed).toMatchObject({ id: on.id })
    const wallet = await cli.json(['raises', 'get', on.id, '--buyer', addressOf(on.buyer)])
    expect(wallet).toMatchObject({ wallet: addressOf(on.buyer), state: 'completed' })
  })

  it('opens a pool before the end, and says when trades begin', async () => {
    const pool = { ...POOL, when: 'before_end', opens_after_seconds: 15 }
    const on = await sale({ pool, lock_seconds: 0, release_bps: 10_000 }, '2')
    on.at(Date.parse((await on.read(on.id)).ends_at) / 1_000 - 14)
    const { stdout, stderr } = await cli.svc(on.settle('--dry-run'))
    expect(stdout, stderr).toMatch(/ {2}trades +in the pool from .*; settle again before\n/)
  })

  it('takes the tokens of a failed raise back', async () => {
    const on = await sale({}, '0.5')
    await on.end()
    const done = await cli.json(on.settle())
    expect(done.acts).toContain('withdraw_tokens')
    expect(done.pool_address).toBeNull()
  })
})

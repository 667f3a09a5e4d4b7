/** `svc raises create` on the real program: terms as people type them, their results, and who signs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { quickProgramsDir } from '../support/programs.ts'
import { lacksPresale } from '../support/raises.ts'
import { itInSoak } from '../support/runs.ts'
import { someAddress } from '../support/wallets.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
const [seller, other] = [cli.keypair('seller.json'), cli.keypair('other.json')]
const FIXED = ['--sale-mode', 'fixed_price', '--price', '0.001', '--min', '10', '--max', '80', '--ends', '7d']
let daemon: Served
let mint = ''

beforeAll(async () => {
  if (lacksPresale !== '') return
  Object.assign(cli.env, { SVC_PROGRAMS_DIR: quickProgramsDir(), SVC_PRIORITY_FEE: 'none' })
  daemon = await serveHere(cli.dataDir, cli.env)
  for (const { address } of [seller, other]) await cli.json(['localnet', 'airdrop', address, '100'])
  const token = ['tokens', 'create', '--name', 'Sale', '--symbol', 'SALE', '--uri', 'https://example.com/t.json']
  mint = (await cli.json([...token, '--supply', '5000000', '-k', seller.file])).mint
  await cli.json(['tokens', 'revoke', mint, 'mint', '-k', seller.file, '--yes'])
})
afterAll(() => daemon?.stop())

const create = (...more: string[]) => ['raises', 'create', mint, ...more, '-k', seller.file]
const read = async (id: string) => (await daemon.request('GET', `/v2/raises/${id}`)).json.data
const refused = (args: string[], message: string | RegExp) => cli.refused(create(...args, '--dry-run'), message, 2)

describe.skipIf(lacksPresale !== '')(`svc raises create ${lacksPresale}`, () => {
  it('sells at a fixed price, with the standard pool', async () => {
    const made = await cli.json(create(...FIXED, '--then-pool', 'standard', '--deposit-fee', '1%'))
    expect(made).toMatchObject({
      mint,
      creator: seller.address,
      price: '0.001',
      supply: '80000000000',
      min: '10000000000',
    })
    expect(await read(made.id)).toMatchObject({
      ...{ sale_mode: 'fixed_price', max: '80000000000', release_bps: 0, early_end: true, withdrawable: false },
      ...{ pool: { quote_bps: 5_000, reserve: '40000000000', price: 'raise', locked_bps: 10_000 } },
      rounds: [{ deposit_fee_bps: 100, buyer_max: '80000000000' }],
    })
  })

  it('shows three results to the unit, the key that is trusted and the warnings at 80 columns', async () => {
    const { exitCode, stdout, stderr } = await cli.svc(create(...FIXED, '--then-pool', 'standard', '--dry-run'))
    expect(exitCode, stderr).toBe(0)
    const shown = `${stdout}${stderr}`
    expect(shown).toMatch(/^ +best +expected +failed$/m)
    expect(shown).toMatch(/^ {2}raised +80 +10 +0$/m)
    expect(shown).toMatch(/^ {2}buyers get +80,000 +10,000 +0$/m)
    expect(shown).toMatch(/^ {2}locked +100 % +100 % +0 %$/m)
    expect(shown).toMatch(/nothing on chain makes the creator open a pool: buyers trust the key/)
    expect(shown).toContain('checked   here: this raise has these terms')
    expect(shown).toMatch(/not all is guarded: .* send --tx-version 1, or do less/)
    const table = shown.split('\n').filter((line) => /^ {2}(raised|pool|price|SOL spent|tokens back)/.test(line))
    expect(table.length).toBeGreaterThan(4)
    for (const line of table) expect(line.length).toBeLessThanOrEqual(80)
  })

  it.each([
    [
      'pro rata',
      [
        '--sale-mode',
        'pro_rata',
        '--supply',
        '80000',
        '--min',
        '20',
        '--max',
        '80',
        '--ends',
        '7d',
        '--lock',
        '1h',
        '--vesting',
        '30d',
      ],
      { sale_mode: 'pro_rata', withdrawable: true, early_end: false },
    ],
    [
      'first come',
      [
        '--sale-mode',
        'first_come',
        '--supply',
        '1000',
        '--min',
        '20',
        '--max',
        '80',
        '--ends',
        '2d',
        '--starts',
        '1d',
        '--to-the-end',
        '--unsold',
        'burn',
      ],
      { sale_mode: 'first_come', unsold: 'burn', early_end: false, state: 'not_started' },
    ],
    [
      'a fixed price by its supply',
      [
        '--sale-mode',
        'fixed_price',
        '--supply',
        '3000',
        '--min',
        '1',
        '--max',
        '8',
        '--ends',
        '1h',
        '--withdrawable',
        '--buyer-min',
        '0.1',
        '--buyer-max',
        '2',
      ],
      { withdrawable: true, rounds: [{ buyer_min: '100000000', buyer_max: '2000000000' }] },
    ],
    ['a part at once', [...FIXED, '--release', '25%', '--release-at', '1h', '--lock', '2h'], { release_bps: 2_500 }],
    [
      'raw units',
      ['--sale-mode', 'pro_rata', '--supply', '80000', '--min', '20', '--max', '80', '--ends', '7d', '--raw'],
      { min: '20', supply: '80000' },
    ],
    [
      'rounds',
      [
        '--sale-mode',
        'pro_rata',
        '--min',
        '20',
        '--max',
        '80',
        '--ends',
        '7d',
        '--allowlist',
        '--round',
        'supply=1000,deposit-fee=1%',
        '--round',
        'supply=500',
      ],
      { allowlist: true, rounds: [{ supply: '1000000000', deposit_fee_bps: 100 }, { supply: '500000000' }] },
    ],
  ] as [string, string[], object][])('is taken by the program: %s', async (_, args, expected) => {
    const { id } = await cli.json(create(...args))
    expect(await read(id)).toMatchObject(expected)
  })

  it('sells in five rounds at a fixed price, and names the flag with which it does so again', async () => {
    const rounds = Array.from({ length: 5 }, () => ['--round', 'supply=1000,deposit-fee=1%']).flat()
    const terms = ['--sale-mode', 'fixed_price', '--min', '1', '--max', '5', '--ends', '7d', '--allowlist', ...rounds]
    const first = await cli.json(create(...terms))
    expect((await read(first.id)).rounds).toHaveLength(5)
    await refused(terms, /the creation of 5 rounds has 1277 bytes, and version 0 takes 1232.*--tx-version 1/s)
    const { id } = await cli.json(create(...terms, '--tx-version', '1'))
    expect(id).not.toBe(first.id)
  })

  itInSoak('takes a plan of the pool from a file, and names the field that is wrong', async () => {
    const plan = { quote_bps: 2_500, reserve: '20000000000', fee_bps: 200 }
    const { id } = await cli.json(create(...FIXED, '--then-pool', cli.file('pool.json', JSON.stringify(plan))))
    expect(await read(id)).toMatchObject({ pool: plan })
    const wrong = (name: string, content: string) => [...FIXED, '--then-pool', cli.file(name, content)]
    await refused(
      wrong('wrong.json', JSON.stringify({ ...plan, quote_bps: 0 })),
      /--then-pool .*wrong\.json: quote_bps: /,
    )
    await refused(wrong('odd.json', JSON.stringify({ ...plan, share: 1 })), /share: is not a field/)
    await refused(wrong('text.json', 'half'), /is not JSON/)
    await refused([...FIXED, '--then-pool', 'none.json'], /none\.json/)
  })

  itInSoak('has another creator, who signs here with a keypair file, or elsewhere', async () => {
    const { id } = await cli.json(create(...FIXED, '--creator', other.file))
    expect(await read(id)).toMatchObject({ creator: other.address })
    await cli.refused(create(...FIXED, '--creator', other.address), other.address, 2)
    const built = await cli.json(create(...FIXED, '--creator', other.address, '--build-only'))
    expect(built.missing_signers).toContain(other.address)
    await refused([...FIXED, '--creator', 'none.json'], 'there is no keypair at none.json')
  })

  it('refuses what is wrong, and names the flag', async () => {
    await refused(
      ['--sale-mode', 'pro_rata', '--price', '1', '--min', '1', '--max', '2', '--ends', '1d'],
      '--price is only for',
    )
    await refused([...FIXED, '--deposit-fee', '51%'], '--deposit-fee must be a percentage from 0 to 50')
    await refused([...FIXED, '--lock', 'soon'], '--lock must be a span')
    await refused([...FIXED.slice(0, -1), '90d'], /30 days/)
    await refused([...FIXED.map((each) => (each === '10' ? '80' : each))], /must be less than max/)
    await refused(
      ['--sale-mode', 'pro_rata', '--round', 'buyer-max=1', '--min', '1', '--max', '2', '--ends', '1d'],
      '--round begins with its supply',
    )
    await refused(
      ['--sale-mode', 'pro_rata', '--round', 'price=1', '--min', '1', '--max', '2', '--ends', '1d'],
      '--round has supply, buyer-min',
    )
    await refused([...FIXED, '--creator-vault', 'mine'], '--creator-vault is MULTISIG')
    await cli.refused(create(...FIXED, '--creator-vault', someAddress()), 'There is no Squads multisig', 3)
  })
})

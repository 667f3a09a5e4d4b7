/** `svc pools`: the drawing of curves, launches of several transactions, and a launch, trades and a migration by the built command. */

import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { execa } from 'execa'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Session } from '../../commands/cli/session.ts'
import { createWallet } from '../../commands/machine/wallets/wallet.ts'
import { quoteLines } from '../../commands/pools/swap.ts'
import { runSigned } from '../../commands/signing/run.ts'
import { drawCurve } from '../../commands/ui/curve.ts'
import { plotLines } from '../../commands/ui/plot.ts'
import { ApiError } from '../../src/platform/errors.ts'
import {
  percentOf,
  poolState,
  priceOf,
  raisedInAll,
  shortOf,
  sqrtPriceAt,
  sqrtPriceFromText,
} from '../../src/solana/launch-curve.ts'
import { SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { png } from '../storage/images.ts'
import { knowsAll, startDas } from '../support/das-server.ts'
import { TINY_CURVE } from '../support/launches.ts'
import { someone } from '../support/local-chain.ts'
import { hasProgram } from '../support/programs.ts'
import { inSoak, itInSoak } from '../support/runs.ts'
import { CONFIRMED, commandLine, onTerminal, PROGRAM } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
const lacksDbc = [PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))
const Q = 1n << 64n
/** From 0.01 to 0.04 SOL for a token; a SOL fills it. */
const PLAIN = { start: Q / 10n, points: [{ sqrtPrice: Q / 5n, liquidity: 10_000_000_000n * Q }], decimals: 9 }
/** Flat for the first SOL, steep for three quarters of another. */
const BENT = {
  start: Q / 10n,
  points: [
    { sqrtPrice: Q / 8n, liquidity: 40_000_000_000n * Q },
    { sqrtPrice: Q / 5n, liquidity: 10_000_000_000n * Q },
  ],
  decimals: 9,
}

describe('The drawing of a curve', () => {
  it('fills what was raised, and marks the pool', () => {
    expect(drawCurve(PLAIN, 500_000_000n, 40)).toEqual([
      ' SOL for one token',
      '0.04 ┤                              ···',
      '     │                            ··',
      '     │                         ···',
      '     │                      ···',
      '     │                   ···',
      '     │                ●··',
      '     │             ▂▅▇█',
      '     │         ▁▄▆█████',
      '     │     ▁▃▅▇████████',
      '0.01 ┤▁▂▄▆▇████████████',
      '     └────────────────┬────────────────',
      '      0              0.5   1 SOL raised',
    ])
  })

  it('bends where two segments meet', () => {
    expect(drawCurve(BENT, 1_000_000_000n, 50)).toEqual([
      ' SOL for one token',
      '0.04 ┤                                         ··',
      '     │                                       ··',
      '     │                                     ··',
      '     │                                   ··',
      '     │                                 ··',
      '     │                              ···',
      '     │                            ··',
      '     │                         ···',
      '     │              ▁▁▂▃▃▄▅▅▆▇●',
      '0.01 ┤▁▁▂▂▃▃▄▄▅▆▆▇▇████████████',
      '     └────────────────────────┬──────────────────',
      '      0                       1  1.749 SOL raised',
    ])
  })

  it('is a line without a pool, and filled to the end for a full curve', () => {
    expect(drawCurve(PLAIN, null, 40).join('\n')).not.toMatch(/[█●┬]/)
    const full = drawCurve(PLAIN, 2_000_000_000n, 40)
    expect(full[1]).toBe('0.04 ┤                              ▁▄●')
    expect(full.join('\n')).not.toContain('·')
  })

  it('never exceeds its width for any curve, and marks the pool once', () => {
    const step = fc.record({ by: fc.bigInt({ min: 1n, max: Q }), liquidity: fc.bigInt({ min: 1n, max: 2n ** 120n }) })
    const curve = fc
      .tuple(
        fc.bigInt({ min: 4_295_048_017n, max: Q }),
        fc.array(step, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 6, max: 9 }),
      )
      .map(([start, steps, decimals]) => {
        let sqrtPrice = start
        return {
          start,
          decimals,
          points: steps.map(({ by, liquidity }) => {
            sqrtPrice += by
            return { sqrtPrice, liquidity }
          }),
        }
      })
    fc.assert(
      fc.property(curve, fc.integer({ min: 72, max: 300 }), fc.nat(1_000), (curve, width, share) => {
        const total = raisedInAll(curve)
        const lines = drawCurve(curve, (total * BigInt(share)) / 1_000n, width)
        expect(lines).toHaveLength(13)
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(width)
        expect(lines.join('').split('●').length).toBe(total === 0n ? 1 : 2)
      }),
    )
  })

  it('has at every lamport the price that raises it', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 1_749_999_998n }), (lamports) => {
        const at = sqrtPriceAt(BENT, lamports)
        const [first, second] = BENT.points as [
          { sqrtPrice: bigint; liquidity: bigint },
          { sqrtPrice: bigint; liquidity: bigint },
        ]
        const points = at <= first.sqrtPrice ? [{ ...first, sqrtPrice: at }] : [first, { ...second, sqrtPrice: at }]
        const raised = raisedInAll({ ...BENT, points })
        expect(raised <= lamports && lamports - raised <= 2n, `${raised} of ${lamports}`).toBe(true)
      }),
    )
    expect(sqrtPriceAt(BENT, 10n ** 18n)).toBe(Q / 5n)
  })

  it('shows prices and amounts as short decimals, and reads a price back', () => {
    expect([priceOf(Q / 10n, 9), priceOf(Q / 5n, 6), priceOf(0n, 9)]).toEqual(['0.01', '0.00004', '0'])
    expect([shortOf(85_994_059_423n, 9), shortOf(123_456_789_123n, 2), shortOf(0n, 9), shortOf(7n, 9)]).toEqual([
      '85.994',
      '1234567891',
      '0',
      '0.000000007',
    ])
    expect([sqrtPriceFromText('0.01', 9), sqrtPriceFromText('4', 9), sqrtPriceFromText('0', 6)]).toEqual([
      Q / 10n,
      2n * Q,
      0n,
    ])
  })
})

describe('The state of a pool', () => {
  const state = (more: object = {}) => ({
    pool: { poolState: { sqrtPrice: String(Q / 8n), quoteReserve: '1000' } },
    config: {
      tokenDecimal: 9,
      collectFeeMode: 0,
      sqrtStartPrice: String(Q / 10n),
      migrationSqrtPrice: String(Q / 5n),
      migrationQuoteThreshold: '2000',
      curve: [
        { sqrtPrice: String(Q / 8n), liquidity: '5' },
        { sqrtPrice: String(Q), liquidity: '6' },
        { sqrtPrice: '0', liquidity: '0' },
      ],
      ...more,
    },
  })

  it('gives the curve up to the migration price', () => {
    const { curve, price, feesInSol } = poolState({ type: 'dbc', state: state() })
    expect({ price, feesInSol }).toEqual({ price: '0.015625', feesInSol: true })
    expect(curve).toEqual({
      raised: 1000n,
      threshold: 2000n,
      shape: {
        start: Q / 10n,
        decimals: 9,
        points: [
          { sqrtPrice: Q / 8n, liquidity: 5n },
          { sqrtPrice: Q / 5n, liquidity: 6n },
        ],
        quote: { decimals: 9, unit: 'SOL' },
      },
    })
  })

  it.each([null, 'text', {}, { pool: 1, config: [] }, state({ sqrtStartPrice: 12 }), state({ tokenDecimal: null })])(
    'that is %j gives no curve and no error',
    (state) => {
      expect(poolState({ type: 'dbc', state }).curve).toBeNull()
      expect(poolState({ type: 'damm_v2', state }).curve).toBeNull()
    },
  )

  it('shows 100 percent only for a full curve', () => {
    expect([percentOf(0.999999), percentOf(1), percentOf(0), percentOf(0.2359)]).toEqual([
      '99.99 %',
      '100 %',
      '0 %',
      '23.59 %',
    ])
  })
})

describe('A quote', () => {
  const quote = {
    pool_address: 'x',
    amount_in: '1000000000',
    estimated_out: '2500000',
    minimum_out: '2475000',
    fee: '10000',
  }

  it('of a buy shows SOL, tokens and the price', () => {
    const shown = { decimals: 6, name: 'MTK', feesInSol: true, slippage_bps: 100 }
    expect(quoteLines({ ...quote, side: 'buy' }, shown)).toEqual([
      '  pays      1 SOL',
      '  receives  2.5 MTK',
      '  at least  2.475 MTK (1 % less)',
      '  pool fee  0.00001 SOL',
      '  price     0.4 SOL for one, fee included',
    ])
  })

  it('of a sell shows tokens, SOL and the fee of what is received', () => {
    const lines = quoteLines(
      { ...quote, side: 'sell' },
      { decimals: 9, name: 'MTK', feesInSol: false, slippage_bps: 50 },
    )
    expect(lines.slice(0, 4)).toEqual([
      '  pays      1 MTK',
      '  receives  0.0025 SOL',
      '  at least  0.002475 SOL (0.5 % less)',
      '  pool fee  0.00001 SOL',
    ])
  })
})

/** A launch of two transactions over an API of a few lines; `fates` are what the submissions and landings come to. */
function launch({
  submits = [],
  lifecycles = [],
  relay,
}: {
  submits?: (Error | null)[]
  lifecycles?: string[]
  relay?: string
}) {
  const [payer, mint, config] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
  const keypair = cli.file(`${payer.publicKey.toBase58()}.json`, JSON.stringify([...payer.secretKey]), 0o600)
  const built = (signer: Keypair) =>
    Buffer.from(
      new VersionedTransaction(
        new TransactionMessage({
          payerKey: payer.publicKey,
          recentBlockhash: someone().toBase58(),
          instructions: [payer, signer].map(({ publicKey: fromPubkey }) =>
            SystemProgram.transfer({ fromPubkey, toPubkey: someone(), lamports: 1 }),
          ),
        }).compileToV0Message(),
      ).serialize(),
    ).toString('base64')
  const transactions = [built(config), built(mint)]
  const bodies: Record<string, unknown>[] = []
  const said: string[] = []
  let now = 0
  const simulation = {
    err: null,
    logs: [],
    units_consumed: 1,
    return_data: null,
    slot: 1,
    fee: '5000',
    rent: '0',
    balance_changes: [],
  }
  const session = {
    wallet: createWallet(),
    clock: {
      now: () => now,
      async sleep(ms: number) {
        now += ms
      },
    },
    setInterruptNote: () => undefined,
    cluster: async () => 'embedded',
    unchosenCluster: async () => null,
    settings: { list: async () => [{ name: 'relay-url', value: relay }] },
    ui: {
      interactive: false,
      confirmable: false,
      waiting: () => undefined,
      preview: async (lines: string[]) => void said.push(...lines),
    },
    client: {
      service: { cluster: async () => ({ data: { block_height: 1, slot_ms: null } }) },
      transactions: {
        simulate: async () => ({ data: simulation }),
        forecast: async () => ({ data: { failed: null, exact: true, payments: [] } }),
        async submit(body: Record<string, unknown>) {
          bodies.push(body)
          const fate = submits.shift()
          if (fate) throw fate
          return { data: { signature: '' } }
        },
        async get({ signature }: { signature: string }) {
          const lifecycle = lifecycles.shift() ?? 'confirmed'
          const err = lifecycle === 'failed' ? 'BlockhashNotFound' : null
          return { data: { signature, lifecycle, confirmation_status: null, err, slot: 7, confirmations: 0 } }
        },
      },
    },
  }
  const transfers = { program: SYSTEM_PROGRAM, call: 'transfer', fields: { lamports: 1 }, least: 4, most: 4 }
  const tracked_resource = { resource_type: 'pool', resource_id: 'p', related_events: ['pool.live' as const] }
  const run = (more: object = {}) =>
    runSigned(
      session as unknown as Session,
      {
        keypair,
        dry_run: false,
        force: false,
        build_only: false,
        bundle: false,
        tx_version: undefined,
        guard: undefined,
        wait: undefined,
        ...more,
      },
      {
        what: 'Launch X',
        build: async () => ({ data: { transactions, tracked_resource } }),
        demand: async (of) => ({
          says: 'four transfers',
          payer: of.payer,
          calls: [transfers],
          inOrder: false,
          guarded: null,
        }),
        secretKeys: () => [[...mint.secretKey], [...config.secretKey], []],
        recovery: () => '`svc pools verify p`',
        show: (_, landed) => ({ landed: landed?.length ?? null }),
      },
    )
  return { run, bodies, said, tracked_resource, payer: payer.publicKey.toBase58() }
}

describe('A launch of several transactions', () => {
  it('is sent one by one, each signed by its keys, and tracked by the last', async () => {
    const { run, bodies, said, tracked_resource } = launch({ lifecycles: ['submitted', 'confirmed', 'confirmed'] })
    const { data } = await run()
    expect(data).toMatchObject({
      landed: 2,
      signatures: [expect.any(String), expect.any(String)],
      lifecycle: 'confirmed',
    })
    expect(bodies.map(({ tracked_resource }) => tracked_resource)).toEqual([undefined, tracked_resource])
    const wallet = createWallet()
    for (const { transaction } of bodies) {
      const { signers } = await wallet.decode(transaction as string)
      expect(signers.map(({ signature }) => signature)).toEqual(['valid', 'valid'])
    }
    expect(said.join('\n')).toContain('2 transactions, one after another, each confirmed before the next')
    expect(said.join('\n')).toContain('known only after the one before it is confirmed')
  })

  it.each([
    [{ bundle: true }, undefined],
    [{}, 'https://relay.example'],
  ])('is sent as a bundle with %j and the relay %s', async (flags, relay) => {
    const { run, bodies, tracked_resource } = launch(relay === undefined ? {} : { relay })
    expect((await run(flags)).data).toMatchObject({ landed: 2 })
    expect(bodies).toEqual([
      { bundle: true, signed_transactions: [expect.any(String), expect.any(String)], tracked_resource },
    ])
  })

  it('that stops halfway says what was confirmed, and how to continue', async () => {
    const refused = launch({ submits: [null, new ApiError('bad_request', 'transaction: its blockhash has expired')] })
    const error = await refused.run().then(
      () => undefined,
      (error) => error,
    )
    expect(error.message).toMatch(
      /^transaction 2 of 2: transaction: its blockhash has expired \(landed before it: \w{80,}\)$/,
    )
    expect(error).toMatchObject({
      code: 'internal_error',
      next: '`svc pools verify p`',
      details: { landed: [expect.any(String)] },
    })

    const dropped = launch({ lifecycles: ['confirmed', 'failed'] })
    await expect(dropped.run()).rejects.toThrow(/^transaction 2 of 2: \w{80,} failed: .*landed before it/)
    const none = launch({ lifecycles: ['failed'] })
    await expect(none.run()).rejects.toThrow(/^transaction 1 of 2: .*none before it/)
    expect(none.bodies).toHaveLength(1)
    const bundled = launch({ lifecycles: ['confirmed', 'failed'] })
    await expect(bundled.run({ bundle: true })).rejects.toThrow(/^transaction 2 of the bundle of 2/)
  })

  it('is built in order for other signers, and simulated without being sent', async () => {
    const { run, bodies, payer } = launch({})
    const { data, rows } = await run({ build_only: true })
    expect(data).toMatchObject({ missing_signers: [payer], transactions: [expect.any(String), expect.any(String)] })
    expect(rows?.rows).toHaveLength(2)
    expect((await run({ dry_run: true })).exitCode).toBe(0)
    expect(bodies).toEqual([])
  })
})

describe('svc pools', () => {
  const create = ['pools', 'create', '--name', 'Test', '--symbol', 'TST', '--image']
  const logo = () => {
    const file = join(cli.home, 'logo.png')
    writeFileSync(file, png())
    return file
  }

  it.each([
    ['nowhere.png cannot be read: there is no such file', () => [...create, 'nowhere.png']],
    ['it is a folder', () => [...create, cli.home]],
    ['empty.png is empty', () => [...create, cli.file('empty.png', '')]],
    ['--buy must be an amount like 1.5', () => [...create, logo(), '--buy', '1e3']],
    ['--buy has more than 9 fractional digits', () => [...create, logo(), '--buy', '0.0000000001']],
    ['--buy has more digits than can be sent exactly', () => [...create, logo(), '--buy', '18446744073.123456789']],
    ['--keypair cannot be used with --signed', () => [...create, logo(), '--signed', '-k', 'id.json']],
    ['--tx-version 1 cannot be used with --bundle', () => [...create, logo(), '--bundle', '--tx-version', '1']],
    [
      'pays and',
      () => [...create, logo(), '--creator', someone().toBase58(), '--payer', someone().toBase58(), '--buy', '1'],
    ],
    ['--tx-version must be', () => [...create, logo(), '--tx-version', '2']],
    ['--dry-run cannot be used with --signed', () => [...create, logo(), '--signed', '--dry-run']],
    ['no signer is configured', () => [...create, logo(), '--signed']],
    ['--idempotency-key needs --signed', () => [...create, logo(), '--idempotency-key', 'x']],
    ['missing --symbol, --image', () => ['pools', 'create', '--name', 'Test']],
    ['missing --buy or --sell', () => ['pools', 'swap', someone().toBase58()]],
    ['--buy cannot be used with --sell', () => ['pools', 'swap', someone().toBase58(), '--buy', '1', '--sell', '1']],
    ['--buy must be more than 0', () => ['pools', 'swap', someone().toBase58(), '--buy', '0']],
  ])('create and swap refuse a wrong input before any request: %s', async (message, args) => {
    const id = cli.file('.id.json', JSON.stringify([...Keypair.generate().secretKey]), 0o600)
    const typed = args()
    const keypair = typed.includes('--signed') ? [] : ['-k', id]
    await cli.refused([...typed, ...keypair], message)
  })

  it('presets lists the presets and draws their curves', async () => {
    const { stdout } = await cli.svc(['pools', 'presets'])
    expect(stdout).toMatch(/^standard +1,000,000,000 +30 → 400 +85\.\d+ +0\.00000003 → 0\.0000004 +1 %$/m)
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    const drawn = await cli.svc(['pools', 'presets', '--curve'])
    expect(drawn.stdout).toMatch(/^ +0\.0000004 ┤ +·+$/m)
    expect((await cli.svc(['pools', 'presets', '-o', 'plain'])).stdout).toMatch(/^standard\t1000000000\t6\t30\t400\t/)
  })
})

describe('svc pools preview', () => {
  it('shows a table and a drawing within 80 columns, in ASCII for a simple terminal', async () => {
    const { stdout } = await cli.svc(['pools', 'preview', '--buy', '0.5'])
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    expect(stdout).toMatch(/^start +0 +0\.00000003 +30 +0\.0 % +1 % +0 +0 +0\.326$/m)
    expect(stdout).toMatch(/^buy +0\.495 /m)
    expect(stdout).toMatch(/^end +85\.99 +0\.0000004 +400 /m)
    expect(stdout).toMatch(/^ 0\.0000004 ┤ +[\u2800-\u28ff]+$/m)
    expect(stdout).toMatch(/^Migrates at 0\.0000004 SOL a token, a market cap of 400 SOL$/m)
    for (const env of [{ TERM: 'dumb' }, { LC_ALL: 'C' }]) {
      const plain = await cli.svc(['pools', 'preview', '--points', '3'], { env })
      expect(plain.stdout).toMatch(/^ 0\.0000004 \| +\*+$/m)
    }
  })

  it('gives every figure as JSON and as tab-separated fields', async () => {
    const json = JSON.parse((await cli.svc(['pools', 'preview', '--points', '2', '--after', '60', '--json'])).stdout)
    expect(json).toMatchObject({ preset: 'standard', buy: '0', after_seconds: 60 })
    expect(json.points.map(({ at }: { at: string }) => at)).toEqual(['start', 'curve', 'end'])
    const { stdout } = await cli.svc(['pools', 'preview', '--points', '2', '-o', 'plain'])
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split('\t').length),
    ).toEqual([19, 19, 19])
  })

  it('writes the same SVG for the same preview, without external resources', async () => {
    const pictures = []
    for (const name of ['a.svg', 'b.svg']) {
      const file = join(cli.home, name)
      const { exitCode, stderr } = await cli.svc(['pools', 'preview', '--buy', '2', '--svg', file])
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining(file)])
      pictures.push(readFileSync(file, 'utf8'))
    }
    expect(pictures[0]).toBe(pictures[1])
    expect(pictures[0]).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
    expect(pictures[0]!.replace(/xmlns="[^"]*"/, '')).not.toMatch(/https?:|@import|url\(|<script|<image/)
    await cli.refused(['pools', 'preview', '--svg', join(cli.home, 'none/a.svg')], 'cannot be written')
  })

  it('has a picture whose curve does not cross the text of the first buy', async () => {
    for (const buy of ['0.1', '5', '40', '80']) {
      const file = join(cli.home, 'marked.svg')
      await cli.svc(['pools', 'preview', '--buy', buy, '--svg', file])
      const svg = readFileSync(file, 'utf8')
      const line = /<polyline points="([^"]+)"/
        .exec(svg)![1]!
        .split(' ')
        .map((pair) => pair.split(',').map(Number))
      const [, x, y, anchor, words] = /<text x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)"[^>]*>(first buy[^<]*)/.exec(
        svg,
      )!
      const width = words!.length * 6
      const left = anchor === 'end' ? Number(x) - width : Number(x)
      const crossing = line.filter(([at, height]) => {
        const isBeside = at! > left && at! < left + width
        return isBeside && height! > Number(y) - 10 && height! < Number(y) + 3
      })
      expect(crossing, buy).toEqual([])
      expect(left, buy).toBeGreaterThanOrEqual(110)
    }
  })
})

describe('A plot', () => {
  it('joins its points without gaps, and labels its ends', () => {
    const labels = { title: 'SOL', highest: '4', lowest: '1', first: '0', last: '1 SOL' }
    const points = [
      { x: 0, y: 0 },
      { x: 0.5, y: 0.1 },
      { x: 1, y: 1 },
    ]
    const drawn = plotLines(points, labels, 24, false)
    expect(drawn[0]).toBe('SOL')
    expect(drawn.at(-1)).toMatch(/^ {3}0 +1 SOL$/)
    const rows = drawn.slice(1, -2)
    for (let column = 3; column < 23; column++) expect(rows.some((row) => row[column] === '*')).toBe(true)
    for (const row of rows) expect(row).toContain('*')
    expect(plotLines(points, labels, 24, true).join('')).toMatch(/[\u2801-\u28ff]/)
  })
})

describe.skipIf(lacksDbc)('svc pools, on the chain through a daemon,', () => {
  const [creator, platform] = [Keypair.generate(), Keypair.generate()]
  let daemon: Served
  let provider: Awaited<ReturnType<typeof startDas>>
  let logo = ''
  let keypair = ''
  const run = cli.json
  const launched = (symbol: string, ...more: string[]) => [
    ...['pools', 'create', '--name', 'Test Token', '--symbol', symbol, '--image', logo, '-k', keypair],
    ...more,
  ]

  const ownMint = (name: string) => {
    const { publicKey, secretKey } = Keypair.generate()
    const file = cli.file(name, JSON.stringify([...secretKey]), 0o600)
    return { file, address: publicKey.toBase58(), secretKey: [...secretKey] }
  }

  beforeAll(async () => {
    await cli.svc(['localnet', 'status'])
    logo = join(cli.home, 'token.png')
    writeFileSync(logo, png())
    keypair = cli.file('creator.json', JSON.stringify([...creator.secretKey]), 0o600)
    provider = await startDas(knowsAll)
    daemon = await serveHere(cli.dataDir, {
      SVC_METADATA_URL: provider.url,
      SVC_SIGNER: 'keypair',
      SVC_SIGNER_KEYPAIR: cli.keypair('platform.json', platform).file,
      SVC_PRIORITY_FEE: 'none',
      SVC_POOLS_CRANK: 'true',
      SVC_POOLS_PRESETS: cli.file(
        'presets.json',
        JSON.stringify({ tiny: TINY_CURVE, shared: { ...TINY_CURVE, shared_config: true } }),
      ),
    })
    for (const { publicKey } of [creator, platform]) await run(['localnet', 'airdrop', publicKey.toBase58(), '100'])
    await run(['signer', 'policy', '--per-transaction', '5', '--per-day', '50', '--max-fee', '0.01', '--yes'])
  })
  afterAll(async () => {
    provider?.close()
    await daemon?.stop()
  })

  it('create answers with the endpoint at which the daemon serves the chain, on any port', async () => {
    const image = readFileSync(logo).toString('base64')
    const body = { creator: creator.publicKey.toBase58(), name: 'Where', symbol: 'WHERE', image, preset: 'tiny' }
    const { status, json } = await daemon.request('POST', '/v2/pools', { body })
    expect(status, JSON.stringify(json)).toBe(201)
    const { rpc_url } = JSON.parse(readFileSync(join(cli.dataDir, 'daemon.json'), 'utf8'))
    expect(json.data.rpc_endpoint).toBe(rpc_url)
    expect(rpc_url).not.toMatch(/:8899$/)
  })

  it('creates a pool, trades on it, draws it, and watches it until it has migrated', async () => {
    const full = launched('FULL', '--preset', 'tiny', '--buy', '0.1', '--website', 'https://example.com')
    const lamports = async () => BigInt((await run(['accounts', 'get', creator.publicKey.toBase58()])).lamports)
    const [before, forecast] = [await lamports(), await run([...full, '--dry-run'])]
    const pool = await run(full)
    // The preview said to the lamport what it takes.
    expect(forecast.payments).toMatchObject([{ mint: null, amount: String(before - (await lamports())) }])
    expect(pool).toMatchObject({
      type: 'dbc',
      status: 'live',
      symbol: 'FULL',
      preset: 'tiny',
      creator: creator.publicKey.toBase58(),
    })
    expect(pool.signatures).toHaveLength(2)
    expect(pool.curve_progress).toBeGreaterThan(0)
    const { address, base_mint } = pool
    expect(await run(['pools', 'get', address])).toMatchObject({ address, base_mint, status: 'live' })
    expect((await run(['pools', 'list', '--status', 'live'])).map((one: { address: string }) => one.address)).toContain(
      address,
    )
    expect(await run(['pools', 'verify', address])).toMatchObject({ verified: true })
    const bySymbol = await cli.svc(['pools', 'get', 'full', '--json'])
    expect(JSON.parse(bySymbol.stdout)).toMatchObject({ address })
    expect(bySymbol.stderr).toContain(`full is ${address}, launched by ${creator.publicKey.toBase58()}`)
    const shown = await cli.svc(['pools', 'swap', 'FULL', '--buy', '0.2', '--dry-run', '-k', keypair])
    expect(shown.stdout).toMatch(/^Buy FULL for 0\.2 SOL\n/)
    // Nobody reads what the symbol stands for.
    await cli.refused(['pools', 'swap', 'FULL', '--buy', '0.2', '--yes', '-k', keypair], `give ${address}`)
    // A person does, even with --quiet.
    const confirmed = await onTerminal(cli, ['pools', 'swap', 'FULL', '--buy', '0.001', '--quiet', '-k', keypair], [])
    expect(confirmed.exitCode, confirmed.screen).toBe(0)
    expect(confirmed.screen).toContain(`FULL is ${address}, launched by`)
    await cli.refused(['pools', 'get', 'NONE'], '<address> must be an address, and no pool here has the symbol NONE')
    await cli.refused(['fees', 'delegate', 'list', 'FULL'], `The pool ${address} has not migrated`)

    const [latest] = await run(['pools', 'trades', 'FULL', '--limit', '1'])
    expect(latest).toMatchObject({ side: 'buy', amount_in: '1000000', decimals_in: 9, pool_address: address })
    expect((await cli.svc(['pools', 'trades', address])).stdout).toMatch(/PAID +RECEIVED +PRICE/)
    const dry = await cli.svc(['pools', 'swap', address, '--buy', '0.2', '--dry-run', '-k', keypair])
    expect(dry.stdout).toMatch(/^Buy FULL for 0\.2 SOL\n {2}pays {6}0\.2 SOL\n {2}receives {2}[\d,]+\.\d+ FULL\n/)
    const bought = await run(['pools', 'swap', address, '--buy', '0.2', '--slippage-bps', '0', '-k', keypair])
    expect(bought).toMatchObject({ side: 'buy', amount_in: '200000000', fee: '2000000', lifecycle: CONFIRMED })
    const sold = await run(['pools', 'swap', address, '--sell', '1000.5', '-k', keypair])
    expect(sold).toMatchObject({ side: 'sell', amount_in: '1000500000' })

    const progress = await run(['pools', 'progress', address])
    expect(Object.keys(progress)).toEqual(['pool_address', 'progress'])
    const drawn = await cli.svc(['pools', 'progress', address])
    expect(drawn.stdout).toMatch(/^FULL {2}live {2}\d+(\.\d+)? % {2}0\.\d+ of 1\.\d+ SOL\nprice 0\.\d+ SOL\n/)
    expect(drawn.stdout).toMatch(/●·/)
    const svg = join(cli.home, 'curve.svg')
    symlinkSync(logo, svg)
    const got = await cli.svc(['pools', 'get', address, '--svg', svg])
    expect(got.stdout).toMatch(/PRICE +0\.\d+ SOL\n/)
    expect(got.stdout).toMatch(/\nSOL for one token\n| SOL for one token\n/)
    expect(got.stdout).toMatch(/●·/)
    expect(got.stderr).toContain(`The picture is in ${svg}.`)
    expect(readFileSync(svg, 'utf8')).toMatch(
      /^<svg [\s\S]*FULL: SOL for one token[\s\S]*<circle [\s\S]*live<\/text>[\s\S]*<\/svg>\n$/,
    )
    expect(readFileSync(logo).subarray(0, 4).toString('latin1')).toBe('\x89PNG')
    expect((await cli.svc(['pools', 'get', address, '-o', 'plain'])).stdout).not.toContain('for one token')
    const dumb = await cli.svc(['pools', 'progress', address], { env: { TERM: 'dumb' } })
    expect(dumb.stdout).toMatch(/^[ -~\n]+$/)
    expect(dumb.stdout).toMatch(/o\./)
    const plain = await cli.svc(['pools', 'progress', address, '-o', 'plain'])
    expect(plain.stdout).toBe(`pool_address\t${address}\nprogress\t${progress.progress}\n`)

    const watching = execa(process.execPath, [PROGRAM, 'pools', 'watch', address, '--json'], {
      env: cli.env,
      extendEnv: false,
      reject: false,
    })
    const [first] = await Promise.all([
      new Promise<string>((seen) => watching.stderr.once('data', (text) => seen(String(text)))),
    ])
    expect(first).toMatch(/^\S+Z {2}live {2}\d+(\.\d+)? % {2}0\.\d+ of 1\.\d+ SOL {2}price 0\.\d+ SOL\n/)
    const filled = await cli.svc(['pools', 'swap', address, '--buy', '5', '-k', keypair, '--json'])
    expect(filled.stderr).toMatch(/^(Full\. The platform wallet .*\n)?/)
    const rest = JSON.parse(filled.stdout)
    expect(BigInt(rest.amount_in)).toBeLessThan(1_000_000_000n)
    const { exitCode, stdout, stderr } = await watching
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/migrated {2}100 %/) })
    expect(JSON.parse(stdout)).toMatchObject({ address, status: 'migrated', curve_progress: 1 })
    const next = /It trades in (\w+) now/.exec(stderr)?.[1]

    await cli.refused(['pools', 'swap', address, '--buy', '1', '-k', keypair], `swap on ${next}`)
    const after = await run(['pools', 'swap', next!, '--sell', '1000.5', '-k', keypair])
    expect(after).toMatchObject({ side: 'sell', amount_in: '1000500000', lifecycle: CONFIRMED })
    expect((await cli.svc(['pools', 'watch', next!])).exitCode).toBe(0)

    // The symbol has two pools now, and one mint.
    const several = await cli.refused(['pools', 'get', 'FULL', '-o', 'table'], '2 pools here have the symbol FULL')
    expect(several).toContain(`  ${address}  dbc, migrated, by ${creator.publicKey.toBase58()}\n`)
    expect(several).toContain(`  ${next}  damm_v2, live, by `)
    const balances = await run(['wallet', 'balance', creator.publicKey.toBase58(), '--mint', 'FULL'])
    expect(JSON.stringify(balances)).toContain(base_mint)
  })

  itInSoak(
    'create refuses a wallet that can pay for the first of two transactions only, and sends nothing',
    async () => {
      const poor = Keypair.generate()
      const file = cli.file('poor.json', JSON.stringify([...poor.secretKey]), 0o600)
      const address = poor.publicKey.toBase58()
      await run(['localnet', 'airdrop', address, '0.02'])
      const args = [
        ...['pools', 'create', '--name', 'Poor', '--symbol', 'POOR', '--image', logo],
        ...['--preset', 'tiny', '--buy', '0.1', '-k', file],
      ]
      const stderr = await cli.refused(args, / has 0\.02 SOL, and 0\.\d+ SOL is needed: nothing was signed or sent/, 1)
      expect(stderr).toContain(`svc localnet airdrop ${address} 1`)
      expect(stderr).toMatch(/ total {5}0\.\d+ SOL \(you have 0\.02\)\n/)
      const dry = await cli.svc([...args, '--dry-run'])
      expect([dry.exitCode, dry.stdout]).toEqual([1, expect.stringMatching(/ missing {3}0\.\d+ SOL in /)])
      expect((await run(['accounts', 'get', address])).lamports).toBe('20000000')
      const journals = join(cli.home, '.local/state/svc/pool-launches')
      expect(readdirSync(journals).filter((name) => name.endsWith('.json'))).toEqual([])
      const signed = [
        'pools',
        'create',
        '--name',
        'Poor',
        '--symbol',
        'POOS',
        '--image',
        logo,
        '--buy',
        '101',
        '--signed',
      ]
      await cli.refused([...signed, '--yes'], / has \d+(\.\d+)? SOL, and 101\.\d+ SOL is needed: nothing was signed/, 1)
      // The same command, once it can be paid.
      await run(['localnet', 'airdrop', address, '1'])
      expect(await run(args)).toMatchObject({ status: 'live', symbol: 'POOR' })
      expect(readdirSync(journals).filter((name) => name.endsWith('.json'))).toEqual([])
    },
  )

  it.skipIf(!inSoak)(
    'create launches as a bundle, by the platform wallet, in one transaction, and without a curve',
    { tags: 'sampled' },
    async () => {
      const bundled = await run(launched('BNDL', '--buy', '0.1', '--bundle'))
      expect(bundled).toMatchObject({ status: 'live', preset: 'standard' })
      const last = await run(['tx', 'get', bundled.signatures[1]])
      expect(last).toMatchObject({ err: null, slot: (await run(['tx', 'get', bundled.signatures[0]])).slot })

      const signed = [
        ...['pools', 'create', '--name', 'Signed', '--symbol', 'SGND', '--image', logo, '--buy', '0.05'],
        ...['--signed'],
      ]
      const key = ['--idempotency-key', 'launch-of-sgnd']
      const own = await run([...signed, ...key])
      expect(own).toMatchObject({ status: 'live', creator: platform.publicKey.toBase58() })
      expect((await run([...signed, ...key])).address).toBe(own.address)

      const whole = await run(launched('WHOL', '--buy', '0.1', '--tx-version', '1'))
      expect(whole).toMatchObject({ status: 'live', preset: 'standard' })
      expect(whole.signatures).toHaveLength(1)
      expect(whole.curve_progress).toBeGreaterThan(0)

      const damm = await run(launched('SNGL', '--type', 'damm_v2', '--buy', '0.1'))
      expect(damm).toMatchObject({ type: 'damm_v2', status: 'live' })
      const bought = await run(['pools', 'swap', damm.address, '--buy', '0.1', '-k', keypair])
      expect(bought).toMatchObject({ side: 'buy', fee: '1000000' })
    },
  )

  itInSoak('share creates the config of a preset once, and create then takes one transaction', async () => {
    await cli.refused(launched('EARLY', '--preset', 'shared'), 'svc pools share shared')
    const shared = await run(['pools', 'share', 'shared', '-k', keypair])
    expect(shared).toMatchObject({ preset: 'shared', status: 'live', lifecycle: CONFIRMED })
    const again = await run(['pools', 'share', 'shared', '-k', keypair])
    expect(again).toEqual({ preset: 'shared', config: shared.config, status: 'live' })
    const pool = await run(launched('SHRD', '--preset', 'shared', '--buy', '0.1'))
    expect(pool).toMatchObject({ status: 'live', config: shared.config })
    expect(pool.signatures).toHaveLength(1)
  })

  itInSoak(
    'create --mint-keypair launches at the address of the key, which only signs, and refuses a key that cannot be the mint',
    async () => {
      const { file, address, secretKey } = ownMint('mint.json')
      const own = (symbol: string, ...more: string[]) =>
        launched(symbol, '--preset', 'tiny', '--mint-keypair', file, '--yes', ...more)
      expect(await run(own('OWN', '--buy', '0.1', '--dry-run'))).toMatchObject({ base_mint: address, err: null })
      expect(await run(own('OWN', '--buy', '0.1', '--rehearse'))).toMatchObject({ succeeded: true })
      const { stdout, stderr } = await cli.svc([...own('OWN', '--buy', '0.1'), '--json'])
      expect(JSON.parse(stdout)).toMatchObject({ status: 'live', base_mint: address })
      expect(`${stdout}${stderr}`.includes(secretKey.slice(0, 8).join(','))).toBe(false)

      await cli.refused(own('TWO'), `an account exists at ${address} already`, 2)
      await cli.refused(own('TWO', '--signed'), '--mint-keypair cannot be used with --signed')
      const vault = ['--squads', '9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g']
      await cli.refused(own('TWO', ...vault), '--squads cannot be used with --mint-keypair', 2)
      await cli.refused(launched('TWO', '--mint-keypair', keypair), 'must not be a wallet that pays or signs', 2)
      const open = cli.file('open.json', JSON.stringify(secretKey), 0o644)
      await cli.refused(launched('TWO', '--mint-keypair', open), 'can be read by others', 4)
    },
  )

  it.each([
    ['damm_v2', '0'],
    ['dbc', '1'],
  ])('create --type %s --tx-version %s takes the mint of --mint-keypair too', async (type, version) => {
    const { file, address } = ownMint(`mint-${type}.json`)
    const more = ['--type', type, '--tx-version', version, '--mint-keypair', file, '--buy', '0.1', '--yes']
    expect(await run(launched(`OWN${version}`, ...more))).toMatchObject({ type, status: 'live', base_mint: address })
  })

  itInSoak('create --mint-keypair --build-only prints transactions that the mint has signed', async () => {
    const { file, address } = ownMint('built.json')
    const built = await run(launched('OWNB', '--mint-keypair', file, '--buy', '0.1', '--build-only'))
    expect(built).toMatchObject({ base_mint: address, missing_signers: [creator.publicKey.toBase58()] })
    for (const one of built.transactions) {
      const { transaction } = await run(['tx', 'sign', one, '-k', keypair])
      await run(['tx', 'submit', transaction])
    }
    expect(await run(['pools', 'verify', built.address])).toMatchObject({ verified: true, pool: { status: 'live' } })
  })

  it('create --build-only prints the transactions, which are sent as a bundle once signed', async () => {
    const built = await run(launched('BLDO', '--buy', '0.1', '--build-only'))
    expect(built).toMatchObject({ status: 'pending', missing_signers: [creator.publicKey.toBase58()] })
    const early = await cli.svc(['pools', 'verify', built.address])
    expect([early.exitCode, early.stdout]).toEqual([1, expect.stringMatching(/false +pending/)])
    expect((await cli.svc(['pools', 'list'])).stderr).toContain('A launch that nobody sends fails by itself')
    // Somebody else may build the same ticker.
    const others = launched('BLDO', '--creator', '9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g', '--build-only')
    await run(others.filter((word) => word !== '-k' && word !== keypair))
    const transactions: string[] = []
    for (const one of built.transactions) transactions.push((await run(['tx', 'sign', one, '-k', keypair])).transaction)
    await run(['tx', 'submit', '--bundle', ...transactions])
    expect(await run(['pools', 'verify', built.address])).toMatchObject({ verified: true, pool: { status: 'live' } })
  })

  it('create --payer prints a sponsored launch, which is sent once creator and sponsor have signed', async () => {
    const sponsor = Keypair.generate()
    const file = cli.file('sponsor.json', JSON.stringify([...sponsor.secretKey]), 0o600)
    await run(['localnet', 'airdrop', sponsor.publicKey.toBase58(), '10'])
    const payer = ['--payer', sponsor.publicKey.toBase58(), '--build-only']
    const built = await run(launched('SPON', '--buy', '0.1', ...payer))
    const both = [sponsor, creator].map(({ publicKey }) => publicKey.toBase58())
    expect(built.missing_signers.toSorted()).toEqual(both.toSorted())
    // The creator signs the pool with the first buy; the config before it takes the sponsor alone.
    for (const [i, keys] of [[file], [file, keypair]].entries()) {
      let signed = built.transactions[i]
      for (const key of keys) signed = (await run(['tx', 'sign', signed, '-k', key])).transaction
      await run(['tx', 'submit', signed])
    }
    expect(await run(['pools', 'verify', built.address])).toMatchObject({ verified: true, pool: { status: 'live' } })
  })

  it.skipIf(!inSoak)('watch redraws the curve on a terminal', { tags: 'sampled' }, async () => {
    const [{ address }] = await run(['pools', 'list', '--type', 'dbc', '--status', 'live'])
    const { exitCode, screen } = await onTerminal(
      cli,
      ['pools', 'watch', address],
      [['Ctrl-C ends this\r\n\u001b[', '\u0003']],
    )
    expect(exitCode, screen).toBe(130)
    expect(screen).toContain('SOL for one token')
  })
})

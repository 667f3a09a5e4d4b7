/** `svc fees`: splits as they are typed, claims one by one and all at once, and both by the built command to the lamport. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Session } from '../../commands/cli/session.ts'
import { claimAll, claimableFees } from '../../commands/fees/claim-all.ts'
import { splitsIn, splitsOf } from '../../commands/fees/splits.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { png } from '../storage/images.ts'
import { someone } from '../support/local-chain.ts'
import { hasProgram } from '../support/programs.ts'
import { TOKEN_ACCOUNT_RENT } from '../support/rent.ts'
import { runs } from '../support/runs.ts'
import { CONFIRMED, commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
const lacksDbc = [PROGRAMS.dbc, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))
const [A, B, C] = [1, 2, 3].map(() => someone().toBase58()) as [string, string, string]

describe('The pools of svc fees claim --all', () => {
  const found = async (signed: boolean) => {
    const notes: string[] = []
    const pool = (address: string, feeClaimer: string) => ({
      ...{ address, type: 'dbc', status: 'live', symbol: null, fee_metrics: null },
      state: { config: { feeClaimer }, pool: { poolState: {} } },
    })
    const away = async () => {
      throw new ApiError('internal_error', 'the node is away')
    }
    const session = {
      ui: { progress: () => () => undefined, note: (text: string) => void notes.push(text), clear: () => undefined },
      client: {
        pools: { list: async () => ({ data: [pool('own', 'platform'), pool('foreign', 'partner')], meta: {} }) },
        feeClaims: { create: away },
      },
    } as unknown as Session
    const search = {
      kind: undefined,
      beneficiary: undefined,
      owner: undefined,
      least: 0n,
      payer: 'platform',
      only: signed ? ('the platform wallet' as const) : null,
    }
    const rows = await claimableFees(session, search)
    return [rows.map(({ pool_address }) => pool_address), notes]
  }

  it('are, with --signed, those that pay the platform wallet; the others are counted', async () => {
    expect(await found(true)).toEqual([
      ['own'],
      [expect.stringContaining('1 pool pays another partner than the platform wallet')],
    ])
    expect(await found(false)).toEqual([['own', 'foreign'], []])
  })
})

describe('A split', () => {
  it('is the same from the flag and a file, for any shares', { tags: 'sampled' }, () => {
    const shares = fc
      .uniqueArray(fc.integer({ min: 1, max: 9_999 }), { minLength: 1, maxLength: 9 })
      .map((cuts) => [0, ...cuts.sort((a, b) => a - b), 10_000])
      .map((cuts) => cuts.slice(1).map((cut, i) => cut - cuts[i]!))
    fc.assert(
      fc.property(shares, fc.constantFrom('\n', '\r\n', '\r'), fc.boolean(), (shares, end, heading) => {
        const splits = shares.map((bps) => ({ recipient: someone().toBase58(), bps }))
        expect(splitsOf(splits.map(({ recipient, bps }) => `${recipient}:${bps}`))).toEqual(splits)
        const lines = splits.map(({ recipient, bps }, i) => (i % 2 ? `"${recipient}" , ${bps}` : `${recipient},${bps}`))
        const file = [...(heading ? ['address,bps'] : []), '# who gets what', ...lines, ''].join(end)
        expect(splitsIn(Buffer.from(file), 'shares.csv')).toEqual(splits)
        expect(splitsIn(Buffer.from(`\ufeff${file}`), 'shares.csv')).toEqual(splits)
      }),
      { numRuns: runs(25, 100) },
    )
  })

  it.each([
    [[`${A}:5000`, B], `--split: item 2 must be ADDRESS:BPS, not "${B}"`],
    [[`${A}:5000`, `${B}:5000:1`], '--split: item 2 must be ADDRESS:BPS'],
    [[`${A}:5000`, 'x:5000'], '--split: item 2: "x" is not a wallet'],
    [[`${A}:5000`, `0x12:5000`], '--split: item 2: "0x12" is not a Solana wallet'],
    [[`${A}:0`, `${B}:10000`], '--split: item 1: bps must be a whole number from 1 to 10000, not "0"'],
    [[`${A}:50.5`, `${B}:10000`], '--split: item 1: bps must be a whole number from 1 to 10000, not "50.5"'],
    [[`${A}:-1`, `${B}:10001`], '--split: item 1: bps must be'],
    [[`${A}:5000`, `${B}:4999`], 'bps must sum to exactly 10000, and come to 9999: 1 too little'],
    [[`${A}:5000`, `${B}:5001`], 'and come to 10001: 1 too much'],
    [[`${A}:5000`, `${B}:2500`, `${A}:2500`], `--split: item 3: ${A} appears twice: --split: item 1`],
    [[`${A}:10000`], 'a split has 2 to 10 recipients, not 1'],
    [Array.from({ length: 11 }, () => `${someone().toBase58()}:909`), 'a split has 2 to 10 recipients, not 11'],
  ])('%j is refused', (items, message) => {
    expect(() => splitsOf(items)).toThrow(message)
  })

  it.each([
    [`${A},5000\n\n${B}`, 's.csv:3:1: it has 1 columns, and must have two: address,bps'],
    [`${A},5000\n${B},5000,x`, 's.csv:2:1: it has 3 columns'],
    [`${A},5000\n0OIl,5000`, 's.csv:2:1: "0OIl" is not a base58 wallet'],
    [`address,bps\n${A},half`, `s.csv:2:${A.length + 2}: bps must be a whole number from 1 to 10000, not "half"`],
    [`bps,address\n${A},5000`, 's.csv:1:1: the heading must be address,bps'],
    [`${A},5000\n${A},5000`, `s.csv:2:1: ${A} appears twice: s.csv:1:1`],
    [`${A},5000\n#N/A,5000`, 's.csv:2:1: "#N/A" is an error value of the spreadsheet'],
    [`${A};5000\n${B.toLowerCase()};5000`, 's.csv:2:1: "'],
    [`${A},5000\n${B},1`, 's.csv: bps must sum to exactly 10000, and come to 5001: 4999 too little'],
    ['', 's.csv: a split has 2 to 10 recipients, not 0'],
  ])('from a file with %j is refused with the line', (text, message) => {
    expect(() => splitsIn(Buffer.from(text), 's.csv')).toThrow(message)
  })
})

describe('svc fees claim', () => {
  it.each([
    [[], 'missing <pool> or --all'],
    [[A, '--all'], '<pool> cannot be used with --all'],
    [[A, '--min', '1'], '--min needs --all'],
    [['--all', '--min', 'x'], '--min must be an amount like 1.5'],
    [['--all', '--build-only'], '--build-only cannot be used with --all'],
    [[A, '--idempotency-key', 'x'], '--idempotency-key needs --signed'],
    [['--all', '--signed', '--idempotency-key', 'x'], '--idempotency-key cannot be used with --all'],
    [[A, '--signed', '-k', 'id.json'], '--keypair cannot be used with --signed'],
    [[A, '--signed', '--build-only'], '--build-only cannot be used with --signed'],
    [[A, '--signed'], 'no signer is configured'],
    [[A, '--kind', 'surplus', '--split', `${B}:5000,${C}:5000`], '--kind surplus cannot be used with --split'],
    [[A, '--split', `${B}:5000`, '--split-file', 'x'], '--split-file cannot be used with --split'],
    [[A, '--split-file', 'nowhere.csv'], 'nowhere.csv cannot be read: there is no such file'],
    [[A, '--split', `${B}:5000,${C}:4000`], 'bps must sum to exactly 10000'],
    [[A, '--kind', 'all'], '--kind must be dbc or damm_v2 or surplus or migration_fee'],
    [[A, '--as', 'protocol'], '--as must be partner or creator'],
    [[A, '--kind', 'leftover', '--as', 'creator'], '--kind leftover pays only the partner'],
    [[A, '--kind', 'vesting', '--as', 'partner'], '--kind vesting pays only the creator'],
    [[A, '--owner', B], '--owner needs --kind damm_v2'],
  ])('refuses %j before any request', async (args, message) => {
    const id = cli.file('id.json', JSON.stringify([...Keypair.generate().secretKey]), 0o600)
    await cli.refused(['fees', 'claim', ...args.map((arg) => (arg === 'id.json' ? id : arg))], message)
  })
})

/** Pools of an API of a few lines; `claims` is what the signed claim of each comes to. */
function owed(
  claims: Record<string, string | Error>,
  fees: Record<string, unknown>[],
  /** Positions with fees of each pool, of which a claim takes six. */
  left: Record<string, number> = {},
  lamports = '1000000',
) {
  const asked: string[] = []
  const lifecycles: string[] = []
  const pools = fees.map((more, i) => ({ address: `pool${i}`, symbol: `P${i}`, type: 'dbc', status: 'live', ...more }))
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
    cluster: async () => 'embedded',
    setInterruptNote: () => undefined,
    clock: { now: () => 0, sleep: async () => undefined },
    wallet: {
      decode: async () => ({ instructions: [], fee_payer: 'platform' }),
      describe: async () => ({ fee: '5000' }),
      explain: async () => ({ program: null, message: 'it expired', hint: null }),
    },
    ui: {
      interactive: false,
      confirmable: false,
      note: () => undefined,
      waiting: () => undefined,
      progress: () => () => undefined,
      preview: async () => undefined,
    },
    get client() {
      return {
        signer: { get: async () => ({ data: { address: 'platform' } }) },
        accounts: { get: async () => ({ data: { lamports } }) },
        pools: {
          // Two to a page.
          async list({ cursor = '0', creator }: { cursor?: string; creator?: string }) {
            if (creator !== undefined) asked.push(`pools of ${creator}`)
            const at = Number(cursor)
            const next_cursor = at + 2 < pools.length ? String(at + 2) : null
            return { data: pools.slice(at, at + 2), meta: { next_cursor } }
          },
        },
        transactions: {
          simulate: async () => ({ data: simulation }),
          async get({ signature }: { signature: string }) {
            const lifecycle = lifecycles.shift() ?? 'confirmed'
            return { data: { signature, lifecycle, err: lifecycle === 'failed' ? 'expired' : null, slot: 5 } }
          },
        },
        feeClaims: {
          async create(body: { address: string; kind: string; mode?: string; beneficiary?: string; owner?: string }) {
            const { address, kind, mode = 'unsigned', beneficiary, owner } = body
            const fate = claims[address] ?? claims[`${address} ${kind}`]
            const whose = [beneficiary, owner].flatMap((each) => (each === undefined ? [] : [` ${each}`])).join('')
            if (mode === 'signed') asked.push(`${address} ${kind}${whose}`)
            if (fate instanceof ApiError && (mode === 'signed' || fate.details !== undefined)) throw fate
            const tx = mode === 'signed' ? { mode, signature: `sig-${address}` } : { mode, transaction: 'AA==' }
            const remaining = mode === 'signed' ? Math.max(0, (left[address] ?? 0) - 6) : 0
            if (mode === 'signed' && left[address] !== undefined) left[address] = remaining
            const amounts = { estimated_quote: typeof fate === 'string' ? fate : '7', remaining_positions: remaining }
            return { data: { pool_address: address, kind, ...amounts, tx } }
          },
        },
      }
    },
  }
  const flags = {
    keypair: undefined,
    tx_version: undefined,
    guard: undefined,
    dry_run: false,
    build_only: false,
    force: false,
    wait: undefined,
    signed: true,
    allow_programs: false,
    min: undefined,
  }
  const run = async (more: object = {}) => {
    const outcome = await claimAll(session as unknown as Session, { ...flags, ...more }, undefined)
    const { claims } = outcome.data as {
      claims: { pool_address: string; kind: string; status: string; error: string | null }[]
    }
    return { ...outcome, table: claims.map((row) => `${row.pool_address} ${row.kind} ${row.status}`), claims }
  }
  return { run, asked, lifecycles }
}

const holding = (lamports: string, surplus_status = 'unknown') => ({
  fee_metrics: { partner_quote_fee: lamports, surplus_status },
})

describe('svc fees claim --all', () => {
  it('covers every page and kind, and skips pools without fees', async () => {
    const { run, asked } = owed(
      {
        'pool3 surplus': '9',
        pool4: '11',
        pool5: new ApiError('bad_request', 'Nothing is there', { details: { reason: 'nothing_to_claim' } }),
      },
      [
        holding('5'),
        holding('0'),
        { ...holding('3'), status: 'pending' },
        { ...holding('0', 'available'), status: 'migrated' },
        { type: 'damm_v2', fee_metrics: null },
        { type: 'damm_v2', fee_metrics: null },
        { ...holding('4', 'withdrawn'), status: 'migrated' },
      ],
    )
    const { exitCode, data, notes } = await run()
    expect(asked).toEqual(['pool0 dbc', 'pool3 surplus', 'pool4 damm_v2', 'pool6 dbc'])
    expect(data).toMatchObject({ claimed: 4, failed: 0 })
    expect([exitCode, notes?.[0]]).toEqual([0, expect.stringMatching(/^4 claimed, 0\.000000034 SOL\.$/)])
  })

  it('claims nothing if the wallet cannot pay the fees of all', async () => {
    const { run, asked } = owed({}, [holding('5'), holding('6'), holding('7')], {}, '14999')
    await expect(run()).rejects.toThrow('platform has 0.000014999 SOL, and 0.000015 SOL is needed')
    expect(asked).toEqual([])
  })

  it('continues until no position of a pool is left, with a row for each claim', async () => {
    const { run, asked } = owed({}, [{ type: 'damm_v2', fee_metrics: null }, holding('5')], { pool0: 15 })
    const { table, data } = await run()
    expect(asked).toEqual(['pool0 damm_v2', 'pool0 damm_v2', 'pool0 damm_v2', 'pool1 dbc'])
    expect(table.toSorted()).toEqual([...Array(3).fill('pool0 damm_v2 claimed'), 'pool1 dbc claimed'])
    expect(data).toMatchObject({ claimed: 4, failed: 0 })
  })

  it('--as creator covers the pools of the signing wallet, and every kind that may have fees', async () => {
    const state = (held: object, config: object = {}) => ({ state: { pool: { poolState: held }, config } })
    const vesting = { lockedVestingConfig: { cliffUnlockAmount: '0', amountPerPeriod: '5' } }
    const { run, asked } = owed(
      {
        'pool2 migration_fee': new ApiError('bad_request', 'It is paid', { details: { reason: 'withdrawn' } }),
        pool3: new ApiError('bad_request', 'Wait', { details: { reason: 'too_early' } }),
      },
      [
        { ...holding('9'), ...state({ creatorQuoteFee: '0', creatorBaseFee: '0' }) },
        { ...holding('9'), ...state({ creatorQuoteFee: '4', creatorBaseFee: '0' }) },
        {
          ...holding('0'),
          status: 'migrated',
          ...state({ creatorQuoteFee: '0' }, { ...vesting, migrationFeePercentage: 5, creatorTradingFeePercentage: 0 }),
        },
        { ...holding('0'), status: 'migrated', ...state({}, vesting) },
        { type: 'damm_v2', fee_metrics: null },
      ],
    )
    await run({ as: 'creator' })
    expect(asked.slice(0, 3)).toEqual(Array(3).fill('pools of platform'))
    expect(asked.slice(3)).toEqual(['pool1 dbc creator', 'pool2 vesting creator', 'pool4 damm_v2 creator platform'])
  })

  it('continues after a failure, names it, and exits 1', async () => {
    const details = { rule: 'limits' }
    const setting = owed({ pool1: new ApiError('bad_request', 'the policy lets nothing pass', { details }) }, [
      holding('5'),
      holding('6'),
      holding('7'),
    ])
    const { exitCode, table, text, notes, claims } = await setting.run()
    expect(table).toEqual(['pool0 dbc claimed', 'pool1 dbc failed', 'pool2 dbc claimed'])
    expect(exitCode).toBe(1)
    expect(claims[1]!.error).toBe('the policy lets nothing pass')
    expect(text).toContain('pool1 dbc: the policy lets nothing pass')
    expect(notes?.[0]).toContain('1 failed: run it again')
  })

  it('counts an unconfirmed claim and an unreadable pool as failed', async () => {
    const setting = owed({}, [holding('5'), holding('6'), { fee_metrics: null }])
    setting.lifecycles.push('failed', 'confirmed')
    const { exitCode, table, claims } = await setting.run()
    expect(table).toEqual(['pool0 dbc failed', 'pool1 dbc claimed', 'pool2 dbc failed'])
    expect(exitCode).toBe(1)
    expect(claims[0]).toMatchObject({ signature: 'sig-pool0', error: expect.stringContaining('it expired') })
    expect(setting.asked).toHaveLength(2)
  })

  it('claims from --min up, only of --kind, and nothing in a dry run', async () => {
    const pools = [holding('999'), holding('1000'), holding('1001'), { type: 'damm_v2', fee_metrics: null }]
    expect((await owed({}, pools).run({ min: '0.000001' })).table).toEqual(['pool1 dbc claimed', 'pool2 dbc claimed'])
    expect((await owed({}, pools).run({ kind: 'damm_v2' })).table).toEqual(['pool3 damm_v2 claimed'])
    const dry = owed({}, pools)
    expect((await dry.run({ dry_run: true })).table).toHaveLength(4)
    expect(dry.asked).toEqual([])
    expect((await owed({}, []).run()).text).toBe('No pool holds fees to claim.')
    expect((await owed({}, pools.slice(0, 1)).run({ wait: 'none' })).table).toEqual(['pool0 dbc submitted'])
  })
})

describe.skipIf(lacksDbc)('svc fees, on the chain through a daemon,', () => {
  const [creator, platform] = [Keypair.generate(), Keypair.generate()]
  let daemon: Served
  const files = { creator: '', platform: '', logo: '' }
  const run = cli.json
  const lamportsOf = async (address: string) => {
    const { exitCode, stdout } = await cli.svc(['accounts', 'get', address, '--json'])
    return exitCode === 3 ? 0n : BigInt(JSON.parse(stdout).lamports)
  }
  /** A pool that has earned the partner 0.8 % of what is bought. */
  const earned = async (symbol: string, sol: string): Promise<string> => {
    const create = ['pools', 'create', '--name', symbol, '--symbol', symbol, '--image', files.logo, '-k', files.creator]
    return (await run([...create, '--buy', sol])).address
  }
  const owedBy = async (pool: string) => (await run(['fees', 'metrics', pool])).partner_quote_fee

  beforeAll(async () => {
    files.creator = cli.file('creator.json', JSON.stringify([...creator.secretKey]), 0o600)
    files.platform = cli.file('platform.json', JSON.stringify([...platform.secretKey]), 0o600)
    files.logo = join(cli.home, 'token.png')
    writeFileSync(files.logo, png())
    await cli.svc(['localnet', 'status'])
    daemon = await serveHere(cli.dataDir, {
      SVC_SIGNER: 'keypair',
      SVC_SIGNER_KEYPAIR: files.platform,
      SVC_PRIORITY_FEE: 'none',
    })
    for (const { publicKey } of [creator, platform]) await run(['localnet', 'airdrop', publicKey.toBase58(), '100'])
    await run(['signer', 'policy', '--per-transaction', '5', '--per-day', '50', '--max-fee', '0.01', '--yes'])
  })
  afterAll(() => daemon?.stop())

  it('splits every lamport of a claim ten ways, and records it', async () => {
    const pool = await earned('SPLT', '12.3456789')
    const owed = BigInt(await owedBy(pool))
    expect(owed).toBe(98_765_432n)
    const recipients = Array.from({ length: 10 }, () => someone().toBase58())
    const bps = [1, 9, 90, 900, 1_000, 1_500, 1_500, 1_500, 1_500, 2_000]
    const poor = cli.file('poor.csv', recipients.map((recipient, i) => `${recipient},${bps[i]}\n`).join(''))
    await cli.refused(['fees', 'claim', pool, '--split-file', poor, '-k', files.platform], recipients[0]!)
    for (const recipient of recipients.slice(0, 4)) await run(['localnet', 'airdrop', recipient, '0.001'])
    const before = await Promise.all(recipients.map(lamportsOf))
    const wallet = await lamportsOf(platform.publicKey.toBase58())

    const dry = await cli.svc(['fees', 'claim', pool, '--split-file', poor, '--signed', '--dry-run'])
    expect(dry.stdout).toMatch(/^Claim the fees of \w+, split 10 ways\n {2}claims {4}0\.098765432 SOL\n/)
    const claimed = await run(['fees', 'claim', pool, '--split-file', poor, '--signed'])
    expect(claimed).toMatchObject({ kind: 'dbc', estimated_quote: '98765432', lifecycle: CONFIRMED })
    const shares = await Promise.all(recipients.map(async (one, i) => (await lamportsOf(one)) - before[i]!))
    expect(shares.reduce((sum, share) => sum + share, 0n)).toBe(owed)
    for (const [i, share] of shares.entries()) {
      const exact = Number((owed * BigInt(bps[i]!) * 1_000n) / 10_000n) / 1_000
      expect(Math.abs(Number(share) - exact)).toBeLessThan(1)
    }
    // The fee, and the rent of the partner's account of the token.
    expect(await lamportsOf(platform.publicKey.toBase58())).toBe(wallet - 5_000n - TOKEN_ACCOUNT_RENT)
    expect((await run(['fees', 'list', '--pool', pool]))[0]).toMatchObject({
      type: 'fee_claim.split_executed',
      signature: claimed.signature,
    })
    await cli.refused(['fees', 'claim', pool, '--signed'], 'There is nothing to claim')
  })

  it('claim --all claims from every pool, after a run with a wrong keypair that claimed nothing', async () => {
    const pools = [await earned('ALLA', '1'), await earned('ALLB', '2'), await earned('ALLC', '0.01')]
    const wrong = await cli.svc(['fees', 'claim', '--all', '--min', '0.001', '-k', files.creator])
    expect(wrong.exitCode).toBe(1)
    expect(wrong.stdout).toContain(`${pools[0]} dbc: ${platform.publicKey.toBase58()} must sign this too`)
    expect(wrong.stderr).toContain('2 failed: run it again')
    expect(await owedBy(pools[0]!)).toBe('8000000')

    const wallet = await lamportsOf(platform.publicKey.toBase58())
    const first = await run(['fees', 'claim', '--all', '--min', '0.001', '--signed'])
    expect(first).toMatchObject({ claimed: 2, failed: 0, claimed_quote: '24000000' })
    expect(first.claims.map(({ pool_address }: { pool_address: string }) => pool_address).sort()).toEqual(
      pools.slice(0, 2).sort(),
    )
    expect(await lamportsOf(platform.publicKey.toBase58())).toBe(wallet + 24_000_000n - 2n * 5_000n)
    const rest = await run(['fees', 'claim', '--all', '-k', files.platform])
    expect(rest.claims).toMatchObject([{ pool_address: pools[2], estimated_quote: '80000', status: 'claimed' }])
    const none = await cli.svc(['fees', 'claim', '--all', '--signed'])
    expect(none).toMatchObject({ exitCode: 0, stdout: 'No pool holds fees to claim.\n' })
    expect(await run(['fees', 'list'])).toHaveLength(4)
    const drawn = await cli.svc(['fees', 'history', '--plot'])
    expect(drawn.stdout).toMatch(/(?:SOL claimed|Claims) each hour \(UTC\)\n[\s\S]*█ partner {3}▒ creator\n$/)
    const nothing = await cli.svc(['fees', 'list', '--kind', 'vesting', '--plot'])
    expect(nothing.stderr).toContain('There is nothing to draw.')
  })
})

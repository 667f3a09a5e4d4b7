/** Programs that change on the cluster: new builds are tried, what fails is refused by name, and the rest goes on. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { base58 } from '@scure/base'
import { PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLocal } from '../daemon/local.ts'
import { programWatchWorker } from '../daemon/workers/workers.ts'
import { ACTS, type CanaryAct } from '../src/chain/program-cache/canary-report.ts'
import { buildHash } from '../src/chain/program-cache/elf.ts'
import { versionFile } from '../src/chain/program-cache/versions.ts'
import { cosignedBy } from '../src/chain/sending/cosign.ts'
import { createClient } from '../src/client.ts'
import type { LocalChain } from '../src/localnet/types.ts'
import {
  currentCanaryRun,
  keyOfBuilds,
  readProgramState,
  storeProgramState,
} from '../src/operations/programs/program-state.ts'
import { runCanary, watchPrograms } from '../src/operations/programs/watch-programs.ts'
import { loadConfig } from '../src/settings/config.ts'
import { UPGRADEABLE_LOADER } from '../src/solana/program-ids.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { freshKey } from '../src/solana/signatures.ts'
import { openServer } from './chain/serving.ts'
import { IMAGE } from './support/launches.ts'
import { keypairFile } from './support/platform-wallet.ts'
import { hasProgram, PROGRAMS_DIR } from './support/programs.ts'
import { itInSoak } from './support/runs.ts'
import { idleProgram } from './support/sbf-program.ts'
import { makeFolder, openService, removeFolder, type Service, temporaryFolder } from './support/service.ts'
import { SOL } from './support/wallets.ts'

const lacksPrograms = Object.values(PROGRAMS).some(({ id }) => !hasProgram(id))
const { dbc, dammV2, lock } = PROGRAMS
const CHANGED = { details: { reason: 'program_changed' } }
/** Anchor's discriminator of `claim_trading_fee`, as the program compares it: two halves of a 64-bit immediate. */
const CLAIM = { before: Buffer.from('18040000', 'hex'), low: Buffer.from('08ec5931', 'hex') }

describe.skipIf(lacksPrograms)('a program that changes on the cluster', () => {
  let home: string
  let programsDir: string
  const [creator, platform] = [freshKey(), freshKey()]
  let cluster: Awaited<ReturnType<typeof openServer>>
  let chain: LocalChain
  let service: Service
  let good: Buffer
  let broken: Buffer
  let slot = 1_000n

  beforeAll(async () => {
    home = makeFolder()
    programsDir = join(home, 'programs')
    cpSync(PROGRAMS_DIR, programsDir, { recursive: true })
    good = readFileSync(join(programsDir, `${dbc.id}.so`))
    broken = withoutClaim(good)
    cluster = await openServer()
    chain = cluster.chain
    for (const { address } of [creator, platform]) chain.airdrop(address, 1_000n * SOL)
    const dataDir = join(home, 'data')
    mkdirSync(dataDir, { mode: 0o700 })
    const keypair = { publicKey: null, secretKey: platform.secretKey }
    const settings = {
      url: cluster.url,
      'programs-dir': programsDir,
      signer: 'keypair',
      'signer.keypair': keypairFile(home, keypair as never),
      'priority-fee': 'none',
      'public-url': 'https://svc.example.com',
    }
    service = await openService({ dataDir, settings })
  }, 60_000)
  afterAll(async () => {
    await service?.close()
    await cluster?.stop()
    removeFolder(home)
  })

  /** One round of the worker, as the daemon runs it every five minutes. */
  const look = async () => {
    const [signal, stopping] = [new AbortController().signal, new AbortController().signal]
    await programWatchWorker.tick({ ...service.services, signal, stopping } as never)
    return (await readProgramState(service.services.store.db))!
  }
  /** Upgrades a program of the cluster: its bytes and its slot change. */
  const deploy = (id: string, bytes: Uint8Array) => {
    slot += 10n
    const program = chain.account(id)!
    const dataAddress = base58.encode(program.data.subarray(4, 36))
    const header = Buffer.from(chain.account(dataAddress)!.data.subarray(0, 45))
    header.writeBigUInt64LE(slot, 4)
    const data = { lamports: 100n * SOL, owner: UPGRADEABLE_LOADER, executable: false }
    chain.setAccount(dataAddress, { ...data, data: Buffer.concat([header, bytes]) })
    chain.setAccount(id, { ...program, executable: true })
  }
  const post = async (path: string, body: object) => (await service.request('POST', path, { body })).json
  const launch = async () => {
    const { data, error } = await post('/v2/pools', {
      creator: creator.address,
      name: 'One',
      symbol: `S${slot}`,
      image: IMAGE,
    })
    expect(error).toBeUndefined()
    const keys = Object.values(data.required_signers).map((bytes) => Uint8Array.from(bytes as number[]))
    for (const text of data.transactions) {
      const signed = cosignedBy(Buffer.from(text, 'base64'), [creator.secretKey, ...keys])
      expect(chain.send(signed.transaction).err).toBeNull()
    }
    return data.pool.address as string
  }
  const claim = (pool: string, more: object = {}) =>
    post(`/v2/pools/${pool}/fee-claims`, { kind: 'dbc', payer: platform.address, ...more })
  const buy = async (pool: string) => {
    const order = { payer: creator.address, side: 'buy', amount: '100000000' }
    const { data, error } = await post(`/v2/pools/${pool}/swaps`, order)
    expect(error).toBeUndefined()
    const { transaction } = cosignedBy(Buffer.from(data.tx.transaction, 'base64'), [creator.secretKey])
    expect(chain.send(transaction).err).toBeNull()
  }

  it('is not tried again while the cluster runs the builds that svc was tested with', async () => {
    const state = await look()
    expect(state.builds).toHaveLength(9)
    expect(state.builds.find(({ id }) => id === dbc.id)).toMatchObject({ sha256: buildHash(good), authority: null })
    expect(currentCanaryRun(state)).toBeNull()
  }, 60_000)

  it('is tried once, and only what fails is refused: by its name, with the reason, for the server whatever force says', async () => {
    const pool = await launch()
    await buy(pool)
    deploy(dbc.id, broken)
    const trial = currentCanaryRun(await look())!
    expect(trial.error).toBeNull()
    const failed = trial.acts.filter(({ status }) => status === 'failed')
    expect(failed).toMatchObject([
      {
        act: 'partner claims trading fees',
        instruction: { program: dbc.id, name: 'claim_trading_fee' },
        error: expect.stringContaining('Meteora DBC: '),
      },
    ])
    expect(trial.acts.filter(({ status }) => status === 'passed').length).toBeGreaterThan(20)

    const refused = await claim(pool)
    expect(refused.error).toMatchObject({
      code: 'bad_request',
      details: { reason: 'program_changed', program: dbc.id, instruction: 'claim_trading_fee' },
      message: expect.stringMatching(
        /^Meteora DBC has changed on the cluster, and its instruction claim_trading_fee now fails \(tried as: partner claims trading fees; Meteora DBC: /,
      ),
    })
    expect((await claim(pool, { mode: 'signed' })).error).toMatchObject(CHANGED)
    // With force svc does not refuse; the simulation on the cluster still shows what the program answers.
    const forced = (await claim(pool, { force: true })).error
    expect(forced.message).toContain('Meteora DBC')
    expect(forced.details).not.toMatchObject(CHANGED.details)
    expect((await claim(pool, { force: true, mode: 'signed' })).error).toMatchObject({ param: 'force' })
    await buy(pool)
    await buy(await launch())

    expect(readFileSync(join(programsDir, `${dbc.id}.so`)).equals(good)).toBe(true)
    expect(buildHash(readFileSync(versionFile(programsDir, dbc.id, buildHash(broken))))).toBe(buildHash(broken))
    const ready = await service.app.fetch(new Request('http://svc.test/ready'))
    expect(await ready.json()).toMatchObject({
      data: {
        ready: true,
        degraded: [expect.stringContaining('partner claims trading fees (Meteora DBC, claim_trading_fee)')],
      },
    })
    const { json } = await service.request('GET', '/v2/audit-entries?action=programs.tried')
    expect(json.data).toHaveLength(1)
    expect(json.data[0].details.failing).toMatchObject([{ instruction: 'claim_trading_fee' }])
  }, 120_000)

  it('stays refused if a process that looked earlier stores its state later', async () => {
    const { store } = service.services
    const state = (await readProgramState(store.db))!
    await store.write((tx) => storeProgramState(tx, { ...state, trials: [] }))
    expect(currentCanaryRun((await readProgramState(store.db))!)).toMatchObject({ key: keyOfBuilds(state.builds) })
    await store.write((tx) => storeProgramState(tx, { ...state, genesis: 'another', trials: [] }))
    expect((await readProgramState(store.db))!.trials).toEqual([])
    await store.write((tx) => storeProgramState(tx, state))
  })

  it('is tried again by a version of svc that tries more', async () => {
    const { store } = service.services
    const state = (await readProgramState(store.db))!
    const file = join(home, 'nothing.mjs')
    writeFileSync(file, '')
    const statusesAfter = async (acts: CanaryAct[]) => {
      const trials = [{ ...currentCanaryRun(state)!, acts }]
      await store.write((tx) => storeProgramState(tx, { ...state, trials }))
      const { signal } = new AbortController()
      const after = await watchPrograms(service.services, { signal, canary: { file } })
      return new Set(currentCanaryRun(after)!.acts.map(({ status }) => status))
    }
    const { acts } = currentCanaryRun(state)!
    expect(await statusesAfter(acts)).toContain('passed')
    expect(await statusesAfter(acts.slice(0, -1))).toEqual(new Set(['untried']))
    await store.write((tx) => storeProgramState(tx, state))
    service.services.programs.forget()
  }, 60_000)

  it('works again one look after the right bytes are back', async () => {
    const pool = await launch()
    await buy(pool)
    expect((await claim(pool)).error).toMatchObject(CHANGED)
    deploy(dbc.id, good)
    await look()
    expect((await claim(pool)).error).toBeUndefined()
    const ready = await service.app.fetch(new Request('http://svc.test/ready'))
    expect(await ready.text()).not.toContain('degraded')
  }, 60_000)

  it('builds and signs no launch of several transactions of which a later one would fail', async () => {
    const { store, programs } = service.services
    const state = (await readProgramState(store.db))!
    const launchBy = (creator: string, more: object = {}) =>
      post('/v2/pools', { creator, name: 'Half', symbol: `H${slot}`, image: IMAGE, ...more })
    const instruction = { program: dbc.id, name: 'initialize_virtual_pool_with_spl_token' }
    const failed = { act: 'launch' as const, status: 'failed' as const, error: 'it is gone', instruction, used: [] }
    const trial = { key: keyOfBuilds(state.builds), tried_at: Date.now(), acts: [failed], error: null }
    await store.write((tx) => storeProgramState(tx, { ...state, trials: [trial] }))
    programs.forget()
    const before = chain.account(platform.address)!.lamports
    expect((await launchBy(creator.address)).error).toMatchObject(CHANGED)
    expect((await launchBy(platform.address, { mode: 'signed' })).error).toMatchObject(CHANGED)
    expect(chain.account(platform.address)!.lamports).toBe(before)
    expect((await launchBy(creator.address, { force: true })).error).toBeUndefined()
    await store.write((tx) => storeProgramState(tx, { ...state, trials: [{ ...trial, acts: [] }] }))
    programs.forget()
  })

  itInSoak('is looked at by a command without a daemon before its first act, at most every ten minutes', async () => {
    const [dataDir, clockFile] = [join(home, 'command'), join(home, 'clock')]
    const ahead = (minutes: number) => writeFileSync(clockFile, String(minutes * 60_000))
    const command = async (pool: string) => {
      const flags = { 'data-dir': dataDir, 'programs-dir': programsDir, url: cluster.url, 'priority-fee': 'none' }
      const local = await openLocal({ ...loadConfig({ flags, env: {}, cwd: home }), clockFile })
      const client = createClient(local.send, local.bearer)
      const claimed = client.feeClaims.create({ address: pool, kind: 'dbc', payer: platform.address })
      const outcome = await claimed.then(
        () => 'built',
        ({ details }: { details?: { reason?: string } }) => details?.reason ?? 'refused by the simulation',
      )
      await local.close()
      return outcome
    }
    const pool = await launch()
    await buy(pool)
    ahead(0)
    expect(await command(pool)).toBe('built')
    deploy(dbc.id, broken)
    ahead(9)
    // It does not look, and the simulation shows what the program answers.
    expect(await command(pool)).toBe('refused by the simulation')
    ahead(11)
    expect(await command(pool)).toBe('program_changed')
    deploy(dbc.id, good)
    ahead(22)
    expect(await command(pool)).toBe('built')
  })

  itInSoak('guards nothing while it is Lighthouse and holds nothing, and guards again when it does', async () => {
    const { lighthouse } = PROGRAMS
    const transfer = { payer: creator.address, recipient: platform.address, lamports: '1000' }
    const guardOf = async (more: object = {}) => {
      const { data, error } = await post('/v2/sol-transfers', { ...transfer, ...more })
      return data?.guard ?? error
    }
    expect(await guardOf()).toMatchObject({ state: 'whole', reason: null })
    deploy(lighthouse.id, idleProgram())
    await look()
    expect(await guardOf()).toMatchObject({ state: 'none', reason: 'program_changed' })
    const required = { param: 'guard', details: { reason: 'program_changed' } }
    expect(await guardOf({ guard: 'required' })).toMatchObject({ code: 'bad_request', ...required })
    deploy(lighthouse.id, readFileSync(join(PROGRAMS_DIR, `${lighthouse.id}.so`)))
    await look()
    expect(await guardOf({ guard: 'required' })).toMatchObject({ state: 'whole' })
  })

  it('has the differences of its published IDL beside its build', async () => {
    const address = (await idlAddress(dbc.id)).toBase58()
    const idl = { instructions: [{ name: 'claimTradingFee', accounts: [{ name: 'pool' }] }] }
    const text = deflateSync(JSON.stringify(idl))
    const header = Buffer.alloc(44)
    header.writeUInt32LE(text.length, 40)
    const account = { lamports: SOL, data: Buffer.concat([header, text]), executable: false }
    for (const [owner, differences] of [
      [PROGRAMS.lock.id, []],
      [dbc.id, expect.arrayContaining(['claim_trading_fee has other accounts in the published IDL'])],
    ] as const) {
      chain.setAccount(address, { ...account, owner })
      deploy(dbc.id, good)
      await look()
      const { json } = await service.request('GET', '/v2/programs')
      expect(json.data.programs[0]).toMatchObject({ id: dbc.id, tested: true, differences })
    }
  }, 60_000)

  itInSoak('that is closed is the finding, and all others are looked at and tried', async () => {
    const { data } = chain.account(dbc.id)!
    const dataAddress = base58.encode(data.subarray(4, 36))
    const closed = chain.account(dataAddress)!
    chain.setAccount(dataAddress, { ...closed, lamports: 0n, data: Buffer.alloc(0) })
    const state = await look()
    expect(state.builds).toHaveLength(9)
    const [fault, sha256] = ['it was closed: its program data account is gone', expect.stringMatching(/^[0-9a-f]{64}$/)]
    for (const { id, ...build } of state.builds) {
      expect(build).toMatchObject(id === dbc.id ? { fault, sha256: null } : { fault: null, sha256 })
    }
    const statusOf = (name: string) => currentCanaryRun(state)!.acts.find(({ act }) => act === name)?.status
    expect(['launch', 'launch without a curve', 'mint', 'lock'].map(statusOf)).toEqual([
      'untried',
      'passed',
      'passed',
      'passed',
    ])
    const { json } = await service.request('GET', '/v2/programs')
    expect(json.data.programs[0]).toMatchObject({ id: dbc.id, fault, tested: false })
    const ready = await service.app.fetch(new Request('http://svc.test/ready'))
    expect(await ready.text()).toContain(`the cluster cannot run Meteora DBC: ${fault}`)
    chain.setAccount(dataAddress, closed)
    deploy(dbc.id, good)
    expect((await look()).builds.every((build) => build.fault === null)).toBe(true)
  })

  it('is reported, and nothing is stored, if its account is not that of a loader', async () => {
    const program = chain.account(PROGRAMS.lock.id)!
    chain.setAccount(PROGRAMS.lock.id, { ...program, executable: false })
    expect((await look()).builds).toHaveLength(8)
    chain.setAccount(PROGRAMS.lock.id, program)
    expect((await look()).builds).toHaveLength(9)
  }, 60_000)
})

describe('a trial whose process fails', () => {
  const first = { act: 'launch', status: 'passed', error: null, instruction: null, used: [] }
  const trial = (code: string, limitMs = 30_000) => {
    const folder = temporaryFolder()
    const file = join(folder, 'child.mjs')
    writeFileSync(file, `process.stdout.write(${JSON.stringify(`${JSON.stringify(first)}\n`)})\n${code}`)
    const { signal } = new AbortController()
    return runCanary({ programsDir: folder, files: new Map(), signal, file, limitMs })
  }

  it.each([
    ['that aborts', 'process.abort()', 30_000, 'it ended by SIGABRT'],
    ['that never ends', 'setTimeout(() => { for (;;); }, 10)', 3_000, 'it did not end within 3 s'],
    [
      'that prints without end',
      "const more = () => process.stdout.write('x'.repeat(65536), more)\nmore()",
      30_000,
      'it printed too much',
    ],
    ['that exits', 'process.exitCode = 7', 30_000, 'it ended with code 7'],
  ])('%s is reported with the act in which it failed', async (_, code, limitMs, error) => {
    const outcome = await trial(code, limitMs)
    expect(outcome.error).toBe(error)
    expect(outcome.acts.map(({ act }) => act)).toEqual(ACTS)
    expect(outcome.acts.slice(0, 3).map(({ status }) => status)).toEqual(['passed', 'failed', 'untried'])
    expect(outcome.acts[1]!.error).toContain(error)
  })
})

describe.skipIf(lacksPrograms)('a trial of programs of noise, of one endless loop and of noise as sections', () => {
  it('fails the acts of each, and passes those of other programs', async () => {
    const folder = temporaryFolder()
    const files = new Map<string, string>(Object.values(PROGRAMS).map(({ id }) => [id, join(PROGRAMS_DIR, `${id}.so`)]))
    const damage = (id: string, change: (elf: Buffer) => Buffer) => {
      const changed = join(folder, `${id}.so`)
      writeFileSync(changed, change(readFileSync(files.get(id)!)))
      files.set(id, changed)
    }
    damage(lock.id, (elf) => elf.fill(noise(elf.length), 0x1000, Math.min(0x80000, elf.length)))
    damage(dammV2.id, (elf) => elf.fill(ENDLESS_LOOP, 0x1000, 0x80000))
    damage(dbc.id, (elf) => elf.fill(noise(4_096), elf.length - 4_096))
    const { signal } = new AbortController()
    const { acts } = await runCanary({ programsDir: PROGRAMS_DIR, files, signal })
    const statusOf = (name: string) => acts.find(({ act }) => act === name)?.status
    expect(['launch', 'launch without a curve', 'lock'].map(statusOf)).toEqual(['failed', 'failed', 'failed'])
    expect(['airdrop', 'mint'].map(statusOf)).toEqual(['passed', 'passed'])
  }, 120_000)
})

/** An SBF instruction that jumps to itself. */
const ENDLESS_LOOP = Buffer.from('0500ffff00000000', 'hex')
const noise = (length: number) => Buffer.from(Array.from({ length }, (_, i) => (i * 2_654_435_761) >>> 13))

/** Where Anchor publishes the IDL of a program. */
function idlAddress(program: string) {
  const id = new PublicKey(program)
  return PublicKey.createWithSeed(PublicKey.findProgramAddressSync([], id)[0], 'anchor:idl', id)
}

/** The same program, in which one bit of the discriminator is another: the instruction is unknown to it. */
function withoutClaim(program: Buffer): Buffer {
  const at = program.indexOf(Buffer.concat([CLAIM.before, CLAIM.low]))
  expect(at).toBeGreaterThan(0)
  const changed = Buffer.from(program)
  changed[at + CLAIM.before.length]! ^= 1
  return changed
}

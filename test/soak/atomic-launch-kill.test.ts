/** Launches of version 1, killed at the command or at the daemon: of each, all is on chain or nothing, and it lands once. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { PROGRAM } from '../cli/command-line.ts'
import { png } from '../storage/images.ts'
import { type ChainProcess, startChain } from '../support/chain-process.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { hasProgram, PROGRAMS_DIR } from '../support/programs.ts'
import { randomOf } from '../support/random.ts'
import { startTrappingProxy, type Trap, type TrappingProxy } from './trapping-proxy.ts'

/** SOAK_SEED=n kills at other moments. */
const SEED = Number(process.env.SOAK_SEED || 5)
const { next: random } = randomOf(SEED)
const lacksPrograms = [PROGRAMS.dbc, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))
const KILLS_OF_EACH = 10
const MOST_LAUNCHES = 20
const PATIENCE_MS = 30_000
/** Bytes of a config's account, by which those of every launch are found. */
const CONFIG_BYTES = 1_048

type Point = Trap | number

/** Around the trial, the signature and the submission, and at moments of no kind. */
const killPoints = (whole: number): Point[] => [
  { method: 'simulateTransaction', when: 'answered', nth: 1 },
  { method: 'getLatestBlockhash', when: 'answered', nth: 1 },
  { method: 'sendTransaction', when: 'asked', nth: 1 },
  { method: 'sendTransaction', when: 'answered', nth: 1 },
  { method: 'sendTransaction', when: 'delivered', nth: 1, afterMs: random() * 20 },
  ...Array.from({ length: KILLS_OF_EACH - 5 }, () => random() * whole),
]

describe.skipIf(lacksPrograms)(`a launch of version 1 that is killed, with SOAK_SEED=${SEED}`, () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-atomic-'))
  const [creator, platform] = [Keypair.generate(), Keypair.generate()]
  const file = (name: string, content: string | Uint8Array) => {
    const path = join(home, name)
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }
  let chainProcess: ChainProcess
  let chain: Connection
  let node: TrappingProxy
  let daemon: Daemon | undefined
  const struck: Record<string, number> = { command: 0, daemon: 0 }

  beforeAll(async () => {
    chainProcess = await startChain(mkdtempSync(join(home, 'chain-')), { SVC_PROGRAMS_DIR: PROGRAMS_DIR })
    chain = new Connection(chainProcess.url, 'confirmed')
    node = await startTrappingProxy(chainProcess.url)
    for (const { publicKey } of [creator, platform]) await chain.requestAirdrop(publicKey, 500_000_000_000)
  }, 60_000)
  afterAll(async () => {
    await daemon?.stop('SIGKILL')
    await node?.close()
    await chainProcess?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  const start = (dataDir: string) =>
    startDaemon({
      dataDir,
      flags: ['-u', node.url],
      env: {
        SVC_SIGNER: 'keypair',
        SVC_SIGNER_KEYPAIR: file('platform.json', JSON.stringify([...platform.secretKey])),
        SVC_PRIORITY_FEE: '1000',
        SVC_PUBLIC_URL: 'https://svc.example.com',
      },
    })
  /** Runs `work` and kills the process at the point; true where it was still running. */
  async function killAt(
    point: Point,
    child: { exitCode: number | null; kill(signal: 'SIGKILL'): unknown },
    gone: Promise<void>,
  ) {
    const strike = () => void child.kill('SIGKILL')
    if (typeof point === 'number') await Promise.race([delay(point), gone])
    else {
      node.arm(point, strike)
      await Promise.race([delay(PATIENCE_MS), gone])
      node.disarm()
    }
    const wasRunning = child.exitCode === null
    strike()
    await gone
    return wasRunning
  }
  const existing = async (...addresses: string[]) =>
    (await chain.getMultipleAccountsInfo(addresses.map((address) => new PublicKey(address)))).map(
      (each) => each !== null,
    )
  const configsOnChain = async () => {
    const filters = [{ dataSize: CONFIG_BYTES }]
    const options = { filters, dataSlice: { offset: 0, length: 0 } }
    return (await chain.getProgramAccounts(new PublicKey(PROGRAMS.dbc.id), options)).map(({ pubkey }) =>
      pubkey.toBase58(),
    )
  }
  /** All launches of a data folder, each wholly on chain or not at all; answers the configs of those that are. */
  async function expectWhole({ request }: Daemon): Promise<string[]> {
    const { data } = (await request('GET', '/v2/pools?limit=100')).json
    const there: string[] = []
    for (const { address, base_mint, config } of data) {
      const parts = await existing(address, base_mint, config)
      expect(new Set(parts).size, `${address}: ${parts}`).toBe(1)
      if (parts[0]) there.push(config)
    }
    return there
  }

  it(`leaves all of it or nothing, in ${KILLS_OF_EACH} kills of the command and ${KILLS_OF_EACH} of the daemon`, async () => {
    const dataDir = mkdtempSync(join(home, 'command-'))
    const [image, keypair] = [file('logo.png', png()), file('creator.json', JSON.stringify([...creator.secretKey]))]
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: home,
      SVC_DATA_DIR: dataDir,
      SVC_PRIORITY_FEE: '1000',
      SVC_PUBLIC_URL: 'https://svc.example.com',
      SVC_SIGNER: 'keypair',
      SVC_SIGNER_KEYPAIR: file('platform.json', JSON.stringify([...platform.secretKey])),
    }
    let said = ''
    const launch = (n: number) => {
      const flags = ['--name', 'Test', '--symbol', `C${n}`, '--image', image, '--buy', '0.1', '--tx-version', '1']
      const args = ['pools', 'create', ...flags, '-k', keypair, '-u', node.url, '--yes', '--json']
      const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
      return { child, gone: new Promise<void>((settle) => child.once('exit', () => settle())) }
    }
    const began = performance.now()
    const first = launch(0)
    await first.gone
    expect(first.child.exitCode, said).toBe(0)
    const whole = performance.now() - began
    const points = killPoints(whole)
    let launches = 1
    // Some are through before they are killed.
    while (struck.command! < KILLS_OF_EACH && launches <= MOST_LAUNCHES) {
      const { child, gone } = launch(launches++)
      if (await killAt(points.shift() ?? random() * whole * 0.8, child, gone)) struck.command!++
    }
    const commands = await start(dataDir)
    // What a killed command had stored is sent by this daemon, and may land between two looks.
    const count = async (type: string) =>
      (await commands.request('GET', `/v2/events?limit=100&type=transaction.${type}`)).json.data.length
    const ofCommands = await vi.waitFor(
      async () => {
        expect((await count('confirmed')) + (await count('failed'))).toBe(await count('submitted'))
        const whole = await expectWhole(commands)
        expect((await configsOnChain()).toSorted()).toEqual(whole.toSorted())
        return whole
      },
      { timeout: 90_000, interval: 500 },
    )
    await commands.stop()
    expect(ofCommands.length).toBeGreaterThan(0)

    const platformDir = mkdtempSync(join(home, 'daemon-'))
    daemon = await start(platformDir)
    const limits = {
      lamports_per_transaction: '5000000000',
      lamports_per_day: '100000000000',
      max_fee_lamports: '10000000',
    }
    expect((await daemon.request('PATCH', '/v2/signer/policy', { body: limits })).status).toBe(200)
    const ask = (n: number) => {
      const body = {
        creator: platform.publicKey.toBase58(),
        name: 'Test',
        symbol: `D${n}`,
        image: Buffer.from(png()).toString('base64'),
        buy_amount: 0.1,
        mode: 'signed',
        tx_version: 1,
      }
      return daemon!.request('POST', '/v2/pools', { body, headers: { 'idempotency-key': `launch-${n}` } })
    }
    const answered = await ask(0)
    expect(answered.status, answered.text).toBe(201)
    const signatures = new Set<string>([answered.json.data.signatures[0]])
    for (const [n, point] of killPoints(150).entries()) {
      const { process: child } = daemon
      const gone = new Promise<void>((settle) => child.once('exit', () => settle()))
      const asked = ask(n + 1).catch(() => null)
      if (await killAt(point, child, gone)) struck.daemon!++
      await asked
      daemon = await start(platformDir)
      const again = await ask(n + 1)
      expect(again.status, again.text).toBe(201)
      expect(again.json.data.signatures).toHaveLength(1)
      signatures.add(again.json.data.signatures[0])
      const { address, base_mint, config } = again.json.data.pool
      await expect.poll(() => existing(address, base_mint, config), { timeout: 20_000 }).toEqual([true, true, true])
    }
    const ofDaemon = await expectWhole(daemon)
    expect([ofDaemon.length, signatures.size]).toEqual([KILLS_OF_EACH + 1, KILLS_OF_EACH + 1])
    expect((await configsOnChain()).toSorted()).toEqual([...ofCommands, ...ofDaemon].toSorted())
    process.stdout.write(
      `  ${struck.command} kills of the command: ${ofCommands.length} of ${launches} launches landed, whole; ${struck.daemon} of the daemon: ${ofDaemon.length} landed, each once\n`,
    )
    expect(struck).toEqual({ command: KILLS_OF_EACH, daemon: KILLS_OF_EACH })
  }, 300_000)
})

/** Submitted transactions and launches of version 1, killed at each step: each ends in its true state, once. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { base58 } from '@scure/base'
import {
  type Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { expect, vi } from 'vitest'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { PROGRAM } from '../../cli/command-line.ts'
import { IMAGES } from '../../storage/images.ts'
import { type Daemon, startDaemon } from '../../support/daemon.ts'
import { keypairFile } from '../../support/platform-wallet.ts'
import { hasProgram } from '../../support/programs.ts'
import { randomOf } from '../../support/random.ts'
import type { Trap } from '../trapping-proxy.ts'
import { allPages, goneOf, killAt, killTest, momentsOf, type Point, requestsOf, seedOr } from './harness.ts'
import { openPlatform } from './platform.ts'

/** Lands, fails on the chain, is refused by the preflight, or has a blockhash that no cluster knows. */
type Kind = 'lands' | 'fails' | 'refused' | 'expires'
const kindOf = (n: number): Kind =>
  n % 10 === 3 ? 'fails' : n % 10 === 6 ? 'refused' : n % 10 === 9 ? 'expires' : 'lands'

interface Submission {
  n: number
  kind: Kind
  signature: string
  to: string
  lamports: number
  body: object
}

/** Less than a blockhash is valid, so that what was cut off can still be submitted. */
const PATIENCE_MS = 25_000
const PAYERS = Array.from({ length: 4 }, () => Keypair.generate())
const recipientOf = (n: number) => {
  const seed = new Uint8Array(32)
  new DataView(seed.buffer).setUint32(0, n + 1)
  return Keypair.fromSeed(seed).publicKey
}

/** Signed afresh; its recipient and amount are its own. */
async function submissionOf(n: number, chain: Connection): Promise<Submission> {
  const kind = kindOf(n)
  const payer = PAYERS[n % PAYERS.length]!
  const to = recipientOf(n)
  const lamports = kind === 'fails' || kind === 'refused' ? 2 ** 52 : 1_000_000 + n
  const blockhash =
    kind === 'expires' ? Keypair.generate().publicKey.toBase58() : (await chain.getLatestBlockhash()).blockhash
  const instructions = [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports })]
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign([payer])
  const body = {
    transaction: Buffer.from(transaction.serialize()).toString('base64'),
    skip_preflight: kind === 'fails' || kind === 'expires',
    tracked_resource: { resource_type: 'order', resource_id: `order-${n}`, related_events: ['token.created'] },
    externalUid: `u:${n}`,
    ...(n % 5 === 0 ? { max_retries: 0 } : {}),
  }
  return { n, kind, signature: base58.encode(transaction.signatures[0]!), to: to.toBase58(), lamports, body }
}

/** Each window between two steps, and a few random moments. */
function stepsOf({ next: random, below }: ReturnType<typeof randomOf>): Point[] {
  const send = { method: 'sendTransaction', nth: 1 + below(8) }
  const look = { method: 'getSignatureStatuses', nth: 1 }
  const soon = () => random() * 8
  const points: Point[] = [
    { method: 'simulateTransaction', when: 'answered', nth: 1 + below(8) },
    { ...send, when: 'asked' },
    { ...send, when: 'answered' },
    { ...send, when: 'delivered', afterMs: soon() },
    { ...look, when: 'asked', nth: 1 + below(3) },
    { ...look, when: 'answered', holding: '"processed"' },
    { ...look, when: 'delivered', holding: '"processed"', afterMs: soon() },
    { ...look, when: 'answered', holding: '"confirmed"' },
    { ...look, when: 'delivered', holding: '"confirmed"', afterMs: soon() },
    { ...look, when: 'answered', holding: '"finalized"' },
    { ...look, when: 'delivered', holding: '"finalized"', afterMs: soon() },
    ...momentsOf(3, random).map((moment) => moment * 1_500),
  ]
  return points
    .map((point) => ({ point, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ point }) => point)
}

const isEnded = (read: { lifecycle: string; confirmation_status: string | null }) =>
  read.confirmation_status === 'finalized' || (read.lifecycle === 'failed' && read.confirmation_status === null)

async function submissionsUnderWay() {
  const platform = await openPlatform()
  for (const { publicKey } of PAYERS) await platform.chain.requestAirdrop(publicKey, 1_000_000_000_000)
  await platform.start()
  let count = 0
  let events: { sequence: number; type: string; about: string }[] = []
  const requests = requestsOf<Submission>({
    send: ({ n, body }) =>
      platform.daemon.request('POST', '/v2/transactions', { body, headers: { 'idempotency-key': `submission-${n}` } }),
    check({ n, kind, signature }, { status, text, json }) {
      expect([n, status], text).toEqual([n, kind === 'refused' ? 400 : 200])
      if (kind !== 'refused') expect(json.data).toEqual({ signature })
    },
    isGivenUp: ({ n }) => n % 3 === 0,
  })
  const eventsOf = (id: string) => events.filter(({ about }) => about === id).map(({ type }) => type)
  const submissions = () => [...requests.done.keys(), ...requests.abandoned]
  return {
    platform,
    requests,
    points: stepsOf(randomOf(seedOr(7))),
    count: () => count,
    events: () => events,
    eventsOf,
    submissions,
    /** The submissions that could have landed and have expired. */
    late: new Set<number>(),
    acknowledged: () => [...requests.done.keys()].filter(({ kind }) => kind !== 'refused'),
    stored: () => submissions().filter(({ kind, signature }) => kind !== 'refused' && eventsOf(signature).length > 0),
    async readEvents() {
      const read = await allPages(platform.daemon.request, '/v2/events?order=asc&')
      events = read.map(({ sequence, type, data }) => ({ sequence, type, about: data.object.resource_id }))
      return events
    },
    async submitSix() {
      for (let i = 0; i < 6; i++) if (!(await requests.ask(await submissionOf(count++, platform.chain)))) return
    },
    /** Reads what was submitted until the daemon is gone: a read moves a transaction along too, beside the watcher. */
    async readOn() {
      for (;;) {
        const known = [...requests.done.keys()].map(({ signature }) => signature)
        const signature = known.at(-1 - (known.length % 7)) ?? known.at(-1)
        try {
          if (signature !== undefined) await platform.daemon.request('GET', `/v2/transactions/${signature}`)
          // Without a signature there is nothing to fail yet.
          else if (platform.daemon.process.signalCode !== null) return
          await delay(20)
        } catch (error) {
          if (error instanceof TypeError) return
          throw error
        }
      }
    },
    async advance(seconds: number) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'svc_advance', params: [seconds] })
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(platform.chain.rpcEndpoint, { method: 'POST', headers, body })
      expect(await answer.json()).toHaveProperty('result')
    },
  }
}

killTest({
  title: `transactions submitted to a daemon that is killed between stored, sent, seen and confirmed (SOAK_SEED=${seedOr(7)}):`,
  start: submissionsUnderWay,
  points: ({ points }) => points,
  async kill({ platform, requests, submitSix, readOn, advance }, point) {
    const isFinal = typeof point !== 'number' && point.holding === '"finalized"'
    // Nothing else brings the chain so far in time.
    const busy = () => {
      const submitted = Promise.all(Array.from({ length: 4 }, submitSix))
      return [submitted.then(() => (isFinal ? advance(20) : undefined)), readOn()]
    }
    await platform.killAt(typeof point === 'number' ? point : { of: 'node', trap: point }, PATIENCE_MS, busy)
    await platform.start()
    await requests.askAgain()
  },
  end: ({ platform }) => platform.end(),
  holds: {
    async 'each transaction comes to its end'({ platform, submissions, advance }) {
      const pending = async (kinds: readonly Kind[]) => {
        const asked = submissions().filter(({ kind }) => kinds.includes(kind))
        const { request } = platform.daemon
        const reads = await Promise.all(asked.map(({ signature }) => request('GET', `/v2/transactions/${signature}`)))
        return reads.filter(({ json }) => json.data.lifecycle !== 'unknown' && !isEnded(json.data)).length
      }
      // One node that does not know a transaction proves nothing. The history of its payer does, once it goes on.
      const withHistory = async (kinds: readonly Kind[]) => {
        await Promise.all(PAYERS.map(({ publicKey }) => platform.chain.requestAirdrop(publicKey, 1_000_000)))
        return pending(kinds)
      }
      await expect.poll(() => withHistory(['lands', 'fails']), { timeout: 60_000, interval: 500 }).toBe(0)
      // What can never land gets its proof some hundred slots after it was first looked for.
      const later = () => advance(60).then(() => withHistory(['expires']))
      await expect.poll(later, { timeout: 60_000, interval: 2500 }).toBe(0)
    },
    'some submissions are cut off, and some of those had taken effect'({ platform, requests, count }) {
      const { done, abandoned, again, open } = requests
      process.stdout.write(
        `  ${done.size} acknowledged, ${abandoned.length} abandoned, ${again.resumed} resumed, ${again.replayed} replayed; ${JSON.stringify([...platform.node.calls])}\n`,
      )
      // A trap for "finalized" is now and then not walked into in time; the kill comes all the same, at another moment.
      expect(platform.missed.length, JSON.stringify(platform.missed)).toBeLessThanOrEqual(1)
      expect(open.size).toBe(0)
      expect(done.size + abandoned.length).toBe(count())
      expect(count()).toBeGreaterThan(50)
      expect(again.resumed).toBeGreaterThan(0)
      expect(again.replayed).toBeGreaterThan(0)
      expect(abandoned.length).toBeGreaterThan(0)
    },
    async 'events have a sequence without gaps, and none comes twice'({ readEvents }) {
      const events = await readEvents()
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, n) => n + 1))
      const names = events.map(({ type, about }) => `${type} ${about}`)
      expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
    },
    async 'the daemon has stored all that it acknowledged, and the chain has nothing else'(world) {
      const { platform, requests, stored, acknowledged, eventsOf } = world
      const known = new Set(stored().map(({ signature }) => signature))
      expect(acknowledged().filter(({ signature }) => !known.has(signature))).toEqual([])
      for (const { signature, to, kind } of requests.abandoned) {
        if (kind === 'refused' || known.has(signature)) continue
        const { value } = await platform.chain.getSignatureStatus(signature, { searchTransactionHistory: true })
        expect(value).toBeNull()
        expect(await platform.chain.getBalance(new PublicKey(to))).toBe(0)
      }
      for (const { signature, n, kind } of requests.done.keys()) {
        if (kind === 'refused') expect([eventsOf(signature), eventsOf(`order-${n}`)]).toEqual([[], []])
      }
    },
    async 'GET /v2/transactions/{signature} shows each as the chain has it'({ platform, stored, late }) {
      const { chain, daemon } = platform
      for (const { n, kind, signature, to, lamports } of stored()) {
        const { value } = await chain.getSignatureStatus(signature, { searchTransactionHistory: true })
        const { data } = (await daemon.request('GET', `/v2/transactions/${signature}`)).json
        const landed = value !== null && value.err === null
        expect([n, data.lifecycle, data.confirmation_status, data.err, data.slot]).toEqual([
          n,
          landed ? 'finalized' : 'failed',
          value === null ? null : 'finalized',
          value === null ? 'BlockhashExpired' : value.err,
          value?.slot ?? 0,
        ])
        expect([n, await chain.getBalance(new PublicKey(to))]).toEqual([n, landed ? lamports : 0])
        if (value === null && kind !== 'expires') late.add(n)
        else expect([n, value !== null, landed]).toEqual([n, kind !== 'expires', kind === 'lands'])
      }
      // Nothing that can land was left to expire, unless a busy machine took the daemon half a minute to start again.
      expect(late.size, JSON.stringify([...late])).toBeLessThanOrEqual(2)
    },
    'each step has one event, in order, and so has the tracked resource of the transaction'(world) {
      const { stored, events, eventsOf, late } = world
      for (const { n, kind, signature } of stored()) {
        const hasLanded = kind === 'lands' && !late.has(n)
        const steps = hasLanded
          ? ['transaction.submitted', 'transaction.confirmed', 'transaction.finalized']
          : ['transaction.submitted', 'transaction.failed']
        expect([n, eventsOf(signature)]).toEqual([n, steps])
        expect([n, eventsOf(`order-${n}`)]).toEqual([n, hasLanded ? ['token.created'] : []])
      }
      const own = new Set(stored().flatMap(({ n, signature }) => [signature, `order-${n}`]))
      expect(events().filter(({ about }) => !own.has(about))).toEqual([])
    },
    async 'each acknowledged answer is replayed byte for byte'({ platform, requests, readEvents, events }) {
      const before = events()
      // A refusal by the preflight changed nothing and is not kept: it may go better another time.
      for (const [{ n, kind, body }, { status, text }] of requests.done) {
        if (kind === 'refused') continue
        const headers = { 'idempotency-key': `submission-${n}` }
        const answer = await platform.daemon.request('POST', '/v2/transactions', { body, headers })
        expect([n, answer.status, answer.text]).toEqual([n, status, text])
        expect(answer.headers.get('idempotent-replayed')).toBe('true')
      }
      expect(await readEvents()).toEqual(before)
    },
  },
})

const LAUNCH_KILLS = 7
const MOST_LAUNCHES = 14
const LAUNCH_PATIENCE_MS = 30_000
/** Bytes of a config's account, by which those of every launch are found. */
const CONFIG_BYTES = 1_048
const SOL = 1_000_000_000

/** Around the trial, the signature and the submission, and at a few random moments. */
const launchPoints = (whole: number, random: () => number): Point[] => [
  { method: 'simulateTransaction', when: 'answered', nth: 1 },
  { method: 'getLatestBlockhash', when: 'answered', nth: 1 },
  { method: 'sendTransaction', when: 'asked', nth: 1 },
  { method: 'sendTransaction', when: 'answered', nth: 1 },
  { method: 'sendTransaction', when: 'delivered', nth: 1, afterMs: random() * 20 },
  ...momentsOf(LAUNCH_KILLS - 5, random).map((moment) => moment * whole),
]

/** A platform wallet and a creator with SOL, and what the chain has of launches. */
async function launchWorld() {
  const [creator, wallet] = [Keypair.generate(), Keypair.generate()]
  const platform = await openPlatform()
  const { chain, dataDir } = platform
  for (const { publicKey } of [creator, wallet]) await chain.requestAirdrop(publicKey, 500 * SOL)
  const env = {
    SVC_SIGNER: 'keypair',
    SVC_SIGNER_KEYPAIR: keypairFile(dataDir, wallet),
    SVC_PRIORITY_FEE: '1000',
    SVC_PUBLIC_URL: 'https://svc.example.com',
  }
  const existing = async (...addresses: string[]) => {
    const accounts = await chain.getMultipleAccountsInfo(addresses.map((address) => new PublicKey(address)))
    return accounts.map((each) => each !== null)
  }
  return {
    platform,
    creator,
    wallet,
    env,
    random: randomOf(seedOr(5)).next,
    existing,
    async configsOnChain(): Promise<string[]> {
      const options = { filters: [{ dataSize: CONFIG_BYTES }], dataSlice: { offset: 0, length: 0 } }
      const accounts = await chain.getProgramAccounts(new PublicKey(PROGRAMS.dbc.id), options)
      return accounts.map(({ pubkey }) => pubkey.toBase58()).toSorted()
    },
    /** The configs of the launches that are on chain; each launch is there as a whole or not at all. */
    async wholeLaunches({ request }: Daemon): Promise<string[]> {
      const there: string[] = []
      for (const { address, base_mint, config } of (await request('GET', '/v2/pools?limit=100')).json.data) {
        const parts = await existing(address, base_mint, config)
        expect(new Set(parts).size, `${address}: ${parts}`).toBe(1)
        if (parts[0]) there.push(config)
      }
      return there.toSorted()
    },
  }
}

/** Launches by a command that has the records in its own process; `run` begins the n-th. */
async function launchesOfCommands() {
  const world = await launchWorld()
  const { platform, env, creator, random } = world
  const { dataDir, node } = platform
  const file = join(dataDir, 'logo.png')
  writeFileSync(file, IMAGES.png)
  const keypair = keypairFile(dataDir, creator, 'creator.json')
  const said = { text: '' }
  let launches = 0
  const run = () => {
    const flags = ['--name', 'Test', '--symbol', `C${launches++}`, '--image', file, '--buy', '0.1', '--tx-version', '1']
    const args = ['pools', 'create', ...flags, '-k', keypair, '-u', node.url, '--yes', '--json']
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env: { PATH: process.env.PATH ?? '', HOME: dataDir, SVC_DATA_DIR: dataDir, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.text += text
    })
    return child
  }
  const began = performance.now()
  const first = run()
  await goneOf(first)
  expect(first.exitCode, said.text).toBe(0)
  const whole = performance.now() - began
  const struck = { count: 0 }
  return {
    ...world,
    run,
    struck,
    launches: () => launches,
    *points(): Iterable<Point> {
      const points = launchPoints(whole, random)
      // Some are through before they are killed.
      while (struck.count < LAUNCH_KILLS && launches <= MOST_LAUNCHES) yield points.shift() ?? random() * whole * 0.8
    },
  }
}

const lacksLaunches = [PROGRAMS.dbc, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))

killTest({
  title: `launches of version 1 by a command that is killed ${LAUNCH_KILLS} times (SOAK_SEED=${seedOr(5)}):`,
  skip: lacksLaunches,
  start: launchesOfCommands,
  points: (world) => world.points(),
  async kill({ platform, run, struck }, point) {
    if ((await killAt(run(), point, platform.node, LAUNCH_PATIENCE_MS)).wasRunning) struck.count++
  },
  end: ({ platform }) => platform.end(),
  holds: {
    async 'each launch is on chain as a whole or not at all'(world) {
      const { platform, creator, env, struck, launches, wholeLaunches, configsOnChain } = world
      const daemon = await startDaemon({ dataDir: platform.dataDir, flags: ['-u', platform.node.url], env })
      platform.daemon = daemon
      // What a killed command had stored is sent by this daemon, and may land between two looks.
      const count = async (type: string) =>
        (await daemon.request('GET', `/v2/events?limit=100&type=transaction.${type}`)).json.data.length
      const landed = await vi.waitFor(
        async () => {
          // One node proves no absence. The history of the payer does, once it goes on.
          await platform.chain.requestAirdrop(creator.publicKey, 1_000_000)
          expect((await count('confirmed')) + (await count('failed'))).toBe(await count('submitted'))
          const whole = await wholeLaunches(daemon)
          expect(await configsOnChain()).toEqual(whole)
          return whole
        },
        { timeout: 90_000, interval: 500 },
      )
      expect(landed.length).toBeGreaterThan(0)
      process.stdout.write(`  ${struck.count} kills: ${landed.length} of ${launches()} launches landed, whole\n`)
      expect(struck.count).toBe(LAUNCH_KILLS)
    },
  },
})

/** Launches that the platform wallet signs; `ask` asks for the n-th. */
async function launchesOfDaemons() {
  const world = await launchWorld()
  const { platform, env, wallet, random } = world
  const ask = (n: number) => {
    const body = {
      creator: wallet.publicKey.toBase58(),
      name: 'Test',
      symbol: `D${n}`,
      image: Buffer.from(IMAGES.png).toString('base64'),
      buy_amount: 0.1,
      mode: 'signed',
      tx_version: 1,
    }
    return platform.daemon.request('POST', '/v2/pools', { body, headers: { 'idempotency-key': `launch-${n}` } })
  }
  await platform.start(env)
  const limits = {
    lamports_per_transaction: '5000000000',
    lamports_per_day: '100000000000',
    max_fee_lamports: '10000000',
  }
  expect((await platform.daemon.request('PATCH', '/v2/signer/policy', { body: limits })).status).toBe(200)
  const first = await ask(0)
  expect(first.status, first.text).toBe(201)
  return {
    ...world,
    ask,
    struck: { count: 0 },
    signatures: new Set<string>([first.json.data.signatures[0]]),
    points: [...launchPoints(150, random).entries()],
  }
}

killTest({
  title: `launches of version 1 by a daemon that is killed ${LAUNCH_KILLS} times (SOAK_SEED=${seedOr(5)}):`,
  skip: lacksLaunches,
  start: launchesOfDaemons,
  points: ({ points }) => points,
  async kill({ platform, env, ask, struck, signatures, existing }, [n, point]) {
    const at = typeof point === 'number' ? point : ({ of: 'node', trap: point as Trap } as const)
    const asked = () => [ask(n + 1).catch(() => null)]
    if (await platform.killAt(at, LAUNCH_PATIENCE_MS, asked)) struck.count++
    await platform.start(env)
    const again = await ask(n + 1)
    expect(again.status, again.text).toBe(201)
    expect(again.json.data.signatures).toHaveLength(1)
    signatures.add(again.json.data.signatures[0])
    const { address, base_mint, config } = again.json.data.pool
    const isThere = async () => expect(await existing(address, base_mint, config)).toEqual([true, true, true])
    await vi.waitFor(isThere, 20_000)
  },
  end: ({ platform }) => platform.end(),
  holds: {
    async 'each launch is on chain as a whole, once'({ platform, struck, signatures, wholeLaunches, configsOnChain }) {
      const landed = await wholeLaunches(platform.daemon)
      expect([landed.length, signatures.size]).toEqual([LAUNCH_KILLS + 1, LAUNCH_KILLS + 1])
      expect(await configsOnChain()).toEqual(landed)
      expect(struck.count).toBe(LAUNCH_KILLS)
    },
  },
})

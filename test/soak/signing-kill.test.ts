/** A daemon that is killed around the moment of signing: of each request at most one signature exists, and it is counted. */

import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection, PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChainProcess, startChain } from '../support/chain-process.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { FEE } from '../support/platform-wallet.ts'
import { randomOf } from '../support/random.ts'
import { removeFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { startVault, type VaultServer } from '../support/vault-server.ts'
import { startTrappingProxy, type Trap, type TrappingProxy } from './trapping-proxy.ts'

/** SOAK_SEED=n kills at other moments. */
const SEED = Number(process.env.SOAK_SEED || 7)
const RANDOM_KILLS = 8
const WRITERS = 6
const PATIENCE_MS = 60_000

const { next: random, below } = randomOf(SEED)

type Point = { of: 'vault' | 'node'; trap: Trap } | number

/** Before, while and after the provider signs, around the calls to the node, and at moments of no kind. */
function killPoints(sign: string): Point[] {
  const soon = () => random() * 6
  const nth = () => 1 + below(WRITERS)
  const vault = (when: Trap['when'], afterMs?: number): Point => ({
    of: 'vault',
    trap: { method: sign, when, nth: nth(), ...(afterMs === undefined ? {} : { afterMs }) },
  })
  const node = (method: string, when: Trap['when']): Point => ({ of: 'node', trap: { method, when, nth: nth() } })
  return [
    ...Array.from({ length: 2 }, () => vault('asked')),
    ...Array.from({ length: 3 }, () => vault('answered')),
    ...Array.from({ length: 4 }, () => vault('delivered', soon())),
    node('simulateTransaction', 'answered'),
    node('sendTransaction', 'asked'),
    node('sendTransaction', 'answered'),
    ...Array.from({ length: RANDOM_KILLS }, () => random() * 400),
  ]
}

describe(`killed while it signs, with SOAK_SEED=${SEED}`, () => {
  const folders = [makeSharedFolder('svc-'), makeSharedFolder('svc-')] as const
  let chainProcess: ChainProcess
  let chain: Connection
  let vault: VaultServer
  let proxies: { vault: TrappingProxy; node: TrappingProxy }
  let daemon: Daemon
  let points: Point[]
  const done = new Map<number, string>()
  const open = new Set<number>()
  const abandoned: number[] = []
  let [missed, count, resumed, replayed] = [0, 0, 0, 0]

  const start = () =>
    startDaemon({
      dataDir: folders[0],
      flags: ['-u', proxies.node.url],
      env: {
        SVC_SIGNER: 'vault',
        SVC_SIGNER_VAULT_URL: proxies.vault.url,
        SVC_SIGNER_VAULT_KEY: vault.keyName,
        SVC_SIGNER_VAULT_TOKEN: vault.token,
        SVC_SIGNER_PUBLIC_KEY: vault.key.address,
        SVC_PRIORITY_FEE: 'none',
      },
    })
  const ask = (n: number) =>
    daemon.request('POST', '/v2/signer/tests', {
      body: { submit: true, memo: `request ${n}.` },
      headers: { 'idempotency-key': `signing-${n}` },
    })

  async function request(n: number): Promise<void> {
    open.add(n)
    const answer = await ask(n).catch(() => null)
    if (answer === null) return
    expect([n, answer.status], answer.text).toEqual([n, 200])
    open.delete(n)
    done.set(n, answer.json.data.signature)
  }

  async function waveAndKill(point: Point): Promise<void> {
    const gone = new Promise<void>((settle) => daemon.process.once('exit', () => settle()))
    const strike = () => void daemon.process.kill('SIGKILL')
    if (typeof point !== 'number') proxies[point.of].arm(point.trap, strike)
    const busy = Array.from({ length: WRITERS }, () => request(count++))
    if (typeof point === 'number') {
      await delay(point)
      strike()
    } else {
      const late = setTimeout(() => {
        missed++
        strike()
      }, PATIENCE_MS)
      await gone
      clearTimeout(late)
      proxies[point.of].disarm()
    }
    await gone
    await Promise.all(busy)
  }

  async function retry(): Promise<void> {
    for (const n of [...open]) {
      open.delete(n)
      if (n % 4 === 0) {
        abandoned.push(n)
        continue
      }
      const answer = await ask(n)
      expect([n, answer.status], answer.text).toEqual([n, 200])
      if (answer.headers.get('idempotent-replayed') === 'true') replayed++
      else resumed++
      done.set(n, answer.json.data.signature)
    }
  }

  beforeAll(async () => {
    chainProcess = await startChain(folders[1])
    chain = new Connection(chainProcess.url, 'confirmed')
    vault = await startVault()
    proxies = { vault: await startTrappingProxy(vault.url), node: await startTrappingProxy(chainProcess.url) }
    points = killPoints(`POST /v1/transit/sign/${vault.keyName}`)
    await chain.requestAirdrop(new PublicKey(vault.key.address), 1_000_000_000)
    daemon = await start()
    const body = { lamports_per_transaction: '1000000', lamports_per_day: '1000000000' }
    expect((await daemon.request('PATCH', '/v2/signer/policy', { body })).status).toBe(200)
    for (const point of points) {
      await waveAndKill(point)
      daemon = await start()
      await retry()
    }
  }, 600_000)
  afterAll(async () => {
    await daemon?.stop()
    await Promise.all(Object.values(proxies ?? {}).map((proxy) => proxy.close()))
    await vault?.close()
    await chainProcess?.stop()
    for (const folder of folders) removeFolder(folder)
  })

  /** The messages that the provider was asked to sign for a request, and has signed. */
  function messagesOf(n: number): string[] {
    const messages = vault.requests.flatMap(({ body }) => {
      const input = body === '' ? Buffer.alloc(0) : Buffer.from(JSON.parse(body).input, 'base64')
      return input.includes(`request ${n}.`) ? [createHash('sha256').update(input).digest('hex')] : []
    })
    return [...new Set(messages)].filter((hash) => vault.signatures.has(hash))
  }

  it('walked into its traps: some requests were cut off before, some after the signature', () => {
    process.stdout.write(
      `  ${points.length} kills: ${done.size} answered, ${abandoned.length} abandoned, ${resumed} resumed, ${replayed} replayed\n`,
    )
    expect(missed).toBeLessThanOrEqual(1)
    expect(done.size + abandoned.length).toBe(count)
    expect(resumed).toBeGreaterThan(10)
    expect(abandoned.length).toBeGreaterThan(0)
  })

  it('made at most one signature for each request, and answers with that one', async () => {
    for (const n of done.keys()) expect([n, messagesOf(n).length]).toEqual([n, 1])
    for (const n of abandoned) expect([n, messagesOf(n).length <= 1]).toEqual([n, true])
    expect(new Set(done.values()).size).toBe(done.size)
  })

  it('put each answered one on the chain once, and nothing that it does not know', async () => {
    const known = new Set(done.values())
    const landed = await chain.getSignaturesForAddress(new PublicKey(vault.key.address), { limit: 1000 })
    const memos = landed.filter(({ memo }) => memo !== null)
    await expect
      .poll(
        async () =>
          (await chain.getSignatureStatuses([...known], { searchTransactionHistory: true })).value.filter(
            (status) => status === null,
          ).length,
        { timeout: 30_000 },
      )
      .toBe(0)
    for (const { signature, err } of memos.filter(({ signature }) => !known.has(signature))) {
      // Abandoned after it was stored: the watcher sent it all the same, as it must.
      expect(err).toBeNull()
      expect((await daemon.request('GET', `/v2/transactions/${signature}`)).json.data.lifecycle).not.toBe('unknown')
    }
  })

  it('counted each signature against the day, and no other', async () => {
    const signed = [...done.keys(), ...abandoned].filter((n) => messagesOf(n).length === 1).length
    const { spent } = (await daemon.request('GET', '/v2/signer')).json.data
    const counted = BigInt(spent.lamports) / FEE
    // What was abandoned between the intent and the signature stays counted: nobody can tell that it was not signed.
    expect(counted).toBeGreaterThanOrEqual(BigInt(signed))
    expect(counted).toBeLessThanOrEqual(BigInt(done.size + abandoned.length))
  })

  it('has an audit log without a gap in which every answered signature is told once', async () => {
    expect((await daemon.request('GET', '/v2/audit-verification')).json.data).toMatchObject({ intact: true })
    const told: string[] = []
    for (let cursor = ''; ; ) {
      const { json } = await daemon.request('GET', `/v2/audit-entries?limit=100&action=signing.signed${cursor}`)
      told.push(...json.data.map(({ details }: { details: { signature: string } }) => details.signature))
      if (json.meta.next_cursor === null) break
      cursor = `&cursor=${json.meta.next_cursor}`
    }
    expect(new Set(told).size).toBe(told.length)
    expect([...done.values()].filter((signature) => !told.includes(signature))).toEqual([])
  })
})

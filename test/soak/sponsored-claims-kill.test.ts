/** Sponsored claims of a daemon that is killed around its signatures: each wallet is paid for once, and the budget counts it once. */
import { setTimeout as delay } from 'node:timers/promises'
import * as spl from '@solana/spl-token'
import {
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  sendAndConfirmTransaction,
  Transaction,
  VersionedTransaction,
} from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { addressOf, createBody, entriesFor } from '../support/airdrops.ts'
import { type ChainProcess, startChain } from '../support/chain-process.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { hasProgram, PROGRAMS_DIR } from '../support/programs.ts'
import { randomOf } from '../support/random.ts'
import { removeFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { SPONSORED_COST } from '../support/sponsored-airdrop.ts'
import { startVault, type VaultServer } from '../support/vault-server.ts'
import { startTrappingProxy, type Trap, type TrappingProxy } from './trapping-proxy.ts'

/** SOAK_SEED=n kills at other moments. */
const SEED = Number(process.env.SOAK_SEED || 3)
const WRITERS = 4
const PATIENCE_MS = 30_000
const lacks = !hasProgram(PROGRAMS.distributor.id)
const { next: random, below } = randomOf(SEED)

type Point = { of: 'vault' | 'node'; trap: Trap } | number

function killPoints(sign: string): Point[] {
  const nth = () => 1 + below(WRITERS)
  const vault = (when: Trap['when'], afterMs?: number): Point => ({
    of: 'vault',
    trap: { method: sign, when, nth: nth(), ...(afterMs === undefined ? {} : { afterMs }) },
  })
  const node = (method: string, when: Trap['when']): Point => ({ of: 'node', trap: { method, when, nth: nth() } })
  return [
    vault('asked'),
    vault('answered'),
    vault('answered'),
    ...Array.from({ length: 3 }, () => vault('delivered', random() * 6)),
    node('sendTransaction', 'asked'),
    node('sendTransaction', 'answered'),
    node('getEpochInfo', 'answered'),
    ...Array.from({ length: 5 }, () => random() * 300),
  ]
}

interface SignedClaim {
  path: string
  transaction: string
}

describe.skipIf(lacks)(`sponsored claims under kills, with SOAK_SEED=${SEED}`, () => {
  const folders = [makeSharedFolder('svc-'), makeSharedFolder('svc-')] as const
  const [maker, mintKey] = [Keypair.generate(), Keypair.generate()]
  const mint = addressOf(mintKey)
  let claimers: Keypair[] = []
  let chainProcess: ChainProcess
  let chain: Connection
  let vault: VaultServer
  let proxies: { vault: TrappingProxy; node: TrappingProxy }
  let daemon: Daemon
  let id = ''
  let before = 0
  const signed = new Map<number, SignedClaim>()
  const open = new Set<number>()
  const done = new Map<number, string>()
  const abandoned: number[] = []
  let [next, missed, resumed] = [0, 0, 0]

  const start = () =>
    startDaemon({
      dataDir: folders[0],
      flags: ['-u', proxies.node.url],
      env: {
        SVC_PROGRAMS_DIR: PROGRAMS_DIR,
        SVC_SIGNER: 'vault',
        SVC_SIGNER_VAULT_URL: proxies.vault.url,
        SVC_SIGNER_VAULT_KEY: vault.keyName,
        SVC_SIGNER_VAULT_TOKEN: vault.token,
        SVC_SIGNER_PUBLIC_KEY: vault.key.address,
        SVC_PRIORITY_FEE: 'none',
      },
    })
  const ok = async (method: string, path: string, body?: object) => {
    const answer = await daemon.request(method, path, body === undefined ? {} : { body })
    expect([path, answer.status < 300], answer.text).toEqual([path, true])
    return answer.json.data
  }
  const signedBy = (transaction: string, key: Keypair) => {
    const decoded = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    decoded.sign([key])
    return Buffer.from(decoded.serialize()).toString('base64')
  }
  const lamportsOfPlatform = () => chain.getBalance(new PublicKey(vault.key.address), 'confirmed')

  async function arrange(wallets: number): Promise<void> {
    const platform = new PublicKey(vault.key.address)
    for (const key of [maker.publicKey, platform]) await chain.requestAirdrop(key, 5_000_000_000)
    const account = spl.getAssociatedTokenAddressSync(mintKey.publicKey, maker.publicKey)
    const making = new Transaction().add(
      SystemProgram.createAccount({
        fromPubkey: maker.publicKey,
        newAccountPubkey: mintKey.publicKey,
        space: spl.MINT_SIZE,
        lamports: await spl.getMinimumBalanceForRentExemptMint(chain),
        programId: spl.TOKEN_PROGRAM_ID,
      }),
      spl.createInitializeMint2Instruction(mintKey.publicKey, 6, maker.publicKey, null),
      spl.createAssociatedTokenAccountInstruction(maker.publicKey, account, maker.publicKey, mintKey.publicKey),
      spl.createMintToInstruction(mintKey.publicKey, account, maker.publicKey, 10n ** 12n),
    )
    await sendAndConfirmTransaction(chain, making, [maker, mintKey])
    claimers = Array.from({ length: wallets }, () => Keypair.generate())
    const tree = await ok('POST', '/v2/merkle-trees', { mint, airdrop_count: 0, entries: entriesFor(claimers) })
    id = tree.id
    const built = await ok('POST', '/v2/airdrops', createBody(maker, mint, tree.root))
    const transaction = signedBy(built.transaction, maker)
    const { signature } = await ok('POST', '/v2/transactions', { transaction })
    const latest = { signature, ...(await chain.getLatestBlockhash()) }
    expect((await chain.confirmTransaction(latest, 'confirmed')).value.err).toBeNull()
    const limits = { lamports_per_transaction: '10000000', lamports_per_day: '10000000000' }
    await ok('PATCH', '/v2/signer/policy', limits)
    await ok('PATCH', `/v2/airdrops/${id}/sponsorship`, { budget: String(SPONSORED_COST * BigInt(wallets)) })
    before = await lamportsOfPlatform()
  }

  /** Builds, where nothing signed is kept, and submits; null where the daemon died over it. */
  async function claim(n: number): Promise<string | null> {
    open.add(n)
    const key = claimers[n]!
    try {
      if (!signed.has(n)) {
        const built = await daemon.request('POST', `/v2/airdrops/${id}/sponsored-claims`, {
          body: { claimer: addressOf(key) },
        })
        expect([n, built.status], built.text).toEqual([n, 200])
        const { id: claimId, transaction } = built.json.data
        const path = `/v2/airdrops/${id}/sponsored-claims/${claimId}/submissions`
        signed.set(n, { path, transaction: signedBy(transaction, key) })
      }
      const { path, transaction } = signed.get(n)!
      const answer = await daemon.request('POST', path, { body: { transaction } })
      expect([n, answer.status], answer.text).toEqual([n, 200])
      open.delete(n)
      done.set(n, answer.json.data.signature)
      return answer.json.data.signature
    } catch (error) {
      if ((error as Error).name === 'AssertionError') throw error
      return null
    }
  }

  async function waveAndKill(point: Point): Promise<void> {
    const gone = new Promise<void>((settle) => daemon.process.once('exit', () => settle()))
    const strike = () => void daemon.process.kill('SIGKILL')
    if (typeof point !== 'number') proxies[point.of].arm(point.trap, strike)
    const busy = Array.from({ length: WRITERS }, () => claim(next++))
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

  beforeAll(async () => {
    chainProcess = await startChain(folders[1], { SVC_PROGRAMS_DIR: PROGRAMS_DIR })
    chain = new Connection(chainProcess.url, 'confirmed')
    vault = await startVault()
    proxies = { vault: await startTrappingProxy(vault.url), node: await startTrappingProxy(chainProcess.url) }
    const points = killPoints(`POST /v1/transit/sign/${vault.keyName}`)
    daemon = await start()
    await arrange(points.length * WRITERS)
    for (const point of points) {
      await waveAndKill(point)
      daemon = await start()
      for (const n of [...open]) {
        open.delete(n)
        if (n % 5 === 0) abandoned.push(n)
        else if ((await claim(n)) !== null) resumed++
      }
    }
  }, 600_000)
  afterAll(async () => {
    await daemon?.stop()
    await Promise.all(Object.values(proxies ?? {}).map((proxy) => proxy.close()))
    await vault?.close()
    await chainProcess?.stop()
    for (const folder of folders) removeFolder(folder)
  })

  /** The distinct messages with this wallet's claim that the provider has signed. */
  const messagesOf = (key: Keypair) =>
    new Set(
      vault.requests.flatMap(({ body }) => {
        const input = body === '' ? Buffer.alloc(0) : Buffer.from(JSON.parse(body).input, 'base64')
        return input.includes(key.publicKey.toBuffer()) ? [input.toString('base64')] : []
      }),
    )

  it('were resumed and abandoned, and every other is answered with its one signature', () => {
    process.stdout.write(`  ${done.size} answered, ${abandoned.length} abandoned, ${resumed} resumed\n`)
    expect(missed).toBeLessThanOrEqual(1)
    expect(done.size + abandoned.length).toBe(claimers.length)
    expect([resumed > 8, abandoned.length > 0]).toEqual([true, true])
    expect(new Set(done.values()).size).toBe(done.size)
    for (const n of done.keys()) expect([n, messagesOf(claimers[n]!).size]).toEqual([n, 1])
    for (const n of abandoned) expect([n, messagesOf(claimers[n]!).size <= 1]).toEqual([n, true])
  })

  it('paid every wallet its tokens and left it without a lamport, for fee and rent each, which the budget counts', async () => {
    const paid = async () => {
      const accounts = claimers.map((key) => spl.getAssociatedTokenAddressSync(mintKey.publicKey, key.publicKey))
      const found = await chain.getMultipleAccountsInfo(accounts, 'confirmed')
      return found.map((account) => (account === null ? null : account.data.readBigUInt64LE(64)))
    }
    await expect.poll(async () => done.size - (await doneAndPaid(paid)), { timeout: 60_000 }).toBe(0)
    const tokens = await paid()
    for (const [n, held] of tokens.entries()) {
      if (held !== null) expect([n, held]).toEqual([n, BigInt(n + 1) * 1_000n])
    }
    const wallets = await chain.getMultipleAccountsInfo(
      claimers.map((key) => key.publicKey),
      'confirmed',
    )
    expect(wallets.every((account) => account === null || account.lamports === 0)).toBe(true)
    const landed = tokens.filter((held) => held !== null).length
    expect(BigInt(before - (await lamportsOfPlatform()))).toBe(SPONSORED_COST * BigInt(landed))
    const sponsorship = await ok('GET', `/v2/airdrops/${id}/sponsorship`)
    const { used, pending, landed: settled } = sponsorship
    // What was abandoned before its signature was stored is counted until it can land no more.
    expect(BigInt(used)).toBe(SPONSORED_COST * BigInt(pending + settled))
    expect(pending + settled).toBeGreaterThanOrEqual(landed)
    expect(pending + settled).toBeLessThanOrEqual(done.size + abandoned.length)
  })

  async function doneAndPaid(paid: () => Promise<(bigint | null)[]>): Promise<number> {
    const tokens = await paid()
    return [...done.keys()].filter((n) => tokens[n] !== null).length
  }
})

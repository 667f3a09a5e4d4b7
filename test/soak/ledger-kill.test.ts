/** A daemon that is killed while it writes the ledger: every transaction is in it, once, and the chain bears it out. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection, Keypair, SystemProgram } from '@solana/web3.js'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { LedgerEntry } from '../../src/api/ledger.ts'
import { pause } from '../../src/platform/timing.ts'
import { addressOf } from '../support/assets.ts'
import { startChain } from '../support/chain-process.ts'
import { startDaemon } from '../support/daemon.ts'
import { signed } from '../support/local-chain.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { randomOf } from '../support/random.ts'

const KILLS = 8
const SEED = 20_261_123
const SOL = 1_000_000_000

describe('the ledger', () => {
  it(`has every transaction once through ${KILLS} kills of the daemon`, async () => {
    const home = mkdtempSync(join(tmpdir(), 'svc-ledger-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const [chainDir, dataDir] = [join(home, 'chain'), join(home, 'daemon')]
    for (const folder of [chainDir, dataDir]) mkdirSync(folder)
    mkdirSync(join(chainDir, '.cache', 'svc'), { recursive: true })
    symlinkSync(PROGRAMS_DIR, join(chainDir, '.cache', 'svc', 'programs'))
    const chain = await startChain(chainDir)
    onTestFinished(() => chain.stop())
    const [user, platform] = [Keypair.generate(), Keypair.generate()]
    const env = { SVC_PLATFORM_WALLET: addressOf(platform) }
    const start = () => startDaemon({ dataDir, flags: ['--url', chain.url], env })
    let daemon = await start()
    onTestFinished(() => daemon.stop())
    const connection = new Connection(chain.url, 'confirmed')
    for (const key of [user, platform]) await connection.requestAirdrop(key.publicKey, 100 * SOL)
    const random = randomOf(SEED)

    const through: string[] = []
    const pay = async (from: Keypair, to: Keypair, lamports: number) => {
      const made = SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports })
      const { blockhash } = await connection.getLatestBlockhash()
      return signed([made], [from], { blockhash })
    }
    const submit = async (lamports: number) => {
      const raw = Buffer.from(await pay(user, platform, lamports))
      const body = { transaction: raw.toString('base64') }
      const { status, json, text } = await daemon.request('POST', '/v2/transactions', { body })
      expect(status, text).toBe(200)
      through.push(json.data.signature)
    }
    const past: string[] = []
    const sendPast = async (lamports: number) =>
      void past.push(await connection.sendRawTransaction(await pay(platform, user, lamports)))

    // A record, so that the chain is looked at beside what is submitted.
    const mint = addressOf(Keypair.generate())
    const entries = [{ wallet: addressOf(user), amount: '1' }]
    const tree = await daemon.request('POST', '/v2/merkle-trees', { body: { mint, airdrop_count: 0, entries } })
    expect(tree.status, tree.text).toBeLessThan(300)
    for (let round = 0; round < KILLS; round++) {
      for (let n = 0; n < 4; n++) await submit(SOL + round * 10 + n)
      await sendPast(1_000_000 + round)
      await pause(random.below(12_000))
      await daemon.stop('SIGKILL')
      daemon = await start()
    }

    const all = async () => {
      const found: LedgerEntry[] = []
      for (let cursor = ''; ; ) {
        const { json } = await daemon.request('GET', `/v2/ledger?limit=100${cursor}`)
        found.push(...json.data)
        if (!json.meta.next_cursor) return found
        cursor = `&cursor=${json.meta.next_cursor}`
      }
    }
    const wanted = [...through, ...past]
    await vi.waitFor(
      async () => {
        const written = new Set((await all()).map(({ signature }) => signature))
        expect(wanted.filter((signature) => !written.has(signature))).toEqual([])
      },
      { timeout: 90_000, interval: 1_000 },
    )
    const found = await all()
    for (const signature of wanted) {
      const own = found.filter((entry) => entry.signature === signature)
      // Fee and payment, each from one account to another.
      expect(own).toHaveLength(4)
      expect(own.reduce((sum, { amount }) => sum + BigInt(amount), 0n)).toBe(0n)
    }
    const sums = (await daemon.request('GET', '/v2/ledger/summary?by=kind&limit=100')).json.data
    expect(sums.reduce((count: number, each: { entries: number }) => count + each.entries, 0)).toBe(found.length)
    const faults: object[] = []
    const accounts: { balance: string; expected: string }[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json, text } = await daemon.request('GET', `/v2/ledger/verification${cursor && `?cursor=${cursor}`}`)
      expect(json.data, text).toBeDefined()
      faults.push(...json.data.faults, ...json.data.unread)
      accounts.push(...json.data.accounts)
      cursor = json.data.next_cursor
    }
    expect(faults).toEqual([])
    expect(accounts).toHaveLength(1)
    expect(accounts[0]!.balance).toBe(accounts[0]!.expected)
  }, 400_000)
})

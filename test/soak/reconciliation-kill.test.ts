/** Strangers act on a chain of its own while the daemon is up, down and killed: each act is told of, once. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addPlugin, burn, create, updatePlugin } from '@metaplex-foundation/mpl-core'
import { Connection, Keypair, type TransactionInstruction, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { loadCore } from '../../src/chain/programs/metaplex-core/sdk.ts'
import { pause } from '../../src/timing.ts'
import { addressOf, lacksCore } from '../support/assets.ts'
import { startChain } from '../support/chain-process.ts'
import { startDaemon } from '../support/daemon.ts'
import { signed } from '../support/local-chain.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { randomOf } from '../support/random.ts'

const KILLS = 12
const SEED = 20_261_123
/** What each asset goes through, and the events that tell of it. */
const TOLD = ['nft.burned', 'nft.created', 'nft.staked', 'nft.unstaked', 'stake.acquired', 'stake.released']

describe.skipIf(lacksCore)('reconciliation (needs Metaplex Core)', () => {
  it(`tells each act of a stranger once through ${KILLS} kills of the daemon`, async () => {
    const home = mkdtempSync(join(tmpdir(), 'svc-recon-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const [chainDir, dataDir] = [join(home, 'chain'), join(home, 'daemon')]
    for (const folder of [chainDir, dataDir]) mkdirSync(folder)
    // The chain looks for programs below its home.
    mkdirSync(join(chainDir, '.cache', 'svc'), { recursive: true })
    symlinkSync(PROGRAMS_DIR, join(chainDir, '.cache', 'svc', 'programs'))
    const chain = await startChain(chainDir)
    onTestFinished(() => chain.stop())
    const flags = ['--url', chain.url]
    let daemon = await startDaemon({ dataDir, flags })
    onTestFinished(() => daemon.stop())
    const random = randomOf(SEED)

    const connection = new Connection(chain.url, 'confirmed')
    const user = Keypair.generate()
    await connection.requestAirdrop(user.publicKey, 100_000_000_000)
    const { instructions, context, signer, key } = await loadCore()
    const send = async (made: TransactionInstruction[], ...signers: Keypair[]) => {
      const { blockhash } = await connection.getLatestBlockhash()
      await connection.sendRawTransaction(signed(made, [user, ...signers], { blockhash }))
    }
    const made = await daemon.request('POST', '/v2/collections', {
      body: { payer: addressOf(user), name: 'C', uri: 'https://example.com/c.json' },
    })
    expect(made.status, made.text).toBe(200)
    const { collection, transaction } = made.json.data
    const decoded = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    decoded.sign([user])
    const body = { transaction: Buffer.from(decoded.serialize()).toString('base64') }
    expect((await daemon.request('POST', '/v2/transactions', { body })).status).toBe(200)
    const followed = async () => (await daemon.request('GET', '/v2/events?type=transaction.confirmed')).json.data.length
    await vi.waitFor(async () => expect(await followed()).toBe(1), { timeout: 30_000, interval: 200 })

    const own = { collection: key(collection), payer: signer(addressOf(user)), authority: signer(addressOf(user)) }
    const into = { publicKey: key(collection) }
    const freeze = (frozen: boolean) => ({ type: 'FreezeDelegate', frozen }) as const
    const assets: string[] = []
    const life = async () => {
      const asset = Keypair.generate()
      const at = key(addressOf(asset))
      assets.push(addressOf(asset))
      const uri = 'https://example.com/a.json'
      const minting = create(context, { ...own, asset: signer(addressOf(asset)), collection: into, name: 'A', uri })
      await send(instructions(minting), asset)
      const plugin = { ...freeze(true), authority: { type: 'Owner' } } as const
      await send(instructions(addPlugin(context, { ...own, asset: at, plugin })))
      await send(instructions(updatePlugin(context, { ...own, asset: at, plugin: freeze(false) })))
      await send(instructions(burn(context, { ...own, asset: { publicKey: at }, collection: into } as never)))
    }
    for (let kill = 0; kill < KILLS; kill++) {
      await life()
      await pause(random.below(5_000))
      if (kill % 2 === 0) await life()
      await daemon.stop('SIGKILL')
      await life()
      daemon = await startDaemon({ dataDir, flags })
    }
    const toldOf = async () => {
      const told = new Map<string, string[]>(assets.map((asset) => [asset, []]))
      for (let cursor = ''; ; ) {
        const { json } = await daemon.request('GET', `/v2/events?order=asc&limit=100${cursor}`)
        for (const { type, data } of json.data) told.get(data.object.resource_id)?.push(type)
        if (!json.meta.next_cursor) return told
        cursor = `&cursor=${json.meta.next_cursor}`
      }
    }
    await vi.waitFor(
      async () => {
        for (const [asset, types] of await toldOf()) expect(types.sort(), asset).toEqual(TOLD)
      },
      { timeout: 60_000, interval: 1_000 },
    )
    const { data } = (await daemon.request('GET', '/v2/event-verification?since=0')).json
    expect([data.missing, data.extra]).toEqual([[], []])
  }, 180_000)
})

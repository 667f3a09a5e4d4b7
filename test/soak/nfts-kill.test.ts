/** A list of NFTs whose minting is killed at any moment and run again: each row is minted exactly once. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { decodeAsset } from '../../src/chain/programs/metaplex-core/state.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { lacksCore } from '../support/assets.ts'
import { startDaemon } from '../support/daemon.ts'
import { killAmongWrites } from '../support/killed-command.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { removeFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

/** SOAK_SEED=n kills at other moments. */
const SEED = Number(process.env.SOAK_SEED || 11)
/** More than the kills can see minted. */
const ROWS = 200
/** Commands that have the chain in their own process, then clients of a daemon. */
const KILLS = { alone: 5, served: 5 }
const PROGRAM = resolve(import.meta.dirname, '../../dist/svc.js')

let state = SEED
/** Between 0 and 1, the same row for the same seed. */
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

const home = makeSharedFolder('svc-nfts-kill-')
afterAll(() => removeFolder(home))
const dataDir = join(home, 'data')
const env = {
  PATH: process.env.PATH ?? '',
  HOME: home,
  SVC_DATA_DIR: dataDir,
  SVC_PROGRAMS_DIR: PROGRAMS_DIR,
}
const svc = (args: string[]) =>
  execa(process.execPath, [PROGRAM, ...args, '--json'], { cwd: home, env, extendEnv: false })
const json = async (args: string[]) => JSON.parse((await svc(args)).stdout)

/** Kills the command once it has marked its journal so often: as it is written, and as each row begins, eight at once. */
const killAmongRows = (args: string[], journal: string, changes: number) =>
  killAmongWrites({
    argv: [PROGRAM, ...args, '--json'],
    options: { cwd: home, env },
    state: () => statSync(journal, { throwIfNoEntry: false })?.mtimeMs,
    changes,
    delayMs: () => random() * 50,
  })

describe.skipIf(lacksCore)(`a list that is killed ${KILLS.alone + KILLS.served} times, with SOAK_SEED=${SEED}`, () => {
  it('is minted row by row, each once, and each is told once', async () => {
    mkdirSync(dataDir)
    const payer = Keypair.generate()
    const keypair = join(home, 'payer.json')
    writeFileSync(keypair, JSON.stringify([...payer.secretKey]), { mode: 0o600 })
    await svc(['localnet', 'airdrop', payer.publicKey.toBase58(), '100'])
    const made = ['collections', 'create', '--name', 'Genesis', '--uri', 'https://example.com/g.json', '-k', keypair]
    const { collection } = await json(made)
    const file = join(home, 'nfts.csv')
    const uris = Array.from({ length: ROWS }, (_, i) => `https://example.com/${i}.json`)
    // Every fifth row says the same as the one before it, but for nothing.
    const rows = uris.map((uri, i) => `#${i % 5 === 4 ? i - 1 : i},${i % 5 === 4 ? uris[i - 1] : uri}`)
    writeFileSync(file, `name,uri\n${rows.join('\n')}\n`)
    const mint = ['nfts', 'mint', '--collection', collection, '--from', file, '-k', keypair]
    const minted = async () => (await json(['collections', 'get', collection])).num_minted as number

    const progress: number[] = []
    const kill = async (times: number) => {
      for (let n = 0; n < times; n++) {
        // Some before a row is there.
        expect(await killAmongRows(mint, `${file}.mint.json`, 1 + Math.floor(random() * 5))).toBe(true)
        progress.push(await minted())
      }
    }
    await kill(KILLS.alone)

    const daemon = await startDaemon({ dataDir, env: { SVC_PROGRAMS_DIR: PROGRAMS_DIR } })
    try {
      await kill(KILLS.served)
      process.stdout.write(`  minted after each kill: ${progress}\n`)
      expect(progress.some((count) => count > 0 && count < ROWS)).toBe(true)
      const last = await json(mint)
      expect(last).toMatchObject({ total: ROWS, failed: 0, to_mint: 0 })
      expect(await json(mint)).toMatchObject({ minted: 0, there_already: ROWS })

      const { rpc_url } = JSON.parse(readFileSync(join(dataDir, 'localnet.json'), 'utf8'))
      const accounts = await new Connection(rpc_url, 'confirmed').getProgramAccounts(new PublicKey(PROGRAMS.core.id), {
        filters: [{ memcmp: { offset: 34, bytes: collection } }],
      })
      const found = await Promise.all(
        accounts.map(async ({ pubkey, account }) => {
          const decoded = await decodeAsset(pubkey.toBase58(), { data: account.data, owner: account.owner.toBase58() })
          return decoded.kind === 'asset' ? `${decoded.asset.name},${decoded.asset.uri}` : decoded.kind
        }),
      )
      expect(found.toSorted()).toEqual(rows.toSorted())
      expect(await minted()).toBe(ROWS)
      expect(last.nfts.map(({ asset }: { asset: string }) => asset).toSorted()).toEqual(
        accounts.map(({ pubkey }) => pubkey.toBase58()).toSorted(),
      )

      // Those that were killed before they had seen their transaction confirmed are followed by the daemon.
      const told = async () => {
        const events = await json(['events', 'list', '--type', 'nft.created', '--all'])
        return (events as { data: { object: { asset: string } } }[]).map(({ data }) => data.object.asset)
      }
      await expect.poll(async () => (await told()).length, { timeout: 60_000 }).toBeGreaterThanOrEqual(ROWS)
      expect((await told()).toSorted()).toEqual(accounts.map(({ pubkey }) => pubkey.toBase58()).toSorted())
      expect(await json(['nfts', 'list', '--all'])).toHaveLength(ROWS)
    } finally {
      await daemon.stop()
    }
  })
})

/** Two daemons on one PostgreSQL, with a bucket or without: one serves what was uploaded through the other, to many slow readers too. */
import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { large } from '../storage/images.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { startDaemon } from '../support/daemon.ts'
import { hasProgram, PROGRAMS_DIR } from '../support/programs.ts'
import { startS3, variablesOf } from '../support/s3-server.ts'
import { temporaryFolder } from '../support/service.ts'

const ENCRYPTION_KEY = '7'.repeat(64)
const READERS = 50
const postgres = await startPostgres()

const lacking = [PROGRAMS.dbc, PROGRAMS.tokenMetadata].filter(({ id }) => !hasProgram(id)).map(({ name }) => name)

describe.each(['database', 's3'])('two daemons on one PostgreSQL, with storage %s', (place) => {
  it.skipIf('missing' in postgres || lacking.length > 0)(
    'serve the image of a launch of the other, to slow readers too',
    async () => {
      if ('missing' in postgres) return
      const databaseUrl = await postgres.createMigratedDatabase()
      const bucket = place === 's3' ? variablesOf((await startS3()).settings) : {}
      const start = async () => {
        const dataDir = temporaryFolder()
        const env = {
          SVC_DATABASE_URL: databaseUrl,
          SVC_ENCRYPTION_KEY: ENCRYPTION_KEY,
          SVC_STORAGE: place,
          ...bucket,
          SVC_PROGRAMS_DIR: PROGRAMS_DIR,
          SVC_PLATFORM_WALLET: Keypair.generate().publicKey.toBase58(),
        }
        const daemon = await startDaemon({ dataDir, flags: ['--rpc-port', '0'], env })
        onTestFinished(() => daemon.stop('SIGKILL'))
        return { ...daemon, dataDir }
      }
      const [one, other] = [await start(), await start()]
      const creator = Keypair.generate().publicKey.toBase58()
      const { rpc_url } = JSON.parse(readFileSync(join(one.dataDir, 'daemon.json'), 'utf8'))
      await fetch(rpc_url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'requestAirdrop', params: [creator, 10_000_000_000] }),
      })
      const image = large(4_000_000)
      const body = { creator, name: 'Shared', symbol: 'SHRD', image: Buffer.from(image).toString('base64') }
      const created = await one.request('POST', '/v2/pools', { body })
      expect([created.status, created.json.error]).toEqual([201, undefined])

      const metadata = await other.request('GET', new URL(created.json.data.pool.metadata_uri).pathname, { key: null })
      expect(JSON.parse(metadata.text)).toMatchObject({ name: 'Shared', symbol: 'SHRD' })
      const path = new URL(JSON.parse(metadata.text).image).pathname
      const served = await fetch(`${other.url}${path}`)
      expect(Buffer.from(await served.arrayBuffer()).equals(image)).toBe(true)

      const open = (count: number) =>
        Promise.all(Array.from({ length: count }, () => pausedAnswer(`${other.url}${path}`)))
      // The first ones fill what the process uses again for the others.
      const first = await open(READERS)
      const before = residentBytes(other.process.pid!)
      const slow = await open(2 * READERS)
      const grown = residentBytes(other.process.pid!) - before
      process.stdout.write(
        `  ${place}: ${2 * READERS} more slow readers of 4 MB: ${(grown / 1e6).toFixed(0)} MB more\n`,
      )
      expect(grown).toBeLessThan(2 * READERS * image.length * 0.5)
      expect(await restOf(slow[0]!)).toBe(image.length)
      for (const answer of [...first, ...slow]) answer.destroy()
    },
  )
})

const residentBytes = (pid: number) => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096

/** The answer of a client that reads nothing after the headers. */
const pausedAnswer = (url: string) =>
  new Promise<IncomingMessage>((settle, reject) => {
    get(url, { agent: false }, (answer) => settle(answer.pause())).on('error', reject)
  })

async function restOf(answer: IncomingMessage): Promise<number> {
  let length = 0
  for await (const part of answer) length += part.length
  return length
}

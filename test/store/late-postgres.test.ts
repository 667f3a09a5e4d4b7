/** A PostgreSQL server that is not up yet when a daemon starts, and one whose password has changed. */
import { connect, createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { freePort } from '../support/ports.ts'
import { temporaryFolder } from '../support/service.ts'
import { startPostgres } from './postgres-server.ts'

const started = await startPostgres()
const reason = 'missing' in started ? ` (${started.missing})` : ''

describe.skipIf(reason !== '')(`PostgreSQL${reason}`, () => {
  const newUrl = async () => new URL('missing' in started ? '' : await started.createMigratedDatabase())

  it('is waited for while it cannot be reached, and only as long as the start allows', async () => {
    const url = await newUrl()
    const [host, port] = [url.hostname, Number(url.port)]
    const late = await freePort()
    url.hostname = '127.0.0.1'
    url.port = String(late)
    const open = (ms: number) => {
      const told: string[] = []
      const waiting = { ms, onWaiting: () => void told.push('waits') }
      return { told, store: openStore({ dataDir: temporaryFolder(), databaseUrl: url.href, waiting }) }
    }
    await expect(open(0).store).rejects.toThrow(/cannot open the PostgreSQL database: .*ECONNREFUSED/)
    const { told, store } = open(30_000)
    await expect.poll(() => told).toEqual(['waits'])
    const relay = createServer((socket) => {
      const server = connect(port, host)
      for (const end of [socket, server]) end.on('error', () => {})
      socket.pipe(server).pipe(socket)
    })
    await new Promise<void>((resolve) => relay.listen(late, '127.0.0.1', resolve))
    onTestFinished(() => void relay.close())
    await (await store).close()
    expect(told).toEqual(['waits'])
  })

  it('gets the user and password that the URL has when a connection is opened', async () => {
    const url = await newUrl()
    const old = new URL(url)
    old.password = 'old'
    const options = { dataDir: temporaryFolder(), databaseUrl: old.href }
    const store = await openStore({ ...options, renewedUrl: () => url.href })
    await store.ping()
    await store.close()
  })
})

/** Notices of a daemon that is killed before its receiver has answered, and after: none is lost, and none that was taken is repeated. */
import { expect, it, vi } from 'vitest'
import { recordBackup } from '../../src/store/installation/backup-record.ts'
import { openStore } from '../../src/store/open.ts'
import { startDaemon } from '../support/daemon.ts'
import { describeOnSqliteAlone } from '../support/database.ts'
import { startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/service.ts'

const PATIENCE = { timeout: 60_000, interval: 100 }
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

describeOnSqliteAlone('a notice of a killed daemon', 'the cause is written into the file', () => {
  it('is sent again with the same id until it was taken, and then its end is', async () => {
    const dataDir = temporaryFolder()
    // At first it keeps quiet for longer than the test takes.
    const receiver = await startReceiver(() => -600_000)
    const env = {
      SVC_ATTENTION_URLS: receiver.url,
      SVC_ATTENTION_SECRET: SECRET,
      SVC_WEBHOOKS_ALLOW_PRIVATE: 'true',
    }
    const endBackup = async (error: string | null) => {
      const store = await openStore({ dataDir })
      await store.write((tx) => recordBackup(tx, { at: Date.now(), error }))
      await store.close()
    }
    const arrive = (count: number) => vi.waitUntil(() => receiver.all.length >= count, PATIENCE)
    const types = () => receiver.all.map(({ type }) => type)

    await (await startDaemon({ dataDir, env })).stop()
    await endBackup('the disk is full')
    const first = await startDaemon({ dataDir, env })
    await arrive(1)
    await first.stop('SIGKILL')
    receiver.answer = () => 200
    const second = await startDaemon({ dataDir, env })
    await arrive(2)
    expect(types()).toEqual(['attention.began', 'attention.began'])
    expect(new Set(receiver.all.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    const isTold = async () => {
      const store = await openStore({ dataDir })
      const told = await store.db.selectFrom('attention_notices').select('told_at').executeTakeFirst()
      await store.close()
      return typeof told?.told_at === 'number'
    }
    await vi.waitUntil(isTold, PATIENCE)
    await second.stop('SIGKILL')
    await endBackup(null)
    const third = await startDaemon({ dataDir, env })
    await arrive(3)
    expect(types()).toEqual(['attention.began', 'attention.began', 'attention.ended'])
    await third.stop()
  }, 300_000)
})

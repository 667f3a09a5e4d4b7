/** A daemon whose log nobody takes: on a full disk, without a reader, and with one that is stuck. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { openPipe } from '../support/named-pipe.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { temporaryFolder } from '../support/service.ts'

/** A daemon with an access line for each request, whose standard error is that descriptor. */
async function loggingTo(stderr: number): Promise<Daemon> {
  const dataDir = temporaryFolder()
  const env = { SVC_LOG_LEVEL: 'info', SVC_PROGRAMS_DIR: PROGRAMS_DIR }
  const started = await startDaemon({ dataDir, flags: ['--rpc-port', '0'], env, stderr })
  closeSync(stderr)
  onTestFinished(() => started.stop('SIGKILL'))
  return started
}

const droppedLines = async ({ request }: Daemon) =>
  Number(/^svc_log_lines_dropped_total (\d+)$/m.exec((await request('GET', '/metrics')).text)?.[1])

describe('a daemon', () => {
  it.each([
    ['on a full disk', () => openSync('/dev/full', 'w')],
    [
      'whose reader is gone',
      () => {
        const { readEnd, writeEnd } = openPipe()
        closeSync(readEnd)
        return writeEnd
      },
    ],
  ])('%s answers, counts its lost lines and exits normally', async (_, open) => {
    const running = await loggingTo(open())
    await vi.waitUntil(async () => (await droppedLines(running)) > 2, { timeout: 60_000 })
    await running.stop()
    expect(running.process.exitCode).toBe(0)
  })

  it('whose reader is stuck answers and exits normally', async () => {
    const { readEnd, writeEnd } = openPipe()
    writeSync(writeEnd, 'x'.repeat(65_536))
    const running = await loggingTo(writeEnd)
    for (let n = 0; n < 20; n++) expect((await running.request('GET', '/v2/health')).status).toBe(200)
    await running.stop()
    expect(running.process.exitCode).toBe(0)
    closeSync(readEnd)
  })
})

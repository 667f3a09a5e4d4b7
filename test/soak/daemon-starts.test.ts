/** Starts of a daemon in what another left behind: a killed one's folder, and a pipe that nobody reads. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../../tools/source.ts'
import { startDaemon } from '../support/daemon.ts'
import { temporaryFolder } from '../support/service.ts'

describe('a daemon', () => {
  it('starts after one that was killed, even if another process has its id now', async () => {
    const dataDir = temporaryFolder()
    const first = await startDaemon({ dataDir })
    await first.stop('SIGKILL')
    expect(existsSync(join(dataDir, 'daemon.json'))).toBe(true)
    const second = await startDaemon({ dataDir })
    await second.stop('SIGKILL')
    writeFileSync(join(dataDir, 'daemon.json'), JSON.stringify({ pid: process.pid, url: first.url }))
    const third = await startDaemon({ dataDir })
    onTestFinished(() => third.stop())
    expect((await third.request('GET', '/v2/health')).status).toBe(200)
  })

  it('continues when the reader of its first line has closed the pipe', async () => {
    const dataDir = temporaryFolder()
    const env = { ...process.env, SVC_DATA_DIR: dataDir, HOME: dataDir, SVC_LOG_LEVEL: 'silent' }
    const command = `node ${join(ROOT, 'dist/svc.js')} serve --port 0 --rpc-port 0 & PID=$!; echo $PID >&3; wait $PID; echo ended $? >&3`
    const shell = spawn('bash', ['-c', `exec 3>&2; { ${command}; } | head -c 1 >/dev/null`], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let told = ''
    shell.stderr!.setEncoding('utf8').on('data', (text) => {
      told += text
    })
    const pid = () => Number(/^(\d+)$/m.exec(told)?.[1])
    onTestFinished(() => void (pid() > 0 && !told.includes('ended') && process.kill(pid(), 'SIGKILL')))
    await expect.poll(() => existsSync(join(dataDir, 'daemon.json')), { timeout: 60_000 }).toBe(true)
    const { url } = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'))
    expect((await fetch(`${url}/v2/health`)).status).toBe(200)
    expect(told).not.toContain('ended')
    process.kill(pid(), 'SIGTERM')
    await expect.poll(() => told, { timeout: 60_000 }).toContain('ended')
  })
})

/** A terminal that is closed, and every other signal to stop: processes end in order. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, watch } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandLine, PROGRAM } from '../cli/command-line.ts'
import { makeEvents, started } from '../cli/following.ts'
import { startDaemon } from '../support/daemon.ts'
import { startReceiver } from '../support/receiver.ts'

const cli = commandLine()
const folder = (name: string) => {
  const path = join(cli.home, name)
  mkdirSync(path, { recursive: true })
  return path
}
const FREE_PORTS = ['--port', '0', '--rpc-port', '0']
/** Resolves when the file is there no more. */
function untilGone(dataDir: string, file: string): Promise<void> {
  return new Promise((settle) => {
    const watcher = watch(dataDir, () => look())
    const look = () => {
      if (existsSync(join(dataDir, file))) return
      watcher.close()
      settle()
    }
    look()
  })
}
/** Starts a daemon with a terminal of its own, which is gone when the process that this returns is killed. */
function daemonOnTerminal(dataDir: string, redirection = ''): ChildProcess {
  const typed = [process.execPath, PROGRAM, 'serve', ...FREE_PORTS, '--data-dir', dataDir, redirection].join(' ')
  const terminal = spawn('script', ['-qec', `exec ${typed}`, '/dev/null'], {
    env: { ...cli.env, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  onTestFinished(() => void terminal.kill('SIGKILL'))
  return terminal
}

/** Resolves when the daemon on the terminal says that it listens. */
async function listening({ stdout }: ChildProcess): Promise<void> {
  let screen = ''
  await new Promise<void>((settle) => {
    stdout?.setEncoding('utf8').on('data', (text: string) => {
      screen += text
      if (screen.includes('stop with Ctrl-C')) settle()
    })
  })
}

const ended = async (child: ChildProcess) => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return [child.exitCode, child.signalCode]
}

describe('SIGHUP', () => {
  it('stops a daemon on a terminal in order, without a daemon.json left', async () => {
    const dataDir = folder('daemon')
    const terminal = daemonOnTerminal(dataDir)
    await listening(terminal)
    const { pid } = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'))
    process.kill(pid, 'SIGHUP')
    expect(await ended(terminal)).toEqual([0, null])
    expect(existsSync(join(dataDir, 'daemon.json'))).toBe(false)
  })

  it('stops a daemon whose terminal is closed in order, although it can no longer write', async () => {
    const dataDir = folder('closed')
    const terminal = daemonOnTerminal(dataDir)
    await listening(terminal)
    expect(existsSync(join(dataDir, 'daemon.json'))).toBe(true)
    terminal.kill('SIGKILL')
    await untilGone(dataDir, 'daemon.json')
    expect((await cli.spawned(['keys', 'list', '--data-dir', dataDir])).exitCode).toBe(0)
  })

  it('stops a daemon whose terminal is closed while its input and output are redirected', async () => {
    const dataDir = folder('redirected')
    const log = cli.file('redirected.log', '')
    const terminal = daemonOnTerminal(dataDir, `< /dev/null > ${log} 2>&1`)
    await expect.poll(() => readFileSync(log, 'utf8'), { timeout: 60_000 }).toContain('stop with Ctrl-C')
    terminal.kill('SIGKILL')
    await untilGone(dataDir, 'daemon.json')
  })

  it('stops svc localnet start in order, with its state stored', async () => {
    const dataDir = folder('chain')
    const chain = started(cli, ['localnet', 'start', '--rpc-port', '0', '--data-dir', dataDir])
    await chain.says('Stop with Ctrl-C')
    const to = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g'
    expect((await cli.spawned(['localnet', 'airdrop', to, '3', '--data-dir', dataDir])).exitCode).toBe(0)
    expect(await chain.stopped('SIGHUP')).toBe(0)
    expect(existsSync(join(dataDir, 'localnet.json'))).toBe(false)
    const { stdout } = await cli.spawned(['accounts', 'get', to, '--json', '--data-dir', dataDir])
    expect(JSON.parse(stdout).lamports).toBe('3000000000')
  })

  it.each([
    ['SIGHUP', 129],
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('on %s svc webhooks listen stores its place and ends with %i', async (signal, exitCode) => {
    const dataDir = folder(`listen-${signal}`)
    const daemon = await startDaemon({ dataDir, flags: ['--rpc-port', '0'] })
    onTestFinished(() => daemon.stop())
    const receiver = await startReceiver()
    const state = join(cli.home, `state-${signal}`)
    const env = { SVC_DATA_DIR: dataDir, XDG_STATE_HOME: state }
    const listen = started(cli, ['webhooks', 'listen', '--forward-to', receiver.url, '--json'], env)
    await listen.says('Following the events')
    await makeEvents(daemon, 0, 2)
    await listen.hasLines(2)
    expect(await listen.stopped(signal)).toBe(exitCode)
    const files = readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))
    expect(files).toHaveLength(1)
    expect(JSON.parse(readFileSync(join(state, files[0]!), 'utf8')).sequence).toBeGreaterThanOrEqual(1)
  })
})

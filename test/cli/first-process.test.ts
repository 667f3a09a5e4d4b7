/** svc as the first process of a container, for which the kernel ignores every signal that has no listener. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../support/service.ts'

const PROGRAM = resolve(import.meta.dirname, '../../dist/svc.js')
const NAMESPACE = ['--fork', '--pid', '--mount-proc', '--kill-child']
const [namespace] = [NAMESPACE, ['--user', '--map-root-user', ...NAMESPACE]].filter(
  (options) => spawnSync('unshare', [...options, 'true']).status === 0,
)
const reason = namespace === undefined ? ' (unshare makes no process namespace here)' : ''

describe.skipIf(namespace === undefined)(`the first process of a container${reason}`, () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('that is still starting a daemon ends at %s', async (signal, code) => {
    const silent = await silentServer()
    const process = firstProcess(['serve', '--port', '0'], {
      SVC_DATABASE_URL: `postgres://svc@127.0.0.1:${silent.port}/svc`,
      SVC_ENCRYPTION_KEY: '0'.repeat(64),
      SVC_POSTGRES_CONNECT_TIMEOUT_MS: '60000',
    })
    await silent.asked
    await process.signal(signal)
    expect(await process.ended).toBe(code)
  })

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('that runs a command ends at %s', async (signal, code) => {
    const silent = await silentServer()
    const process = firstProcess(['doctor', '--api', `http://127.0.0.1:${silent.port}`])
    await silent.asked
    await process.signal(signal)
    expect(await process.ended).toBe(code)
  })

  it('that is a running daemon ends in order at SIGTERM', async () => {
    const process = firstProcess(['serve', '--port', '0', '--rpc-port', '0'])
    await process.says('Listening on')
    await process.signal('SIGTERM')
    expect(await process.ended).toBe(0)
  })

  it('that is a running daemon ends at once at a second SIGTERM', async () => {
    const process = firstProcess(['serve', '--port', '0', '--rpc-port', '0'], { SVC_DRAIN_SECONDS: '300' })
    await process.says('Listening on')
    await process.signal('SIGTERM')
    await process.says('shutting down')
    await process.signal('SIGTERM')
    expect(await process.ended).toBe(143)
  })
})

/** Takes connections and never answers; `asked` resolves with the first one. */
async function silentServer(): Promise<{ port: number; asked: Promise<unknown> }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)))
  const asked = once(server, 'connection')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, asked }
}

interface FirstProcess {
  signal(signal: NodeJS.Signals): Promise<void>
  /** The exit code. */
  ended: Promise<number | null>
  says(text: string): Promise<void>
}

function firstProcess(argv: string[], env: Record<string, string> = {}): FirstProcess {
  const home = temporaryFolder()
  const child = spawn('unshare', [...namespace!, process.execPath, PROGRAM, ...argv], {
    cwd: home,
    env: { PATH: process.env.PATH ?? '', HOME: home, SVC_DATA_DIR: `${home}/data`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let output = ''
  let onOutput = () => {}
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      onOutput()
    })
  }
  return {
    ended,
    // From outside the namespace the process has another id.
    async signal(signal) {
      process.kill(innerPid(child), signal)
    },
    says: (text) =>
      new Promise((settle, reject) => {
        onOutput = () => void (output.includes(text) && settle())
        onOutput()
        void ended.then((code) => reject(new Error(`ended with ${code}: ${output}`)))
      }),
  }
}

function innerPid({ pid }: ChildProcess): number {
  const { stdout } = spawnSync('ps', ['--ppid', String(pid), '-o', 'pid='], { encoding: 'utf8' })
  const inner = Number(stdout.trim())
  // Signals to process 0 go to the whole group, which is that of the tests.
  if (!(inner > 1)) throw new Error(`no process was found below ${pid}: ${stdout}`)
  return inner
}

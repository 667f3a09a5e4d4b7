/** svc as the first process of a namespace of its own, and servers that never answer it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../support/service.ts'
import { PROGRAM } from './command-line.ts'

const NAMESPACE = ['--fork', '--pid', '--mount-proc', '--kill-child']
export const [namespace] = [NAMESPACE, ['--user', '--map-root-user', ...NAMESPACE]].filter(
  (options) => spawnSync('unshare', [...options, 'true']).status === 0,
)
export const reason = namespace === undefined ? ' (unshare makes no process namespace here)' : ''

/** Takes connections and never answers; `asked` resolves with the first one. */
export async function silentServer(): Promise<{ port: number; asked: Promise<unknown> }> {
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

export function firstProcess(argv: string[], env: Record<string, string> = {}): FirstProcess {
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

/** Starts servers as child processes that print their address; their log goes to a file, as under a service manager. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Another build can be measured by its file. */
export const SVC_PROGRAM = process.env.SVC_BENCH_PROGRAM || join(import.meta.dirname, '..', '..', 'dist', 'svc.js')

export interface ServerProcess {
  pid: number
  url: string
  process: ChildProcess
}

/** Servers of one measurement, with a folder for what they write. */
export interface Servers {
  folder: string
  /** Starts a Node program that prints its `"url"` as JSON. */
  start(args: readonly string[]): Promise<ServerProcess>
  /** Starts a daemon; its operator's key is in the answer. */
  daemon(dataDir: string, nodeFlags?: readonly string[]): Promise<ServerProcess & { operator: string }>
  stop(server: ServerProcess): Promise<void>
}

/** Ends the servers and removes the folder when `measure` is done. */
export async function withServers<T>(measure: (servers: Servers) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-http-'))
  const children: ChildProcess[] = []
  const start: Servers['start'] = (args) => {
    const log = openSync(join(folder, `${children.length}.log`), 'w')
    const env = { PATH: process.env.PATH, HOME: folder }
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', log] })
    closeSync(log)
    children.push(child)
    return new Promise((resolve, reject) => {
      let text = ''
      child.stdout?.on('data', (piece) => {
        text += piece
        const url = /"url":\s*"([^"]+)"/.exec(text)?.[1]
        if (url !== undefined) resolve({ pid: child.pid ?? 0, url, process: child })
      })
      child.once('exit', () => reject(new Error(`a server ended before it listened: ${args.join(' ')}`)))
    })
  }
  try {
    return await measure({
      folder,
      start,
      async daemon(dataDir, nodeFlags = []) {
        const serve = ['serve', '--port', '0', '--rpc-port', '0', '--json', '--data-dir', dataDir]
        const daemon = await start([...nodeFlags, SVC_PROGRAM, ...serve])
        return { ...daemon, operator: readFileSync(join(dataDir, 'operator.key'), 'utf8').trim() }
      },
      stop: ({ process: child }) => ended(child),
    })
  } finally {
    for (const child of children) await ended(child)
    rmSync(folder, { recursive: true, force: true })
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await exit
}

/** Servers as child processes whose output tells their address; their log goes to a file, as under a service manager. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'

export interface ServerProcess {
  pid: number
  url: string
}

/** Starts a Node program that prints its `"url"` as JSON. `children` receives it at once, so that it can be ended. */
export async function startServer(
  args: string[],
  folder: string,
  children: ChildProcess[],
  env: Record<string, string> = {},
): Promise<ServerProcess> {
  const log = openSync(join(folder, `${children.length}.log`), 'w')
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdio: ['ignore', 'pipe', log],
  })
  closeSync(log)
  children.push(child)
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (piece) => {
      text += piece
      const url = /"url":\s*"([^"]+)"/.exec(text)?.[1]
      if (url !== undefined) resolve({ pid: child.pid ?? 0, url })
    })
    child.once('exit', () => reject(new Error('a server ended before it listened')))
  })
}

/** Ends the processes and waits until they are gone. */
export async function endServers(children: readonly ChildProcess[]): Promise<void> {
  for (const child of children) {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null)
      await new Promise((resolve) => child.once('exit', resolve))
  }
}

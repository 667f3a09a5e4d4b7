/** `svc localnet start` as a process of its own: the node of daemons that come and go. */
import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'

const PROGRAM = resolve(import.meta.dirname, '../../dist/svc.js')

export interface ChainProcess {
  url: string
  child: ChildProcess
  /** Ends it, and waits until it is gone. */
  stop(): Promise<void>
}

/** Starts it on any free port; rejects when it does not come up. */
export async function startChain(dataDir: string, env: Record<string, string> = {}): Promise<ChainProcess> {
  const flags = ['localnet', 'start', '--rpc-port', '0', '--data-dir', dataDir, '--json']
  const child = spawn(process.execPath, [PROGRAM, ...flags], {
    env: { PATH: process.env.PATH ?? '', HOME: dataDir, SVC_LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const gone = new Promise<void>((settle) => child.once('exit', () => settle()))
  const url = await new Promise<string>((settle, reject) => {
    void gone.then(() => reject(new Error('the chain did not come up')))
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const found = /"rpc_url":\s*"([^"]+)"/.exec(stdout)?.[1]
      if (found !== undefined) settle(found)
    })
  })
  return {
    url,
    child,
    async stop() {
      child.kill('SIGTERM')
      await gone
    },
  }
}

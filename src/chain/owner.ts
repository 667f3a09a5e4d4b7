/** Who serves the embedded chain of a data folder: a file that its process writes and takes away. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LOCALNET_FILE } from '../config.ts'

export interface ChainOwner {
  pid: number
  rpc_url: string
  ws_url: string
}

/** The living process, not this one, that says it serves the chain of `dataDir`. */
export function chainOwner(dataDir: string): ChainOwner | undefined {
  try {
    const { pid, rpc_url, ws_url } = JSON.parse(readFileSync(join(dataDir, LOCALNET_FILE), 'utf8')) as ChainOwner
    if (typeof pid !== 'number' || typeof rpc_url !== 'string' || typeof ws_url !== 'string') return undefined
    return pid !== process.pid && isAlive(pid) ? { pid, rpc_url, ws_url } : undefined
  } catch {
    return undefined
  }
}

/** Says that this process serves it; answers how to take that back. */
export function claimChain(dataDir: string, at: Omit<ChainOwner, 'pid'>): () => void {
  const file = join(dataDir, LOCALNET_FILE)
  writeFileSync(`${file}.${process.pid}`, `${JSON.stringify({ pid: process.pid, ...at })}\n`, { mode: 0o600 })
  renameSync(`${file}.${process.pid}`, file)
  return () => rmSync(file, { force: true })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

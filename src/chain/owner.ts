/** Who serves the embedded chain of a data folder: a lock that it holds, and a file that says where it is. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { LOCALNET_FILE } from '../config.ts'
import { isLocked } from '../file-lock.ts'
import { readOwnIfThere, requireDataFolder, writeAtomically } from '../files.ts'

/** Beside LOCALNET_FILE; a database that its server locks, so that the system takes the lock back however that ends. */
export const CHAIN_LOCK_FILE = 'localnet.lock'

export interface ChainOwner {
  pid: number
  rpc_url: string
  ws_url: string
}

/** The process, not this one, that serves the chain of `dataDir`. Throws FileFault where others could have said so. */
export function chainOwner(dataDir: string): ChainOwner | undefined {
  if (!existsSync(dataDir)) return undefined
  requireDataFolder(dataDir)
  const text = readOwnIfThere(join(dataDir, LOCALNET_FILE), { folder: 'own' })
  if (text === null) return undefined
  try {
    const { pid, rpc_url, ws_url } = JSON.parse(text) as ChainOwner
    if (typeof pid !== 'number' || typeof rpc_url !== 'string' || typeof ws_url !== 'string') return undefined
    // A process may have ended without a word and its id gone to another: the lock tells.
    return pid !== process.pid && isRunning(pid) && isLocked(join(dataDir, CHAIN_LOCK_FILE))
      ? { pid, rpc_url, ws_url }
      : undefined
  } catch {
    return undefined
  }
}

/** Says that this process serves it; answers how to take that back. */
export function claimChain(dataDir: string, at: Omit<ChainOwner, 'pid'>): () => void {
  const file = join(dataDir, LOCALNET_FILE)
  writeAtomically(file, `${JSON.stringify({ pid: process.pid, ...at })}\n`)
  return () => rmSync(file, { force: true })
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

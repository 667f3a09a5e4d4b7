/** Records which process serves the embedded chain of a data folder: by a lock, and a file with its address. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isHeldBy } from '../platform/file-lock.ts'
import { readOwnIfThere, requireDataFolder, writeAtomically } from '../platform/files.ts'
import { LOCK_FILES } from '../platform/folder-lock.ts'
import { LOCALNET_FILE } from '../settings/config.ts'

export interface ChainOwner {
  pid: number
  rpc_url: string
  ws_url: string
}

/**
 * Returns the other process that serves the chain of `dataDir`. Throws FileFault when other users could have written
 * the file.
 */
export function chainOwner(dataDir: string): ChainOwner | undefined {
  if (!existsSync(dataDir)) return undefined
  requireDataFolder(dataDir)
  const text = readOwnIfThere(join(dataDir, LOCALNET_FILE), { folder: 'own' })
  if (text === null) return undefined
  try {
    const { pid, rpc_url, ws_url } = JSON.parse(text) as ChainOwner
    if (typeof pid !== 'number' || typeof rpc_url !== 'string' || typeof ws_url !== 'string') return undefined
    // A process may have ended without removing its file. The lock is decisive.
    return pid !== process.pid && isHeldBy(join(dataDir, LOCK_FILES.chain), pid) ? { pid, rpc_url, ws_url } : undefined
  } catch {
    return undefined
  }
}

/** Records that this process serves the chain, and returns a function that removes the record. */
export function claimChain(dataDir: string, at: Omit<ChainOwner, 'pid'>): () => void {
  const file = join(dataDir, LOCALNET_FILE)
  writeAtomically(file, `${JSON.stringify({ pid: process.pid, ...at })}\n`)
  return () => rmSync(file, { force: true })
}

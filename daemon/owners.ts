/**
 * Owner names of this process; other processes use them to check whether the owner of a claim or lease is still alive.
 */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'

/** Returns a new owner name for this process, which no other process has used. */
export function newOwner(): string {
  const owner = `${hostname()}/${process.pid}/${randomBytes(6).toString('hex')}`
  owners.add(owner)
  return owner
}

/** Every owner name of this process. Any other name with this pid belongs to an earlier process with the same pid. */
const owners = new Set<string>()

/** Whether the owner has certainly ended: it ran on this host, and its pid is free or now belongs to this process. */
export function isDeadOwner(owner: string): boolean {
  const [host, pid, nonce] = owner.split('/')
  if (host !== hostname()) return false
  if (Number(pid) === process.pid) return !owners.has(`${host}/${pid}/${nonce}`)
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

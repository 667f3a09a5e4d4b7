/** Fills the program cache if it is not full: each program comes from a public cluster, with its size and its hash. */
import { type Place, runCommand, svc } from './program.ts'

const LIMIT_MS = 30_000
/** Another cluster than the public one, such as a private RPC node. */
const CLUSTER = process.env.SVC_DEMO_CLUSTER ?? 'mainnet-beta'
const BY_HAND = 'node dist/svc.js localnet pull'

interface Pulled {
  kind: 'program' | 'account'
  status: string
  sha256: string | null
  size: number
  error: string | null
}

/**
 * Programs that cannot be fetched within the limit are missing later, and their steps say so. Returns whether all are
 * there.
 */
export async function fillProgramCache(place: Place): Promise<boolean> {
  const { report } = place
  const { programs, programs_dir } = await svc(place, 'localnet', 'status')
  const missing = (programs as { name: string; id: string; loaded: boolean }[]).filter(({ loaded }) => !loaded)
  if (missing.length === 0) return true
  report.note(`${missing.length} programs are not in ${programs_dir}: fetching them from ${CLUSTER}, 30 s at most`)
  const end = performance.now() + LIMIT_MS
  for (const { name, id } of missing) {
    const found = await pull(place, id, end - performance.now())
    if (typeof found === 'string') {
      const command = `${BY_HAND} --url ${CLUSTER}, or ${BY_HAND} --from FOLDER (from another machine),`
      report.leaveOut('the launch on a bonding curve, the main job,', found, command)
      return false
    }
    report.note(`  ${name}, ${found.size.toLocaleString('en')} bytes, SHA-256 ${found.sha256}`)
  }
  return true
}

/** Fetches one program with the accounts that it needs. Returns why it cannot be fetched as text. */
async function pull(place: Place, id: string, milliseconds: number): Promise<Pulled | string> {
  const args = ['localnet', 'pull', '--url', CLUSTER, '--programs', id, '--json']
  if (milliseconds <= 0) return `${CLUSTER} was too slow`
  const { stdout, stderr, timedOut } = await runCommand(place, args, { timeout: milliseconds })
  if (timedOut) return `${CLUSTER} was too slow`
  try {
    const items = JSON.parse(stdout).items as Pulled[]
    const [program] = items.filter(({ kind }) => kind === 'program')
    if (program?.status === 'written' || program?.status === 'unchanged') return program
    return `${CLUSTER}: ${program?.error ?? 'it does not have the program'}`
  } catch {
    return messageIn(stderr)
  }
}

/** The message of a failure, which `--json` prints as one document. */
function messageIn(stderr: string): string {
  try {
    return JSON.parse(stderr).error.message
  } catch {
    return stderr.trim()
  }
}

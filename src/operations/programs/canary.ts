/** Tries builds of programs in a process of its own, because bytes of strangers may abort it or never end. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { programFile } from '../../chain/program-cache/cache.ts'
import { ACTS, type CanaryAct, parseAct } from '../../chain/program-cache/canary-report.ts'
import { SECOND_MS } from '../../platform/timing.ts'
import { SETTINGS_FILE } from '../../solana/cluster-settings.ts'

/** Milliseconds; a trial takes some ten seconds, and a slow machine needs more. */
const LIMIT_MS = 180_000
/** Characters; a report has some ten thousand. */
const MAX_OUTPUT = 1024 * 1024
const HEAP_MB = 512

interface CanaryOptions {
  /** The program cache, which has accounts and settings for the chain. */
  programsDir: string
  /** The file of each build, by program id. */
  files: ReadonlyMap<string, string>
  signal: AbortSignal
  /** What the process runs instead of `svc`. */
  file?: string | undefined
  limitMs?: number | undefined
}

interface CanaryOutcome {
  /** All acts in their order. */
  acts: CanaryAct[]
  /** Why the process did not end by itself; null if it did. */
  error: string | null
}

/** Rejects only if `signal` is aborted. */
export async function runCanary(options: CanaryOptions): Promise<CanaryOutcome> {
  options.signal.throwIfAborted()
  const folder = mkdtempSync(join(tmpdir(), 'svc-canary-'))
  try {
    const { acts, error } = await play(options, cacheOf(folder, options), folder)
    options.signal.throwIfAborted()
    return { acts: completed(acts, error), error }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A program cache with exactly these builds. */
function cacheOf(folder: string, { programsDir, files }: CanaryOptions): string {
  const cache = join(folder, 'programs')
  mkdirSync(cache)
  for (const [id, file] of files) symlinkSync(file, join(cache, programFile(id)))
  for (const name of ['accounts', SETTINGS_FILE]) {
    if (existsSync(join(programsDir, name))) symlinkSync(join(programsDir, name), join(cache, name))
  }
  return cache
}

function play(
  { signal, file = canaryFile(), limitMs = LIMIT_MS }: CanaryOptions,
  cache: string,
  folder: string,
): Promise<CanaryOutcome> {
  // Nothing of this process's environment, which may have credentials.
  const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MB}`, file, '__canary', cache, folder], {
    cwd: folder,
    env: { TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return new Promise((resolve) => {
    let text = ''
    let ended: string | null = null
    const end = (why: string | null) => {
      ended ??= why
      child.kill('SIGKILL')
    }
    const timer = setTimeout(() => end(`it did not end within ${limitMs / SECOND_MS} s`), limitMs)
    const abort = () => end('it was stopped')
    signal.addEventListener('abort', abort, { once: true })
    const settle = (error: string | null) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      resolve({ acts: text.split('\n').flatMap((line) => parseAct(line) ?? []), error })
    }
    child.stdout?.setEncoding('utf8').on('data', (more: string) => {
      text += more
      if (text.length > MAX_OUTPUT) end('it printed too much')
    })
    child.once('error', ({ message }) => settle(`it did not start: ${message}`))
    child.once('close', (code, by) => settle(ended ?? reasonOf(code, by)))
  })
}

function reasonOf(code: number | null, signal: NodeJS.Signals | null): string | null {
  if (signal !== null) return `it ended by ${signal}`
  return code === 0 ? null : `it ended with code ${code}`
}

/** The act in which the process ended has failed, and later ones were not tried. */
function completed(acts: readonly CanaryAct[], error: string | null): CanaryAct[] {
  const next = ACTS.findIndex((name) => acts.every(({ act }) => act !== name))
  return ACTS.map((act, i) => {
    const known = acts.find((each) => each.act === act)
    if (known !== undefined) return known
    const isCulprit = i === next && error !== null
    const why = isCulprit ? `the process of the trial failed: ${error}` : 'the trial ended before it'
    return {
      act,
      status: isCulprit ? 'failed' : 'untried',
      error: why,
      instruction: null,
      failed_program: null,
      used: [],
    }
  })
}

/** The built `svc`, beside the running bundle or in `dist/` when run from source. */
function canaryFile(): string {
  const isSource = import.meta.url.endsWith('.ts')
  return fileURLToPath(new URL(isSource ? '../../../dist/svc.js' : './svc.js', import.meta.url))
}

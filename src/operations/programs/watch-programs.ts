/** Looks which builds of its programs the cluster runs, fetches new ones, and tries them before anything is signed. */

import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { programFile } from '../../chain/program-cache/cache.ts'
import { ACTS, type CanaryAct, parseAct } from '../../chain/program-cache/canary-report.ts'
import { type Deployment, readBuild, readDeployments } from '../../chain/program-cache/deployments.ts'
import { buildHash } from '../../chain/program-cache/elf.ts'
import { idlDifferences } from '../../chain/program-cache/idl.ts'
import { fileOfBuild, keepVersion } from '../../chain/program-cache/versions.ts'
import type { Services } from '../../context.ts'
import { SECOND_MS } from '../../platform/timing.ts'
import { SETTINGS_FILE } from '../../solana/cluster-settings.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { appendAudit } from '../../store/audit/entries.ts'
import {
  type CanaryRun,
  currentCanaryRun,
  failingOf,
  isTested,
  type KnownBuild,
  keyOfBuilds,
  type ProgramState,
  readProgramState,
  storeProgramState,
} from './program-state.ts'

export type WatchServices = Pick<Services, 'config' | 'store' | 'vault' | 'clock' | 'log' | 'chain' | 'programs'>

interface WatchOptions {
  signal: AbortSignal
  /** Tries the builds even if they were tried or tested before. */
  again?: boolean
  /** The process that tries them, and its limit; tests replace it. */
  canary?: { file?: string; limitMs?: number }
}

/**
 * Stores what it found, and returns it. Its small reads cost little; bytes are read only of a build that is new here.
 * Throws an Error if the node fails or answers something else.
 */
export async function watchPrograms(services: WatchServices, options: WatchOptions): Promise<ProgramState> {
  const { chain, store, clock } = services
  const genesis = await chain.genesisHash()
  const stored = await readProgramState(store.db)
  const before = stored?.genesis === genesis ? stored : null
  const deployments = await readDeployments(chain, Object.values(PROGRAMS))
  const builds: KnownBuild[] = []
  for (const deployment of deployments) {
    options.signal.throwIfAborted()
    builds.push(await describeBuild(services, deployment, before))
  }
  const state: ProgramState = { genesis, looked_at: clock.now(), builds, trials: before?.trials ?? [] }
  const needsRun = options.again || !(hasAllActs(currentCanaryRun(state)) || builds.every(isTested))
  const trial = needsRun ? await tryBuilds(services, builds, options) : null
  if (trial !== null) state.trials = [trial, ...state.trials.filter(({ key }) => key !== trial.key)]
  const hasChanged = before !== null && keyOfBuilds(before.builds) !== keyOfBuilds(builds)
  await record(services, state, { before, isNews: hasChanged || trial !== null })
  return state
}

/** Whether it has every act of this version of svc; an older version tried less. */
const hasAllActs = (trial: CanaryRun | null): boolean =>
  ACTS.every((name) => trial?.acts.some(({ act }) => act === name) ?? false)

/** A build that is known by its slot is not read again. The embedded chain gives every build the same slot. */
async function describeBuild(
  { chain, config: { programsDir } }: WatchServices,
  deployment: Deployment,
  before: ProgramState | null,
): Promise<KnownBuild> {
  const { program, slot, authority } = deployment
  const { id, name } = program
  const unread = { id, name, slot, authority, sha256: null, size: null, differences: [] }
  if (deployment.fault !== null) return { ...unread, fault: deployment.fault }
  const known = before?.builds.find(({ id }) => id === program.id)
  const hasFile = known?.sha256 ? fileOfBuild(programsDir, program.id, known.sha256) !== null : false
  const isSame = known?.slot === slot && slot !== null && chain.cluster.kind !== 'embedded'
  if (known !== undefined && isSame && hasFile) return { ...known, authority }
  const { binary: bytes, fault } = await readBuild(chain, deployment)
  if (bytes === undefined) return { ...unread, fault }
  const sha256 = buildHash(bytes)
  if (fileOfBuild(programsDir, program.id, sha256) === null) keepVersion(programsDir, program.id, bytes)
  const differences = await idlDifferences(chain, program).catch(() => [])
  return { ...unread, sha256, size: bytes.length, differences, fault: null }
}

async function tryBuilds(
  { config: { programsDir }, clock, log }: WatchServices,
  builds: readonly KnownBuild[],
  { signal, canary = {} }: WatchOptions,
): Promise<CanaryRun> {
  const files = new Map<string, string>()
  for (const { id, sha256 } of builds) {
    const file = sha256 === null ? null : fileOfBuild(programsDir, id, sha256)
    if (file !== null) files.set(id, file)
  }
  log.info(
    { builds: builds.map(({ name, sha256 }) => ({ name, sha256 })) },
    'the builds of the cluster are being tried',
  )
  const { acts, error } = await runCanary({ programsDir, files, signal, ...canary })
  return { key: keyOfBuilds(builds), tried_at: clock.now(), acts, error }
}

async function record(
  { store, vault, clock, log, programs }: WatchServices,
  state: ProgramState,
  { before, isNews }: { before: ProgramState | null; isNews: boolean },
): Promise<void> {
  const text = JSON.stringify(state)
  const changed = state.builds.filter(({ id, sha256 }) => before?.builds.find((b) => b.id === id)?.sha256 !== sha256)
  const failing = failingOf(state)
  const closed = state.builds.filter(({ fault }) => fault)
  const details = {
    builds: changed.map(({ id, slot, authority, sha256, differences, fault = null }) => ({
      program: id,
      slot,
      authority,
      sha256,
      differences,
      ...(fault === null ? {} : { fault }),
    })),
    failing: failing.map(({ name: instruction, ...each }) => ({ instruction, ...each })),
    trial: currentCanaryRun(state)?.error ?? null,
  }
  await store.write(async (tx) => {
    await storeProgramState(tx, state)
    if (!isNews) return
    await appendAudit(tx, vault, {
      at: clock.now(),
      action: 'programs.tried',
      signer: null,
      api_key_id: '',
      request_id: `programs-${hash('sha256', text, 'hex').slice(0, 16)}`,
      details_json: JSON.stringify(details),
    })
  })
  programs.forget()
  if (!isNews) return
  if (failing.length + closed.length > 0)
    log.warn(details, 'programs of the cluster have changed, and some instructions fail')
  else log.info(details, 'programs of the cluster were looked at, and nothing that was tried fails')
}

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

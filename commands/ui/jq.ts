/** Runs `--jq` over an answer in its own thread, so that Ctrl-C and a deadline stop an endless expression. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { JqAnswer, JqRequest } from './jq-worker.ts'
import { failure, Problem, usage } from './problem.ts'

/** The longest that an expression may take, in milliseconds, and the memory of its thread. */
const DEADLINE_MS = 20_000
const MEMORY_MIB = 512
/** The exit code of jq if it cannot parse the expression. */
const UNREADABLE = 3

export interface Jq {
  /** The results, one JSON each; throws a problem with jq's own message if the expression fails on this data. */
  run(data: unknown): Promise<string[]>
  close(): Promise<void>
}

/** Starts jq and lets it parse the expression; throws a usage problem that shows the place of the mistake. */
export async function openJq(expression: string, deadlineMs = DEADLINE_MS): Promise<Jq> {
  if (expression.includes('\0')) throw usage('--jq: the expression must not contain null characters', { param: '--jq' })
  const worker = new Worker(jqWorkerUrl(), {
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB },
    stdout: true,
    stderr: true,
  })
  const ask = (request: JqRequest) => askWorker(worker, request, deadlineMs)
  const jq: Jq = {
    async run(data) {
      const { stdout, stderr, exitCode } = await ask({ json: JSON.stringify(data) ?? 'null', expression })
      if (exitCode !== 0) throw failure(`--jq: ${plainMessage(stderr)}`, { param: '--jq' })
      return stdout === '' ? [] : stdout.split('\n')
    },
    async close() {
      await worker.terminate()
    },
  }
  try {
    // Without input, jq only parses the expression.
    const { stderr, exitCode } = await ask({ json: '', expression })
    if (exitCode === 0) return jq
    const [first = '', ...place] = plainMessage(stderr).split('\n')
    throw usage(`--jq: ${first}`, exitCode === UNREADABLE ? { param: '--jq', lines: [`--jq: ${first}`, ...place] } : {})
  } catch (error) {
    await jq.close()
    throw error
  }
}

/** Keeps the process alive only while an answer is awaited. */
async function askWorker(worker: Worker, request: JqRequest, deadlineMs: number): Promise<JqAnswer> {
  const awaited = new AbortController()
  const event = async (name: string) => (await once(worker, name, { signal: awaited.signal }))[0]
  const stopped = (problem: string) => failure(`--jq: ${problem}`, { param: '--jq' })
  worker.ref()
  const deadline = setTimeout(() => awaited.abort(), deadlineMs)
  try {
    const answers = Promise.race([event('message'), event('exit')])
    worker.postMessage(request)
    const answer = await answers
    if (typeof answer === 'object') return answer
    throw stopped('jq ended early')
  } catch (error) {
    if (error instanceof Problem) throw error
    const { name, code, message } = error as NodeJS.ErrnoException
    if (name === 'AbortError') throw stopped(`not done after ${deadlineMs / 1_000} s`)
    throw stopped(code === 'ERR_WORKER_OUT_OF_MEMORY' ? `more than ${MEMORY_MIB} MiB` : message)
  } finally {
    clearTimeout(deadline)
    awaited.abort()
    worker.unref()
  }
}

/** The message of jq without its name and its count of errors. */
const plainMessage = (stderr: string) =>
  stderr
    .replace(/^jq: error(?: \(at [^)]*\))?:? ?/, '')
    .replace(/\n*jq: \d+ compile errors?\s*$/, '')
    .trimEnd()

function jqWorkerUrl(): URL {
  const fromSource = import.meta.url.endsWith('.ts')
  return new URL(fromSource ? '../../dist/jq-worker.js' : './jq-worker.js', import.meta.url)
}

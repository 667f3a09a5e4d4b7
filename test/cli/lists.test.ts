/** The runner of lists: when a transaction is replaced by another, and in which order rows are worked through. */
import { describe, expect, it } from 'vitest'
import type { Session } from '../../commands/cli/session.ts'
import { type AttemptEnd, untilConfirmed } from '../../commands/lists/attempt.ts'
import { patiently } from '../../commands/lists/patience.ts'
import { workThrough } from '../../commands/lists/run.ts'
import { ApiError } from '../../src/platform/errors.ts'

const ended = new ApiError('internal_error', 'it failed')
type Kind = AttemptEnd['kind']
const endOf = (kind: Kind, signature: string): AttemptEnd =>
  kind === 'confirmed'
    ? { kind, slot: 1, signature }
    : kind === 'failed'
      ? { kind, error: ended, signature }
      : { kind, signature }

/** Signs `s1`, `s2` and so on, which end in this order. */
async function attempt(ends: Kind[], { begun = null as string | null, retriesFailed = false } = {}) {
  const sent: string[] = []
  let signed = 0
  const signature = await untilConfirmed<string>({
    begun,
    sign: async () => `s${++signed}`,
    async end(sending, isNew) {
      sent.push(`${sending}${isNew ? '' : ' again'}`)
      return endOf(ends.shift() ?? 'confirmed', sending)
    },
    retriesFailed,
    unfinished: 'the row was not done',
  }).catch((error: Error) => error.message)
  return { signature, sent }
}

describe('The attempts of a row', () => {
  it.each<[string, Kind[], object, Awaited<ReturnType<typeof attempt>>]>([
    ['send once what is confirmed', [], {}, { signature: 's1', sent: ['s1'] }],
    ['send again what an earlier run has begun', [], { begun: 's0' }, { signature: 's0', sent: ['s0 again'] }],
    ['replace what has expired', ['expired'], { begun: 's0' }, { signature: 's1', sent: ['s0 again', 's1'] }],
    [
      'sign four times at most',
      ['expired', 'expired', 'expired', 'expired', 'expired'],
      { begun: 's0' },
      { signature: 'the row was not done in 4 tries', sent: ['s0 again', 's1', 's2', 's3', 's4'] },
    ],
    ['end with what has failed', ['failed'], {}, { signature: 'it failed', sent: ['s1'] }],
    [
      'replace what has failed if another may succeed',
      ['failed', 'expired'],
      { retriesFailed: true },
      { signature: 's3', sent: ['s1', 's2', 's3'] },
    ],
    [
      'end with the last failure',
      ['failed', 'failed', 'failed', 'failed'],
      { retriesFailed: true },
      { signature: 'it failed', sent: ['s1', 's2', 's3', 's4'] },
    ],
  ])('%s', async (_, ends, options, expected) => {
    expect(await attempt(ends, options)).toEqual(expected)
  })
})

/** Works through jobs, each a number; what `later` has for a job is left for later. */
async function work(
  jobs: number[],
  { fails = [] as number[], later = {} as Record<number, number[]>, fault = ended as Error } = {},
) {
  const log: string[] = []
  const notes: (string | null)[] = []
  let [running, most] = [0, 0]
  const session = {
    ui: { progress: () => () => undefined, clear: () => undefined },
    setInterruptNote: (text: string | null) => void notes.push(text),
  } as unknown as Session
  const result = await workThrough(session, {
    doing: 'Working',
    atOnce: 2,
    jobs,
    async work(quiet, job) {
      // The notes of a row do not replace that of the list.
      quiet.setInterruptNote(`row ${job}`)
      most = Math.max(most, ++running)
      await Promise.resolve()
      running--
      if (fails.includes(job)) throw fault
      log.push(`${job}`)
      return later[job] ?? []
    },
    failed: (job, { message }) => void log.push(`${job}: ${message}`),
    progress: () => [log.length, jobs.length],
  }).catch((error: Error) => error.message)
  return { log, most, result, notes }
}

describe('The rows of a list', () => {
  it('are processed several at a time, including those that others postpone', async () => {
    const { log, most, notes } = await work([1, 2, 3], { later: { 2: [4], 4: [5] } })
    expect([log.toSorted(), most]).toEqual([['1', '2', '3', '4', '5'], 2])
    expect(notes).toEqual([expect.stringContaining('run the same command again for the rest'), null])
  })

  it('are not started after one has failed; started ones are finished', async () => {
    const { log } = await work([1, 2, 3, 4], { fails: [1] })
    expect(log.toSorted()).toEqual(['1: it failed', '2'])
  })

  it('end with an error of svc itself once the others are finished, without the note for Ctrl-C', async () => {
    const { result, notes, log } = await work([1, 2, 3], { fails: [1], fault: new Error('a bug') })
    expect([result, notes.at(-1), log]).toEqual(['a bug', null, ['2']])
  })
})

describe('A request of a long run', () => {
  async function patient(error: ApiError, times = 20) {
    const sleeps: number[] = []
    const clock = { sleep: async (ms: number) => void sleeps.push(ms) } as unknown as Session['clock']
    let left = times
    const result = await patiently({ clock }, async () => {
      if (left-- > 0) throw error
      return 'done'
    }).catch((thrown: Error) => thrown.message)
    return { result, sleeps }
  }

  it('waits as long as the rate limit says', async () => {
    const limited = (retryAfter?: number) =>
      new ApiError('rate_limited', 'too many', retryAfter === undefined ? {} : { retryAfter })
    expect(await patient(limited(40), 3)).toEqual({ result: 'done', sleeps: [40_000, 40_000, 40_000] })
    expect(await patient(limited(), 2)).toEqual({ result: 'done', sleeps: [5_000, 5_000] })
  })

  it('ends if the limit of the day is used up, which takes hours', async () => {
    const used = new ApiError('rate_limited', 'used up until tomorrow', { retryAfter: 40_000 })
    expect(await patient(used)).toEqual({ result: 'used up until tomorrow', sleeps: [] })
  })

  it('is repeated three times after a temporary fault', async () => {
    const { result, sleeps } = await patient(new ApiError('internal_error', 'the node is away'))
    expect([result, sleeps]).toEqual(['the node is away', [1_000, 3_000, 10_000]])
  })
})

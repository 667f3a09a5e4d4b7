/** Daemons behind a client that turns from one to the other, while they are killed and suspended under its requests. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Daemon } from '../support/daemon.ts'
import { type Answer, type Ask, requester } from '../support/request.ts'

/** How long the client waits for an answer: some of its requests give up while a daemon is suspended, most do not. */
const PATIENCE_MS = 30_000
const IMPATIENCE_MS = 1_500
const IMPATIENT_ONE_OF = 8
/** So many answers are held against the OpenAPI document. */
const DOCUMENTED_ONE_OF = 5

interface Member {
  start(): Promise<Daemon>
  daemon: Daemon
  isUp: boolean
  underWay: number
  /** How often it was killed or suspended. */
  troubles: number
}

/** A request as its caller saw it; without an answer where the daemon was killed or silent. */
export interface Asked {
  answer: Answer | null
  sent: number
  answered: number
  /** Whether its daemon ran all the while. */
  calm: boolean
}

export interface Fleet {
  size: number
  /** Index of the daemon with the fewest requests under way, another than `not` where one runs. */
  pick(not?: number): number
  ask(at: number, method: string, path: string, ask?: Ask): Promise<Asked>
  /** Kills it as it is, and starts it anew. */
  kill(at: number): Promise<void>
  suspend(at: number, ms: number): Promise<void>
  /** One that answers, for looks at the end. */
  daemon(): Daemon
  stop(): Promise<void>
}

/** Starts one daemon for each of `starts`; `below` draws which one a request goes to. */
export async function startFleet(
  starts: readonly (() => Promise<Daemon>)[],
  below: (count: number) => number,
): Promise<Fleet> {
  const members: Member[] = []
  for (const start of starts) {
    members.push({ start, daemon: await start(), isUp: true, underWay: 0, troubles: 0 })
  }
  const send = (request: Request) => {
    const patience = below(IMPATIENT_ONE_OF) === 0 ? IMPATIENCE_MS : PATIENCE_MS
    return fetch(request, { signal: AbortSignal.timeout(patience) })
  }

  return {
    size: members.length,
    pick(not) {
      const up = [...members.keys()].filter((at) => members[at]!.isUp)
      const others = up.filter((at) => at !== not)
      const from = others.length > 0 ? others : up
      const fewest = Math.min(...from.map((at) => members[at]!.underWay))
      const idle = from.filter((at) => members[at]!.underWay === fewest)
      return idle[below(idle.length)] ?? 0
    },
    async ask(at, method, path, ask = {}) {
      const member = members[at]!
      const { troubles, daemon } = member
      const sent = Date.now()
      member.underWay++
      let answer: Answer | null = null
      // Reading every answer against the document would take what the daemons need.
      const documented = below(DOCUMENTED_ONE_OF) === 0
      try {
        answer = await requester(daemon.url, send, daemon.operator, { documented })(method, path, ask)
      } catch (error) {
        if (!(error instanceof TypeError || (error as Error).name === 'TimeoutError')) throw error
      } finally {
        member.underWay--
      }
      return { answer, sent, answered: Date.now(), calm: troubles === member.troubles && troubles % 2 === 0 }
    },
    async kill(at) {
      const member = members[at]!
      member.isUp = false
      member.troubles++
      await member.daemon.stop('SIGKILL')
      member.daemon = await member.start()
      member.troubles++
      member.isUp = true
    },
    async suspend(at, ms) {
      const member = members[at]!
      member.troubles++
      member.daemon.process.kill('SIGSTOP')
      await delay(ms)
      member.daemon.process.kill('SIGCONT')
      member.troubles++
    },
    daemon: () => members.find(({ isUp }) => isUp)!.daemon,
    async stop() {
      for (const { daemon } of members) daemon.process.kill('SIGCONT')
      await Promise.all(members.map(({ daemon }) => daemon.stop()))
    },
  }
}

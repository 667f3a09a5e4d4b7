/** Processor time of processes, from Linux's /proc: what a request costs, whatever else the machine does meanwhile. */
import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second. */
const TICK_MS = 10

interface ProcessTimes {
  parent: number
  own: number
  /** Of children that have ended. */
  reaped: number
}

/** Undefined if the process has ended. */
function timesOf(pid: number): ProcessTimes | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    const [parent = 0, ...rest] = [1, 11, 12, 13, 14].map((at) => Number(fields[at]))
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = rest
    return { parent, own: (user + system) * TICK_MS, reaped: (childUser + childSystem) * TICK_MS }
  } catch {
    return undefined
  }
}

/** User and system time of one process in milliseconds, its threads included. */
export const processorMs = (pid: number): number => timesOf(pid)?.own ?? 0

export const parentOf = (pid: number): number => timesOf(pid)?.parent ?? 0

/** The same of a process and its children, those that have ended included: a PostgreSQL server and its sessions. */
export function familyProcessorMs(pid: number): number {
  const root = timesOf(pid)
  if (root === undefined) return 0
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => timesOf(Number(name)))
    .filter((times) => times?.parent === pid)
  return children.reduce((sum, times) => sum + (times?.own ?? 0), root.own + root.reaped)
}

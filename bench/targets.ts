/** What each figure of a bench run is to be at least or at most, as a ratio to its floor. */
export interface Target {
  suite: string
  /** How the name of the measurement begins. */
  name: string
  /** How the name of its floor begins. */
  floor: string
  atLeast?: number
  atMost?: number
}

const NODE = 'node -e 0'

export const TARGETS: readonly Target[] = [
  { suite: 'start-up', name: 'svc --version', floor: NODE, atMost: 1.1 },
  { suite: 'start-up', name: 'svc --help', floor: NODE, atMost: 1.1 },
  { suite: 'requests', name: 'GET /v2/health, requests/s', floor: 'bare node:http', atLeast: 0.6 },
  { suite: 'requests', name: 'GET of one record', floor: 'bare node:http', atLeast: 0.4 },
  { suite: 'requests', name: 'GET of the first page', floor: 'bare node:http', atLeast: 0.35 },
]

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
  { suite: 'start-up', name: 'svc merkle --help', floor: NODE, atMost: 1.25 },
  { suite: 'start-up', name: 'svc config get', floor: NODE, atMost: 1.25 },
  { suite: 'start-up', name: 'svc health, through', floor: NODE, atMost: 1.5 },
  { suite: 'start-up', name: 'svc keys list, through', floor: NODE, atMost: 1.5 },
  { suite: 'start-up', name: 'svc keys list, in process', floor: NODE, atMost: 3 },
]

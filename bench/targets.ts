/** What figures of a bench run are to be at least or at most, as ratios to their floors. */
import { PLAIN_APPLICATION, PLAIN_GROUP_COMMIT } from './plain/start.ts'

export interface Target {
  suite: string
  /** Name and floor of the measurement. */
  name: string
  floor: string
  atLeast?: number
  atMost?: number
}

const NODE = 'node -e 0'
const BARE = 'bare node:http'

export const TARGETS: readonly Target[] = [
  { suite: 'start-up', name: 'svc --version', floor: NODE, atMost: 1.25 },
  { suite: 'start-up', name: 'svc --help', floor: NODE, atMost: 1.25 },
  { suite: 'start-up', name: 'svc merkle --help', floor: NODE, atMost: 1.5 },
  { suite: 'start-up', name: 'svc config get output', floor: NODE, atMost: 2.5 },
  { suite: 'start-up', name: 'svc keys list, through a daemon', floor: NODE, atMost: 4 },
  { suite: 'start-up', name: 'svc keys list, in process', floor: NODE, atMost: 8 },
  { suite: 'start-up', name: 'svc merkle build, 50,000 rows', floor: NODE, atMost: 5.5 },
  { suite: 'merkle', name: 'svc merkle build, 1,000,000 rows', floor: 'merkletreejs', atLeast: 15 },
  { suite: 'merkle', name: 'its peak memory', floor: '150 MiB', atMost: 1 },
  { suite: 'grind', name: 'keys of svc tokens grind, one core', floor: 'generateKeyPairSync', atLeast: 0.8 },
  { suite: 'requests', name: 'GET /v2/health', floor: BARE, atLeast: 0.4 },
  { suite: 'requests', name: 'GET of one record of 10,000', floor: BARE, atLeast: 0.25 },
  { suite: 'requests', name: 'GET of one record of 1,000,000', floor: BARE, atLeast: 0.25 },
  { suite: 'requests', name: 'GET of the first page of 10,000', floor: BARE, atLeast: 0.3 },
  { suite: 'requests', name: 'GET of the first page of 1,000,000', floor: BARE, atLeast: 0.3 },
  // No growth: the tolerance is the difference between two equal runs.
  { suite: 'requests', name: 'GET of the first page of 1,000,000', floor: 'that of 10,000', atLeast: 0.85 },
  { suite: 'requests', name: 'GET /v2/health', floor: PLAIN_APPLICATION, atLeast: 1 },
  { suite: 'requests', name: 'GET of one record of 10,000', floor: PLAIN_APPLICATION, atLeast: 1 },
  { suite: 'requests', name: 'GET of the first page of 10,000', floor: PLAIN_APPLICATION, atLeast: 1 },
  { suite: 'writes', name: 'POST /v2/api-keys', floor: BARE, atLeast: 0.25 },
  { suite: 'writes', name: 'POST /v2/api-keys', floor: PLAIN_APPLICATION, atLeast: 1.8 },
  { suite: 'writes', name: 'POST /v2/api-keys', floor: PLAIN_GROUP_COMMIT, atLeast: 0.8 },
  { suite: 'transactions', name: 'POST /v2/transactions', floor: 'chain.send', atMost: 2.5 },
  { suite: 'webhooks', name: 'deliveries, recorded', floor: 'bare undici, same signatures', atLeast: 0.25 },
  {
    suite: 'filters',
    name: '10,000 subscriptions to no event by a field',
    floor: 'to no type, without a filter',
    atMost: 1.5,
  },
  {
    suite: 'filters',
    name: '10,000 subscriptions to all events by a field',
    floor: 'to all events, without a filter',
    atMost: 1.6,
  },
  {
    suite: 'attention',
    name: 'first page of what needs a person, 1,000,000 events',
    floor: '10 ms',
    atMost: 1,
  },
  { suite: 'memory', name: 'most memory in 100,000 requests', floor: '256 MiB', atMost: 1 },
  { suite: 'memory', name: 'after 100,000 requests', floor: 'after 50,000', atMost: 1.05 },
  { suite: 'stalls', name: 'POST of 50,000 entries, longest stall', floor: '10 ms', atMost: 1 },
]

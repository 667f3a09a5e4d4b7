/** What each figure of a bench run is to be at least or at most, as a ratio to its floor. */
import { PLAIN_APPLICATION } from './plain/start.ts'

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
  { suite: 'start-up', name: 'svc --version', floor: NODE, atMost: 1.25 },
  { suite: 'start-up', name: 'svc --help', floor: NODE, atMost: 1.25 },
  { suite: 'merkle', name: 'svc merkle build, 50,000 rows', floor: NODE, atMost: 5.5 },
  { suite: 'merkle', name: 'merkletreejs, 1,000,000 rows', floor: 'svc merkle build', atLeast: 15 },
  { suite: 'merkle', name: 'svc merkle build, 1,000,000 rows, peak memory', floor: '150 MiB', atMost: 1 },
  { suite: 'merkle', name: 'longest stall meanwhile', floor: '7 ms', atMost: 1 },
  { suite: 'merkle', name: 'CSV crafted to collide', floor: 'any other CSV', atMost: 3 },
  { suite: 'memory', name: 'resident, the most of them all', floor: '256 MiB', atMost: 1 },
  { suite: 'memory', name: 'resident, its last fifth', floor: 'before 50,000', atMost: 1.05 },
  { suite: 'stalls', name: 'stall: ', floor: 'parsing its body', atMost: 8 },
  { suite: 'builds', name: 'build: ', floor: '', atMost: 1.3 },
  { suite: 'localnet', name: 'opened, 50,000 token accounts', floor: 'setAccount × 50,000', atMost: 3 },
  { suite: 'transactions', name: '1,000 submitted, preflight', floor: 'chain.send', atMost: 2.5 },
  { suite: 'transactions', name: '  processor time, preflight', floor: 'processor time of chain.send', atMost: 2 },
  // Of times: 0.30 of the floor's rate.
  { suite: 'webhooks', name: 'webhooks: delivered and recorded', floor: 'bare undici', atMost: 3.33 },
  { suite: 'webhooks', name: 'webhooks: 1000 subscriptions', floor: 'one subscription', atMost: 1.3 },
  { suite: 'webhooks', name: 'webhooks: beside', floor: 'the same alone', atMost: 1.05 },
  { suite: 'requests', name: 'GET /v2/health, requests/s', floor: 'bare node:http', atLeast: 0.4 },
  { suite: 'requests', name: 'GET of one record', floor: 'bare node:http', atLeast: 0.25 },
  { suite: 'requests', name: 'GET of the first page', floor: 'bare node:http', atLeast: 0.3 },
  { suite: 'requests', name: 'GET', floor: PLAIN_APPLICATION, atLeast: 1 },
  // Of times: a quarter of the rate of bare node:http, and 1.8 and 0.8 times that of the straightforward application.
  { suite: 'writes', name: 'POST /v2/api-keys, per thousand', floor: 'bare node:http', atMost: 4 },
  { suite: 'writes', name: 'POST /v2/api-keys, per thousand', floor: `${PLAIN_APPLICATION}, group`, atMost: 1.25 },
  { suite: 'writes', name: 'POST /v2/api-keys, per thousand', floor: PLAIN_APPLICATION, atMost: 0.56 },
  { suite: 'start-up', name: 'svc merkle --help', floor: NODE, atMost: 1.5 },
  { suite: 'start-up', name: 'svc config get', floor: NODE, atMost: 2.5 },
  { suite: 'start-up', name: 'svc health, through', floor: NODE, atMost: 4 },
  { suite: 'start-up', name: 'svc keys list, through', floor: NODE, atMost: 4 },
  { suite: 'start-up', name: 'svc keys list, in process', floor: NODE, atMost: 8 },
  { suite: 'start-up', name: 'svc merkle build, 50,000 rows', floor: NODE, atMost: 5.5 },
]

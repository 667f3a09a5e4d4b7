/** Methods about validators, stake and inflation, which svc itself never calls; clients of other tools do. */
import type { RpcMethods } from '../method.ts'
import { inflationMethods } from './inflation.ts'
import { leaderMethods } from './leaders.ts'
import { nodeMethods } from './node.ts'
import { supplyMethods } from './supply.ts'

export const clusterCallMethods: RpcMethods = {
  ...leaderMethods,
  ...inflationMethods,
  ...nodeMethods,
  ...supplyMethods,
}

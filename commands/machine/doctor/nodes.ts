/** Checks each of several RPC endpoints for `svc doctor`: whether it answers, and is on the right chain. */
import { endpointLabel } from '../../../src/chain/nodes/endpoint.ts'
import { createNodeSocket, type NodeSocket, socketTargets } from '../../../src/chain/nodes/node-socket.ts'
import { MOST_LAG_SLOTS } from '../../../src/chain/nodes/slot-book.ts'
import { rpcText } from '../../../src/chain/program-cache/rpc.ts'
import { consensusOf } from '../../../src/chain/program-cache/settings.ts'
import { pause } from '../../../src/platform/timing.ts'
import type { Cluster } from '../../../src/settings/cluster.ts'
import type { RpcEndpoint } from '../../../src/settings/config.ts'
import { CONSENSUS_NAMES, type Consensus } from '../../../src/solana/constants.ts'
import { GENESIS_HASHES, isGenesisHash } from '../../../src/solana/genesis-hashes.ts'
import type { DoctorCheck } from '../../cli/session.ts'
import { failedCheck, passedCheck, warningCheck } from './checks.ts'

const NODE_PROBE_MS = 5_000
const CORRECT = 'correct that entry of rpc-urls, or leave it out'

interface Probe {
  check: string
  /** Why it does not answer. */
  fault: string | undefined
  genesis: string | undefined
  slot: number
  milliseconds: number
  version: string
  hasWebSocket: boolean
  consensus: Consensus | null
}

/** Asks all endpoints at once, so that their slots can be compared. */
export async function endpointChecks(endpoints: readonly RpcEndpoint[], { kind }: Cluster): Promise<DoctorCheck[]> {
  const probes = await Promise.all(endpoints.map(probe))
  const hashes = probes.flatMap(({ genesis }) => genesis ?? [])
  const isMost = (hash: string) => hashes.filter((other) => other === hash).length * 2 > endpoints.length
  const expected = GENESIS_HASHES[kind] ?? hashes.find(isMost)
  const isMigrated = probes.some(({ consensus }) => consensus === 'alpenglow')
  const tip = Math.max(...probes.map(({ slot, genesis }) => (genesis === expected ? slot : 0)))
  return probes.map((each) => checkOf(each, expected, { tip, isMigrated }))
}

function checkOf(
  { check, fault, genesis, slot, ...rest }: Probe,
  expected: string | undefined,
  { tip, isMigrated }: { tip: number; isMigrated: boolean },
) {
  if (fault !== undefined) return failedCheck(check, fault, `check its URL, its headers and the network, ${CORRECT}`)
  if (expected === undefined) {
    const fix = 'set url to the name of the cluster: mainnet-beta, devnet or testnet'
    return failedCheck(check, `genesis ${genesis}, and no majority of the endpoints agrees`, fix)
  }
  if (genesis !== expected) {
    return failedCheck(check, `on another chain (genesis ${genesis}, not ${expected}): it is never used`, CORRECT)
  }
  const { milliseconds, version, hasWebSocket, consensus } = rest
  const behind = tip - slot
  const detail = [
    `slot ${slot}${behind === 0 ? '' : `, ${behind} behind`}`,
    `${milliseconds} ms`,
    `version ${version}`,
    consensus === null ? 'consensus unknown' : CONSENSUS_NAMES[consensus],
    hasWebSocket ? 'WebSocket' : 'no WebSocket (it is polled)',
  ].join(', ')
  if (isMigrated && consensus === 'tower') {
    return warningCheck(check, detail, 'the cluster has changed to Alpenglow, which this endpoint does not show yet')
  }
  return behind > MOST_LAG_SLOTS
    ? warningCheck(check, detail, 'svc does not read from it until it has caught up')
    : passedCheck(check, detail)
}

async function probe(endpoint: RpcEndpoint, place: number): Promise<Probe> {
  const ask = (method: string, params: unknown[] = []) =>
    rpcText(endpoint.url, method, params, { headers: endpoint.headers, timeoutMs: NODE_PROBE_MS, attempts: 1 })
  const startedAt = performance.now()
  let milliseconds = 0
  const [genesis, slot, version, certificate, hasWebSocket] = await Promise.all([
    ask('getGenesisHash'),
    ask('getSlot', [{ commitment: 'processed' }]).finally(() => {
      milliseconds = Math.round(performance.now() - startedAt)
    }),
    ask('getVersion'),
    ask('getAgGenesisCert'),
    probeWebSocket(endpoint, NODE_PROBE_MS),
  ])
  const answered = { genesis: resultOf(genesis), slot: resultOf(slot) }
  const isSound = isGenesisHash(answered.genesis) && Number.isSafeInteger(answered.slot)
  const [fault] = [genesis, slot].flatMap((outcome) => ('fault' in outcome ? [outcome.fault] : []))
  return {
    check: `rpc ${endpointLabel(endpoint, place)}`,
    fault: fault ?? (isSound ? undefined : 'its answer is not JSON-RPC'),
    genesis: isSound ? String(answered.genesis) : undefined,
    slot: isSound ? Number(answered.slot) : 0,
    milliseconds,
    version: versionIn(resultOf(version)),
    hasWebSocket,
    consensus: consensusOf(certificate),
  }
}

/** Whether one of the possible URLs of an endpoint accepts a subscription in time. */
async function probeWebSocket(endpoint: RpcEndpoint, timeoutMs: number): Promise<boolean> {
  const sockets: NodeSocket[] = []
  const accepted = new Promise<boolean>((resolve) => {
    for (const target of socketTargets(endpoint)) {
      const targets = () => [{ ...target, onSubscribed: () => resolve(true) }]
      // Every cluster takes this commitment.
      const socket = createNodeSocket({ targets, commitment: () => 'finalized' })
      // A signature of zeros is nobody's.
      socket.onSignature('1'.repeat(64), () => {})
      sockets.push(socket)
    }
  })
  const inTime = await Promise.race([accepted, pause(timeoutMs).then(() => false)])
  for (const socket of sockets) socket.close()
  return inTime
}

const resultOf = (outcome: Awaited<ReturnType<typeof rpcText>>): unknown =>
  'result' in outcome ? outcome.result : undefined

/** The node's text about itself is not trusted. */
function versionIn(result: unknown): string {
  const version = (result as { 'solana-core'?: unknown } | null)?.['solana-core']
  return typeof version === 'string' && /^[\w.+-]{1,40}$/.test(version) ? version : 'unknown'
}

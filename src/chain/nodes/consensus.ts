/**
 * Which consensus the cluster has, as its nodes report it, and calls in its terms: under Alpenglow `confirmed` and
 * `finalized` name the same block, and `confirmed` is to be removed.
 */
import { MINUTE_MS, rejectLate } from '../../platform/timing.ts'
import type { Consensus } from '../../solana/constants.ts'
import { type NodeCalls, NodeRefusal } from './node-call.ts'
import { isRecord, withFinalized } from './node-request.ts'

export interface ConsensusReport {
  /** Null until a node has reported it. */
  consensus: Consensus | null
  /** Slot of the block from which the cluster changed to Alpenglow; null unless it runs Alpenglow. */
  alpenglowSlot: number | null
}

export interface ConsensusNode extends NodeCalls {
  /** Whether it has shown its certificate; then it is not asked again. */
  isAlpenglow: boolean
  /** Called when it has shown its certificate. */
  certified(): void
}

export interface ClusterConsensus {
  /** Asks no node. */
  known(): ConsensusReport
  /** Asks each node that has shown no certificate, if that is due. Never rejects: a failing node changes nothing. */
  read(): Promise<ConsensusReport>
  /** Runs a call with params for this consensus. A refused `confirmed` is asked again as `finalized` on Alpenglow. */
  inTerms<T>(params: readonly unknown[], run: (params: readonly unknown[]) => Promise<T>): Promise<T>
}

export interface ConsensusOptions {
  /** Milliseconds of a monotonic clock. */
  elapsed: () => number
  /** Whether a pool puts each call in the terms of the node that it asks. Then params stay as they are here. */
  isPool?: boolean
}

/** JSON-RPC's code for an unknown method. A node before Agave 4.3 can only follow a cluster on Tower. */
export const METHOD_NOT_FOUND = -32601
/** Milliseconds until nodes without a certificate are asked again: with a known consensus, and without one. */
const KNOWN_FOR_MS = 5 * MINUTE_MS
const UNKNOWN_FOR_MS = MINUTE_MS
const ANSWER_WITHIN_MS = 3_000

/** `nodes` gives every endpoint that can be asked now. */
export function createConsensus(
  nodes: () => Promise<readonly ConsensusNode[]>,
  { elapsed, isPool = false }: ConsensusOptions,
): ClusterConsensus {
  let report: ConsensusReport = { consensus: null, alpenglowSlot: null }
  let dueAt = Number.NEGATIVE_INFINITY
  let reading: Promise<ConsensusReport> | undefined

  async function ask(): Promise<ConsensusReport> {
    const open = (await nodes().catch(() => [])).filter(({ isAlpenglow }) => !isAlpenglow)
    for (const [i, answer] of (await Promise.all(open.map(readCertificate))).entries()) {
      if (typeof answer === 'number') {
        open[i]?.certified()
        // Nodes report the change at different times. One certificate is enough, because no cluster goes back.
        report = { consensus: 'alpenglow', alpenglowSlot: report.alpenglowSlot ?? answer }
      } else if (answer === 'tower' && report.consensus === null) report = { consensus: 'tower', alpenglowSlot: null }
    }
    dueAt = elapsed() + (report.consensus === null ? UNKNOWN_FOR_MS : KNOWN_FOR_MS)
    return report
  }

  async function read(): Promise<ConsensusReport> {
    if (reading === undefined && elapsed() < dueAt) return report
    reading ??= ask().finally(() => {
      reading = undefined
    })
    // What a certificate has shown does not change.
    return report.consensus === 'alpenglow' ? report : reading
  }

  const isAlpenglow = () => report.consensus === 'alpenglow'
  return {
    known: () => report,
    read,
    async inTerms(params, run) {
      const final = withFinalized(params)
      if (final === params) return run(params)
      void read()
      const ownParams = () => (isAlpenglow() && !isPool ? final : params)
      if (isAlpenglow()) return run(ownParams())
      try {
        return await run(params)
      } catch (error) {
        if (!(error instanceof NodeRefusal)) throw error
        await read()
        if (!isAlpenglow()) throw error
        return run(ownParams())
      }
    },
  }
}

/** One node, which keeps that it has shown its certificate. */
export function onlyNode(call: NodeCalls['call']): () => Promise<ConsensusNode[]> {
  const node: ConsensusNode = {
    call,
    isAlpenglow: false,
    certified() {
      node.isAlpenglow = true
    },
  }
  return async () => [node]
}

/** The slot of a node's certificate, `tower`, or undefined for an answer that says nothing. */
async function readCertificate(node: NodeCalls): Promise<number | 'tower' | undefined> {
  try {
    const late = () => new Error('no answer in time')
    return certifiedSlot(await rejectLate(ANSWER_WITHIN_MS, node.call<unknown>('getAgGenesisCert', []), late))
  } catch (error) {
    return error instanceof NodeRefusal && error.code === METHOD_NOT_FOUND ? 'tower' : undefined
  }
}

/** Reads a result of `getAgGenesisCert`: null on Tower, else a certificate with the slot of its block. */
export function certifiedSlot(result: unknown): number | 'tower' | undefined {
  if (result === null) return 'tower'
  const block = isRecord(result) ? result.block : undefined
  const slot = isRecord(block) ? block.slot : undefined
  return Number.isSafeInteger(slot) && (slot as number) >= 0 ? (slot as number) : undefined
}

/**
 * Which consensus the cluster has, as its nodes report it, and calls in its terms: under Alpenglow `confirmed` and
 * `finalized` name the same block, and `confirmed` is to be removed.
 */
import { MINUTE_MS, rejectLate } from '../../platform/timing.ts'
import type { Consensus } from '../../solana/constants.ts'
import { isRecord, type NodeCalls, NodeRefusal } from './node-call.ts'

export interface ConsensusReport {
  /** Null until a node has reported it. */
  consensus: Consensus | null
  /** Slot of the block from which the cluster changed to Alpenglow; null unless it runs Alpenglow. */
  alpenglowSlot: number | null
}

export interface ClusterConsensus {
  /** Asks no node. */
  known(): ConsensusReport
  /** Asks every node, if that is due. Never rejects: a failing node changes nothing. */
  read(): Promise<ConsensusReport>
  /** Asks every node now, and counts those of each consensus. Nodes that do not say are not counted. Never rejects. */
  votes(): Promise<Readonly<Record<Consensus, number>>>
  /** Runs a call with params for this consensus. A refused `confirmed` is asked again as `finalized` on Alpenglow. */
  inTerms<T>(params: readonly unknown[], run: (params: readonly unknown[]) => Promise<T>): Promise<T>
}

/** JSON-RPC's code for an unknown method. A node before Agave 4.3 can only follow a cluster on Tower. */
export const METHOD_NOT_FOUND = -32601
/** Milliseconds until nodes without a certificate are asked again: with a known consensus, and without one. */
const KNOWN_FOR_MS = 5 * MINUTE_MS
const UNKNOWN_FOR_MS = MINUTE_MS
const ANSWER_WITHIN_MS = 3_000

/** `nodes` gives every endpoint that can be asked now, `elapsed` the milliseconds of a monotonic clock. */
export function createConsensus(nodes: () => Promise<readonly NodeCalls[]>, elapsed: () => number): ClusterConsensus {
  let report: ConsensusReport = { consensus: null, alpenglowSlot: null }
  let dueAt = Number.NEGATIVE_INFINITY
  let reading: Promise<ConsensusReport> | undefined
  const isAlpenglow = () => report.consensus === 'alpenglow'

  const askAll = async () => Promise.all((await nodes().catch(() => [])).map(readCertificate))

  async function ask(): Promise<ConsensusReport> {
    const answers = await askAll()
    const certified = answers.filter((answer) => typeof answer === 'number')
    const denying = answers.filter((answer) => answer === 'tower')
    // Nodes report the change at different times, and no cluster goes back. One false certificate of three is outvoted.
    const [slot] = certified.length >= denying.length ? certified : []
    if (slot !== undefined) report = { consensus: 'alpenglow', alpenglowSlot: slot }
    else if (answers.some((answer) => answer !== undefined)) report = { consensus: 'tower', alpenglowSlot: null }
    dueAt = elapsed() + (report.consensus === null ? UNKNOWN_FOR_MS : KNOWN_FOR_MS)
    return report
  }

  async function read(): Promise<ConsensusReport> {
    if (isAlpenglow() || (reading === undefined && elapsed() < dueAt)) return report
    reading ??= ask().finally(() => {
      reading = undefined
    })
    return reading
  }

  return {
    known: () => report,
    read,
    async votes() {
      const answers = await askAll()
      const countOf = (isOf: (answer: (typeof answers)[number]) => boolean) => answers.filter(isOf).length
      return {
        alpenglow: countOf((answer) => typeof answer === 'number'),
        tower: countOf((answer) => answer === 'tower'),
      }
    },
    async inTerms(params, run) {
      const final = withFinalized(params)
      if (final === params) return run(params)
      void read()
      if (isAlpenglow()) return run(final)
      try {
        return await run(params)
      } catch (error) {
        if (!(error instanceof NodeRefusal)) throw error
        await read()
        if (!isAlpenglow()) throw error
        return run(final)
      }
    },
  }
}

/** Returns params that ask for `finalized` where they asked for `confirmed`, or the same ones. */
function withFinalized(params: readonly unknown[]): readonly unknown[] {
  const at = params.findIndex((param) => isRecord(param) && param.commitment === 'confirmed')
  return at === -1 ? params : params.with(at, { ...(params[at] as object), commitment: 'finalized' })
}

/** The slot of a node's certificate, `tower`, `older` from a node that has none, or undefined for any other answer. */
async function readCertificate(node: NodeCalls): Promise<number | 'tower' | 'older' | undefined> {
  try {
    const late = () => new Error('no answer in time')
    return certifiedSlot(await rejectLate(ANSWER_WITHIN_MS, node.call<unknown>('getAgGenesisCert', []), late))
  } catch (error) {
    return error instanceof NodeRefusal && error.code === METHOD_NOT_FOUND ? 'older' : undefined
  }
}

/** Reads a result of `getAgGenesisCert`: null on Tower, else a certificate with the slot of its block. */
export function certifiedSlot(result: unknown): number | 'tower' | undefined {
  if (result === null) return 'tower'
  const block = isRecord(result) ? result.block : undefined
  const slot = isRecord(block) ? block.slot : undefined
  return Number.isSafeInteger(slot) && (slot as number) >= 0 ? (slot as number) : undefined
}

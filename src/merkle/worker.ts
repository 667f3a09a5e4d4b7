/** Entry of the worker thread, which builds trees from the buffers that it receives, one at a time, and returns the results. */
import { parentPort } from 'node:worker_threads'
import { type BuiltAllowlist, type BuiltTree, buildAllowlist, buildFromCsv, buildFromRequest } from './built-tree.ts'
import { MerkleInputError, type MerkleIssue } from './errors.ts'
import type { DuplicateMode } from './row-builder.ts'

export interface WorkerRequest {
  kind: 'request' | 'csv' | 'allowlist'
  bytes: Uint8Array<ArrayBuffer>
  csv?: { name?: string; decimals?: number | undefined; duplicates?: DuplicateMode }
}

export type WorkerAnswer =
  | { built: BuiltTree | BuiltAllowlist }
  | { refused: { issues: readonly MerkleIssue[]; issueCount: number } }
  | { failed: Error }

function answerMessage(request: WorkerRequest): WorkerAnswer {
  try {
    const { kind, bytes, csv } = request
    if (kind === 'allowlist') return { built: buildAllowlist(bytes) }
    return { built: kind === 'csv' ? buildFromCsv(bytes, csv) : buildFromRequest(bytes) }
  } catch (error) {
    if (error instanceof MerkleInputError) return { refused: { issues: error.issues, issueCount: error.issueCount } }
    return { failed: error instanceof Error ? error : new Error(String(error)) }
  }
}

parentPort?.on('message', (request: WorkerRequest) => {
  const reply = answerMessage(request)
  const encoded = 'built' in reply && 'encoded' in reply.built ? reply.built.encoded : undefined
  const buffers = encoded ? Object.values<Uint8Array>({ ...encoded }).map(({ buffer }) => buffer) : []
  parentPort?.postMessage(reply, buffers as ArrayBuffer[])
})

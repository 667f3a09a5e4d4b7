/** Remembers a proposal between its signature and its confirmation, so that an interrupted command proposes nothing twice. */
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readStateFile, requireStateFolder, stateFile, stateFolder, writeStateFile } from '../cli/state-file.ts'
import type { CompleteTransaction } from './signatures.ts'

export interface BegunProposal {
  /** Its id in the API. */
  id: string
  signed: CompleteTransaction[]
}

export interface ProposalJournal {
  /** What an earlier run of the same command began and did not finish; null without one. */
  begun(): BegunProposal | null
  keep(begun: BegunProposal): void
  remove(): void
}

const FOLDER = 'proposals'

/** `key` is what makes two runs the same command. */
export function proposalJournal(key: readonly unknown[]): ProposalJournal {
  requireStateFolder(FOLDER)
  const file = stateFile(FOLDER, key)
  return {
    begun: () => begunIn(file),
    keep: (begun) => writeStateFile(file, begun),
    remove: () => rmSync(file, { force: true }),
  }
}

function begunIn(file: string): BegunProposal | null {
  const { id, signed } = Object(readStateFile(file)) as Partial<BegunProposal>
  return typeof id === 'string' && Array.isArray(signed) ? { id, signed } : null
}

/** What commands of this machine signed after `since` (Unix milliseconds) and have not finished. */
export const begunSince = (since: number): BegunProposal[] => filesSince(since).flatMap((file) => begunIn(file) ?? [])

function filesSince(since: number): string[] {
  try {
    const files = readdirSync(stateFolder(FOLDER)).map((name) => join(stateFolder(FOLDER), name))
    return files.filter((file) => statSync(file).mtimeMs >= since)
  } catch {
    return []
  }
}

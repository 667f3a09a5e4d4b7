/** Remembers a proposal between its signature and its confirmation, so that an interrupted command proposes nothing twice. */
import { readFileSync, rmSync } from 'node:fs'
import { requireStateFolder, stateFile, writeStateFile } from '../cli/state-file.ts'
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
    begun() {
      try {
        const { id, signed } = JSON.parse(readFileSync(file, 'utf8')) as Partial<BegunProposal>
        return typeof id === 'string' && Array.isArray(signed) ? { id, signed } : null
      } catch {
        return null
      }
    },
    keep: (begun) => writeStateFile(file, begun),
    remove: () => rmSync(file, { force: true }),
  }
}

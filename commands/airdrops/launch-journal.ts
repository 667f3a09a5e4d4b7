/** The journal of an airdrop's launch, on disk before anything is sent, so that the next run continues it. */
import { accessSync, constants } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import type { Session } from '../session.ts'
import { RunJournal, SIGNED_EXPIRY_MS } from '../signing/journal.ts'
import type { RequestedEntry, ResumableEntry, ResumableJournal, SignedEntry } from '../signing/resumable.ts'
import { makeStateFolder, sourceOf, stateFile, stateFolder } from '../state-file.ts'
import { reason } from '../ui/files.ts'
import { failure, usage } from '../ui/problem.ts'
import type { VestingTimes } from './vesting-flags.ts'

/** The terms that the user agreed to; a change of any of them results in another transaction. */
export interface LaunchTerms {
  payer: string
  root: string
  platform_id: string
  /** Days until the clawback; null for the API's default. */
  clawback_after_days: number | null
  /** Whether the platform wallet signs instead of the user's keypair. */
  signed: boolean
  /** When locked amounts vest, where they do. */
  vesting?: VestingTimes
}

export type LaunchEntry = ResumableEntry & { terms: LaunchTerms }

const LAUNCHES_FOLDER = 'launches'

export interface LaunchJournal {
  /** Returns the stored entry; null where no earlier run has started the launch on these terms. */
  read(terms: LaunchTerms): LaunchEntry | null
  write(entry: LaunchEntry): void
  remove(): void
  /** The journal of a run on these terms, which are written with each of its entries. */
  of(terms: LaunchTerms): ResumableJournal
  /** Throws a failure while a transaction that an earlier run signed on other terms may still be confirmed. */
  refuseOtherTerms(terms: LaunchTerms): Promise<void>
}

/** The journal of the airdrop with this id, independent of its list. */
export async function launchJournal(session: Session, { id }: Pick<TreeRecord, 'id'>): Promise<LaunchJournal> {
  const file = stateFile(LAUNCHES_FOLDER, [await sourceOf(session), await session.cluster(), id])
  const journal = new RunJournal<LaunchEntry>(file, { parse: launchEntryOf })
  const read = (terms: LaunchTerms) => {
    const entry = journal.read()
    return entry !== null && isDeepStrictEqual(entry.terms, terms) ? entry : null
  }
  const write = (entry: LaunchEntry) => {
    makeStateFolder(LAUNCHES_FOLDER)
    journal.write(entry)
  }
  const remove = () => journal.remove()
  return {
    read,
    write,
    remove,
    of: (terms) => ({ read: () => read(terms), write: (entry) => write({ ...entry, terms }), remove }),
    async refuseOtherTerms(terms) {
      const entry = journal.read()
      if (entry === null || isDeepStrictEqual(entry.terms, terms)) return
      if (!(await mayBeConfirmed(session, entry, journal.touchedAt()))) return journal.remove()
      const { payer, clawback_after_days: days, root } = entry.terms
      throw failure(
        `an earlier run began the airdrop ${id} on other terms (payer ${payer}, root ${root}, clawback after ${days ?? 'the default'} days), and it may still land`,
        {
          next: 'run it again in three minutes, or on those terms',
          details: { id, terms: entry.terms, signature: entry.signature },
        },
      )
    },
  }
}

/**
 * Throws a usage problem where no journal can be written, because a later run could then sign the launch a second time.
 */
export function requireLaunchFolder(): void {
  const folder = stateFolder(LAUNCHES_FOLDER)
  try {
    makeStateFolder(LAUNCHES_FOLDER)
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw usage(`what is signed cannot be kept in ${folder}: ${reason(error)}`, {
      next: 'set XDG_STATE_HOME to a folder that can be written',
    })
  }
}

async function mayBeConfirmed(
  { client, clock }: Session,
  { signature }: LaunchEntry,
  writtenAt: number,
): Promise<boolean> {
  if (signature === null) return clock.now() - writtenAt < SIGNED_EXPIRY_MS
  const { lifecycle } = (await client.transactions.get({ signature })).data
  return lifecycle === 'submitted' || lifecycle === 'processing'
}

function launchEntryOf(value: unknown): LaunchEntry | null {
  const entry = value as Partial<RequestedEntry & SignedEntry & { terms: LaunchTerms }> | null
  const hasBegun = typeof entry?.key === 'string' || typeof entry?.transaction === 'string'
  return hasBegun && typeof entry.terms?.payer === 'string' ? (value as LaunchEntry) : null
}

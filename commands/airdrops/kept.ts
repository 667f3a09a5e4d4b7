/** What a launch has begun and not seen to its end: kept for each airdrop before it is sent, so that the next run goes on with it. */
import { accessSync, constants, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { MerkleTree as TreeRecord } from '../../src/api/merkle-trees.ts'
import type { Session } from '../command.ts'
import type { TrackedResource } from '../signing/sign-and-submit.ts'
import { sourceOf, stateFile, writeStateFile } from '../state-file.ts'
import { reason } from '../ui/files.ts'
import { failure, usage } from '../ui/problem.ts'

/** What was agreed to; another answer to any of it is another transaction. */
export interface Terms {
  payer: string
  root: string
  platform_id: string
  /** Null: the API's default. */
  clawback_after_days: number | null
  /** By the platform wallet. */
  signed: boolean
}

/** A signed transaction, or the Idempotency-Key under which the platform wallet is asked for one. */
export type Begun =
  | { transaction: string; signature: string; tracked_resource?: TrackedResource | undefined }
  | { key: string; signature: string | null }
export type Kept = Begun & { terms: Terms }

/** A blockhash lives for a minute or two: what was signed before can land no more. */
const OVER_MS = 180_000

export interface KeptFile {
  /** Null where no run before this one has begun it on these terms. */
  read(terms: Terms): Kept | null
  write(kept: Kept): void
  forget(): void
  /** Throws a failure while what an earlier run began on other terms may still land. */
  refuseOther(terms: Terms): Promise<void>
}

/** One for each airdrop, whatever its list is. */
export async function keptFile(session: Session, { id }: Pick<TreeRecord, 'id'>): Promise<KeptFile> {
  const file = stateFile('launches', [await sourceOf(session), await session.cluster(), id])
  const read = () => readKept(file)
  return {
    read(terms) {
      const kept = read()
      return kept !== null && isDeepStrictEqual(kept.terms, terms) ? kept : null
    },
    write: (kept) => writeStateFile(file, kept),
    forget: () => rmSync(file, { force: true }),
    async refuseOther(terms) {
      const kept = read()
      if (kept === null || isDeepStrictEqual(kept.terms, terms)) return
      if (!(await mayLand(session, kept, file))) return rmSync(file, { force: true })
      const { payer, clawback_after_days: days, root } = kept.terms
      throw failure(
        `an earlier run began the airdrop ${id} on other terms (payer ${payer}, root ${root}, clawback after ${days ?? 'the default'} days), and it may still land`,
        {
          next: 'run it again in three minutes, or on those terms',
          details: { id, terms: kept.terms, signature: kept.signature },
        },
      )
    },
  }
}

/** Throws a usage problem where nothing can be kept: what was signed could then be signed again. */
export function requireStateFolder(): void {
  const folder = dirname(stateFile('launches', []))
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw usage(`what is signed cannot be kept in ${folder}: ${reason(error)}`, {
      next: 'set XDG_STATE_HOME to a folder that can be written',
    })
  }
}

async function mayLand({ client, clock }: Session, { signature }: Kept, file: string): Promise<boolean> {
  if (signature === null) return clock.now() - statSync(file).mtimeMs < OVER_MS
  const { lifecycle } = (await client.transactions.get({ signature })).data
  return lifecycle === 'submitted' || lifecycle === 'processing'
}

/** Null also for a file that tells nothing. */
function readKept(file: string): Kept | null {
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Partial<{ terms: Terms; key: string; transaction: string }>
    const isBegun = typeof kept.key === 'string' || typeof kept.transaction === 'string'
    return isBegun && typeof kept.terms?.payer === 'string' ? (kept as Kept) : null
  } catch {
    return null
  }
}

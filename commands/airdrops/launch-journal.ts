/** The journal of an airdrop's launch, on disk before anything is sent, so that the next run continues it. */
import { isDeepStrictEqual } from 'node:util'
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import type { Session } from '../cli/session.ts'
import { makeStateFolder, OTHER_STATE_FOLDER, requireStateFolder, resolveSource, stateFile } from '../cli/state-file.ts'
import type { RequestedSending, SignedSending } from '../lists/attempt.ts'
import { fieldsOf, type JournalKind, ListJournal } from '../lists/journal.ts'
import { SIGNED_EXPIRY_MS } from '../lists/until-ended.ts'
import { failure } from '../ui/problem.ts'
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
  /** When locked amounts vest, if there are any. */
  vesting?: VestingTimes
}

export type LaunchSending = SignedSending | RequestedSending
interface LaunchEntry {
  terms: LaunchTerms
  /** Null once it has ended. */
  sending: LaunchSending | null
}

const LAUNCHES_FOLDER = 'launches'

const LAUNCH_JOURNAL: JournalKind<Record<string, never>> = {
  kind: 'svc-airdrop-launches',
  command: '`svc airdrops launch`',
  doing: 'launching this airdrop',
  names: {},
  anew: '',
  loss: 'if no launch started in the last three minutes, remove it',
  place: OTHER_STATE_FOLDER,
  isEntry({ terms, sending }) {
    const { key, at, transaction, signature } = fieldsOf(sending)
    const isRequested = typeof key === 'string' && Number.isSafeInteger(at)
    const isSigned = typeof transaction === 'string' && typeof signature === 'string'
    return typeof fieldsOf(terms).payer === 'string' && (sending === null || isRequested || isSigned)
  },
}

export class LaunchJournal extends ListJournal<Record<string, never>, LaunchEntry> {
  readonly #id: string

  constructor(file: string, id: string) {
    super(file, {}, LAUNCH_JOURNAL)
    this.#id = id
  }

  /** What an earlier run started on these terms; null if nothing. */
  begun(terms: LaunchTerms): LaunchSending | null {
    const entry = this.entries.get(this.#id)
    return entry !== undefined && isDeepStrictEqual(entry.terms, terms) ? entry.sending : null
  }

  override begin(): Promise<() => void> {
    makeStateFolder(LAUNCHES_FOLDER)
    return super.begin()
  }

  /** `sending` is null once it has ended. */
  keep(terms: LaunchTerms, sending: LaunchSending | null): void {
    this.write(this.#id, { terms, sending })
  }

  /** Removes the journal if no transaction of it can still be confirmed. */
  removeEnded(): void {
    if ((this.entries.get(this.#id)?.sending ?? null) === null) this.remove()
  }

  /**
   * Throws a failure while a transaction that an earlier run signed on other terms may still be confirmed, and conflict
   * while another run launches the airdrop.
   */
  async refuseOtherTerms(session: Session, terms: LaunchTerms): Promise<void> {
    this.refuseWhileHeld()
    const { sending = null, terms: other = terms } = this.entries.get(this.#id) ?? {}
    if (sending === null || isDeepStrictEqual(other, terms)) return
    if (!(await mayBeConfirmed(session, sending))) return this.remove()
    const { payer, clawback_after_days: days, root } = other
    throw failure(
      `an earlier run started the airdrop ${this.#id} on other terms (payer ${payer}, root ${root}, clawback after ${days ?? 'the default'} days), and it may still be confirmed`,
      {
        next: 'run it again in three minutes, or on those terms',
        details: { id: this.#id, terms: other, signature: sending.signature },
      },
    )
  }
}

/** The journal of the airdrop with this id, independent of its list. */
export async function launchJournal(session: Session, { id }: Pick<TreeRecord, 'id'>): Promise<LaunchJournal> {
  return new LaunchJournal(stateFile(LAUNCHES_FOLDER, [await resolveSource(session), await session.cluster(), id]), id)
}

/** Throws a usage problem if no journal can be written. */
export const requireLaunchFolder = (): void => requireStateFolder(LAUNCHES_FOLDER)

async function mayBeConfirmed({ client, clock }: Session, sending: LaunchSending): Promise<boolean> {
  const { signature } = sending
  if (signature === null) return 'at' in sending && clock.now() - sending.at < SIGNED_EXPIRY_MS
  const { lifecycle } = (await client.transactions.get({ signature })).data
  return lifecycle === 'submitted' || lifecycle === 'processing'
}
